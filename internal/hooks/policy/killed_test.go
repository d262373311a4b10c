package policy

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/hooks/pack"
)

// followHome and followSource have the test binary take up the bundles of a folder in a
// home, one after the other, until it is killed.
const (
	followHome   = "POLICY_TEST_HOME"
	followSource = "POLICY_TEST_SOURCE"
	followKey    = "POLICY_TEST_KEY"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(followHome); dir != "" {
		fmt.Println(followAll(NewHome(dir), os.Getenv(followSource), os.Getenv(followKey)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// followAll prints the sequence of each bundle that is in force.
func followAll(h Home, source, key string) error {
	for sequence := uint64(1); ; sequence++ {
		r, err := h.Set(context.Background(), filepath.Join(source, fmt.Sprint(sequence)), key, "", "", anything)
		if err == nil {
			err = h.Sweep()
		}
		if err != nil {
			return err
		}
		fmt.Println(r.Current.Manifest.Sequence)
	}
}

// Whenever a process is killed that takes bundles up, one of them is in force as a whole:
// the last that it told of, or the one after that.
func TestKilledWhileItTakesABundleUp(t *testing.T) {
	s, source := newSigner(t), t.TempDir()
	const bundles, hooks = 400, 20
	for sequence := uint64(1); sequence <= bundles; sequence++ {
		var c pack.Content
		for i := range hooks {
			c = append(c, pack.File{Path: fmt.Sprintf("hooks/g%d/HOOK.yaml", i), Data: fmt.Appendf(nil, "# %d\n", sequence)})
		}
		text, err := Build(c, "acme", sequence, nil, s.key)
		hooktest.Must(t, err)
		hooktest.Must(t, os.WriteFile(filepath.Join(source, fmt.Sprint(sequence)), text, 0o600))
	}
	for round := range hooktest.Amount(12, 4) {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), followHome+"="+dir, followSource+"="+source, followKey+"="+s.public)
		out, err := cmd.StdoutPipe()
		hooktest.Must(t, err)
		hooktest.Must(t, cmd.Start())
		lines, told := bufio.NewScanner(out), uint64(0)
		for told < uint64(1+round) && lines.Scan() {
			_, err := fmt.Sscan(lines.Text(), &told)
			hooktest.Must(t, err)
		}
		hooktest.Must(t, cmd.Process.Kill()) // anywhere in what comes next
		for lines.Scan() {
			_, err := fmt.Sscan(lines.Text(), &told)
			hooktest.Must(t, err)
		}
		_ = cmd.Wait() // it was killed
		h := NewHome(dir)
		if got := inForce(t, h); got != told && got != told+1 {
			t.Errorf("%d is in force, and %d was said to be", got, told)
		}
		_, err = h.Set(t.Context(), filepath.Join(source, fmt.Sprint(bundles)), s.public, "", "", anything)
		hooktest.Must(t, err)
		hooktest.Must(t, h.Sweep())
		if got := inForce(t, h); got != bundles {
			t.Errorf("%d is in force after the next one", got)
		}
	}
}
