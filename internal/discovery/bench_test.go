package discovery

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// One scan of 10,000 folders, and the watches it asks for.
func BenchmarkScan(b *testing.B) {
	root := b.TempDir()
	for i := range 10_000 {
		dir := filepath.Join(root, fmt.Sprintf("h%05d", i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		for name, text := range map[string]string{"HOOK.yaml": yaml(fmt.Sprintf("hook-%d", i), "x"), "run.sh": "#!/bin/sh\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
				b.Fatal(err)
			}
		}
	}
	last := Scan(Options{Root: root}, nil)
	for b.Loop() {
		if s := Scan(Options{Root: root}, last); s != last {
			b.Fatal("nothing has changed")
		}
	}
}
