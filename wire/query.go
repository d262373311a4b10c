package wire

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/duration"
)

// MaxRuns is the largest RunQuery.Limit.
const MaxRuns = 1000

var results = []Result{
	ResultOK, ResultDeny, ResultFailed, ResultTimeout, ResultSpawnError,
	ResultInterrupted, ResultDropped, ResultMerged,
}

// params are the parameters of a query that are texts, by their names.
type params map[string]*string

// values writes parameters that are not empty, and times that are not zero.
func (p params) values(since, until time.Time) url.Values {
	v := url.Values{}
	for key, text := range p {
		if *text != "" {
			v.Set(key, *text)
		}
	}
	for key, t := range map[string]time.Time{"since": since, "until": until} {
		if !t.IsZero() {
			v.Set(key, t.UTC().Format(time.RFC3339Nano))
		}
	}
	return v
}

// read reads parameters that values wrote.
func (p params) read(v url.Values) {
	for key, text := range p {
		*text = v.Get(key)
	}
}

func (q *RunQuery) params() params {
	return params{
		"hook": &q.Hook, "event": &q.Event, "event_id": &q.EventID, "session": &q.Session, "agent": &q.Agent,
		"result": (*string)(&q.Result), "tool": &q.Tool, "q": &q.Text,
	}
}

// Values writes the query as GET /v1/runs reads it.
func (q RunQuery) Values() url.Values {
	v := q.params().values(q.Since, q.Until)
	if q.Test {
		v.Set("test", "1")
	}
	setPage(v, "before", q.Before, q.Limit)
	return v
}

func setPage(v url.Values, key string, before uint64, limit int) {
	if before != 0 {
		v.Set(key, strconv.FormatUint(before, 10))
	}
	if limit != 0 {
		v.Set("limit", strconv.Itoa(limit))
	}
}

// Fits reports whether a run matches the query, apart from its limit.
func (q RunQuery) Fits(r Run) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	inText := holds(r.Subject, q.Text) || holds(r.Reason, q.Text) || holds(r.Error, q.Text)
	return is(q.Hook, r.Hook) && is(q.Event, r.Event) && is(q.EventID, r.EventID) &&
		(q.Session == "" || isSession(q.Session, r.SessionID)) &&
		is(string(q.Result), string(r.Result)) && is(q.Tool, r.Tool) && (q.Text == "" || inText) && q.Test == r.Test &&
		(q.Agent == "" || q.Agent == r.AgentID || q.Agent == r.AgentName || q.Agent == string(r.Dialect)) &&
		!r.Started.Before(q.Since) && (q.Until.IsZero() || r.Started.Before(q.Until)) &&
		(q.Before == 0 || r.Seq < q.Before)
}

// isSession reports whether a session is the session that is asked for, by its id or the
// end of that id.
func isSession(want, got string) bool {
	return want == got || len(want) >= 6 && strings.HasSuffix(got, want)
}

// ParseRunQuery reads the parameters that Values wrote. A since or until may also be a
// duration: `1h` is one hour before now. An event that is an event's id counts as
// event_id.
func ParseRunQuery(v url.Values, now time.Time) (q RunQuery, bad *Error) {
	q.params().read(v)
	if q.Result == "block" { // another word for it
		q.Result = ResultDeny
	}
	if IsID(q.Event) {
		q.EventID, q.Event = strings.ToUpper(q.Event), ""
	}
	if q.Result != "" && !slices.Contains(results, q.Result) {
		return q, badValue("result", string(q.Result), "one of "+resultNames())
	}
	if q.Test, bad = parseBool(v, "test"); bad != nil {
		return q, bad
	}
	if q.Since, q.Until, bad = parseSpan(v, now); bad != nil {
		return q, bad
	}
	q.Before, q.Limit, bad = parsePage(v, "before")
	return q, bad
}

// parsePage reads where a page begins, and its limit.
func parsePage(v url.Values, keys ...string) (before uint64, limit int, bad *Error) {
	for _, key := range keys {
		if text := v.Get(key); text != "" {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				return 0, 0, badValue(key, text, "the next of the answer before")
			}
			before = n
		}
	}
	if text := v.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > MaxRuns {
			return 0, 0, badValue("limit", text, fmt.Sprintf("a number from 1 to %d", MaxRuns))
		}
		limit = n
	}
	return before, limit, nil
}

// parseBool reads ?key, ?key=1, ?key=0; false when it is absent.
func parseBool(v url.Values, key string) (bool, *Error) {
	text := v.Get(key)
	if text == "" {
		return v.Has(key), nil
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		return false, badValue(key, text, "1 or 0")
	}
	return b, nil
}

// parseSpan reads since and until.
func parseSpan(v url.Values, now time.Time) (since, until time.Time, bad *Error) {
	for key, into := range map[string]*time.Time{"since": &since, "until": &until} {
		text := v.Get(key)
		if text == "" {
			continue
		}
		t, ok := parseSince(text, now)
		if !ok {
			return since, until, badValue(key, text, "a time such as yesterday, 09:00, 2 hours ago, 7d, 2006-01-02 or 2006-01-02T15:04:05Z")
		}
		*into = t
	}
	return since, until, nil
}

// groupings are the properties that statistics are counted by.
var groupings = []string{"hook", "agent", "tool", "day", "hour"}

func (q *StatsQuery) params() params { return params{"hook": &q.Hook, "by": &q.By} }

// Values writes the query as GET /v1/stats reads it.
func (q StatsQuery) Values() url.Values { return q.params().values(q.Since, q.Until) }

// ParseStatsQuery reads the parameters that Values wrote; times as in ParseRunQuery.
func ParseStatsQuery(v url.Values, now time.Time) (q StatsQuery, bad *Error) {
	q.params().read(v)
	if q.By != "" && !slices.Contains(groupings, q.By) {
		return q, badValue("by", q.By, "one of "+strings.Join(groupings, ", "))
	}
	q.Since, q.Until, bad = parseSpan(v, now)
	return q, bad
}

// Times are kept as nanoseconds since 1970 in 64 bits, which hold these years
// in every zone.
const firstYear, lastYear = 1679, 2260

func parseSince(text string, now time.Time) (time.Time, bool) {
	t, ok := duration.Moment(text, now)
	return t, ok && t.Year() >= firstYear && t.Year() <= lastYear
}

func resultNames() string {
	names := make([]string, len(results))
	for i, r := range results {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

func badValue(key, value, want string) *Error {
	message := fmt.Sprintf("parameter %s is %q", key, value)
	return &Error{Code: CodeBadRequest, Message: message, Hint: "give " + want, Field: key}
}
