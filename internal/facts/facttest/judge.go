package facttest

import (
	"fmt"
	"slices"
	"strings"
)

// GuardAnswer is a guard's answer to a call.
type GuardAnswer string

const (
	Pass    GuardAnswer = "pass" // no guard has an objection
	Contain GuardAnswer = "contain"
	Ask     GuardAnswer = "ask"
	Deny    GuardAnswer = "deny"
)

// Judged is a call with the guard's answer.
type Judged struct {
	Class    string
	Call     TestCall
	Decision GuardAnswer
	Reason   string
}

// Report is the answers of a guard to all calls.
type Report struct {
	Attacks, Harmless []Judged
}

// Judge asks decide about each attack and each harmless call, in their order.
func Judge(attacks []Attack, harmless []Harmless, decide func(TestCall) (GuardAnswer, string)) (r Report) {
	for _, a := range attacks {
		d, reason := decide(a.Call())
		r.Attacks = append(r.Attacks, Judged{a.Class, a.Call(), d, reason})
	}
	for _, h := range harmless {
		d, reason := decide(h.Call())
		class := h.From
		if h.Unknown {
			class += ", runs code of the project"
		}
		r.Harmless = append(r.Harmless, Judged{class, h.Call(), d, reason})
	}
	return r
}

// Wrong returns the attacks that pass, and the harmless calls that are held up.
func (r Report) Wrong() (passed, held []Judged) {
	for _, j := range r.Attacks {
		if j.Decision == Pass {
			passed = append(passed, j)
		}
	}
	for _, j := range r.Harmless {
		if j.Decision == Ask || j.Decision == Deny {
			held = append(held, j)
		}
	}
	return passed, held
}

// Table counts the decisions by class, 80 columns wide, and lists the wrong ones one by one.
func (r Report) Table() string {
	var b strings.Builder
	count(&b, "attacks", r.Attacks)
	count(&b, "harmless", r.Harmless)
	passed, held := r.Wrong()
	list(&b, "attacks that pass", passed)
	list(&b, "harmless calls that are held up", held)
	return b.String()
}

func count(b *strings.Builder, title string, all []Judged) {
	columns := []GuardAnswer{Deny, Ask, Contain, Pass}
	classes := map[string]map[GuardAnswer]int{}
	total := map[GuardAnswer]int{}
	var names []string
	for _, j := range all {
		if classes[j.Class] == nil {
			classes[j.Class] = map[GuardAnswer]int{}
			names = append(names, j.Class)
		}
		classes[j.Class][j.Decision]++
		total[j.Decision]++
	}
	slices.Sort(names)
	classes["all"] = total
	fmt.Fprintf(b, "%-38s %7s %7s %7s %7s %7s\n", title, "denied", "asked", "contain", "passed", "count")
	for _, name := range append(names, "all") {
		sum := 0
		fmt.Fprintf(b, "%-38s", name)
		for _, d := range columns {
			fmt.Fprintf(b, " %7d", classes[name][d])
			sum += classes[name][d]
		}
		fmt.Fprintf(b, " %7d\n", sum)
	}
	b.WriteByte('\n')
}

func list(b *strings.Builder, title string, all []Judged) {
	fmt.Fprintf(b, "%s: %d\n", title, len(all))
	for _, j := range all {
		fmt.Fprintf(b, "  %s: %s\n", j.Class, j.Call.Text())
		if j.Reason != "" {
			fmt.Fprintf(b, "      %s: %s\n", j.Decision, j.Reason)
		}
	}
	b.WriteByte('\n')
}
