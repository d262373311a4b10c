package duration

import (
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 27, 14, 30, 0, 0, time.FixedZone("here", 3600)) // a Friday
	for text, want := range map[string]string{
		"0":                    "1970-01-01T01:00:00+01:00",
		"30":                   "2026-11-27T14:29:30+01:00",
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

func TestSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"15m": 15 * time.Minute, "1 hour": time.Hour, "an hour": time.Hour, "30 minutes": 30 * time.Minute, "2 Days": 48 * time.Hour,
		"2 hours ago": 0, "hour": 0, "": 0, "yesterday": 0, "0 hours": 0,
	} {
		if got, err := Span(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestBack(t *testing.T) {
	for text, ok := range map[string]bool{"0": true, "1h": true, "yesterday": true, "2 hours ago": true, "2006-01-02": true, "9999-01-01": false, "sometime": false} {
		var b Back
		if err := b.Set(text); (err == nil) != ok || ok && b <= 0 {
			t.Errorf("%q: %v, %v", text, b, err)
		}
	}
}

func TestAhead(t *testing.T) {
	now := time.Date(2026, 3, 4, 10, 30, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"1h": time.Hour, "2 hours": 2 * time.Hour, "12:00": 90 * time.Minute, "until 12:00": 90 * time.Minute,
		"noon": 90 * time.Minute, "9am": 22*time.Hour + 30*time.Minute, "10:30": 24 * time.Hour,
		"midnight": 13*time.Hour + 30*time.Minute, "tomorrow": 13*time.Hour + 30*time.Minute,
		"tomorrow 09:00": 22*time.Hour + 30*time.Minute, "Tomorrow at 3 pm": 28*time.Hour + 30*time.Minute,
	} {
		if got, err := Ahead(text, now); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "soon", "yesterday", "2 hours ago", "25:00", "until", "tomorrow soon"} {
		if got, err := Ahead(text, now); err == nil {
			t.Errorf("%s: got %v, want an error", text, got)
		}
	}
}
