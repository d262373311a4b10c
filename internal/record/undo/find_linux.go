package undo

import (
	"os"
	"path/filepath"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/wire"
)

// openFiles lists processes that still have the file open, though its name is gone.
func openFiles(path string) (found []wire.UndoFound) {
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil { // not reached: the pattern is good
		return nil
	}
	for _, link := range links {
		// A process may have closed it meanwhile.
		if target, err := os.Readlink(link); err == nil && target == path+" (deleted)" {
			f := foundFile("a process has it open: copy it now", link)
			f.Type = "cp " + link + " " + escape.Quote(filepath.Base(path)+".found")
			found = append(found, f)
		}
	}
	return found
}
