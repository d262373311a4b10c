package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzShebang: whatever a script entryNames with, the programs that it is said to run
// are a few absolute paths.
func FuzzShebang(f *testing.F) {
	dir := f.TempDir()
	program := filepath.Join(dir, "python3")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{
		"", "#!/bin/sh\n", "#! /usr/bin/env  -S A=b python3 -u\nx", "#!/usr/bin/env python3\r\n", "#!python3\n", "#!\n/bin/sh", "#!/bin/sh", "#!" + strings.Repeat(" ", 300) + "/bin/sh\n",
		"\x7fELF", "#!/a\x00b\n", "#!/usr/bin/env ../x\n", "#!/usr/bin/env /bin/sh\n", "\xef\xbb\xbf#!/bin/sh\n", "#!/usr/bin/env -\n",
	} {
		f.Add([]byte(s))
	}
	script := filepath.Join(f.TempDir(), "run")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(script, text, 0o700); err != nil {
			t.Fatal(err)
		}
		f := New().Add(Files{}, Launch{Program: script, Dir: dir, Path: dir})
		if len(f.Run) == 0 || f.Run[0] != script || len(f.Run)+len(f.Read) > 20 {
			t.Fatalf("%q: %+v", text, f)
		}
		for _, part := range append(f.Run, f.Read...) {
			if !filepath.IsAbs(part) {
				t.Fatalf("%q: runs %q", text, part)
			}
		}
	})
}
