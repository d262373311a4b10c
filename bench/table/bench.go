package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// measure is one row of the table, or some that belong together.
type measure struct {
	name string
	run  func(*bench) ([]row, error)
}

// row is one line of the table.
type row struct {
	measure string // its name, for -run
	what    string
	checks  []check
	beside  string // absolute figures, and those of peers
}

// check is one number that is to be reached.
type check struct {
	target string // in words
	got    string
	ok     bool
	info   bool // there is no target: printed only
}

// bench holds the fields that all measures share.
type bench struct {
	rounds  int
	sample  time.Duration
	hookd   string // the binaries under test
	bridge  string
	dir     string // temporary, short: sockets are in it
	profile string
	homes   int
	load    string // of the machine, before there was any of ours
}

// missing names the thing that a measure lacks on this machine; its rows are skipped.
type missing struct{ what string }

func (m missing) Error() string { return m.what }

// prepare builds the programs that are measured.
func (b *bench) prepare() error {
	b.load = load()
	dir, err := os.MkdirTemp("", "hb")
	if err != nil {
		return err
	}
	b.dir = dir
	if b.hookd != "" {
		b.bridge = filepath.Join(filepath.Dir(b.hookd), "hookd-bridge")
		return nil
	}
	b.hookd, b.bridge = filepath.Join(dir, "hookd"), filepath.Join(dir, "hookd-bridge")
	for _, target := range []string{b.hookd, b.bridge} {
		if err := b.build(target, root, "./cmd/"+filepath.Base(target)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) cleanup() { os.RemoveAll(b.dir) }

// root is the folder of the module that is measured, seen from that of this one.
const root = ".."

// build compiles a program as a release has it. pkg is its folder in the module in dir: this module
// does not know all that hookd needs.
func (b *bench) build(to, dir, pkg string) error {
	linked := to + ".linked"
	flags := "-s -w"
	if filepath.Base(to) == "hookd-bridge" {
		entry := exec.Command("sh", "packaging/entry.sh")
		entry.Dir = dir
		flag, err := entry.Output()
		if err != nil {
			return fmt.Errorf("packaging/entry.sh: %w", err)
		}
		flags += " " + strings.TrimSpace(string(flag))
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", linked, pkg)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return install(linked, to)
}

// install moves a program to where it is started from, as a package manager does: by writing
// it. The pages of a file that Go's linker has just written through a mapping are single
// pages in the system's memory, the pages of a file that was written or read are together,
// and a small program starts up to an eighth faster.
func install(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, text, 0o755); err != nil {
		return err
	}
	return os.Remove(from)
}

func (b *bench) measureAll(wanted *regexp.Regexp) (rows []row) {
	for _, m := range measures {
		if !wanted.MatchString(m.name) {
			continue
		}
		begin := time.Now()
		got, err := m.run(b)
		var lacks missing
		switch {
		case errors.As(err, &lacks):
			got = append(got, row{what: "skipped: " + lacks.what})
		case err != nil:
			failed := check{target: "to be measured", got: "error"}
			got = append(got, row{what: "could not be measured: " + err.Error(), checks: []check{failed}})
		}
		for i := range got {
			got[i].measure = m.name
		}
		fmt.Fprintf(os.Stderr, "%-14s %5.1f s\n", m.name, time.Since(begin).Seconds())
		rows = append(rows, got...)
	}
	return rows
}

func atLeast(target string, bound, got float64, format string) check {
	return check{target: target, got: fmt.Sprintf(format, got), ok: got >= bound}
}

func atMost(target string, bound, got float64, format string) check {
	return check{target: target, got: fmt.Sprintf(format, got), ok: got <= bound}
}

func info(what, got string) check { return check{target: what, got: got, info: true} }
