package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hooktest"
)

func TestPythonVersion(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.3": "1.2.3", "1.2.3-rc.1": "1.2.3rc1", "1.2.3-beta2": "1.2.3b2", "1.2.3-4-g12ab34": "1.2.3.post4+g12ab34",
		"1.2.3-dirty": "1.2.3", "0.0.0-dev+12ab34": "0.0.0.dev0+0.0.0.dev.12ab34", "main/x": "0.0.0.dev0+main.x",
	} {
		if got := pythonVersion(version); got != want {
			t.Errorf("%s: got %s, want %s", version, got, want)
		}
	}
}

// The same files give the same wheel, and its programs can be run.
func TestWheelIsReproducible(t *testing.T) {
	folder := t.TempDir()
	for name, mode := range map[string]os.FileMode{"hookd": 0o755, "hookd-bridge": 0o755, "LICENSE": 0o644, "THIRD_PARTY": 0o644, "man/hookd.1.gz": 0o644} {
		hooktest.Write(t, filepath.Join(folder, name), "text of "+name, mode)
	}
	var wheels [][]byte
	for range 2 {
		path, err := write("1.2.3", "linux-amd64", time.Unix(1700000000, 0).UTC(), folder, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		wheels = append(wheels, text)
	}
	if !bytes.Equal(wheels[0], wheels[1]) {
		t.Error("the wheels differ")
	}
	z, err := zip.NewReader(bytes.NewReader(wheels[0]), int64(len(wheels[0])))
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string]os.FileMode{}
	for _, f := range z.File {
		modes[f.Name] = f.Mode()
	}
	if modes["hookd-1.2.3.data/scripts/hookd"] != 0o755 || modes["hookd-1.2.3.dist-info/RECORD"] != 0o644 {
		t.Errorf("got %v", modes)
	}
	if _, err := write("1.2.3", "plan9-amd64", time.Now(), folder, t.TempDir()); err == nil {
		t.Error("a wheel for a system that hookd is not built for")
	}
}
