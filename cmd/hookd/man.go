//go:build man

package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// With the tag man the program writes its man pages into the folder of its first argument, and does
// nothing else. `make man` and packaging/package.sh build it so; no program that is installed is linked
// with the writer. The date of the pages is SOURCE_DATE_EPOCH.
func init() {
	root := newRoot(newApp(os.Stdin, os.Stdout, os.Stderr))
	sayPaths(root)
	root.DisableAutoGenTag = true
	each(root, func(cmd *cobra.Command) { cmd.DisableAutoGenTag = true })
	dir := os.Args[1]
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "hookd", Manual: "hookd"}, dir)
	}
	if err != nil {
		_, _ = os.Stderr.WriteString("write the man pages: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}
