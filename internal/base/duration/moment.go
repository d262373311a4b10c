package duration

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// units are the words that people count time in, in the singular.
var units = map[string]time.Duration{
	"second": time.Second, "sec": time.Second, "minute": time.Minute, "min": time.Minute, "hour": time.Hour,
	"day": day, "week": 7 * day, "month": 30 * day,
}

// counts are the words for small numbers.
var counts = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}

// layouts are the dates and times that people write.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04",
	"2006-01-02", "2 Jan 2006", "2 January 2006", "Jan 2 2006",
}

// clocks are the times of a day.
var clocks = []string{"15:04:05", "15:04", "3:04pm", "3pm", "3:04 pm", "3 pm"}

// Moment reads a moment as people write it, in the zone of now: "2 hours ago", 7d (so long ago),
// today, yesterday, "yesterday 09:00", monday, 09:00 (the last one), 2026-01-02, "2026-01-02 15:04",
// or RFC 3339. 0 is before all records. ok is false for another text.
func Moment(text string, now time.Time) (at time.Time, ok bool) {
	if text == "0" {
		return time.Unix(0, 0).In(now.Location()), true
	}
	if d, err := Parse(text); err == nil && d >= 0 {
		return now.Add(-d), true
	}
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, true
		}
	}
	low := strings.ToLower(strings.TrimSpace(text))
	if d, is := ago(low); is {
		return now.Add(-d), true
	}
	if at, is := clock(low, midnight(now, 0)); is {
		if at.After(now) {
			at = at.AddDate(0, 0, -1)
		}
		return at, true
	}
	name, rest, _ := strings.Cut(strings.TrimPrefix(low, "last "), " ")
	from, is := dayNamed(name, now)
	if !is || rest == "" {
		return from, is
	}
	return clock(strings.TrimPrefix(strings.TrimSpace(rest), "at "), from)
}

// Span reads how long something is to be in force, as people write it: a duration, or "2 hours", "an hour".
func Span(text string) (time.Duration, error) {
	d, err := Parse(text)
	if err == nil {
		return d, nil
	}
	if words, is := ago(strings.ToLower(strings.TrimSpace(text))); is && words > 0 && !strings.Contains(text, "ago") {
		return words, nil
	}
	return 0, err
}

// Ahead reads how long something is to be in force from now on, as people write it: a span as Span reads it, or
// the time of its end: "12:00", "until 12:00" (the next one), noon, midnight, "tomorrow", "tomorrow 09:00".
func Ahead(text string, now time.Time) (time.Duration, error) {
	d, err := Span(text)
	if err == nil {
		return d, nil
	}
	low := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "until ")
	days := 0
	if rest, is := strings.CutPrefix(low, "tomorrow"); is {
		if days, low = 1, strings.TrimPrefix(strings.TrimSpace(rest), "at "); low == "" {
			low = "midnight"
		}
	}
	if named, is := hours[low]; is {
		low = named
	}
	at, is := clock(low, midnight(now, -days))
	if !is {
		return 0, fmt.Errorf("%q is no time to come such as 30m, 1h, 7d, 12:00, noon or tomorrow 09:00", text)
	}
	if days == 0 && !at.After(now) {
		at = at.AddDate(0, 0, 1)
	}
	return at.Sub(now), nil
}

// hours are the times of a day that have names.
var hours = map[string]string{"noon": "12:00", "midnight": "00:00"}

// ago reads "2 hours ago" and "last week".
func ago(text string) (time.Duration, bool) {
	if rest, is := strings.CutPrefix(text, "last "); is {
		d, known := units[rest]
		return d, known
	}
	words := strings.Fields(strings.TrimSuffix(text, " ago"))
	if len(words) != 2 {
		return 0, false
	}
	n, known := counts[words[0]]
	if !known {
		var err error
		if n, err = strconv.Atoi(words[0]); err != nil || n < 0 || n > 100_000 {
			return 0, false
		}
	}
	unit, known := units[strings.TrimSuffix(words[1], "s")]
	return time.Duration(n) * unit, known
}

// dayNamed returns when a day began that is named: today, yesterday, or the last one of a weekday.
func dayNamed(name string, now time.Time) (time.Time, bool) {
	switch name {
	case "today":
		return midnight(now, 0), true
	case "yesterday":
		return midnight(now, 1), true
	}
	for back := 1; back <= 7 && len(name) >= 3; back++ {
		if strings.HasPrefix(strings.ToLower(midnight(now, back).Weekday().String()), name) {
			return midnight(now, back), true
		}
	}
	return time.Time{}, false
}

// midnight is when the day began that was so many days before now.
func midnight(now time.Time, back int) time.Time {
	return time.Date(now.Year(), now.Month(), now.Day()-back, 0, 0, 0, 0, now.Location())
}

// clock reads a time of the day that begins at from.
func clock(text string, from time.Time) (time.Time, bool) {
	for _, layout := range clocks {
		if t, err := time.Parse(layout, text); err == nil {
			year, month, day := from.Date()
			return time.Date(year, month, day, t.Hour(), t.Minute(), t.Second(), 0, from.Location()), true
		}
	}
	return time.Time{}, false
}
