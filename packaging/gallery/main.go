// Command gallery writes the hooks that hookd brings along to a folder that does not
// exist yet, each whole: the files that several hooks share are in each of their
// folders.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookd/hookd/docs/gallery"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gallery DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gallery:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, name := range gallery.Names() {
		if err := gallery.Copy(name, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
