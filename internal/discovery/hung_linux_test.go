package discovery

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/base/hangfs"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// The first scan ends while the programs of many hooks hang: it waits for all at
// once, and the hooks that stand in for them look at no file.
func TestFirstScanWithProgramsThatHang(t *testing.T) {
	m := hangfs.New(t, map[string]string{"guard": "#!/bin/sh\n"})
	const hooks = 40
	w := newWorld(t, func(o *Options) {
		o.Answer = 100 * time.Millisecond
		o.LastGood = func(u hook.Source) []byte {
			return fmt.Appendf(nil, "name: %s\nevents: pre_tool_use\ncommand: %s/guard\n", filepath.Base(u.Path), m.Dir)
		}
	})
	for i := range hooks {
		name := fmt.Sprint("guard", i)
		w.mkdir("hooks/" + name)
		w.write("hooks/"+name+"/HOOK.yaml", "name: "+name+"\nevents: pre_tool_use\ncommand: "+m.Dir+"/guard\n")
	}
	m.Hang()
	t.Cleanup(m.Answer)
	loaded := make(chan *hook.Snapshot, 1)
	go func() { loaded <- w.d.Load() }()
	select {
	case snap := <-loaded:
		for _, e := range snap.Entries {
			if e.Hook == nil || len(e.Hook.Seal.Refusals()) == 0 || e.Hook.OnError != hook.OnErrorDeny {
				t.Errorf("%s does not deny: %+v", e.Name, e)
			}
		}
		if len(snap.Entries) != hooks {
			t.Errorf("got %d hooks, want %d", len(snap.Entries), hooks)
		}
	case <-time.After(time.Minute):
		t.Error("the first scan waits for a file system that hangs")
	}
	m.Answer()
	for len(w.d.files.Hung()) > 0 {
		<-w.d.dirty // each call that returns late says so
	}
}
