package policy

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/hooks/pack"
)

// signer is a key, and its text as `policy set` takes it.
type signer struct {
	key    ed25519.PrivateKey
	public string
}

func newSigner(t testing.TB) signer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	public, err := Generate(file)
	hooktest.Must(t, err)
	key, err := PrivateKey(file)
	hooktest.Must(t, err)
	return signer{key, public}
}

// bundle makes one with a hook that prints the bundle's sequence.
func (s signer) bundle(t testing.TB, sequence uint64, expires *time.Time) []byte {
	t.Helper()
	c := pack.Content{
		{Path: "hooks/guard/HOOK.yaml", Data: []byte("name: guard\nevents: [pre_tool_use]\ncommand: ./run.sh\n")},
		{Path: "hooks/guard/run.sh", Exec: true, Data: fmt.Appendf(nil, "#!/bin/sh\necho %d >&2\nexit 2\n", sequence)},
	}
	text, err := Build(c, "acme", sequence, expires, s.key)
	hooktest.Must(t, err)
	return text
}

func anything(string, Bundle) error { return nil }

// inForce is the sequence of the policy of a home, whose files are as they were signed.
func inForce(t testing.TB, h Home) uint64 {
	t.Helper()
	c, set, err := h.Current()
	hooktest.Must(t, err)
	if !set {
		return 0
	}
	if bad := c.Differs(c.Manifest.Files); bad != "" {
		t.Errorf("%s is not as it was signed", bad)
	}
	return c.Manifest.Sequence
}

// serve serves with do until the test ends.
func serve(t testing.TB, do http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(do)
	t.Cleanup(s.Close)
	return s.URL + "/acme.bundle"
}

func TestABundleIsTheSameEachTime(t *testing.T) {
	s := newSigner(t)
	if a, b := s.bundle(t, 7, nil), s.bundle(t, 7, nil); !bytes.Equal(a, b) {
		t.Error("two builds of the same hooks differ")
	}
	b, err := Read(s.bundle(t, 7, nil), s.key.Public().(ed25519.PublicKey))
	if err != nil || b.Manifest.Sequence != 7 || len(b.Content) != 2 || !b.Content[1].Exec {
		t.Errorf("read %+v, %v", b.Manifest, err)
	}
}

// No byte of a bundle can be another one, and none can be missing or added.
func TestEachByteOfABundleCounts(t *testing.T) {
	s := newSigner(t)
	text, key := s.bundle(t, 1, nil), s.key.Public().(ed25519.PublicKey)
	for i := range text {
		changed := bytes.Clone(text)
		changed[i] ^= 1
		if _, err := Read(changed, key); err == nil && !sameSignature(changed, text) {
			t.Fatalf("byte %d of %d was changed unnoticed: %q", i, len(text), changed[i])
		}
		if _, err := Read(text[:i], key); err == nil {
			t.Fatalf("cut off after %d of %d bytes unnoticed", i, len(text))
		}
	}
	if _, err := Read(append(text, 'x'), key); err == nil {
		t.Error("a byte behind the last file was not noticed")
	}
}

// sameSignature reports that the texts differ in bits of base64 that say nothing.
func sameSignature(a, b []byte) bool {
	x, _, err := split(a)
	y, _, err2 := split(b)
	return err == nil && err2 == nil && bytes.Equal(x.Text, y.Text) && bytes.Equal(x.Signature, y.Signature)
}

// A bundle with a forbidden file is refused although the right key has signed the bundle.
func TestABundleHoldsOnlyPlainFiles(t *testing.T) {
	s := newSigner(t)
	for _, path := range []string{
		"../evil", "/etc/passwd", "hooks/../../evil", "hooks/a/./b", "hooks//b", ".git/config", "hooks/a\\b", "hooks/\x1b[2J",
		"hooks/guard/HOOK.yaml/x",
	} {
		m := fmt.Sprintf(`{"name":"acme","sequence":1,"files":[{"path":"hooks/guard/HOOK.yaml","size":1,"sha256":%q},`+
			`{"path":%s,"size":1,"sha256":%q}]}`, sumOfX, strconv.Quote(path), sumOfX)
		if _, err := Read(s.sign(m, "xx"), s.key.Public().(ed25519.PublicKey)); err == nil {
			t.Errorf("%q was accepted", path)
		}
	}
	link := pack.Content{{Path: "guard/HOOK.yaml", Data: []byte("x")}, {Path: "guard/l", Link: "HOOK.yaml"}}
	if _, err := Build(link, "acme", 1, nil, s.key); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("a link: %v", err)
	}
	for _, m := range []string{
		`{"name":"acme","sequence":1,"files":[{"path":"guard/HOOK.yaml","size":-1,"sha256":""}]}`,
		`{"name":"acme","sequence":1,"files":[{"path":"guard/HOOK.yaml","size":9223372036854775807,"sha256":""}]}`,
		`{"name":"acme","sequence":0,"files":[]}`, `{"name":"../x","sequence":1,"files":[]}`, `null`, `[`,
		`{"name":"acme","sequence":1,"files":[],"more":true}`,
	} {
		if _, err := Read(s.sign(m, ""), s.key.Public().(ed25519.PublicKey)); err == nil {
			t.Errorf("%s was accepted", m)
		}
	}
}

const sumOfX = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"

// sign makes a bundle of any manifest.
func (s signer) sign(manifest, files string) []byte {
	signature := base64.StdEncoding.EncodeToString(ed25519.Sign(s.key, signed([]byte(manifest))))
	return []byte(magic + manifest + "\n" + signature + "\n" + files)
}

// Whatever a server does, the last good bundle stays in force, and one line says why.
func TestHostileServersChangeNothing(t *testing.T) {
	s, other := newSigner(t), newSigner(t)
	past := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	elsewhere := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(s.bundle(t, 9, nil)) })
	elsewhere = strings.Replace(elsewhere, "127.0.0.1", "localhost", 1)
	stuck := make(chan struct{})
	t.Cleanup(func() { close(stuck) })
	cases := map[string]struct {
		do   http.HandlerFunc
		want string
	}{
		"another key":  {func(w http.ResponseWriter, _ *http.Request) { w.Write(other.bundle(t, 9, nil)) }, "not of the key"},
		"older":        {func(w http.ResponseWriter, _ *http.Request) { w.Write(s.bundle(t, 4, nil)) }, "sequence 4 after 5"},
		"expired":      {func(w http.ResponseWriter, _ *http.Request) { w.Write(s.bundle(t, 9, &past)) }, "it expired at"},
		"an error":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "500"},
		"nothing":      {func(http.ResponseWriter, *http.Request) {}, "no bundle of hookd"},
		"a page":       {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>login</html>") }, "no bundle"},
		"another host": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere, http.StatusFound) }, "another host, localhost"},
		"round about": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) },
			"without end"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			text := s.bundle(t, 9, nil)
			w.Header().Set("Content-Length", strconv.Itoa(len(text)))
			w.Write(text[:len(text)-20])
		}, "cut off"},
		"hangs at once": {func(_ http.ResponseWriter, r *http.Request) { hang(r, stuck) }, "does not answer in time"},
		"hangs later": {func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte(magic))
			w.(http.Flusher).Flush()
			hang(r, stuck)
		}, "does not answer in time"},
		"says 10 GB": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10737418240")
			w.Write([]byte(magic))
		}, "larger than"},
		"sends without end": {func(w http.ResponseWriter, _ *http.Request) {
			for chunk := bytes.Repeat([]byte("x"), 1<<20); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, "larger than"},
		"a gzip bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			io.CopyN(z, zeros{}, 1<<30)
			z.Close()
		}, "as gzip"},
		"304 that was not asked for": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }, "304"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var bad atomic.Bool
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if bad.Load() {
					c.do(w, r)
				} else {
					w.Write(s.bundle(t, 5, nil))
				}
			})
			h := NewHome(t.TempDir())
			_, err := h.Set(t.Context(), url, s.public, "", "", anything)
			hooktest.Must(t, err)
			bad.Store(true)
			patient := h.wait
			if strings.HasPrefix(name, "hangs") {
				h.wait = 300 * time.Millisecond
			}
			_, err = h.Update(t.Context(), anything)
			h.wait = patient
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("want one line with %q: %v", c.want, err)
			}
			now, _, _ := h.Current()
			if inForce(t, h) != 5 || now.State.Error != err.Error() {
				t.Errorf("%d is in force; state says %q", inForce(t, h), now.State.Error)
			}
			bad.Store(false)
			if r, err := h.Update(t.Context(), anything); err != nil || r.Changed || r.Current.State.Error != "" {
				t.Errorf("after that: %+v, %v", r.Current.State, err)
			}
		})
	}
}

func hang(r *http.Request, until chan struct{}) {
	select {
	case <-r.Context().Done():
	case <-until:
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Each of these is no way back: another sequence, unset and set again, a lost bundle.
func TestThereIsNoWayBack(t *testing.T) {
	s := newSigner(t)
	h, file := NewHome(t.TempDir()), filepath.Join(t.TempDir(), "acme.bundle")
	set := func(sequence uint64) error {
		hooktest.Must(t, os.WriteFile(file, s.bundle(t, sequence, nil), 0o600))
		_, err := h.Set(t.Context(), file, s.public, "", "", anything)
		return err
	}
	hooktest.Must(t, set(3))
	hooktest.Must(t, set(5))
	if err := set(4); err == nil {
		t.Error("4 took the place of 5")
	}
	hooktest.Must(t, h.Unset())
	if err := set(4); err == nil || inForce(t, h) != 0 {
		t.Errorf("after unset 4 was set: %v", err)
	}
	hooktest.Must(t, set(5))
	c := pack.Content{{Path: "guard/HOOK.yaml", Data: []byte("name: guard\n")}}
	text, err := Build(c, "acme", 5, nil, s.key)
	hooktest.Must(t, err)
	hooktest.Must(t, os.WriteFile(file, text, 0o600))
	if _, err := h.Update(t.Context(), anything); err == nil || !strings.Contains(err.Error(), "another one with the sequence 5") {
		t.Errorf("another bundle with the same sequence: %v", err)
	}
	if inForce(t, h) != 5 {
		t.Error("5 is not in force any more")
	}
}

func TestA304SavesTheBundle(t *testing.T) {
	s, sent := newSigner(t), 0
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		if r.Header.Get("If-None-Match") == `"one"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent++
		w.Write(s.bundle(t, 1, nil))
	})
	h := NewHome(t.TempDir())
	_, err := h.Set(t.Context(), url, s.public, "", "", anything)
	hooktest.Must(t, err)
	for range 3 {
		if r, err := h.Update(t.Context(), anything); err != nil || r.Changed || r.Current.State.ETag != `"one"` {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if sent != 1 || inForce(t, h) != 1 {
		t.Errorf("the bundle was sent %d times", sent)
	}
}

// A week without a network changes nothing, and a bundle that expired meanwhile stays in force.
func TestOfflineTheLastGoodStays(t *testing.T) {
	s, dir := newSigner(t), t.TempDir()
	soon := time.Now().Add(time.Second).UTC().Truncate(time.Second).Add(time.Second)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write(s.bundle(t, 2, &soon))
	}))
	_, err := NewHome(dir).Set(t.Context(), server.URL+"/b", s.public, "", "", anything)
	hooktest.Must(t, err)
	server.Close()
	hooktest.Until(t, "it expires", func() bool {
		c, _, err := NewHome(dir).Current() // as after a restart
		return err == nil && c.Manifest.Expired(time.Now())
	})
	for range 10 {
		if _, err := NewHome(dir).Update(t.Context(), anything); err == nil {
			t.Fatal("a server that is gone has answered")
		}
	}
	if inForce(t, NewHome(dir)) != 2 {
		t.Error("it is not in force any more")
	}
	_, err = NewHome(t.TempDir()).Set(t.Context(), server.URL+"/b", s.public, "", "", anything)
	if err == nil {
		t.Error("it was set without a server")
	}
}

func TestAFolderHasTheNewest(t *testing.T) {
	s, other, dir := newSigner(t), newSigner(t), t.TempDir()
	for _, n := range []uint64{2, 10, 9} {
		hooktest.Write(t, filepath.Join(dir, fmt.Sprintf("%d.bundle", n)), string(s.bundle(t, n, nil)), 0o644)
	}
	hooktest.Write(t, filepath.Join(dir, "z.bundle"), string(other.bundle(t, 99, nil)), 0o644)
	h := NewHome(t.TempDir())
	_, err := h.Set(t.Context(), dir, s.public, "", "", anything)
	hooktest.Must(t, err)
	if got := inForce(t, h); got != 10 {
		t.Errorf("%d is in force", got)
	}
}

// Files that were changed on disk are written again from the signed bytes; a bundle that was
// changed, too, is no source of the files.
func TestRepair(t *testing.T) {
	s, h := newSigner(t), NewHome(t.TempDir())
	file := filepath.Join(t.TempDir(), "b")
	hooktest.Must(t, os.WriteFile(file, s.bundle(t, 1, nil), 0o600))
	_, err := h.Set(t.Context(), file, s.public, "", "", anything)
	hooktest.Must(t, err)
	c, _, err := h.Current()
	hooktest.Must(t, err)
	run := filepath.Join(c.Dir, "hooks", "guard", "run.sh")
	for name, harm := range map[string]func() error{
		"changed":       func() error { return os.WriteFile(run, []byte("exit 0"), 0o700) },
		"removed":       func() error { return os.RemoveAll(c.Dir) },
		"not a program": func() error { return os.Chmod(run, 0o600) },
		"a link":        func() error { return errors.Join(os.Remove(run), os.Symlink("/bin/true", run)) },
	} {
		hooktest.Must(t, harm())
		if c.Differs(c.Manifest.Files) == "" {
			t.Errorf("%s: not noticed", name)
		}
		if differed, err := h.Repair(); err != nil || differed == "" {
			t.Errorf("%s: %q, %v", name, differed, err)
		}
		inForce(t, h)
	}
	hooktest.Must(t, os.WriteFile(run, []byte("exit 0"), 0o700))
	hooktest.Must(t, os.WriteFile(c.Dir+Ending, newSigner(t).bundle(t, 1, nil), 0o600))
	if _, err := h.Repair(); err == nil {
		t.Error("it was repaired from another bundle")
	}
}

// A bundle with hooks that cannot be read is refused as a whole.
func TestWhatCannotBeReadIsRefused(t *testing.T) {
	s, h := newSigner(t), NewHome(t.TempDir())
	file := filepath.Join(t.TempDir(), "b")
	hooktest.Must(t, os.WriteFile(file, s.bundle(t, 1, nil), 0o600))
	_, err := h.Set(t.Context(), file, s.public, "", "", anything)
	hooktest.Must(t, err)
	hooktest.Must(t, os.WriteFile(file, s.bundle(t, 2, nil), 0o600))
	refuse := func(string, Bundle) error { return errors.New("guard/HOOK.yaml: no") }
	if _, err := h.Update(t.Context(), refuse); err == nil || inForce(t, h) != 1 {
		t.Errorf("%v; %d is in force", err, inForce(t, h))
	}
	left, err := filepath.Glob(filepath.Join(h.dir, ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := h.Update(t.Context(), anything); err != nil || inForce(t, h) != 2 {
		t.Errorf("%v; %d is in force", err, inForce(t, h))
	}
}

func TestSources(t *testing.T) {
	for text, ok := range map[string]bool{
		"https://example.org/a.bundle": true, "http://127.0.0.1:1/a": true, "http://[::1]:1/a": true, "./a.bundle": true,
		"http://example.org/a": false, "ftp://example.org/a": false, "https://user:secret@example.org/a": false,
		"https://": false, "file:///etc/passwd": false,
	} {
		if _, err := CheckSource(text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	s := newSigner(f)
	f.Add(s.bundle(f, 1, nil))
	f.Add([]byte(magic + "{}\nAA==\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if b, err := Peek(text); err == nil {
			b.Manifest.HookFolders()
		}
		if b, err := Read(text, s.key.Public().(ed25519.PublicKey)); err == nil && !bytes.HasPrefix(text, []byte(magic)) {
			t.Errorf("accepted %q as %+v", text, b.Manifest)
		}
	})
}

// BenchmarkTakeUp puts a bundle of 1,000 hooks in force, from a file.
func BenchmarkTakeUp(b *testing.B) {
	s := newSigner(b)
	var c pack.Content
	for i := range 1000 {
		dir := fmt.Sprintf("hooks/guard-%d/", i)
		c = append(c, pack.File{Path: dir + "HOOK.yaml", Data: fmt.Appendf(nil, "name: guard-%d\nevents: [x]\ncommand: ./run\n", i)},
			pack.File{Path: dir + "run", Exec: true, Data: []byte("#!/bin/sh\nexit 0\n")})
	}
	text, err := Build(c, "acme", 1, nil, s.key)
	hooktest.Must(b, err)
	file := filepath.Join(b.TempDir(), "acme.bundle")
	hooktest.Must(b, os.WriteFile(file, text, 0o600))
	for b.Loop() {
		if _, err := NewHome(b.TempDir()).Set(context.Background(), file, s.public, "", "", anything); err != nil {
			b.Fatal(err)
		}
	}
}

// The earlier content of a policy.json says nothing of another text, nor of another home.
func TestAKnownTextIsThatTextAlone(t *testing.T) {
	s, file := newSigner(t), filepath.Join(t.TempDir(), "acme.bundle")
	hooktest.Must(t, os.WriteFile(file, s.bundle(t, 1, nil), 0o600))
	h := NewHome(t.TempDir())
	_, err := h.Set(t.Context(), file, s.public, "", "", anything)
	hooktest.Must(t, err)
	text, err := os.ReadFile(h.File())
	hooktest.Must(t, err)
	other := NewHome(t.TempDir())
	hooktest.Must(t, os.WriteFile(other.File(), text, 0o600))
	if c, _, err := other.Current(); err != nil || filepath.Dir(c.Dir) != filepath.Dir(other.File()) {
		t.Errorf("another home has its files in %s, %v", c.Dir, err)
	}
	signature := bytes.Index(text, []byte(`"signature":"`)) + len(`"signature":"`)
	changed := bytes.Clone(text)
	changed[signature] = 'A'
	if text[signature] == 'A' {
		changed[signature] = 'B'
	}
	hooktest.Must(t, os.WriteFile(h.File(), changed, 0o600))
	if _, _, err := h.Current(); !errors.Is(err, ErrKey) {
		t.Errorf("another signature: %v", err)
	}
	hooktest.Must(t, os.WriteFile(h.File(), text, 0o600))
	if got := inForce(t, h); got != 1 {
		t.Errorf("%d is in force after it was put back", got)
	}
}
