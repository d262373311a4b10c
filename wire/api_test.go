package wire

import (
	"testing"
	"time"
)

func TestEveryCodeHasAStatus(t *testing.T) {
	for _, c := range []Code{
		CodeBadJSON, CodeBadEventName, CodeBadData, CodeBadField, CodeReserved, CodeTooLarge, CodeTooDeep,
		CodeTooMany, CodeQueueFull, CodeDraining, CodeNotFound, CodeRejected, CodeForbidden, CodeBadRequest, CodeBadMethod,
	} {
		if got := HTTPStatus(c); got == 500 {
			t.Errorf("%s has no status of its own", c)
		}
	}
	if got := HTTPStatus("new"); got != 500 {
		t.Errorf("an unknown code has status %d", got)
	}
}

func TestRunQueryIsReadAsWritten(t *testing.T) {
	now := time.Unix(2e9, 0)
	for _, want := range []RunQuery{
		{},
		{Hook: "a&b=c", Event: "agent:*", Session: "ü", Agent: " ", Result: "spawn_error", Since: time.Unix(1e9, 5).UTC(), Limit: MaxRuns},
	} {
		got, bad := ParseRunQuery(want.Values(), now)
		if bad != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, bad, want)
		}
	}
}

func TestRunQueryRefuses(t *testing.T) {
	tests := []struct{ name, key, value string }{
		{"result", "result", "fine"},
		{"limit_text", "limit", "x"},
		{"limit_negative", "limit", "-1"},
		{"limit_large", "limit", "1001"},
		{"since_text", "since", "soon"},
		{"since_negative", "since", "-1h"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, bad := ParseRunQuery(map[string][]string{tt.key: {tt.value}}, time.Now())
			if bad == nil || bad.Code != CodeBadRequest || bad.Hint == "" {
				t.Errorf("got %v", bad)
			}
		})
	}
}
