package shims

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/wire"
)

// The plugins send a ping to a hookd that does not answer: where that has no answer they say
// so, instead of waiting for as long as hooks may take.
func TestStoppedDaemonIsTold(t *testing.T) {
	for name, alive := range map[string]bool{"stopped": false, "slow": true} {
		t.Run(name, func(t *testing.T) {
			socket := filepath.Join(hooktest.ShortDir(t), "s")
			l, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			asked, end := make(chan struct{}), make(chan struct{})
			defer close(end)
			var once sync.Once
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					if alive {
						go answerAfter(conn, asked, func() { once.Do(func() { close(asked) }) })
					} else {
						go func() { <-end; conn.Close() }()
					}
				}
			}()
			p := plug(t, "opencode", socket, "HOOKD_FAIL_CLOSED=1")
			text, want := fmt.Sprint(p.call("tool", bash("rm -rf /"))["thrown"]), "hookd could not check this"
			if alive {
				want = "no rm"
			}
			if !strings.Contains(text, want) {
				t.Errorf("got %s, want %s", text, want)
			}
			warned := fmt.Sprint(p.call("warned", nil)["warned"])
			if strings.Contains(warned, "answers nothing") == alive {
				t.Errorf("warned %s", warned)
			}
		})
	}
}

// answerAfter answers a ping at once, and an event when there was a ping.
func answerAfter(conn net.Conn, asked <-chan struct{}, ping func()) {
	defer conn.Close()
	for in := bufio.NewScanner(conn); in.Scan(); {
		if in.Text() == wire.PingLine {
			io.WriteString(conn, wire.PongLine)
			ping()
			continue
		}
		<-asked
		io.WriteString(conn, `{"ok":true,"event_id":"1","verdict":{"allowed":false,"continue":true,"message":"no rm"}}`+"\n")
	}
}
