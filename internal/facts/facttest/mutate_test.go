package facttest

import (
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestMutations(t *testing.T) {
	got := Mutations("rm -r -f x; psql -c 'drop table users'")
	for _, want := range []string{
		"'rm' -r -f x; psql -c 'drop table users'",
		`r\m -r -f x; psql -c 'drop table users'`,
		"/usr/bin/rm -r -f x; psql -c 'drop table users'",
		"rm -r -f x; sudo psql -c 'drop table users'",
		"rm -rf x; psql -c 'drop table users'",
		"rm -r -f x; psql -c 'drop table CUSTOMER_ACCOUNTS'",
		"rm -r -f x; psql -c 'DROP TABLE users'",
	} {
		if !slices.ContainsFunc(got, func(m Mutation) bool { return m.Line == want }) {
			t.Errorf("no %s", want)
		}
	}
	for line, want := range map[string]string{
		"git reset --hard":     "git reset --ha",
		"rm -rf ~/Documents":   "rm -r -f ~/Documents",
		"cd x && git clean -f": `bash -c 'cd x && git clean -f'`,
	} {
		if !slices.ContainsFunc(Mutations(line), func(m Mutation) bool { return m.Line == want }) {
			t.Errorf("%s: no %s", line, want)
		}
	}
	if got := Mutations("ls 'no end"); got != nil {
		t.Errorf("a line that does not parse: %v", got)
	}
}

// Nearly all mutations have the effects of their lines. Some are run; HOOKD_LINES is how many.
func TestMutationsWork(t *testing.T) {
	many := hooktest.Amount(150, 15)
	if n, err := strconv.Atoi(os.Getenv("HOOKD_LINES")); err == nil {
		many = n
	}
	attacks, err := Attacks(*corpus + "/attacks")
	if err != nil {
		t.Fatal(err)
	}
	var all []Attack
	var kinds []string
	for _, a := range attacks {
		if a.Line == "" || a.Proof["static"] != "" {
			continue
		}
		for _, m := range Mutations(a.Line) {
			b := a
			b.Line = m.Line
			all, kinds = append(all, b), append(kinds, m.Kind)
		}
	}
	j := NewJail(t)
	run, failed := 0, map[string]int{}
	for i := 0; i < len(all); i += max(1, len(all)/many) {
		r, err := j.Run(all[i])
		if err != nil {
			t.Fatal(err)
		}
		run++
		if !r.Done {
			failed[kinds[i]]++
			t.Logf("%s: %s: %s %.100q", kinds[i], all[i].Call().Text(), r.Saw, r.Output)
		}
	}
	sum := 0
	for _, n := range failed {
		sum += n
	}
	t.Logf("%d mutations of %d lines; %d were run, %d do not do the same: %v", len(all), len(attacks), run, sum, failed)
	if sum*8 > run {
		t.Errorf("%d of %d mutations do not do what their lines do: %v", sum, run, failed)
	}
}
