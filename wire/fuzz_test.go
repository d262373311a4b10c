package wire

import (
	"net/url"
	"testing"
	"time"
)

// FuzzQuery: whatever a URL asks of runs and statistics, it is refused with a
// hint or means the same when it is written again.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{
		"", "hook=a%26b&event=agent:*&limit=7", "since=1h&until=2026-01-02T03:04:05Z", "since=2026-01-02T03:04:05.000000006%2B01:00&before=18446744073709551615",
		"event=01jabcdefghjkmnpqrstvwxyz0&result=timeout", "limit=1001", "since=-1h", "since=9999999h", "until=%00", "hook=%zz;a=b", "since=9999-12-31T23:59:59-23:59", "since=0000-01-01T00:00:00%2B23:59",
	} {
		f.Add(q)
	}
	now := time.Unix(2e9, 0).UTC()
	f.Fuzz(func(t *testing.T, text string) {
		v, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		runs, bad := ParseRunQuery(v, now)
		refused(t, bad)
		if bad == nil {
			again, bad := ParseRunQuery(runs.Values(), now)
			if bad != nil || !again.Since.Equal(runs.Since) || !again.Until.Equal(runs.Until) {
				t.Fatalf("%+v is read again as %+v, %v", runs, again, bad)
			}
			again.Since, again.Until = runs.Since, runs.Until // as the clock of another zone
			if again != runs {
				t.Fatalf("%+v is read again as %+v", runs, again)
			}
			runs.Fits(Run{})
		}
		stats, bad := ParseStatsQuery(v, now)
		refused(t, bad)
		if bad == nil {
			again, bad := ParseStatsQuery(stats.Values(), now)
			if bad != nil || again.Hook != stats.Hook || !again.Since.Equal(stats.Since) || !again.Until.Equal(stats.Until) {
				t.Fatalf("%+v is read again as %+v, %v", stats, again, bad)
			}
		}
	})
}

func refused(t *testing.T, bad *Error) {
	t.Helper()
	if bad != nil && (bad.Code != CodeBadRequest || bad.Message == "" || bad.Hint == "") {
		t.Fatalf("refused with %+v", bad)
	}
}
