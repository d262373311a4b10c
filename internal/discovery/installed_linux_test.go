package discovery

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/hookd/hookd/internal/hooks/hook"
)

// A program or an interpreter that is installed later is noticed, in a folder that is made for it, too.
func TestInstalledLater(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Read.Path = filepath.Join(filepath.Dir(o.Root), "bin") + ":/usr/bin:/bin" })
	w.hook("hooks/absolute", "absolute", "")
	w.write("hooks/absolute/run.sh", "#!"+w.path("opt/python")+"\n")
	w.hook("hooks/env", "env", "")
	w.write("hooks/env/run.sh", "#!/usr/bin/env no-such-python\n")
	w.hook("hooks/word", "word", "")
	w.write("hooks/word/HOOK.yaml", "name: word\nevents: agent:end\ncommand: no-such-guard --now\n")
	w.run()
	startable := func(name string, want bool) {
		w.await(fmt.Sprint(name, " can be started: ", want), func(s *hook.Snapshot) bool {
			e := entry(s, name)
			return e != nil && e.Hook != nil && e.Hook.NoStart != want && len(e.Problems) == 0 == want
		})
	}
	for name, program := range map[string]string{
		"absolute": "opt/python", "env": "bin/no-such-python", "word": "bin/no-such-guard",
	} {
		startable(name, false)
		w.mkdir(filepath.Dir(program))
		w.write(program, "#!/bin/sh\n")
		startable(name, true)
	}
}
