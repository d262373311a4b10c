package rawjson

import (
	"testing"
	"time"
)

func TestTimeIsAppendedAsFormatted(t *testing.T) {
	base := time.Date(2026, 11, 21, 23, 59, 59, 0, time.FixedZone("", 3600))
	for _, add := range []time.Duration{0, 1, 10, 999, time.Millisecond, 120 * time.Millisecond, time.Second - 1, time.Second, 1, time.Hour, 30 * 24 * time.Hour} {
		at := base.Add(add)
		if got, want := string(AppendTime(nil, at)), at.UTC().Format(time.RFC3339Nano); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, at := range []time.Time{{}, time.Unix(-1, 5), time.Date(12345, 1, 1, 0, 0, 0, 1, time.UTC)} {
		if got, want := string(AppendTime(nil, at)), at.UTC().Format(time.RFC3339Nano); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
