package rules_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/facts/facttest"
	"github.com/hookd/hookd/internal/hooks/rules"
)

var update = flag.Bool("update", false, "write the table of what the gallery's guards answer")

// guardTable is the document that TestGuardTable holds to the corpora.
const guardTable = "../../../docs/design/guards.md"

// TestGuardTable keeps the table of what the gallery's guards answer, by class and by list.
func TestGuardTable(t *testing.T) {
	attacks, err := facttest.Attacks("../../facts/testdata/attacks")
	if err != nil {
		t.Fatal(err)
	}
	harmless, err := facttest.HarmlessCalls("../../facts/testdata/harmless")
	if err != nil {
		t.Fatal(err)
	}
	judge := galleryJudge(t)
	report := facttest.Judge(attacks, harmless, judge)
	var b strings.Builder
	b.WriteString("# What the guards of the gallery answer\n\nMade by `go test ./internal/hooks/rules -run TestGuardTable " +
		"-update`: command-guard, secret-guard and self-guard over\nthe corpora in `internal/facts/testdata`, and over the " +
		"lists in `internal/hooks/rules/testdata/guards.txt`.\n\n```\n" + report.Table() + "```\n\n" +
		"## Lists\n\nEach line of a list was judged once before the rules knew it. The share of that first time stands in " +
		"the list's name.\n\n| list | denied | asked | contained | pass |\n| --- | --- | --- | --- | --- |\n")
	text, err := os.ReadFile("testdata/guards.txt")
	if err != nil {
		t.Fatal(err)
	}
	name, counts, missed := "", map[facttest.GuardAnswer]int{}, ""
	row := func() {
		if sum := len(counts); sum > 0 && (strings.Contains(name, "at first") || strings.Contains(name, "Usual")) {
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", strings.TrimSuffix(name, "."), counts[facttest.Deny],
				counts[facttest.Ask], counts[facttest.Contain], counts[facttest.Pass])
		}
		clear(counts)
	}
	for line := range strings.Lines(string(text)) {
		want, call, _ := strings.Cut(strings.TrimSpace(line), " ")
		call, why, _ := strings.Cut(strings.TrimSpace(call), "  ## ")
		switch {
		case call == "":
		case want == "#":
			row()
			name = strings.Replace(call, ", each line judged before the rules knew it", "", 1)
			name = strings.Replace(name, ", each judged before the rules knew it", "", 1)
		default:
			d, _ := judge(written(t, call))
			counts[d]++
			if want == "miss" {
				missed += fmt.Sprintf("* `%s`: %s\n", shown(call), why)
			}
		}
	}
	row()
	b.WriteString("\nAttacks of these lists that pass, and why:\n\n" + missed)
	if *update {
		if err := os.WriteFile(guardTable, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(guardTable); err != nil || string(old) != b.String() {
		t.Errorf("%s is not as the guards answer: run this test with -update (%v)", guardTable, err)
	}
}

// shown is a call as the table has it: its beginning, where it is long.
func shown(call string) string {
	const most = 80 // bytes
	if len(call) <= most {
		return call
	}
	return strings.ToValidUTF8(call[:most], "") + "…"
}

// galleryJudge returns the worst answer of the gallery's guards to a call.
func galleryJudge(t testing.TB) func(facttest.TestCall) (facttest.GuardAnswer, string) {
	var sets []*rules.Set
	for _, name := range galleryGuards {
		sets = append(sets, gallery(t, name))
	}
	return func(call facttest.TestCall) (facttest.GuardAnswer, string) {
		s := subject(t, call)
		worst, reason := facttest.Pass, ""
		for _, set := range sets {
			v := set.Judge(s)
			switch {
			case v.Action == rules.Deny:
				return facttest.Deny, v.Reason()
			case v.Action == rules.Ask && worst != facttest.Ask:
				worst, reason = facttest.Ask, v.Reason()
			case v.Action == rules.Contain && worst == facttest.Pass:
				worst, reason = facttest.Contain, v.Reason()
			}
		}
		return worst, reason
	}
}
