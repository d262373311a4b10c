// Package api holds what both ends of the socket share: wire types, routes,
// how a query is written in a URL, and how a refusal maps to a status. It
// keeps no state and never blocks.
package api

import (
	"encoding/json"
	"time"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/verdict"
)

// Version of the protocol, in every route.
const Version = "v1"

// Routes of the HTTP door.
const (
	PathEvents  = "/v1/events"
	PathHooks   = "/v1/hooks"
	PathReload  = "/v1/reload"
	PathRuns    = "/v1/runs"
	PathStatus  = "/v1/status"
	PathHealthz = "/healthz"
	PathReadyz  = "/readyz"
)

// Media types.
const (
	JSON        = "application/json"
	NDJSON      = "application/x-ndjson"
	EventStream = "text/event-stream"
)

// Answer is what a sender gets for one event. OK is set on line answers only.
type Answer struct {
	OK        *bool            `json:"ok,omitempty"`
	EventID   string           `json:"event_id"`
	Seq       uint64           `json:"seq"`
	Matched   []string         `json:"matched"` // hooks that run for it, in registration order
	Duplicate bool             `json:"duplicate,omitempty"`
	Warnings  []string         `json:"warnings"`
	Verdict   *verdict.Verdict `json:"verdict,omitempty"` // with wait
	Runs      []RunResult      `json:"runs,omitempty"`    // with wait
}

// RunResult is a run as the waiting sender sees it.
type RunResult struct {
	RunID      string        `json:"run_id"`
	Hook       string        `json:"hook"`
	Result     events.Result `json:"result"`
	ExitCode   int           `json:"exit_code"`
	DurationMS float64       `json:"duration_ms"`
	Error      string        `json:"error,omitempty"`
}

// Refusal is the body of every answer that is not a success.
type Refusal struct {
	OK    *bool         `json:"ok,omitempty"` // false, on line answers only
	Error *events.Error `json:"error"`
}

// Subscribe is the line that turns a plain-line connection into a stream.
type Subscribe struct {
	Globs []string `json:"subscribe"`       // of event names; none = all
	Since *uint64  `json:"since,omitempty"` // records after this seq; nil = from now
	Epoch string   `json:"epoch,omitempty"` // of Since; a foreign one yields a gap

	Follow *bool `json:"follow,omitempty"` // false: end at the newest record; nil = true
}

// Ready answers GET /readyz, with 503 until the daemon is ready.
type Ready struct {
	Ready  bool   `json:"ready"`
	Reason string `json:"reason,omitempty"` // why it is not
}

// Hook is a hook as the daemon shows it.
type Hook struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	State       string          `json:"state"` // active, degraded, rejected, disabled
	Source      string          `json:"source"`
	File        string          `json:"file"`
	Type        string          `json:"type,omitempty"`
	Events      []string        `json:"events,omitempty"`
	Command     string          `json:"command,omitempty"` // resolved
	Args        []string        `json:"args,omitempty"`
	TimeoutMS   int64           `json:"timeout_ms,omitempty"`
	Order       string          `json:"order,omitempty"`
	Concurrency int             `json:"concurrency,omitempty"`
	Digest      string          `json:"digest,omitempty"`
	Problems    []Problem       `json:"problems"`
	Counts      map[string]int  `json:"counts"` // runs by result since the daemon started
	LastRun     *events.Run     `json:"last_run,omitempty"`
	Settings    json.RawMessage `json:"settings,omitempty"` // the rest, as configured, for `show`
}

// Problem is something wrong with a hook's file.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Warning bool   `json:"warning"`
}

// Hooks answers GET /v1/hooks.
type Hooks struct {
	Generation uint64    `json:"generation"`
	Hooks      []Hook    `json:"hooks"`
	Problems   []Problem `json:"problems"` // that belong to no hook
}

// Reload answers POST /v1/reload; 422 when a hook was rejected.
type Reload struct {
	Generation uint64    `json:"generation"`
	Changed    bool      `json:"changed"`
	Hooks      int       `json:"hooks"` // runnable
	Problems   []Problem `json:"problems"`
}

// Test is the body of POST /v1/hooks/{name}/test: the event to run it with.
// An empty Event takes the hook's first pattern that is a name.
type Test struct {
	events.Envelope
}

// Tested answers it with everything the run did.
type Tested struct {
	Run     events.Run       `json:"run"`
	Given   string           `json:"given"`             // the event name it was given
	Stdin   string           `json:"stdin"`             // what it read
	Verdict *verdict.Verdict `json:"verdict"`           // as if it were the only hook
	Decides bool             `json:"decides"`           // its answer counts; else it observes
	Why     string           `json:"why,omitempty"`     // why it would not run for this event
	Warning string           `json:"warning,omitempty"` // something odd about its answer
}

// Matches says what would run for an event that is sent with wait.
type Matches struct {
	Event     string         `json:"event"`
	Dialect   events.Dialect `json:"dialect"`
	Kind      events.Kind    `json:"kind"`
	Decidable bool           `json:"decidable"`
	Sequence  bool           `json:"sequence,omitempty"` // its hooks run one after another
	Hooks     []Match        `json:"hooks"`              // in registration order
}

// Match is one hook's part in it.
type Match struct {
	Hook   string `json:"hook"`
	Runs   bool   `json:"runs"`
	Why    string `json:"why,omitempty"`   // when it does not run
	Given  string `json:"given,omitempty"` // the event name it is given
	Lane   string `json:"lane,omitempty"`
	Blocks bool   `json:"blocks,omitempty"` // its answer counts
}

// Validation is what reading files says about them.
type Validation struct {
	Hooks []Validated `json:"hooks"`
}

// Validated is one file of them.
type Validated struct {
	Name     string    `json:"name"`
	File     string    `json:"file"`
	OK       bool      `json:"ok"` // it loads; there may be warnings
	Problems []Problem `json:"problems"`
}

// Runs answers GET /v1/runs, newest first.
type Runs struct {
	Runs []events.Run `json:"runs"`
}

// RunQuery selects runs; the zero value selects the newest 50.
type RunQuery struct {
	Hook, Event, Session, Agent, Result string
	Since                               time.Time // zero = all
	Limit                               int       // 0 = 50
}

// Status answers GET /v1/status.
type Status struct {
	Version     string         `json:"version"`
	PID         int            `json:"pid"`
	Home        string         `json:"home"`
	Socket      string         `json:"socket"`
	Started     time.Time      `json:"started"`
	Epoch       string         `json:"epoch"` // seq numbers of another epoch mean nothing here
	Seq         uint64         `json:"seq"`
	Draining    bool           `json:"draining"`
	Ready       bool           `json:"ready"`
	Generation  uint64         `json:"generation"`
	Reloaded    time.Time      `json:"reloaded"`
	Watching    string         `json:"watching"` // "fsnotify", or "polling every 2s: REASON"
	Hooks       map[string]int `json:"hooks"`    // by state
	Runs        map[string]int `json:"runs"`     // by result since the start
	Events      uint64         `json:"events"`   // accepted since the start
	Running     map[string]int `json:"running"`  // by lane
	Queued      int            `json:"queued"`
	QueuedBytes int64          `json:"queued_bytes"`
	Subscribers int            `json:"subscribers"`
	Gaps        uint64         `json:"gaps"`
	Cgroup      string         `json:"cgroup,omitempty"` // where runs live, "" = process groups only
	Problems    []Problem      `json:"problems"`
}
