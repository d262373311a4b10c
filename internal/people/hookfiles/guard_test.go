package hookfiles

import "testing"

// A reason of a rule is the same for each command that the rule stops; of a script it is the script's own first line.
func TestOwnReason(t *testing.T) {
	for reason, want := range map[string]string{
		"house: main is kept (rule deny git push * main: git push origin main). Instead: open a pull request. Do not look.": "main is kept (rule deny git push * main)",
		"main is kept (rule deny git push * main: git push -f origin main)":                                                 "main is kept (rule deny git push * main)",
		"house: perhaps it is kept (rule a). Instead: ask.":                                                                 "perhaps it is kept (rule a)",
		"other: no\nhouse: yes (rule b)":                                                                                    "yes (rule b)",
		"rm -rf on a folder":                                                                                                "rm -rf on a folder",
	} {
		if got := ownReason(reason, "team/house"); got != want {
			t.Errorf("of %q it is %q", reason, got)
		}
	}
}
