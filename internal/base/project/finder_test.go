package project

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// A folder is looked at once, and answered from memory after that.
func TestFinderRemembers(t *testing.T) {
	var looks atomic.Int32
	f := newFinder(func(string) place { looks.Add(1); return place{root: "/root"} })
	for range 10 {
		if got := f.Root("/root/sub"); got != "/root" {
			t.Fatalf("it is in %q", got)
		}
	}
	if n := looks.Load(); n != 1 {
		t.Errorf("%d looks", n)
	}
	if f.Root("") != "" || f.Root("relative") != "" || looks.Load() != 1 {
		t.Error("a path that is not absolute was looked at")
	}
}

// A later event sees a change on the disk, and no event waits.
func TestFinderLooksAgain(t *testing.T) {
	var root atomic.Value
	root.Store("/a")
	f := newFinder(func(string) place { return place{root: root.Load().(string)} })
	f.Root("/a/sub")
	root.Store("/a/sub")
	hooktest.Until(t, "the new root is known", func() bool { return f.Root("/a/sub") == "/a/sub" })
}

// Folders that do not answer are known by their paths, hold up others only for
// the limit, and never take more than the looks that there are.
func TestFinderHangs(t *testing.T) {
	var inside atomic.Int32
	mended := make(chan struct{})
	f := newFinder(func(string) place {
		inside.Add(1)
		<-mended
		return place{root: "/other"}
	})
	f.Trust([]string{"/a", "/a/b", "/c"})
	var all sync.WaitGroup
	for i := range 4 * maxLooks {
		all.Go(func() {
			dir := fmt.Sprintf("/a/b/%d", i)
			for range 3 {
				if got := f.Root(dir); got != "/a/b" {
					t.Errorf("%s is in %q", dir, got)
				}
			}
		})
	}
	all.Wait()
	if got := f.Root("/nowhere"); got != "" {
		t.Errorf("a folder of no project is in %q", got)
	}
	if n := inside.Load(); n > maxLooks {
		t.Errorf("%d looks hang", n)
	}
	close(mended)
	hooktest.Until(t, "folders that answer again are known", func() bool { return f.Root("/a/b/0") == "/other" })
}

// Not more folders are remembered than the limit.
func TestFinderIsBounded(t *testing.T) {
	f := newFinder(func(dir string) place { return place{root: dir} })
	for i := range 2*maxKnown + 10 {
		f.Root(fmt.Sprintf("/%d", i))
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	if n := len(f.known); n > maxKnown {
		t.Errorf("%d are remembered", n)
	}
}

// A repository that brings hooks along is known when an event came from it, and
// no longer when it is trusted or has none.
func TestFinderSeesHooks(t *testing.T) {
	base := real(t)
	with, without := filepath.Join(base, "with"), filepath.Join(base, "without")
	hooktest.GitCommit(t, with, map[string]string{"sub/file": "x", HooksDir + "/a/HOOK.yaml": "x"})
	hooktest.GitCommit(t, without, map[string]string{"file": "x"})
	f := NewFinder()
	seen := func(want ...string) func() bool {
		return func() bool {
			for _, dir := range []string{with, filepath.Join(with, "sub"), without, base, "relative", ""} {
				f.See(dir, time.Now())
			}
			return slices.Equal(f.Untrusted(), want)
		}
	}
	hooktest.Until(t, "the repository with hooks is seen", seen(with))
	f.Trust([]string{with})
	if got := f.Untrusted(); len(got) > 0 {
		t.Errorf("trusted, and still listed: %v", got)
	}
	f.Trust(nil)
	hooktest.Must(t, os.RemoveAll(filepath.Join(with, ".hookd")))
	hooktest.Until(t, "it is seen that the hooks are gone", func() bool {
		f.Root(with) // looks again sooner
		f.Root(filepath.Join(with, "sub"))
		return seen()()
	})
	f.See("/never/waits", time.Now())
	if n := len(f.Untrusted()); n > 0 {
		t.Errorf("%d of no repository", n)
	}
}

// BenchmarkRoot measures the cost of a project to an event whose folder is known.
func BenchmarkRoot(b *testing.B) {
	f := newFinder(func(string) place { return place{root: "/root"} })
	f.Root("/root/sub")
	f.known["/root/sub"].at = time.Now().Add(time.Hour)
	for b.Loop() {
		f.Root("/root/sub")
	}
}
