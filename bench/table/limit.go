package main

import (
	"bufio"
	"embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed limit/*.c
var sources embed.FS

// compile builds one of the C programs.
func (b *bench) compile(name string, flags ...string) (string, error) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return "", missing{"no C compiler (cc)"}
	}
	text, err := sources.ReadFile("limit/" + name + ".c")
	if err != nil {
		return "", err
	}
	source, to := filepath.Join(b.dir, name+".c"), filepath.Join(b.dir, name)
	if err := os.WriteFile(source, text, 0o600); err != nil {
		return "", err
	}
	out, err := exec.Command(cc, append(flags, "-O2", "-o", to, source)...).CombinedOutput()
	if err != nil {
		return "", missing{fmt.Sprintf("cc %s: %s", name, strings.TrimSpace(string(out)))}
	}
	return to, nil
}

func (b *bench) noopGlibc() (string, error) { return b.compile("noop", "-static") }

func (b *bench) noopBare() (string, error) {
	return b.compile("bare", "-static", "-nostdlib", "-ffreestanding")
}

func (b *bench) spawner() (string, error) { return b.compile("spawn") }

// output runs a program that prints one number.
func output(path string, args ...string) (float64, error) {
	cmd := exec.Command(path, args...)
	cmd.Env = environment()
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}

// asker is a program that for each byte on its stdin does something once and
// prints how many nanoseconds it took.
type asker struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func newAsker(path string, args ...string) (*asker, error) {
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Stderr = environment(), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &asker{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

func (a *asker) ask() (time.Duration, error) {
	if _, err := a.in.Write([]byte{1}); err != nil {
		return 0, err
	}
	text, err := a.out.ReadString('\n')
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return time.Duration(n), err
}

func (a *asker) stop() {
	a.in.Close()
	a.cmd.Wait()
}
