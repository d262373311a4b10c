package trust

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

var farOff = time.Unix(1_000_000_000, 0)

func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o700))
		return path
	}
	sh := write("run.sh", "#!/bin/sh -eu\n")
	py := write("hook.py", "print()\n")
	nested := write("nested", "#!"+sh+"\n")
	tool := write("bin/mytool", "#!/bin/sh\n")
	env := write("env.sh", "#!/usr/bin/env -S A=b mytool -x\n")
	python := write("bin/python3.12", "\x7fELF")
	bash := write("bin/bash", "\x7fELF")
	cat := write("bin/cat", "\x7fELF")
	for _, tt := range []struct {
		name     string
		program  string
		args     []string
		run, own []string
	}{
		{"nothing", "", nil, nil, nil},
		{"script", sh, nil, []string{sh, "/bin/sh"}, []string{sh}},
		{"script-with-data", sh, []string{"hook.py"}, []string{sh, "/bin/sh"}, []string{sh}},
		{"script-of-a-script", nested, nil, []string{nested, sh, "/bin/sh"}, []string{nested}},
		{"env", env, nil, []string{env, "/usr/bin/env", tool, "/bin/sh"}, []string{env}},
		{"interpreter", python, []string{"-u", "hook.py", "run.sh"}, []string{python, py}, []string{py}},
		{"option-with-value", python, []string{"-W", "ignore", py}, []string{python, py}, []string{py}},
		{"text", bash, []string{"-c", "cat run.sh", "run.sh"}, []string{bash}, []string{bash}},
		{"interpreted-script", bash, []string{"run.sh"}, []string{bash, sh, "/bin/sh"}, []string{sh}},
		{"no-interpreter", cat, []string{"run.sh"}, []string{cat}, []string{cat}},
		{"missing", filepath.Join(dir, "none"), nil, []string{filepath.Join(dir, "none")}, []string{filepath.Join(dir, "none")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run, own := Programs(tt.program, tt.args, dir, filepath.Join(dir, "bin"))
			if !slices.Equal(run, tt.run) || !slices.Equal(own, tt.own) {
				t.Errorf("got %q, own %q; want %q, own %q", run, own, tt.run, tt.own)
			}
		})
	}
}

// What is quoted arrives in a shell as it is, and shows nothing else on the way.
func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"/plain/path-1.0":  "/plain/path-1.0",
		"":                 "''",
		"-rf":              "'-rf'",
		"/a b/$(id)":       "'/a b/$(id)'",
		"it's":             `'it'\''s'`,
		"é 世":              "'é 世'",
		"a\n'b\\":          `$'a\n\'b\\'`,
		"\x1b[31m\u202e":   `$'\033[31m\342\200\256'`,
		"bad\xffbyte":      `$'bad\377byte'`,
		"zero\u200bwidth":  `$'zero\342\200\213width'`,
		"tag\U000e0061end": `$'tag\363\240\201\241end'`,
	} {
		got := Quote(text)
		if got != want {
			t.Errorf("Quote(%q) = %s, want %s", text, got, want)
		}
		bash, err := exec.LookPath("bash")
		if err != nil {
			continue
		}
		out, err := exec.Command(bash, "-c", "printf %s "+got).Output()
		if err != nil || string(out) != text {
			t.Errorf("a shell reads %s as %q, %v; want %q", got, out, err, text)
		}
	}
}
