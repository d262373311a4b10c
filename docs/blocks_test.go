package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// block runs a shell block, typed by a user with the tree as working directory,
// and returns the block's output.
func (u *user) block(text string) string {
	u.t.Helper()
	tree, err := filepath.Abs("..")
	if err != nil {
		u.t.Fatal(err)
	}
	return u.run(tree, "sh", "-e", "-c", text)
}

// prints runs a document's blocks in order. Blocks that contain a key of says
// must print its value, and each key must be in one.
func (u *user) prints(list []snippet, says map[string]string) {
	u.t.Helper()
	for _, s := range list {
		out := u.block(s.text)
		for part, want := range says {
			if strings.Contains(s.text, part) {
				delete(says, part)
				if !strings.Contains(out, want) {
					u.t.Errorf("%s\nprinted no %q:\n%s", s.text, want, out)
				}
			}
		}
	}
	for part := range says {
		u.t.Errorf("no block has %q", part)
	}
}

// typed are the blocks of a document that a person types.
func typed(t *testing.T, file string) []snippet {
	t.Helper()
	return slices.DeleteFunc(snippets(t, file), func(s snippet) bool { return s.lang != "sh" })
}

// The command of the document runs, and its examples and the action are YAML.
func TestCIBlocks(t *testing.T) {
	u := newUser(t)
	u.prints(typed(t, "ci.md"), map[string]string{"--summary summary.md": "0 denied"})
	text, err := os.ReadFile("ci.md")
	hooktest.Must(t, err)
	action, err := os.ReadFile("../action.yml")
	hooktest.Must(t, err)
	parts := strings.Split(string(text), "```yaml\n")
	for i, part := range append(parts[1:], string(action)) {
		part, _, _ = strings.Cut(part, "```")
		var any map[string]any
		if err := yaml.Unmarshal([]byte(part), &any); err != nil || len(any) == 0 {
			t.Errorf("example %d is no YAML: %v", i+1, err)
		}
	}
}

func TestAuditBlocks(t *testing.T) {
	u := newUser(t)
	u.guard()
	u.prints(typed(t, "reference/audit.md"), map[string]string{"audit verify": "each is as it was written"})
}

// A bundle is made and put in force as the document says, and its guard denies.
func TestPolicyBlocks(t *testing.T) {
	u := newUser(t)
	u.prints(snippets(t, "reference/policy.md"), map[string]string{
		"bundle build": "acme, sequence 1", "policy show": "hooks/no-sudo",
	})
	if out := u.block(`hookd emit pre_tool_use --wait --data '{"tool_input":{"command":"sudo ls"}}' || true`); !strings.Contains(out, "sudo is not for agents") {
		t.Errorf("the policy's guard did not deny: %s", out)
	}
}

// The first policy of a team is made and put in force as the document says.
func TestTeamsBlocks(t *testing.T) {
	u := newUser(t)
	u.prints(snippets(t, "teams.md"), map[string]string{"bundle build": "team, sequence 1"})
	if out := u.block("hookd list"); !strings.Contains(out, "policy:no-sudo") {
		t.Errorf("the policy has no hook: %s", out)
	}
}

func TestGalleryBlocks(t *testing.T) {
	u := newUser(t)
	for _, s := range snippets(t, "gallery.md") {
		u.block(s.text)
	}
}

// The commands that a person types when something does not work, work.
func TestTroubleshootingBlocks(t *testing.T) {
	u := newUser(t)
	u.guard()
	u.prints(snippets(t, "troubleshooting.md"), map[string]string{"hookd list": "no-sudo"})
}

// Setting up can be looked at before it is done.
func TestInstallBlocks(t *testing.T) {
	u := newUser(t)
	for _, s := range snippets(t, "install.md") {
		if s.lang == "sh" && !strings.HasPrefix(s.text, "make ") && !strings.HasPrefix(s.text, "curl ") { // tried in packaging
			u.prints([]snippet{s}, map[string]string{"hookd init --dry-run": "would add     self-guard"})
		}
	}
}

// The hook in TypeScript works as the guide says.
func TestWritingHooksTypeScript(t *testing.T) {
	hooktest.NeedTool(t, "bun")
	u := newUser(t)
	u.block("hookd new guard --lang typescript --event PreToolUse")
	for _, s := range snippets(t, "writing-hooks.md") {
		if s.lang == "ts" {
			path := filepath.Join(u.home, "hooks", "guard", "run.ts")
			if err := os.WriteFile(path, []byte("#!/usr/bin/env bun\n"+s.text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	out := u.block(`hookd test guard --local --event PreToolUse --data '{"tool_name":"Bash","tool_input":{"command":"sudo ls"}}' || true`)
	if !strings.Contains(out, "no sudo: ask me to do it") {
		t.Errorf("got %s, want a denial", out)
	}
}

// The commands of the guide work as the guide says.
func TestWritingHooksBlocks(t *testing.T) {
	hooktest.NeedTool(t, "jq", "python3")
	u := newUser(t)
	says := map[string]string{
		"hookd validate":      ": ok",
		"|| echo \"denied\"":  "\ndenied\n",
		"hookd test ask-push": "ask",
		"hookd list -o wide":  "no-main",
		"--hook tidy-up":      "a newer event of the session came within 1s",
	}
	u.prints(slices.DeleteFunc(snippets(t, "writing-hooks.md"), func(s snippet) bool { return s.lang != "sh" }), says)
	hooktest.Until(t, "the background child has written", func() bool {
		_, err := os.Stat(filepath.Join(u.home, "hooks", "index-later", "indexed"))
		return err == nil
	})
	hooktest.Until(t, "the last of three events has run, and it alone", func() bool {
		text, err := os.ReadFile(filepath.Join(u.home, "hooks", "tidy-up", "tidied"))
		return err == nil && strings.Count(string(text), "\n") == 1
	})
}

// Hooks are shared as the guide says.
func TestShareBlocks(t *testing.T) {
	hooktest.NeedTool(t, "git")
	u := newUser(t)
	var blocks []snippet
	for _, s := range snippets(t, "share.md") {
		if s.lang == "sh" {
			blocks = append(blocks, s)
		}
	}
	u.prints(blocks, map[string]string{
		"hookd list":         "gallery/command-guard",
		"file://":            "\ndenied\n",
		"hookd outdated":     "v1.1.0",
		"hookd add --frozen": "team                   in place",
		"hookd trust --yes":  "\ndenied\n",
		"git tag v1.0.0":     "",
	})
}

// The index leads to each document.
func TestIndexNamesEveryDocument(t *testing.T) {
	index := read(t, "README.md")
	for _, pattern := range []string{"*.md", "*.yaml", "*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if file != "README.md" && !strings.Contains(index, "]("+file+")") {
				t.Errorf("docs/README.md does not lead to %s", file)
			}
		}
	}
}

// A line of a block is typed as it stands: its explanation is a comment of the shell.
func TestCommandsAreTypedAsTheyStand(t *testing.T) {
	files, err := pages()
	hooktest.Must(t, err)
	explained := regexp.MustCompile(`(?m)^hookd .*\S {2,}[A-Za-z(].*$`)
	for _, file := range append(files, "../README.md") {
		for _, line := range explained.FindAllString(read(t, file), -1) {
			t.Errorf("%s: the shell reads all of this line, put # before the explanation: %s", file, line)
		}
	}
}

// pages are all documents but those for builders.
func pages() ([]string, error) {
	files, err := filepath.Glob("*.md")
	if err != nil {
		return nil, err
	}
	more, err := filepath.Glob("reference/*.md")
	return append(files, more...), err
}
