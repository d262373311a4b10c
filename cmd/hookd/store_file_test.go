package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// held makes the hook note wait for the file go, so that its events stay
// pending. It ends with the home, as the daemon may have been killed.
func (h *home) held() {
	h.script("note", "events: [agent:step]\norder: serial\ntimeout: 60s", "until [ -e "+h.path("go")+" ]; do [ -d "+h.path(".")+" ] || exit; sleep 0.05; done\n"+
		`set -- $HOOK_EVENT_DATA; echo "${1#*:}" | cut -d, -f1 >> `+h.path("ran"))
}

func TestDeletedDatabaseLosesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.held()
	h.serve()
	for range 20 {
		h.send(100)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(h.path("hookd.db" + suffix)); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		h.send(100)
	}
	if len(h.acked) != 25 {
		t.Errorf("%d of 25 events were accepted", len(h.acked))
	}
	line := h.waitLogged(`"level":"error"`, `"what":"gone"`, h.path("hookd.db"), `"pending_lost":0`)
	if strings.Contains(line, `"pending_kept":0`) {
		t.Errorf("nothing was kept: %s", line)
	}
	h.decides()
	h.end(syscall.SIGKILL)
	h.write("go", "")
	h.serve()
	h.ranAll()
}

func TestCorruptDatabaseIsMovedAside(t *testing.T) {
	t.Parallel()
	for i, tt := range []struct {
		name   string
		damage func(text []byte)
	}{
		{"header", func(text []byte) { fill(text[:100]) }},
		{"all_but_the_header", func(text []byte) { fill(text[4096:]) }},
		{"middle", func(text []byte) { fill(text[len(text)/4 : len(text)*3/4]) }},
		{"cut_off", func(text []byte) { clear(text[4096:]) }},
	} {
		if i%2 != 0 && !hooktest.All() {
			continue // the others are damaged alike
		}
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			h.serve()
			for range 30 {
				h.send(2000)
			}
			h.ranAll()
			h.end(syscall.SIGTERM)
			text, err := os.ReadFile(h.path("hookd.db"))
			if err != nil {
				t.Fatal(err)
			}
			tt.damage(text)
			h.write("hookd.db", string(text))
			h.serve()
			h.decides()
			if r := h.send(100); r.status != 202 {
				t.Errorf("an event got %d %s", r.status, r.body)
			}
			h.hookd("history", "--limit", "1000") // what is damaged shows when it is read
			line := h.waitLogged(`"level":"error"`, `"what":"corrupt"`, `"path":"`+h.path("hookd.db")+`"`, `"moved_to":"`+h.path("hookd.db.corrupt-"))
			moved, _ := filepath.Glob(h.path("hookd.db.corrupt-*T[0-9]*"))
			if len(moved) == 0 || !strings.Contains(line, moved[0]) {
				t.Errorf("%q is there, the log says %s", moved, line)
			}
			hooktest.Until(t, "it is ready", h.ready)
			h.send(100)
			h.end(syscall.SIGKILL)
			h.serve()
			h.ranAll()
		})
	}
}

func fill(text []byte) { copy(text, bytes.Repeat([]byte{0xA5}, len(text))) }

// userVersion is where a database has the number of its schema:
// https://sqlite.org/fileformat.html#user_version_number
const userVersion = 60

func TestNewerDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.serve()
	h.send(100)
	h.ranAll()
	h.end(syscall.SIGTERM)
	text, err := os.ReadFile(h.path("hookd.db"))
	if err != nil {
		t.Fatal(err)
	}
	ours := binary.BigEndian.Uint32(text[userVersion:])
	binary.BigEndian.PutUint32(text[userVersion:], ours+1)
	h.write("hookd.db", string(text))
	out, code := h.hookd("serve")
	for _, want := range []string{h.path("hookd.db"), "newer hookd", fmt.Sprint("version ", ours+1), fmt.Sprint("up to ", ours), "mv "} {
		if !strings.Contains(out, want) {
			t.Errorf("serve says %q, want %q in it", out, want)
		}
	}
	if code != exitRejected {
		t.Errorf("exit code %d, want %d", code, exitRejected)
	}
	if after, err := os.ReadFile(h.path("hookd.db")); err != nil || !bytes.Equal(after, text) {
		t.Errorf("the file was changed: %v", err)
	}
}

// The oldest version is 0: a file that is there and has nothing in it.
func TestOlderDatabaseIsOpened(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write("hookd.db", "")
	h.serve()
	h.send(100)
	h.ranAll()
	hooktest.Until(t, "the runs in the history", func() bool { // a run's record follows its last line
		out, _ := h.hookd("history")
		return strings.Contains(out, "note")
	})
}
