package duration

import (
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 27, 14, 30, 0, 0, time.FixedZone("here", 3600)) // a Friday
	for text, want := range map[string]string{
		"2h":                   "2026-11-27T12:30:00+01:00",
		"7d":                   "2026-11-20T14:30:00+01:00",
		"2 hours ago":          "2026-11-27T12:30:00+01:00",
		"2 hours":              "2026-11-27T12:30:00+01:00",
		"an hour ago":          "2026-11-27T13:30:00+01:00",
		"3 Days Ago":           "2026-11-24T14:30:00+01:00",
		"last week":            "2026-11-20T14:30:00+01:00",
		"today":                "2026-11-27T00:00:00+01:00",
		"yesterday":            "2026-11-26T00:00:00+01:00",
		"yesterday 09:00":      "2026-11-26T09:00:00+01:00",
		"yesterday at 9am":     "2026-11-26T09:00:00+01:00",
		"monday":               "2026-11-23T00:00:00+01:00",
		"fri":                  "2026-11-20T00:00:00+01:00",
		"09:00":                "2026-11-27T09:00:00+01:00",
		"23:15":                "2026-11-26T23:15:00+01:00",
		"2026-11-02":           "2026-11-02T00:00:00+01:00",
		"2026-11-02 15:04":     "2026-11-02T15:04:00+01:00",
		"2026-11-02T15:04:05Z": "2026-11-02T15:04:05Z",
		"2 Nov 2026":           "2026-11-02T00:00:00+01:00",
	} {
		at, ok := Moment(text, now)
		if got := at.Format(time.RFC3339); !ok || got != want {
			t.Errorf("%q: got %s %v, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "soon", "-1h", "25:00", "yesterday-ish", "2 moons ago", "t", "last", "2026-13-01"} {
		if at, ok := Moment(text, now); ok {
			t.Errorf("%q is read as %s", text, at)
		}
	}
}
