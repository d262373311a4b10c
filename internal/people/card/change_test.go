package card

import (
	"strings"
	"testing"

	"github.com/hookd/hookd/wire"
)

// A difference has each line of both inputs, common ones once, and marks whole words that differ.
func TestChange(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{`{"command":"npm install --verbose"}`, `{"command":"npm ci --ignore-scripts"}`, "-npm [install --verbose]\n+npm [ci --ignore-scripts]"},
		{`{"command":"cd a\nrm -rf out\nls"}`, `{"command":"cd a\nrm -r out\nls"}`, " cd a\n-rm [-rf] out\n+rm [-r] out\n ls"},
		{`{"command":"ls"}`, `{"command":"ls -l"}`, "-ls\n+ls[ -l]"},
		{`{"command":"ls ñá"}`, `{"command":"ls ñé"}`, "-ls [ñá]\n+ls [ñé]"},
		{`{"command":"ls","timeout":5}`, `{"command":"ls"}`, " ls\n-timeout: 5"},
	} {
		var out []string
		for _, r := range Change("Bash", []byte(c.before), []byte(c.after)) {
			text := map[string]string{wire.RowRemoved: "-", wire.RowAdded: "+"}[r.Is]
			if text == "" {
				text = " "
			}
			for _, p := range r.Parts {
				if p.Mark {
					p.Text = "[" + p.Text + "]"
				}
				text += p.Text
			}
			out = append(out, text)
		}
		if got := strings.Join(out, "\n"); got != c.want {
			t.Errorf("%s to %s:\n%s\nwant\n%s", c.before, c.after, got, c.want)
		}
	}
}
