package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// Help of every command fits a terminal, and 80 columns in a pipe; it never loses a word. In less, an
// example and a word that is too long stay as they are.
func TestHelpFitsTheTerminal(t *testing.T) {
	for _, columns := range []int{0, 60, 80, 132} {
		if columns != 60 && !hooktest.All() {
			continue // a narrow one breaks the most lines
		}
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			t.Setenv("COLUMNS", "")
			width := pipeWidth
			if columns > 0 {
				t.Setenv("COLUMNS", strconv.Itoa(columns))
				width = columns
			}
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			a := newApp(nil, out, nil)
			eachCommand(newRoot(a), func(cmd *cobra.Command) {
				if err := out.Truncate(0); err != nil {
					t.Fatal(err)
				}
				if _, err := out.Seek(0, 0); err != nil {
					t.Fatal(err)
				}
				wholeHelp(a, cmd)
				raw, err := os.ReadFile(out.Name())
				if err != nil {
					t.Fatal(err)
				}
				text := string(raw)
				if got, want := strings.Fields(text), strings.Fields(cmd.Long+" "+short(cmd)+" "+cmd.UsageString()); strings.Join(got, " ") != strings.Join(want, " ") {
					t.Errorf("help of %s has other words than the command:\n%s", cmd.CommandPath(), text)
				}
				for line := range strings.SplitSeq(text, "\n") {
					example := cmd.HasExample() && strings.Contains(cmd.Example, strings.TrimSpace(line))
					narrow := width < pipeWidth && (example || len(strings.Fields(line)) == 1)
					if runewidth.StringWidth(line) > width && !narrow {
						t.Errorf("help of %s is wider than %d: %s", cmd.CommandPath(), width, line)
					}
				}
			})
		})
	}
}

// --help of every command is one screen: its own usage, all commands below it, and each flag by name or
// the sign that there are more.
func TestHelpIsOneScreen(t *testing.T) {
	root := newRoot(newApp(nil, os.Stdout, nil))
	sayPaths(root)
	eachCommand(root, func(cmd *cobra.Command) {
		text := shortHelp(cmd, pipeWidth)
		if n := strings.Count(text, "\n"); cmd != root && n > helpLines {
			t.Errorf("help of %s has %d lines:\n%s", cmd.CommandPath(), n, text)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if runewidth.StringWidth(line) > pipeWidth {
				t.Errorf("help of %s is wider than %d: %s", cmd.CommandPath(), pipeWidth, line)
			}
		}
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(line, "  hookd ") && (strings.HasSuffix(line, "…") || strings.HasSuffix(line, "\\") &&
				!strings.Contains(text, line+"\n    ")) {
				t.Errorf("help of %s shows a part of an example: %s", cmd.CommandPath(), line)
			}
		}
		if !strings.Contains(text, "\nUsage: "+cmd.CommandPath()) {
			t.Errorf("help of %s is that of another command:\n%s", cmd.CommandPath(), text)
		}
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() && cmd != root && !strings.Contains(text, "\n  "+sub.Name()+" ") {
				t.Errorf("help of %s does not name %s", cmd.CommandPath(), sub.Name())
			}
		}
		cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && cmd != root && !strings.Contains(text, "--"+f.Name) && !strings.Contains(text, " …\n\nThe whole help") {
				t.Errorf("help of %s does not name --%s:\n%s", cmd.CommandPath(), f.Name, text)
			}
		})
	})
}

// short is the text that help shows for a command without a long text.
func short(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return ""
	}
	return cmd.Short
}

func eachCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	cmd.InitDefaultHelpCmd()
	cmd.InitDefaultHelpFlag()
	do(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, do)
	}
}

// A text in backquotes would be the name of a flag's value.
func TestValuesOfFlagsAreWords(t *testing.T) {
	eachCommand(newRoot(newApp(nil, os.Stdout, nil)), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if name, _ := pflag.UnquoteUsage(f); strings.Contains(name, " ") {
				t.Errorf("%s --%s takes a value that is called %q", cmd.CommandPath(), f.Name, name)
			}
		})
	})
}

func TestWrapText(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"short lines stay", "one\ntwo three\n\n  four", "one\ntwo three\n\n  four"},
		{"a paragraph is filled again", "aaa bbb ccc ddd eee\nfff ggg", "aaa bbb ccc\nddd eee fff\nggg"},
		{"another one is not", "aaa bbb ccc ddd\n\nxxx\nyyy", "aaa bbb ccc\nddd\n\nxxx\nyyy"},
		{"a line that is indented", "  aaa bbb ccc ddd", "  aaa bbb\n    ccc ddd"},
		{"a word that is too long", "aaa bbbbbbbbbbbbbbbb ccc", "aaa\nbbbbbbbbbbbbbbbb\nccc"},
		{"wide characters", "漢字 漢字 漢字", "漢字 漢字\n漢字"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := wrapText(tt.text, 12); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
	flag := "  --flag   " + strings.Repeat("word ", 10)
	for i, line := range strings.Split(wrapText(flag, 40), "\n") {
		if i > 0 && !strings.HasPrefix(line, strings.Repeat(" ", 11)+"word") {
			t.Errorf("the text of a flag goes on at %q", line)
		}
	}
}

// The name of a command finds the same command among a few as among all.
func TestCommandsAreMadeByName(t *testing.T) {
	makers := shortcuts()
	for _, g := range groupList() {
		makers = append(makers, g.commands...)
	}
	for _, m := range makers {
		all, few := newRoot(newApp(nil, nil, nil)), rootFor(newApp(nil, nil, nil), []string{m.name, "--json"})
		if name := m.make(newApp(nil, nil, nil)).Name(); name != m.name {
			t.Errorf("%s is made as %s", name, m.name)
		}
		want, _, err := all.Find([]string{m.name})
		hooktest.Must(t, err)
		got, _, err := few.Find([]string{m.name})
		hooktest.Must(t, err)
		if got.CommandPath() != want.CommandPath() || got.Hidden != want.Hidden || len(got.Commands()) != len(want.Commands()) {
			t.Errorf("%s: %q, not %q", m.name, got.CommandPath(), want.CommandPath())
		}
		if len(few.Commands()) > 3 { // the name may be that of a group and a shortcut; help
			t.Errorf("%s: %d commands are made", m.name, len(few.Commands()))
		}
	}
}
