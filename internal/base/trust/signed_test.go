package trust

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// A file that is not as it was signed is refused, whether it was so when it was sealed or
// has become so since; size and times may be the same. That holds for files of root, too,
// and for files that hooks share.
func TestSignedFiles(t *testing.T) {
	const text = "#!/bin/sh\n"
	for name, harm := range map[string]func(path string) error{
		"other bytes": func(path string) error {
			info, err := os.Stat(path)
			return errors.Join(err, os.WriteFile(path, []byte("#!/bin/ls\n"), 0o700), os.Chtimes(path, time.Time{}, info.ModTime()))
		},
		"removed":            os.Remove,
		"not a program":      func(path string) error { return os.Chmod(path, 0o600) },
		"a link to the same": func(path string) error { return errors.Join(os.Rename(path, path+".x"), os.Symlink(path+".x", path)) },
		"a folder":           func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			folder, shared := filepath.Join(dir, "hook"), filepath.Join(dir, "lib.sh")
			for _, path := range []string{filepath.Join(folder, "run.sh"), shared} {
				for _, c := range []*Checker{New().Cached(), newChecker(uint32(os.Geteuid())+1, "/etc/passwd", "/etc/group")} {
					hooktest.Must(t, os.RemoveAll(path))
					hooktest.Write(t, path, text, 0o700)
					f := Files{
						Folder: folder, Own: []string{path}, Contents: true, Mend: "hookd policy update",
						Signed: map[string]Signed{path: {Sum: Sum([]byte(text)), Exec: true}},
					}
					added := f
					added.Own = nil
					if added = c.Add(added, Launch{Program: path, Dir: folder}); len(added.Own) == 0 {
						added.Own = f.Own // one of root
					}
					before := c.Seal(f)
					if bad := notSigned(before.Refusals()); bad != "" {
						t.Fatalf("%s is refused as it was signed", bad)
					}
					hooktest.Must(t, harm(path))
					if notSigned(c.uncached().Cached().Seal(added).Refusals()) != path {
						t.Errorf("%s was changed after its first line was read, and is not refused", path)
					}
					var changed *Changed
					if err := before.Check(); !errors.As(err, &changed) {
						t.Errorf("%s: the seal from before says %v", path, err)
					}
					if notSigned(c.uncached().Cached().Seal(f).Refusals()) != path {
						t.Errorf("%s is not refused", path)
					}
				}
			}
		})
	}
}

// notSigned is the file of the refusal that says so.
func notSigned(list []Refusal) string {
	for _, r := range list {
		if strings.Contains(r.Fact, "as it was signed") && r.Do == "hookd policy update" {
			return r.Path
		}
	}
	return ""
}
