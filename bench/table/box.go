package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// boxStarts is the time that a box takes around `bash -c true`: by namespaces against bubblewrap with the same
// mounts, by Landlock against no box. hookd serves, but no ticket is asked for: bubblewrap has nothing like it.
func boxStarts(b *bench) ([]row, error) {
	project, err := b.project()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(project)
	d := &daemon{home: project + "-hookd", log: new(bytes.Buffer)}
	if err := b.serve(d, nil); err != nil {
		return nil, err
	}
	defer d.stop()
	plain := []string{"bash", "-c", "true"}
	boxed := func(level string, program ...string) []string {
		args := []string{b.bridge, "box", "--profile", "project", "--level", level, "--socket", d.socket, "--"}
		return append(args, program...)
	}
	skipped, s := map[string]string{}, map[string]samples{}
	for _, level := range []string{"namespaces", "landlock"} {
		c := in(project, level, boxed(level, plain...)...)
		if _, err := c.run(); err != nil {
			skipped[level] = "skipped: this machine makes no box by " + level
			continue
		}
		list := []contender{in(project, "bash", plain...), c}
		if level == "namespaces" {
			skip, err := bubblewrap(project, boxed("namespaces", "cat", mountInfo), plain, &list)
			if err != nil {
				return nil, err
			}
			skipped[level] = skip
		}
		// Each level in a contest of its own: a machine makes boxes of one kind, and the system takes namespaces down
		// while the next program starts.
		if s[level], err = contest(max(minimum, b.starts()), list); err != nil {
			return nil, err
		}
	}
	rows := []row{{what: "start and end of a box by namespaces, the profile project, around bash -c true"},
		{what: "the same by Landlock and seccomp alone"}}
	beside := func(level string) string {
		return fmt.Sprintf("p10 / p50 in ms: %.2f / %.2f; bash -c true %.2f / %.2f", quantile(s[level][level], 0.1),
			s[level].median(level), quantile(s[level]["bash"], 0.1), s[level].median("bash"))
	}
	if rows[0].beside = skipped["namespaces"]; rows[0].beside == "" {
		with := s["namespaces"]
		ratio := with.ratio("namespaces", "bwrap")
		rows[0].checks = []check{atMost("≤ 1.0 × bubblewrap with the same mounts", 1, ratio, "%.2f ×")}
		rows[0].beside = fmt.Sprintf("%s; bubblewrap %.2f / %.2f, with an empty folder where the box has a layer over "+
			"~/.cache, and no filter of system calls",
			beside("namespaces"), quantile(with["bwrap"], 0.1), with.median("bwrap"))
	}
	if rows[1].beside = skipped["landlock"]; rows[1].beside == "" {
		over := s["landlock"].median("landlock") - s["landlock"].median("bash")
		rows[1].checks = []check{atMost("≤ 2.5 ms over bash -c true", 2.5, over, "%.2f ms")}
		rows[1].beside = beside("landlock")
	}
	return rows, nil
}

// project makes a repository where no box has a folder of its own: in the home.
func (b *bench) project() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(home, "hookd-bench-")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"hooks", "info", "objects", "refs"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, ".git", name), 0o755))
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, ".git", name), []byte(text), 0o644))
	}
	return dir, err
}

// in is a contender that starts a program in a folder, and takes the milliseconds until it has ended.
func in(dir, name string, args ...string) contender {
	return contender{name, func() (float64, error) {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, environment()
		begin := time.Now()
		err := cmd.Run()
		return float64(time.Since(begin).Microseconds()) / 1000, err
	}}
}

const mountInfo = "/proc/self/mountinfo"

// bubblewrap adds it to the contenders, with the mounts that a program of the box sees, and the machine does
// not. skip says why it cannot.
func bubblewrap(dir string, seen, program []string, list *[]contender) (skip string, err error) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		return "skipped: bubblewrap is not installed", nil
	}
	cmd := exec.Command(seen[0], seen[1:]...)
	cmd.Dir, cmd.Env = dir, environment()
	inside, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("read the mounts of a box: %w", err)
	}
	outside, err := os.ReadFile(mountInfo)
	if err != nil {
		return "", err
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(outside)) {
		known[mountOf(line).name()] = true
	}
	var mounts []mounted
	for line := range strings.Lines(string(inside)) {
		if m := mountOf(line); !known[m.name()] {
			mounts = append(mounts, m)
		}
	}
	slices.SortStableFunc(mounts, func(a, b mounted) int { return strings.Compare(a.at, b.at) }) // folders come first
	args := strings.Fields("bwrap --unshare-user --unshare-pid --unshare-net --unshare-ipc --ro-bind / /")
	for _, m := range mounts {
		args = append(args, m.wrapped()...)
	}
	c := in(dir, "bwrap", append(args, program...)...)
	if _, err := c.run(); err != nil {
		return fmt.Sprintf("skipped: bubblewrap makes no such box: %v", err), nil
	}
	*list = append(*list, c)
	return "", nil
}

// mounted is a line of mountinfo.
type mounted struct {
	device, root, at, kind string
	readOnly               bool
}

func mountOf(line string) mounted {
	before, after, _ := strings.Cut(line, " - ")
	f, kind := strings.Fields(before), strings.Fields(after)
	if len(f) < 6 || len(kind) == 0 {
		return mounted{}
	}
	return mounted{f[2], f[3], f[4], kind[0], strings.HasPrefix(f[5], "ro")}
}

func (m mounted) name() string { return m.device + m.root + m.at }

// wrapped are the arguments of bubblewrap for a mount.
func (m mounted) wrapped() []string {
	switch {
	case m.kind == "proc":
		return []string{"--proc", m.at}
	case m.kind == "devpts": // it mounts terminals only with a whole /dev
		return nil
	case m.kind == "tmpfs" && (m.root == "/file" || m.root == "/socket"): // covers
		return []string{"--ro-bind", "/dev/null", m.at}
	case m.kind == "tmpfs" || m.kind == "overlay":
		return []string{"--tmpfs", m.at}
	case m.readOnly:
		return []string{"--ro-bind", m.at, m.at}
	}
	return []string{"--bind", m.at, m.at}
}
