package api

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/events"
)

// MaxRuns is the largest RunQuery.Limit.
const MaxRuns = 1000

var results = []events.Result{events.ResultOK, events.ResultBlock, events.ResultFailed, events.ResultTimeout, events.ResultSpawnError}

// Values writes the query as GET /v1/runs reads it.
func (q RunQuery) Values() url.Values {
	v := url.Values{}
	set := func(key, value string) {
		if value != "" {
			v.Set(key, value)
		}
	}
	set("hook", q.Hook)
	set("event", q.Event)
	set("session", q.Session)
	set("agent", q.Agent)
	set("result", q.Result)
	if !q.Since.IsZero() {
		v.Set("since", q.Since.UTC().Format(time.RFC3339Nano))
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return v
}

// ParseRunQuery reads what Values wrote. A since may also be a duration: `1h`
// is one hour before now.
func ParseRunQuery(v url.Values, now time.Time) (RunQuery, *events.Error) {
	q := RunQuery{Hook: v.Get("hook"), Event: v.Get("event"), Session: v.Get("session"), Agent: v.Get("agent"), Result: v.Get("result")}
	if q.Result != "" && !slices.Contains(results, events.Result(q.Result)) {
		return q, badValue("result", q.Result, "one of "+resultNames())
	}
	if text := v.Get("since"); text != "" {
		since, ok := parseSince(text, now)
		if !ok {
			return q, badValue("since", text, "a time as 2006-01-02T15:04:05Z, or a duration as 1h")
		}
		q.Since = since
	}
	if text := v.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > MaxRuns {
			return q, badValue("limit", text, fmt.Sprintf("a number from 1 to %d", MaxRuns))
		}
		q.Limit = n
	}
	return q, nil
}

func parseSince(text string, now time.Time) (time.Time, bool) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), true
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, err == nil
}

func resultNames() string {
	names := make([]string, len(results))
	for i, r := range results {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

func badValue(key, value, want string) *events.Error {
	return &events.Error{Code: events.CodeBadRequest, Message: fmt.Sprintf("parameter %s is %q", key, value), Hint: "give " + want}
}
