package wire

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/duration"
)

func (q *DecisionQuery) params() params {
	return params{
		"decision": &q.Decision, "tool": &q.Tool, "agent": &q.Agent, "session": &q.Session, "hook": &q.Hook,
		"event": &q.Event, "event_id": &q.EventID, "cwd": &q.Cwd, "q": &q.Text, "rewrote": &q.Rewrote,
		"result": &q.Result, "undo": &q.Undo, "path": &q.Path, "host": &q.Host,
	}
}

// Values writes the query as GET /v1/decisions reads it.
func (q DecisionQuery) Values() url.Values {
	v := q.params().values(q.Since, q.Until)
	for _, text := range q.Without {
		v.Add("without", text)
	}
	for sign, took := range map[string]time.Duration{">": q.Longer, "<": q.Shorter} {
		if took > 0 {
			v.Add("took", sign+took.String())
		}
	}
	if q.Parts {
		v.Set("parts", "1")
	}
	if q.Shadow {
		v.Set("shadow", "1")
	}
	setPage(v, "after", q.Before, q.Limit)
	return v
}

// ParseDecisionQuery reads the parameters that Values wrote; times as in ParseRunQuery.
// A page goes on after the next of the page before: with after, or with before as runs
// do.
func ParseDecisionQuery(v url.Values, now time.Time) (q DecisionQuery, bad *Error) {
	q.params().read(v)
	q.EventID, q.Without = strings.ToUpper(q.EventID), v["without"]
	for _, word := range List(q.Result) {
		if !slices.Contains(ends, strings.TrimPrefix(word, "-")) {
			return q, badValue("result", word, "ran, failed or none, or several by comma")
		}
	}
	if !slices.Contains([]string{"", "yes", "no"}, q.Undo) {
		return q, badValue("undo", q.Undo, "yes or no")
	}
	for _, text := range v["took"] {
		if bad = q.parseTook(text); bad != nil {
			return q, bad
		}
	}
	if IsID(q.Event) {
		q.EventID, q.Event = strings.ToUpper(q.Event), ""
	}
	for _, word := range List(q.Decision) {
		if !slices.Contains(Outcomes(), Outcome(strings.TrimPrefix(word, "-"))) {
			return q, badValue("decision", word, "disobeyed, not asked, deny, ask, rewrite, allow, context or none, or several by comma")
		}
	}
	if q.Parts, bad = parseBool(v, "parts"); bad != nil {
		return q, bad
	}
	if q.Shadow, bad = parseBool(v, "shadow"); bad != nil {
		return q, bad
	}
	if q.Since, q.Until, bad = parseSpan(v, now); bad != nil {
		return q, bad
	}
	q.Before, q.Limit, bad = parsePage(v, "before", "after")
	return q, bad
}

// parseTook reads >1s or <20ms.
func (q *DecisionQuery) parseTook(text string) *Error {
	for sign, to := range map[string]*time.Duration{">": &q.Longer, "<": &q.Shorter} {
		if rest, is := strings.CutPrefix(text, sign); is {
			if d, err := duration.Parse(rest); err == nil && d > 0 {
				*to = d
				return nil
			}
		}
	}
	return badValue("took", text, "as >1s or <20ms")
}

// Values writes the query as GET /v1/decisions/counts reads it.
func (q CountQuery) Values() url.Values {
	v := q.DecisionQuery.Values()
	v.Del("limit")
	if q.Every > 0 {
		v.Set("every", q.Every.String())
	}
	return v
}

// mostBuckets is how many stretches of time one answer counts at most.
const mostBuckets = 2000

// ParseCountQuery reads the parameters that Values wrote; times as in ParseRunQuery.
// With every there must be a since, so that the answer has an end.
func ParseCountQuery(v url.Values, now time.Time) (q CountQuery, bad *Error) {
	if q.DecisionQuery, bad = ParseDecisionQuery(v, now); bad != nil {
		return q, bad
	}
	text := v.Get("every")
	if text == "" {
		return q, nil
	}
	every, err := duration.Parse(text)
	if err != nil || every < time.Second {
		return q, badValue("every", text, "a duration of 1s or more, as 1m")
	}
	until := q.Until
	if until.IsZero() || until.After(now) {
		until = now
	}
	if q.Since.IsZero() || until.Sub(q.Since) > mostBuckets*every {
		return q, badValue("every", text, "a since with it that is at most 2000 times as long ago")
	}
	q.Every = every
	return q, nil
}

func (q *EventQuery) params() params {
	return params{
		"session": &q.Session, "event": &q.Event, "agent": &q.Agent, "tool": &q.Tool, "cwd": &q.Cwd, "q": &q.Text,
	}
}

// Values writes the query as GET /v1/accepted reads it.
func (q EventQuery) Values() url.Values {
	v := q.params().values(q.Since, q.Until)
	setPage(v, "before", q.Before, q.Limit)
	return v
}

// ParseEventQuery reads the parameters that Values wrote; times as in ParseRunQuery.
func ParseEventQuery(v url.Values, now time.Time) (q EventQuery, bad *Error) {
	q.params().read(v)
	if q.Since, q.Until, bad = parseSpan(v, now); bad != nil {
		return q, bad
	}
	q.Before, q.Limit, bad = parsePage(v, "before")
	return q, bad
}

// List returns the values of a list by comma, without blanks around them; nil of
// an empty one.
func List(text string) (list []string) {
	for value := range strings.SplitSeq(text, ",") {
		if value = strings.TrimSpace(value); value != "" {
			list = append(list, value)
		}
	}
	return list
}

// Fits reports whether a decision is among the decisions asked for, whatever the limit.
func (q DecisionQuery) Fits(d *Decision) bool {
	any := func(want string, got ...string) bool {
		return AnyOf(List(want), func(w string) bool { return slices.Contains(got, w) })
	}
	said := AnyOf(List(q.Decision), func(word string) bool { return slices.Contains(d.Words(), Outcome(word)) })
	inSession := AnyOf(List(q.Session), func(want string) bool { return isSession(want, d.SessionID) })
	isPart := d.PartOf != "" && d.Guarded != GuardedDisobeyed && !q.Parts && q.EventID == ""
	return !isPart && said && any(q.Tool, d.Tool) &&
		any(q.Agent, d.AgentID, d.AgentName, string(d.Dialect)) &&
		inSession && any(q.Hook, d.Hooks()...) && any(q.Event, d.Event, string(d.Kind)) &&
		(q.EventID == "" || q.EventID == d.EventID) && Within(q.Cwd, d.Cwd) &&
		(q.Text == "" || holds(d.Subject, q.Text) || holds(d.Reason, q.Text)) && (!q.Shadow || len(d.Shadow) > 0) &&
		q.fitsMore(d) &&
		!d.Time.Before(q.Since) && (q.Until.IsZero() || d.Time.Before(q.Until)) && (q.Before == 0 || d.Seq < q.Before)
}

// fitsMore is Fits for texts that are left out, changes and durations.
func (q DecisionQuery) fitsMore(d *Decision) bool {
	for _, text := range q.Without {
		if holds(d.Subject, text) || holds(d.Reason, text) {
			return false
		}
	}
	if !AnyOf(List(q.Result), func(want string) bool { return want == d.ended() }) ||
		!AnyOf(List(q.Path), func(want string) bool { return names(d.Subject, want, PathBefore, PathAfter) }) ||
		!AnyOf(List(q.Host), func(want string) bool { return names(d.Subject, want, HostBefore, HostAfter) }) ||
		q.Undo != "" && (q.Undo == "yes") != (d.Kept != nil && d.Kept.Files > 0) {
		return false
	}
	took := time.Duration(d.DurationMS * float64(time.Millisecond))
	return (q.Rewrote == "" || len(d.Rewrote) > 0 && (q.Rewrote == "yes" || holds(d.NewSubject, q.Rewrote))) &&
		(q.Longer == 0 || took > q.Longer) && (q.Shorter == 0 || took < q.Shorter)
}

// ends are the words of DecisionQuery.Result.
var ends = []string{"ran", "failed", "none"}

func (d *Decision) ended() string {
	switch {
	case d.Ran == nil:
		return "none"
	case d.Ran.Failed:
		return "failed"
	}
	return "ran"
}

// Characters that may stand before and after a path, or a host, in a subject; so may its begin and its end.
const (
	PathBefore = " \"'=:/,<>("
	PathAfter  = " \"'/:;,)<>|&"
	HostBefore = " \"'=:/@.,("
	HostAfter  = " \"'/:?#;,)|&"
)

// names reports whether a text has a name between such characters, in any case of ASCII letters.
func names(text, name, before, after string) bool {
	text, name = lower(text), lower(name)
	for at := 0; ; at++ {
		i := strings.Index(text[at:], name)
		if i < 0 || name == "" {
			return false
		}
		at += i
		end := at + len(name)
		if (at == 0 || strings.IndexByte(before, text[at-1]) >= 0 || name[0] == '/') &&
			(end == len(text) || strings.IndexByte(after, text[end]) >= 0 || strings.HasSuffix(name, "/")) {
			return true
		}
	}
}

// AnyOf reports whether one value of a list fits, and none of those that begin with -. With nothing but the
// latter in it, each other value fits.
func AnyOf(list []string, fits func(value string) bool) bool {
	wanted, found := false, false
	for _, value := range list {
		if not, is := strings.CutPrefix(value, "-"); is {
			if fits(not) {
				return false
			}
			continue
		}
		wanted, found = true, found || fits(value)
	}
	return found || !wanted
}

// Within reports whether a folder is a folder in a list by comma, or below such a
// folder; an empty list has all.
func Within(folders, cwd string) bool {
	return AnyOf(List(folders), func(folder string) bool {
		folder = strings.TrimSuffix(folder, "/")
		return cwd == folder || strings.HasPrefix(cwd, folder+"/")
	})
}

// holds reports whether text has part, whatever the case of ASCII letters.
func holds(text, part string) bool { return strings.Contains(lower(text), lower(part)) }

// lower is as the history compares: letters beyond ASCII stay as they are.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

var sessionStates = []string{SessionWorking, SessionWaiting, SessionQuiet, SessionIdle, SessionEnded}

func (q *SessionQuery) params() params {
	return params{"agent": &q.Agent, "session": &q.Session, "cwd": &q.Cwd, "state": &q.State}
}

// Values writes the query as GET /v1/sessions reads it.
func (q SessionQuery) Values() url.Values {
	v := q.params().values(q.Since, q.Until)
	setPage(v, "", 0, q.Limit)
	return v
}

// ParseSessionQuery reads the parameters that Values wrote; times as in ParseRunQuery.
func ParseSessionQuery(v url.Values, now time.Time) (q SessionQuery, bad *Error) {
	q.params().read(v)
	if q.State != "" && !slices.Contains(sessionStates, q.State) {
		return q, badValue("state", q.State, "one of "+strings.Join(sessionStates, ", "))
	}
	if q.Since, q.Until, bad = parseSpan(v, now); bad != nil {
		return q, bad
	}
	_, q.Limit, bad = parsePage(v)
	return q, bad
}

// Fits reports whether a session is among the sessions asked for, whatever the limit.
func (q SessionQuery) Fits(s *Session) bool {
	agent := q.Agent == "" || slices.Contains([]string{s.AgentID, s.AgentName, string(s.Dialect)}, q.Agent)
	session := q.Session == "" || isSession(q.Session, s.SessionID)
	return agent && session && Within(q.Cwd, s.Cwd) && (q.State == "" || q.State == s.State) &&
		!s.Last.Before(q.Since) && (q.Until.IsZero() || s.Last.Before(q.Until))
}

// Values writes the query as GET /v1/fleet/decisions reads it.
func (q FleetQuery) Values() url.Values {
	v := q.DecisionQuery.Values()
	v.Del("after")
	if q.Machine != "" {
		v.Set("machine", q.Machine)
	}
	if q.After > 0 {
		v.Set("through", strconv.FormatUint(q.After, 10))
	}
	return v
}

// ParseFleetQuery reads the parameters that Values wrote; times as in ParseRunQuery.
func ParseFleetQuery(v url.Values, now time.Time) (q FleetQuery, bad *Error) {
	if q.DecisionQuery, bad = ParseDecisionQuery(v, now); bad != nil {
		return q, bad
	}
	q.Machine = v.Get("machine")
	if text := v.Get("through"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return q, badValue("through", text, "the through of the answer before")
		}
		q.After = n
	}
	return q, nil
}
