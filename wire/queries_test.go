package wire

import (
	"net/url"
	"reflect"
	"testing"
	"time"
)

// Each query is read as it was written.
func TestQueriesAreReadAsWritten(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	since, until := now.Add(-time.Hour), now.Add(-time.Minute)
	decisions := DecisionQuery{
		Decision: "deny,ask", Tool: "Bash", Agent: "claude-code", Session: "s", Hook: "guard", Event: "PreToolUse",
		EventID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Cwd: "/w", Text: "rm", Shadow: true, Result: "ran,-failed", Undo: "yes", Path: "/w", Host: "h", Since: since, Until: until, Before: 7, Limit: 9,
	}
	asked := EventQuery{
		Session: "s", Event: "PreToolUse", Agent: "a", Tool: "Bash", Cwd: "/w", Text: "rm", Since: since, Until: until,
		Before: 7, Limit: 9,
	}
	sessions := SessionQuery{Agent: "a", Session: "s", Cwd: "/w", State: SessionIdle, Since: since, Until: until, Limit: 9}
	counts := CountQuery{DecisionQuery: decisions, Every: time.Minute}
	counts.Limit = 0 // counts have none
	for _, tt := range []struct {
		query interface{ Values() url.Values }
		parse func(url.Values) (any, *Error)
	}{
		{decisions, func(v url.Values) (any, *Error) { return ParseDecisionQuery(v, now) }},
		{counts, func(v url.Values) (any, *Error) { return ParseCountQuery(v, now) }},
		{asked, func(v url.Values) (any, *Error) { return ParseEventQuery(v, now) }},
		{sessions, func(v url.Values) (any, *Error) { return ParseSessionQuery(v, now) }},
	} {
		if got, bad := tt.parse(tt.query.Values()); bad != nil || !reflect.DeepEqual(got, tt.query) {
			t.Errorf("%T: got %+v, %v, want %+v", tt.query, got, bad, tt.query)
		}
	}
}

func TestQueriesRefuse(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct{ query, value string }{
		{"decision", "denied"}, {"result", "ok"}, {"undo", "maybe"}, {"shadow", "maybe"}, {"since", "soon"}, {"limit", "-1"}, {"every", "1ms"}, {"every", "1m"},
	} {
		_, bad := ParseCountQuery(url.Values{tt.query: {tt.value}}, now)
		if bad == nil || bad.Code != CodeBadRequest || bad.Hint == "" {
			t.Errorf("%s=%s: got %+v", tt.query, tt.value, bad)
		}
	}
	if _, bad := ParseSessionQuery(url.Values{"state": {"asleep"}}, now); bad == nil || bad.Hint == "" {
		t.Errorf("a state that there is not: got %+v", bad)
	}
}

func TestDecisionsThatFit(t *testing.T) {
	now := time.Now()
	d := &Decision{
		EventID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Seq: 5, Time: now, Event: "PreToolUse", Kind: "tool.before", SessionID: "abc-def",
		AgentName: "reviewer", Dialect: "claude-code", Cwd: "/w/p", Tool: "Bash", Subject: "RM -rf", Reason: "no",
		Decision: OutcomeDeny, DecidedBy: []string{"guard"},
	}
	for _, tt := range []struct {
		name string
		q    DecisionQuery
		fits bool
	}{
		{"nothing_asked", DecisionQuery{}, true},
		{"one_of_a_list", DecisionQuery{Decision: "ask, deny", Tool: "Edit,Bash"}, true},
		{"another_decision", DecisionQuery{Decision: "ask"}, false},
		{"the_dialect", DecisionQuery{Agent: "claude-code"}, true},
		{"another_agent", DecisionQuery{Agent: "codex"}, false},
		{"the_kind", DecisionQuery{Event: string("tool.before")}, true},
		{"a_folder_above", DecisionQuery{Cwd: "/w/"}, true},
		{"a_folder_that_begins_so", DecisionQuery{Cwd: "/w/p2,/w/"}, true},
		{"a_folder_beside", DecisionQuery{Cwd: "/w/p2"}, false},
		{"text_in_another_case", DecisionQuery{Text: "rm -RF"}, true},
		{"other_text", DecisionQuery{Text: "mv"}, false},
		{"the_hook", DecisionQuery{Hook: "other,guard"}, true},
		{"no_shadow", DecisionQuery{Shadow: true}, false},
		{"until_then", DecisionQuery{Until: now}, false},
		{"since_then", DecisionQuery{Since: now}, true},
		{"before_it", DecisionQuery{Before: 5}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.q.Fits(d); got != tt.fits {
				t.Errorf("got %v", got)
			}
		})
	}
}
