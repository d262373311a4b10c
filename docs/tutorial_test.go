package docs

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/hooktest"
)

// The tutorial is typed from the top into one shell. Each step prints the outcome that
// the text around it names.
func TestTutorial(t *testing.T) {
	hooktest.NeedTool(t, "python3")
	u := newUser(t)
	tree, err := filepath.Abs("..")
	hooktest.Must(t, err)
	sh := u.command(tree, "sh", "-e")
	in, err := sh.StdinPipe()
	hooktest.Must(t, err)
	out, err := sh.StdoutPipe()
	hooktest.Must(t, err)
	sh.Stderr = sh.Stdout
	hooktest.Must(t, sh.Start())
	types := func(text string) string {
		t.Helper()
		const end = "(typed)\n"
		fmt.Fprintf(in, "%s\nprintf '%s'\n", text, strings.TrimSuffix(end, "\n")+`\n`)
		var said strings.Builder
		one := make([]byte, 1)
		for !strings.HasSuffix(said.String(), end) {
			if _, err := io.ReadFull(out, one); err != nil {
				t.Fatalf("%s\nended the shell: %v\n%s", text, err, said.String())
			}
			said.Write(one)
		}
		return strings.TrimSuffix(said.String(), end)
	}
	steps := []struct{ part, says string }{
		{"hookd new no-main", "made "},
		{"hookd validate", "no-main: 4 tests as expected"},
		{"hookd reload\nhookd emit", "hooks watch it"},
		{"hookd log --shadow", "no-main would deny: push to a branch"},
		{"cat >> ~/.librefang", "no-main: 6 tests as expected"},
		{"hookd guard what-if", "1 would change: 1 none to deny"},
		{"sed -i.bak", "\ndenied\n"},
	}
	blocks := snippets(t, "tutorial.md")
	if len(blocks) != len(steps) {
		t.Fatalf("%d blocks, want %d", len(blocks), len(steps))
	}
	for i, block := range blocks {
		if !strings.Contains(block.text, steps[i].part) {
			t.Errorf("block %d has no %q", i+1, steps[i].part)
		}
		if said := types(block.text); !strings.Contains(said, steps[i].says) {
			t.Errorf("%s\nprinted no %q:\n%s", block.text, steps[i].says, said)
		}
		if strings.Contains(block.text, "hookd emit") && i < 3 { // a week has gone by
			hooktest.Until(t, "the guard in the shadow has said what it would do", func() bool {
				list, err := u.client.Decisions(t.Context(), client.DecisionQuery{Shadow: true})
				return err == nil && len(list) == 2
			})
		}
	}
	hooktest.Must(t, in.Close())
	hooktest.Must(t, sh.Wait())
}
