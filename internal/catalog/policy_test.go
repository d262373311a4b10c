package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/hooktest"
	"github.com/hookd/hookd/internal/pack"
	"github.com/hookd/hookd/internal/policy"
)

// signed makes a key, and a file with a bundle of n hooks, which share a file.
func signed(t testing.TB, n int) (bundle, key string) {
	t.Helper()
	dir := t.TempDir()
	key = filepath.Join(dir, "key")
	public, err := policy.Generate(key)
	hooktest.Must(t, err)
	secret, err := policy.PrivateKey(key)
	hooktest.Must(t, err)
	c := pack.Content{{Path: "hooks/lib.sh", Data: []byte("# shared\n")}}
	for i := range n {
		dir := fmt.Sprintf("hooks/guard-%d/", i)
		c = append(c, pack.File{Path: dir + "HOOK.yaml", Data: fmt.Appendf(nil, "name: guard-%d\nevents: [x]\ncommand: ./run\n", i)},
			pack.File{Path: dir + "run", Exec: true, Data: []byte("#!/bin/sh\nexit 0\n")})
	}
	text, err := policy.Build(c, "acme", 1, nil, secret)
	hooktest.Must(t, err)
	bundle = filepath.Join(dir, "acme.bundle")
	hooktest.Must(t, os.WriteFile(bundle, text, 0o600))
	return bundle, public
}

// A file that one hook has alone concerns that hook, one that all share concerns all.
func TestWhatDiffersFromThePolicy(t *testing.T) {
	bundle, key := signed(t, 3)
	for file, want := range map[string]int{"hooks/guard-1/run": 1, "hooks/lib.sh": 3} {
		c := config.Default(t.TempDir())
		r, err := SetPolicy(t.Context(), c, bundle, key)
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

// BenchmarkPolicy takes a bundle of 1,000 hooks up: "set" checks it and puts it in force,
// "scan" reads its hooks as a daemon then does.
func BenchmarkPolicy(b *testing.B) {
	bundle, key := signed(b, 1000)
	b.Run("set", func(b *testing.B) {
		for b.Loop() {
			if _, err := SetPolicy(b.Context(), config.Default(b.TempDir()), bundle, key); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("scan", func(b *testing.B) {
		c := config.Default(b.TempDir())
		if _, err := SetPolicy(b.Context(), c, bundle, key); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if s := Scan(c); len(s.Runnable()) != 1000 {
				b.Fatalf("%d hooks are active", len(s.Runnable()))
			}
		}
	})
}
