package catalog

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/hooks/pack"
	"github.com/hookd/hookd/internal/hooks/policy"
)

// signer makes bundles.
type signer struct {
	key    ed25519.PrivateKey
	public string
}

func newSigner(t testing.TB) signer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	public, err := policy.Generate(file)
	hooktest.Must(t, err)
	key, err := policy.PrivateKey(file)
	hooktest.Must(t, err)
	return signer{key, public}
}

// bundle makes a bundle of n hooks, which share a file. The timeout of the first few of
// them is the sequence, in seconds; their scripts have it, too.
func (s signer) bundle(t testing.TB, sequence, n, few int) []byte {
	t.Helper()
	c := pack.Content{{Path: "hooks/lib.sh", Data: []byte("# shared\n")}}
	for i := range n {
		says := 1
		if i < few {
			says = sequence
		}
		dir := fmt.Sprintf("hooks/guard-%04d/", i)
		c = append(c, pack.File{Path: dir + "HOOK.yaml", Data: fmt.Appendf(nil, `# yaml-language-server: $schema=https://example.org/hook.schema.json
name: guard-%04d
description: no command line with word %d
events: [pre_tool_use]
matcher: Bash
command: ./run.sh
timeout: %ds
`, i, i, says)},
			pack.File{Path: dir + "run.sh", Exec: true, Data: fmt.Appendf(nil,
				"#!/bin/sh\n# of %d\ngrep -q 'word-%d ' && { echo 'this is not for agents' >&2; exit 2; }\nexit 0\n", says, i)})
	}
	text, err := policy.Build(c, "acme", uint64(sequence), nil, s.key)
	hooktest.Must(t, err)
	return text
}

// A bundle that the right key has signed may be hostile all the same: it is refused as a whole,
// and the bundle in force stays so.
func TestHostileBundlesAreRefused(t *testing.T) {
	s, file := newSigner(t), filepath.Join(t.TempDir(), "acme.bundle")
	good := pack.File{Path: "hooks/a/HOOK.yaml", Data: []byte("name: a\nevents: x\ntype: script\nscript: \"true\"\n")}
	definition := func(text string) pack.Content {
		return pack.Content{{Path: "hooks/a/HOOK.yaml", Data: []byte(text)}}
	}
	beside := func(path string) pack.Content { return pack.Content{good, {Path: path}} }
	bomb := "name: a\na: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for n := 'b'; n <= 'k'; n++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", n, n, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", n-1), 10), ", "))
	}
	var empty pack.Content
	for i := range pack.MaxFiles {
		empty = append(empty, pack.File{Path: fmt.Sprintf("hooks/a/%d", i)})
	}
	for name, c := range map[string]struct {
		content pack.Content
		want    string
	}{
		"an alias bomb":         {definition(bomb + "events: *k\ncommand: ./x\n"), "HOOK.yaml"},
		"lists in lists":        {definition("name: a\nevents: " + strings.Repeat("[", 200_000)), "HOOK.yaml"},
		"a large definition":    {definition("# " + strings.Repeat("x", 1<<20)), "larger than"},
		"too many empty files":  {append(empty, good), "more than 10000 files"},
		"folders in folders":    {beside("hooks/a/" + strings.Repeat("d/", 400) + "x"), "folders deep"},
		"a long name":           {beside("hooks/a/" + strings.Repeat("x", 1000)), "too long"},
		"one name in two cases": {beside("hooks/A/HOOK.yaml"), "the same name"},
		"one name in two forms": {append(beside("hooks/\u00e9/HOOK.yaml"), pack.File{Path: "hooks/e\u0301/run.sh"}), "the same name"},
		"a file and a folder":   {beside("hooks/a/HOOK.yaml/x"), "a file and a folder"},
		"one name of two hooks": {append(beside("hooks/a/x"), pack.File{Path: "hooks/b/HOOK.yaml", Data: good.Data}), "both called"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config.Default(t.TempDir())
			hooktest.Must(t, os.WriteFile(file, s.bundle(t, 1, 3, 3), 0o600))
			_, err := SetPolicy(t.Context(), cfg, file, s.public, "")
			hooktest.Must(t, err)
			text, err := policy.Build(c.content, "acme", 2, nil, s.key)
			if err == nil {
				hooktest.Must(t, os.WriteFile(file, text, 0o600))
				_, err = SetPolicy(t.Context(), cfg, file, s.public, "")
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if snap := Scan(cfg); len(snap.Runnable()) != 3 {
				t.Errorf("%d hooks are in force, want the 3 from before", len(snap.Runnable()))
			}
			left, err := filepath.Glob(filepath.Join(cfg.PolicyDir(), "2-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// A file that one hook has alone concerns that hook, a file that all share concerns all.
func TestWhatDiffersFromThePolicy(t *testing.T) {
	s, bundle := newSigner(t), filepath.Join(t.TempDir(), "acme.bundle")
	hooktest.Must(t, os.WriteFile(bundle, s.bundle(t, 1, 3, 3), 0o600))
	for file, want := range map[string]int{"hooks/guard-0001/run.sh": 1, "hooks/lib.sh": 3} {
		c := config.Default(t.TempDir())
		r, err := SetPolicy(t.Context(), c, bundle, s.public, "")
		hooktest.Must(t, err)
		hooktest.Must(t, os.WriteFile(filepath.Join(r.Current.Dir, file), []byte("#!/bin/sh\n# another\n"), 0o700))
		refused := 0
		for _, h := range Scan(c).Runnable() {
			if len(h.Seal.Refusals()) > 0 {
				refused++
			}
		}
		if refused != want {
			t.Errorf("%s: runs of %d hooks are refused, want %d", file, refused, want)
		}
	}
}

// A bundle that is one hook itself is compared with its signed content, too.
func TestABundleOfOneHook(t *testing.T) {
	s, bundle, c := newSigner(t), filepath.Join(t.TempDir(), "acme.bundle"), config.Default(t.TempDir())
	text, err := policy.Build(pack.Content{
		{Path: "HOOK.yaml", Data: []byte("name: a\nevents: pre_tool_use\ncommand: ./run.sh\n")},
		{Path: "run.sh", Exec: true, Data: []byte("#!/bin/sh\nexit 0\n")}, {Path: "lib/words", Data: []byte("x\n")},
	}, "acme", 1, nil, s.key)
	hooktest.Must(t, err)
	hooktest.Must(t, os.WriteFile(bundle, text, 0o600))
	r, err := SetPolicy(t.Context(), c, bundle, s.public, "")
	hooktest.Must(t, err)
	for _, want := range []int{0, 1} {
		hooks := Scan(c).Runnable()
		if len(hooks) != 1 || len(hooks[0].Seal.Refusals()) != want {
			t.Fatalf("%d hooks, the first refused for %v, want %d", len(hooks), hooks[0].Seal.Refusals(), want)
		}
		hooktest.Must(t, os.WriteFile(filepath.Join(r.Current.Dir, "lib", "words"), []byte("y\n"), 0o600))
	}
}

// BenchmarkTakeUp has a daemon's hooks follow a bundle of 1,000 hooks to the next one, from
// the bytes of its source to a snapshot with its hooks. In "changed" each hook is another
// one, in "one" a single one is. On a busy machine compare cpu-ms, which is of all threads.
func BenchmarkTakeUp(b *testing.B) {
	for name, changed := range map[string]int{"changed": 1000, "one": 1} {
		b.Run(name, func(b *testing.B) {
			s := newSigner(b)
			c, file := config.Default(b.TempDir()), filepath.Join(b.TempDir(), "acme.bundle")
			next := func(sequence int) {
				hooktest.Must(b, os.WriteFile(file, s.bundle(b, sequence, 1000, changed), 0o600))
			}
			next(1)
			_, err := SetPolicy(b.Context(), c, file, s.public, "")
			hooktest.Must(b, err)
			home := policy.NewHome(c.PolicyDir())
			opts, ready := Options(c, home), make(chan struct{})
			opts.Quiet, opts.Max = time.Hour, time.Hour // no scan but that of Load
			opts.Watching = func() { close(ready) }
			d := discovery.New(opts)
			hooktest.Run(b, func(ctx context.Context) error { return d.Run(ctx, nil) })
			<-ready
			var update, load, processor time.Duration
			for sequence := 2; b.Loop(); sequence++ {
				b.StopTimer()
				hooktest.Must(b, home.Sweep()) // as the daemon does after each
				next(sequence)
				b.StartTimer()
				begin, used := time.Now(), processorTime(b)
				_, err := home.Update(b.Context(), CheckPolicy(c, d.Readings()))
				hooktest.Must(b, err)
				updated := time.Now()
				snap := d.Load()
				update, load = update+updated.Sub(begin), load+time.Since(updated)
				processor += processorTime(b) - used
				if n := len(snap.Runnable()); n != 1000 || snap.Runnable()[0].Timeout != time.Duration(sequence)*time.Second {
					b.Fatalf("%d hooks are active", n)
				}
			}
			b.ReportMetric(float64(update.Microseconds())/1000/float64(b.N), "update-ms")
			b.ReportMetric(float64(load.Microseconds())/1000/float64(b.N), "load-ms")
			b.ReportMetric(float64(processor.Microseconds())/1000/float64(b.N), "cpu-ms")
		})
	}
}

// processorTime is the processor time that this process has used so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var use syscall.Rusage
	hooktest.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &use))
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
