// Package duration reads durations the one way in which hookd takes them, in files,
// flags and queries: 500ms, 30s, 1h30m, 7d, or a plain number of seconds. It is
// pure, and never rounds a wrong text to a right one.
package duration

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Parse reads a duration. A number without a unit is seconds; d is a day of 24
// hours and stands first (7d, 1d12h). The error names the text.
func Parse(text string) (time.Duration, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return fromSeconds(seconds, text)
	}
	days, rest, hasDays := strings.Cut(text, "d")
	if !hasDays {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, wrong(text)
		}
		return d, nil
	}
	n, err := strconv.ParseUint(days, 10, 32)
	if err != nil || n > uint64(math.MaxInt64/day) {
		return 0, wrong(text)
	}
	d := time.Duration(n) * day
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || rest[0] == '-' || rest[0] == '+' || d+more < d {
		return 0, wrong(text)
	}
	return d + more, nil
}

func fromSeconds(seconds float64, text string) (time.Duration, error) {
	if math.IsNaN(seconds) || math.Abs(seconds) >= math.MaxInt64/float64(time.Second) {
		return 0, wrong(text)
	}
	return time.Duration(math.Round(seconds * float64(time.Second))), nil
}

func wrong(text string) error {
	return fmt.Errorf("%q is not a duration such as 30s, 1h, 7d or a number of seconds", text)
}

// Value is a duration as a flag, for package flag as for pflag.
type Value time.Duration

// Set reads the text that a person typed.
func (v *Value) Set(text string) error {
	d, err := Parse(text)
	if err == nil {
		*v = Value(d)
	}
	return err
}

func (v *Value) String() string {
	if v == nil || *v == 0 {
		return ""
	}
	return time.Duration(*v).String()
}

// Type is the word that help shows in place of the value.
func (v *Value) Type() string { return "duration" }

// Back is how far back from now a moment is, as a flag: what Moment reads, and not in the future.
type Back time.Duration

// Set reads the text that a person typed.
func (b *Back) Set(text string) error {
	now := time.Now()
	at, ok := Moment(text, now)
	if !ok || at.After(now) {
		return fmt.Errorf("%q is no time in the past such as 7d, yesterday, 09:00, 2 hours ago or 2006-01-02", text)
	}
	*b = Back(now.Sub(at))
	return nil
}

func (b *Back) String() string { return (*Value)(b).String() }

// Type is the word that help shows in place of the value.
func (b *Back) Type() string { return "time" }

// Millis writes a number of milliseconds as people read it, three digits or so.
func Millis(ms float64) string {
	d := time.Duration(ms * float64(time.Millisecond))
	switch {
	case d < 100*time.Microsecond:
		return d.Round(time.Microsecond).String()
	case d < 10*time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < 10*time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
