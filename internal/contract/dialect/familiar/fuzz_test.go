package familiar

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
)

// FuzzRead: whatever a hook of Familiar's prints and however it ends, only onFailure
// and exit 2 can stop anything, and only a hook that blocks.
func FuzzRead(f *testing.F) {
	for code := -1; code <= 3; code++ {
		for _, s := range []string{"", " text \n", `{"decision":"block","continue":false}`, "\xff\xfe", "\x1b[31m"} {
			f.Add(code*5, code, s, s, "", "deny", true, true)
			f.Add(code*3, code, s, "", "timed out", "warn", true, false)
			f.Add(code*7, code, s, s, "", "ignore", false, true)
		}
	}
	rows := events.All()
	f.Fuzz(func(t *testing.T, at, code int, stdout, stderr, failure, onError string, blocking, capture bool) {
		failure = strings.ToValidUTF8(failure, "?") // hookd's own words
		c := rows[int(uint(at)%uint(len(rows)))]
		p := Terms{Terms: verdict.Terms{Name: "h", Blocking: blocking, OnError: onError}, Capture: capture}
		a := Read(c, p, verdict.Output{ExitCode: code, Stdout: []byte(stdout), Stderr: []byte(stderr), Failure: failure})
		failed := failure != "" || code != 0 && code != 2
		v := verdict.Fold(c, nil, []verdict.Answer{a.Answer})
		switch {
		case a.Answer.Failure != "" || (a.Failure != "") != failed:
			t.Fatalf("failed %v: %+v", failed, a)
		case a.Aborts != (failed && blocking && onError == "deny"):
			t.Fatalf("aborts: %+v", a)
		case a.Skip != (blocking && failure == "" && code == 2):
			t.Fatalf("skips: %+v", a)
		case !v.Allowed && !(c.CanBlock && (a.Aborts || a.Skip)), a.Aborts && c.CanBlock && v.Allowed, !v.Continue:
			t.Fatalf("%s: %+v made %+v", c.Name, a, v)
		case a.Output != "" && (!capture || failed || code == 2):
			t.Fatalf("captured %q of %+v", a.Output, a)
		case len(a.Reason)+len(a.SystemMessage) > maxMessage+64+len(failure), utf8.ValidString(stderr+stdout) && !utf8.ValidString(a.Reason+a.SystemMessage):
			t.Fatalf("message %q %q", a.Reason, a.SystemMessage)
		}
	})
}
