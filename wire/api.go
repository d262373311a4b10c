// Package wire has the words on hookd's socket: records of runs, decisions and asks, requests and
// answers, routes, queries as URL parameters, and the HTTP status of each refusal. Both ends import
// it, and package client has it in its signatures. It has no state, decides and reads nothing, imports
// no room, and never blocks.
package wire

import (
	"encoding/json"
	"fmt"
	"time"
)

// Routes of HTTP on the socket. Each begins with the only version of the protocol.
const (
	PathEvents    = "/v1/events"
	PathHooks     = "/v1/hooks"
	PathReload    = "/v1/reload"
	PathWeaken    = "/v1/weaken"
	PathRuns      = "/v1/runs"
	PathRunning   = "/v1/running"
	PathBoxes     = "/v1/boxes"
	PathDecisions = "/v1/decisions"
	PathCounts    = "/v1/decisions/counts"
	PathAccepted  = "/v1/accepted"
	PathPast      = "/v1/past"
	PathSessions  = "/v1/sessions"
	PathAsks      = "/v1/asks"
	PathGrants    = "/v1/grants"
	PathAgents    = "/v1/agents"
	PathStats     = "/v1/stats"
	PathDead      = "/v1/dead"
	PathRecover   = "/v1/recover"
	PathStatus    = "/v1/status"
	PathFleet     = "/v1/fleet"

	PathFleetDecisions = "/v1/fleet/decisions"
	PathFleetSessions  = "/v1/fleet/sessions"
	PathFleetAsks      = "/v1/fleet/asks"
	PathFleetAnswers   = "/v1/fleet/answers"
	PathFleetDead      = "/v1/fleet/dead"
	PathFleetLink      = "/v1/fleet/link"

	PathHealthz = "/healthz"
	PathReadyz  = "/readyz"
	PathMetrics = "/metrics"
)

// Media types.
const (
	JSON        = "application/json"
	NDJSON      = "application/x-ndjson"
	EventStream = "text/event-stream"
)

// Answer is the answer to a sender for one event. OK is set on line answers only.
type Answer struct {
	OK        *bool       `json:"ok,omitempty"`
	EventID   string      `json:"event_id"`
	Seq       uint64      `json:"seq"`
	Matched   []string    `json:"matched"` // hooks that run for it, in registration order
	Duplicate bool        `json:"duplicate,omitempty"`
	Warnings  []string    `json:"warnings"`
	Verdict   *Verdict    `json:"verdict,omitempty"` // with wait
	Runs      []RunResult `json:"runs,omitempty"`    // with wait
}

// RunResult is a run as the waiting sender sees it.
type RunResult struct {
	RunID      string  `json:"run_id"`
	Hook       string  `json:"hook"`
	Result     Result  `json:"result"`
	ExitCode   int     `json:"exit_code"`
	Signal     string  `json:"signal,omitempty"`
	DurationMS float64 `json:"duration_ms"`
	Error      string  `json:"error,omitempty"`
}

// Refusal is the body of every answer that is not a success.
type Refusal struct {
	OK    *bool  `json:"ok,omitempty"` // false, on line answers only
	Error *Error `json:"error"`
}

// Subscribe is the line that turns a plain-line connection into a stream.
type Subscribe struct {
	Globs []string `json:"subscribe"`       // of event names; none = all
	Since *uint64  `json:"since,omitempty"` // records after this seq; nil = from now
	Epoch string   `json:"epoch,omitempty"` // of Since; a foreign one yields a gap

	Follow *bool `json:"follow,omitempty"` // false: end at the newest record; nil = true
	Starts bool  `json:"starts,omitempty"` // with a record when a run starts
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
	State       string          `json:"state"`          // active, degraded, rejected, refused, waiting, disabled
	Until       time.Time       `json:"until,omitzero"` // end of its snooze; zero = there is none
	Layer       string          `json:"layer"`          // policy, user, pack or project
	Source      string          `json:"source"`
	File        string          `json:"file"`
	Type        string          `json:"type,omitempty"`
	Events      []string        `json:"events,omitempty"`
	Command     string          `json:"command,omitempty"` // resolved
	Args        []string        `json:"args,omitempty"`
	Script      string          `json:"script,omitempty"` // text for the shell; for one hook only
	TimeoutMS   int64           `json:"timeout_ms,omitempty"`
	Order       string          `json:"order,omitempty"`
	Concurrency int             `json:"concurrency,omitempty"`
	Persistent  *Persistent     `json:"persistent,omitempty"` // nil = a process for each event
	Matcher     string          `json:"matcher,omitempty"`    // of tools' names, or of what an event is about; "" = all
	Decides     bool            `json:"decides,omitempty"`    // it takes part in the verdict of an event that is known
	Failure     Failure         `json:"failure,omitempty"`    // denies if its failure does so on any event; "" = it decides nothing
	NoStart     bool            `json:"no_start,omitempty"`   // its program cannot be started, as one of its problems says
	Warm        bool            `json:"warm,omitempty"`       // its workers start when it is loaded
	When        []string        `json:"when,omitempty"`       // conditions, any of which fits; none = always
	Shadow      bool            `json:"shadow,omitempty"`     // its answers are recorded and never count
	DebounceMS  int64           `json:"debounce_ms,omitempty"`
	Throttle    string          `json:"throttle,omitempty"` // runs/duration
	Scope       string          `json:"scope,omitempty"`    // fleet or every; "" = local
	Tests       int             `json:"tests,omitempty"`    // in its file
	Digest      string          `json:"digest,omitempty"`
	Problems    []Problem       `json:"problems"`
	Counts      map[string]int  `json:"counts"` // runs by result since the daemon started
	LastRun     *Run            `json:"last_run,omitempty"`
	Settings    json.RawMessage `json:"settings,omitempty"` // the rest, as configured, for `show`
	Changes     []Change        `json:"changes,omitempty"`  // the last ones, newest first; for one hook only
}

// Persistent has the workers of a persistent hook.
type Persistent struct {
	Copies []Worker `json:"copies"` // oldest first; none before its first event
	Starts int      `json:"starts"` // of workers, since the daemon started or the hook changed
}

// Worker is one process of a persistent hook.
type Worker struct {
	PID      int       `json:"pid"`
	Slots    string    `json:"lane"` // that its runs take: decidable, observers
	Started  time.Time `json:"started"`
	Owes     int       `json:"owes"` // events without an answer
	Answered uint64    `json:"answered"`
}

// Problem is something wrong with a hook's file: hook.Problem on the wire. It is a type
// of its own, as the client must not need the packages that hooks are compiled with;
// the conversion between the two does not build once they differ.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // 1-based, 0 = the file as a whole
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // what to type next
	Warning bool   `json:"warning"`        // the hook runs all the same
}

func (p Problem) Error() string { return p.String() }

func (p Problem) String() string {
	s := p.File
	if p.Line > 0 {
		s += fmt.Sprintf(":%d:%d", p.Line, p.Column)
	}
	s += ": " + p.Message
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
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
	Envelope
	Tool string `json:"tool,omitempty"` // of data that is the arguments of a call alone; "" = the one that takes them
}

// Tested answers it with everything the run did.
type Tested struct {
	Run     Run      `json:"run"`
	Given   string   `json:"given"`             // the event name it was given
	Stdin   string   `json:"stdin"`             // what it read
	Verdict *Verdict `json:"verdict"`           // as if it were the only hook
	Decides bool     `json:"decides"`           // its answer counts; else it observes
	Why     string   `json:"why,omitempty"`     // why it would not run for this event
	Warning string   `json:"warning,omitempty"` // something odd about its answer
}

// Tests answers POST /v1/hooks/{name}/tests with the outcome of the tests in the hook's
// file, in their order.
type Tests struct {
	Hook   string     `json:"hook"`
	File   string     `json:"file"`
	Digest string     `json:"digest,omitempty"` // of the hook that was tested
	Failed int        `json:"failed"`
	Tests  []TestedAs `json:"tests"`
}

// TestedAs is the outcome of one test.
type TestedAs struct {
	Name       string  `json:"name"`
	Line       int     `json:"line,omitempty"` // in the file
	Event      string  `json:"event"`
	Tool       string  `json:"tool,omitempty"`    // canonical name
	Subject    string  `json:"subject,omitempty"` // what the event is about
	Expect     string  `json:"expect"`
	Got        string  `json:"got"` // as Expect, or failed
	OK         bool    `json:"ok"`
	Why        string  `json:"why,omitempty"`     // in words, where it is not as expected
	Reason     string  `json:"reason,omitempty"`  // that the hook gave
	Context    string  `json:"context,omitempty"` // that it added
	NotRun     string  `json:"not_run,omitempty"` // why the hook does not run for the event; "" = it ran
	RunID      string  `json:"run_id,omitempty"`
	DurationMS float64 `json:"duration_ms"`
}

// Matches has the hooks that would run for an event that is sent with wait.
type Matches struct {
	Event     string  `json:"event"`
	Dialect   Dialect `json:"dialect"`
	Kind      Kind    `json:"kind"`
	Decidable bool    `json:"decidable"`
	Sequence  bool    `json:"sequence,omitempty"` // its hooks run one after another
	Hooks     []Match `json:"hooks"`              // in registration order
}

// Match is one hook's part in it.
type Match struct {
	Hook    string `json:"hook"`
	Runs    bool   `json:"runs"`
	Why     string `json:"why,omitempty"`     // when it does not run
	Fitted  string `json:"fitted,omitempty"`  // when it runs: what its conditions have found
	Given   string `json:"given,omitempty"`   // the event name it gets
	Role    string `json:"lane,omitempty"`    // of the hook at this event: observers, shadow, decidable, decidable (preempt)
	Decides bool   `json:"decides,omitempty"` // its answer counts
}

// Validation is the result of reading files.
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
	Runs []Run `json:"runs"`
	// Next is the RunQuery.Before that goes on where this answer ends; 0 = there
	// is no more. A short answer may have one: a long history is searched in parts.
	Next   uint64 `json:"next,omitempty"`
	Recent bool   `json:"recent,omitempty"` // only of the last runs: the history cannot be read now
}

// RunQuery selects runs; the zero value selects the newest 50.
type RunQuery struct {
	Hook, Event, Session, Agent string
	Result                      Result
	EventID                     string
	Tool                        string    // canonical name
	Text                        string    // in subject, reason or error, in any letter case
	Test                        bool      // only decisions that `hookd test` made
	Since, Until                time.Time // of the start; zero = all; Until itself is out
	Before                      uint64    // Runs.Next of the answer before; 0 = begin with the newest
	Limit                       int       // 0 = 50
}

// Decisions answers GET /v1/decisions, newest first; Next and Recent as in Runs.
type Decisions struct {
	Decisions []Decision `json:"decisions"`
	Next      uint64     `json:"next,omitempty"`
	Recent    bool       `json:"recent,omitempty"`
}

// DecisionQuery selects decisions; the zero value selects the newest 50. In fields with
// "by comma" several values may be given: any value fits.
type DecisionQuery struct {
	Decision string // an Outcome; by comma
	Tool     string // canonical name; by comma
	Agent    string // agent_id, agent_name or dialect; by comma
	Session  string // session_id; by comma
	Hook     string // name, of one that made the decision or watched; by comma
	Event    string // name or kind; by comma
	EventID  string // of this event
	Cwd      string // the folder or one above it; by comma
	Text     string // in subject or reason, in any letter case
	Parts    bool   // also those that say nothing beside another one about their call
	Shadow   bool   // only those that hooks in the shadow have something to say of

	// A value by comma that begins with - leaves decisions out: "-deny" has all others.
	Without []string      // texts that neither subject nor reason has, in any letter case
	Rewrote string        // "yes" = hooks changed or added something; else a text in the new subject
	Result  string        // how the call ended: ran, failed or none (no result is known); by comma
	Undo    string        // "yes" = files can be brought back, "no" = none can
	Path    string        // a path in its subject, or the end of one; by comma
	Host    string        // a host in its subject; by comma
	Longer  time.Duration // the verdict took more; 0 = any
	Shorter time.Duration // it took less; 0 = any

	Since, Until time.Time // of the event; zero = all; Until itself is out
	Before       uint64    // Decisions.Next of the answer before; 0 = begin with the newest
	Limit        int       // 0 = 50
}

// Counts answers GET /v1/decisions/counts: how many decisions fit, by the properties
// that people ask for. Of Agents, Tools and Hooks the most frequent come first; values
// beyond 50 are counted together.
type Counts struct {
	Total     int64    `json:"total"`           // without decisions that a person tried
	Tried     int64    `json:"tried,omitempty"` // these, which nothing else counts
	Decisions []Count  `json:"decisions"`       // by Decision.Words: a denial that was not obeyed counts twice
	Agents    []Count  `json:"agents"`          // by name, else by dialect
	Tools     []Count  `json:"tools"`
	Hooks     []Count  `json:"hooks"`             // that decided or watched
	Sessions  int64    `json:"sessions"`          // how many
	Rewrote   int64    `json:"rewrote"`           // decisions that changed something
	Buckets   []Bucket `json:"buckets,omitempty"` // with every; those without decisions are left out
	// Next is the value of DecisionQuery.Before that counts the decisions that are not in
	// this answer; 0 = there are none. A long history is counted in parts.
	Next uint64 `json:"next,omitempty"`
}

// Count is how many decisions have a value.
type Count struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// Bucket counts decisions about events of a stretch of time.
type Bucket struct {
	Start time.Time `json:"start"`
	Deny  int64     `json:"deny"`
	Ask   int64     `json:"ask"`
	Allow int64     `json:"allow"`
	None  int64     `json:"none"`

	NotAsked  int64 `json:"not_asked,omitempty"` // calls, which none of the others counts
	Disobeyed int64 `json:"disobeyed,omitempty"` // calls, which one of the others counts, too
}

// CountQuery selects the decisions that are counted. The query's Limit does not count.
type CountQuery struct {
	DecisionQuery
	Every time.Duration // of a Bucket, a second or more; 0 = no buckets
}

// Accepted answers GET /v1/accepted, newest first; Next as in Runs.
type Accepted struct {
	Events []AcceptedEvent `json:"events"`
	Next   uint64          `json:"next,omitempty"`
}

// Past answers GET /v1/past: events whose senders waited for a decision, as the history
// keeps them, newest first; Next as in Runs.
type Past struct {
	Events []StoredEvent `json:"events"`
	Next   uint64        `json:"next,omitempty"`
}

// MaxPast is the largest EventQuery.Limit of GET /v1/past.
const MaxPast = 500

// EventHead is an accepted event without its data, as lists and the stream have it.
type EventHead struct {
	EventID   string    `json:"event_id"`
	Event     string    `json:"event"`
	Time      time.Time `json:"time"`
	Sender    string    `json:"sender,omitempty"`
	Dialect   Dialect   `json:"dialect,omitempty"`
	SessionID string    `json:"session_id,omitempty"`
	AgentID   string    `json:"agent_id,omitempty"`
	AgentName string    `json:"agent_name,omitempty"`
	Cwd       string    `json:"cwd,omitempty"`
	Parent    string    `json:"parent,omitempty"`
	Tool      string    `json:"tool,omitempty"`      // canonical name
	Subject   string    `json:"subject,omitempty"`   // what it is about, on one line
	CallID    string    `json:"call_id,omitempty"`   // of the tool call; "" = it is about none
	Tried     bool      `json:"tried,omitempty"`     // a person tries hooks with it
	ReplayOf  string    `json:"replay_of,omitempty"` // EventID of the event that it repeats
}

// AcceptedEvent is an accepted event without its data.
type AcceptedEvent struct {
	EventHead
	Seq     uint64 `json:"seq"`
	Kind    Kind   `json:"kind,omitempty"`
	ByAgent bool   `json:"by_agent,omitempty"` // a prompt that no person has typed
	Wait    bool   `json:"wait,omitempty"`     // its sender waited for the answer
	Bytes   int    `json:"bytes"`              // of data, as sent
	Whole   bool   `json:"whole"`              // the history has all of them
}

// EventQuery selects accepted events; the zero value selects the newest 50.
type EventQuery struct {
	Session, Event, Tool string
	Agent                string    // agent_id, agent_name or dialect
	Cwd                  string    // the folder or one above it; by comma
	Text                 string    // in the subject, in any letter case
	Since, Until         time.Time // of the event; zero = all; Until itself is out
	Before               uint64    // Accepted.Next of the answer before; 0 = begin with the newest
	Limit                int       // 0 = 50
}

// Sessions answers GET /v1/sessions, the session with the newest event first.
type Sessions struct {
	Sessions []Session `json:"sessions"`
}

// Session holds the known facts of one session of an agent.
type Session struct {
	SessionID string    `json:"session_id"`
	Dialect   Dialect   `json:"dialect,omitempty"`
	AgentID   string    `json:"agent_id,omitempty"`
	AgentName string    `json:"agent_name,omitempty"`
	Cwd       string    `json:"cwd,omitempty"`
	First     time.Time `json:"first"` // event
	Last      time.Time `json:"last"`
	State     string    `json:"state"` // a State of a session
	Events    int64     `json:"events"`
	Tools     int64     `json:"tools"`   // calls
	Denials   int64     `json:"denials"` // decisions
	Asks      int64     `json:"asks"`
	Tool      string    `json:"tool,omitempty"`    // of the last event that had a subject
	Subject   string    `json:"subject,omitempty"` // of that
}

// States of a session.
const (
	SessionWorking = "working"
	SessionWaiting = "waiting" // for a person
	SessionQuiet   = "quiet"   // working, and silent for QuietAfter: in one long call, or its agent is gone
	SessionIdle    = "idle"
	SessionEnded   = "ended"
)

// How long a session that was working has sent nothing when it is quiet, and when it is idle.
const (
	QuietAfter = 15 * time.Minute
	IdleAfter  = time.Hour
)

// ClockSlack is the most by which the clocks of one event may differ.
const ClockSlack = time.Minute

// Aged returns the state at a moment of a session that was in a state after its last event.
func Aged(state string, last, now time.Time) string {
	silent := now.Sub(last)
	switch {
	case state != SessionWorking && state != SessionWaiting && state != SessionQuiet:
	case silent > IdleAfter, silent < -ClockSlack: // the clock was set back
		return SessionIdle
	case silent > QuietAfter && state == SessionWorking:
		return SessionQuiet
	}
	return state
}

// SessionQuery selects sessions; the zero value selects the newest 50.
type SessionQuery struct {
	Agent        string    // agent_id, agent_name or dialect; "" = all
	Session      string    // session_id; "" = all
	Cwd          string    // the folder or one above it; "" = all
	State        string    // "" = all
	Since, Until time.Time // of the last event; zero = no bound
	Limit        int       // 0 = 50
}

// Running answers GET /v1/running: the runs under way, the oldest first. POST
// /v1/runs/{run}/kill ends one and answers with it.
type Running struct {
	Runs []UnderWay `json:"runs"`
}

// StoredEvent answers GET /v1/events/{id} and GET /v1/agents/{agent}/last: an event as
// the history keeps it.
type StoredEvent struct {
	Envelope
	EventID  string    `json:"event_id"`
	Seq      uint64    `json:"seq"`
	Time     time.Time `json:"time"`
	ReplayOf string    `json:"replay_of,omitempty"`
	Bytes    int       `json:"bytes"`             // of data, as sent
	Whole    bool      `json:"whole"`             // data is complete: the event can be replayed
	Preview  string    `json:"preview,omitempty"` // how data begins, when it is not whole
	Redacted bool      `json:"redacted,omitempty"`
	Tool     string    `json:"tool,omitempty"`
	Subject  string    `json:"subject,omitempty"`
	CallID   string    `json:"call_id,omitempty"`

	Decision *Decision `json:"decision,omitempty"` // nil = none was made
}

// Replay is the body of POST /v1/events/{id}/replay.
type Replay struct {
	Hook   string `json:"hook,omitempty"`    // only this one; "" = all that match today
	DryRun bool   `json:"dry_run,omitempty"` // only tell what would run
}

// Replayed answers it. The event is accepted again under a new id; its hooks
// observe.
type Replayed struct {
	ReplayOf string   `json:"replay_of"`
	EventID  string   `json:"event_id,omitempty"` // of the new event; "" after a dry run
	Seq      uint64   `json:"seq,omitempty"`
	Matched  []string `json:"matched"`
	Warnings []string `json:"warnings"`
}

// Stats answers GET /v1/stats: one row a hook, or one for each value of the property
// that is asked for with by, in the order of their names.
type Stats struct {
	Hooks  []HookStats  `json:"hooks"`
	Groups []GroupStats `json:"groups,omitempty"` // with by
}

// RunStats counts runs in the time asked for.
type RunStats struct {
	Runs     int64   `json:"runs"`
	Failures int64   `json:"failures"` // failed, timed out, did not start
	Denied   int64   `json:"denied"`
	WaitedMS float64 `json:"waited_ms"` // by agents, for answers of hooks
	P50MS    float64 `json:"p50_ms"`    // of the durations of runs; within 5 %
	P95MS    float64 `json:"p95_ms"`
	P99MS    float64 `json:"p99_ms"`
}

// GroupStats counts the runs with one agent, with one tool, on one day or in one hour.
type GroupStats struct {
	Name string `json:"name"` // "" = of none; of a day 2006-01-02, of an hour 2006-01-02T15:00:00Z, in UTC
	RunStats
}

// HookStats counts the runs of one hook.
type HookStats struct {
	Hook string `json:"hook"`
	RunStats
}

// StatsQuery selects the runs that Stats counts; times are rounded to hours.
type StatsQuery struct {
	Hook         string
	By           string    // hook, agent, tool, day or hour; "" = hook
	Since, Until time.Time // zero = no bound
}

// DeadLetters answers GET /v1/dead, newest first.
type DeadLetters struct {
	Dead []DeadLetter `json:"dead"`
}

// DeadLetter is a run that was given up.
type DeadLetter struct {
	ID       int64     `json:"id"`
	EventID  string    `json:"event_id"`
	Event    string    `json:"event"`
	Hook     string    `json:"hook"`
	Machine  string    `json:"machine,omitempty"` // of the event; "" = this one
	Attempts int       `json:"attempts"`          // that ended; 0 = it never ran
	Reason   string    `json:"reason"`
	RunID    string    `json:"run_id,omitempty"` // of the last attempt
	Time     time.Time `json:"time"`

	Data json.RawMessage `json:"data,omitempty"` // of the event, for one letter alone
}

// Storage is the state of the store.
type Storage struct {
	Path          string    `json:"path"`
	OK            bool      `json:"ok"`
	Error         string    `json:"error,omitempty"` // why nothing can be kept
	Since         time.Time `json:"since,omitzero"`  // of the error
	Bytes         int64     `json:"bytes"`
	Events        int64     `json:"events"`
	Runs          int64     `json:"runs"`
	PendingEvents int       `json:"pending_events"`
	PendingRuns   int       `json:"pending_runs"`
	PendingBytes  int64     `json:"pending_bytes"`
	DeadLetters   int64     `json:"dead_letters"`
	Journaled     int       `json:"journal_events"` // that the journal has, and the database not yet
	JournalBytes  int64     `json:"journal_bytes"`  // of the journal on disk
	Lost          uint64    `json:"lost"`           // records that could not be kept since the start
	Losses        []Loss    `json:"losses,omitempty"`
	Unkept        string    `json:"unkept,omitempty"` // why a kill of hookd may take decisions that are not on disk; "" = it takes none
}

// Loss is a part of the accepted events that was lost, or a file that was set aside, until POST
// /v1/recover has taken it back.
type Loss struct {
	ID          int64     `json:"id"`
	Time        time.Time `json:"time"`
	Why         string    `json:"why"`
	Path        string    `json:"path,omitempty"`         // of the file that was set aside or kept; "" = there is none
	Lost        int64     `json:"lost"`                   // accepted runs, or events, that do not run
	More        bool      `json:"more,omitempty"`         // there may be more of them
	DeadLetters int64     `json:"dead_letters,omitempty"` // that went with the file
}

// Recovered answers POST /v1/recover.
type Recovered struct {
	Losses []RecoveredLoss `json:"losses"`
}

// RecoveredLoss is how it went with one loss.
type RecoveredLoss struct {
	Loss       Loss   `json:"loss"`
	Events     int    `json:"events"`               // that run now
	Unreadable int    `json:"unreadable,omitempty"` // parts of the file that cannot be read
	Error      string `json:"error,omitempty"`      // why the loss stays; "" = it is taken back
	Kept       string `json:"kept,omitempty"`       // path of the file now, once it is taken back
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
	Path        string         `json:"path"`     // PATH of hooks, where they do not set it themselves
	Hooks       map[string]int `json:"hooks"`    // by state
	Runs        map[string]int `json:"runs"`     // by result since the start
	Events      uint64         `json:"events"`   // accepted since the start
	Running     map[string]int `json:"running"`  // by slots
	Queued      int            `json:"queued"`
	QueuedBytes int64          `json:"queued_bytes"`
	Subscribers int            `json:"subscribers"`
	Gaps        uint64         `json:"gaps"`
	Retrying    int            `json:"retrying"` // runs that wait for their next attempt
	Behind      bool           `json:"behind"`   // events wait on disk for room in the queue
	Store       Storage        `json:"store"`
	Copies      int            `json:"copies"`           // processes of persistent hooks
	Cgroup      string         `json:"cgroup,omitempty"` // where runs live, "" = process groups only
	Starts      string         `json:"starts"`           // how processes are started: "clone3", or "fork: WHY NOT clone3"
	// Restart has the settings whose change waits for a restart, with the values that are in force.
	Restart map[string]string `json:"restart,omitempty"`
	// InForce has every setting with its value, as `hookd config` writes it: secrets are hidden. nil = not known.
	InForce map[string]string `json:"in_force,omitempty"`
	// Settings is the digest of hookd.yaml as it was read last; a file with another one was not read yet.
	Settings string `json:"settings"`

	HTTP      *HTTP       `json:"http,omitempty"`   // nil = not asked for
	Policy    *Policy     `json:"policy,omitempty"` // nil = none is set
	Forward   []Forward   `json:"forward,omitempty"`
	Fleet     *FleetLag   `json:"fleet,omitempty"` // nil = it is in none
	Unguarded []Unguarded `json:"unguarded,omitempty"`
	Snoozed   []Snoozed   `json:"snoozed,omitempty"` // hooks that are off, and come back by themselves
	Permits   []Grant     `json:"permits,omitempty"` // that are in force
	Problems  []Problem   `json:"problems"`
}

// Unguarded counts the calls that an agent ran in the last 24 hours without an answer of hookd, or
// against it, and whether it calls hookd now.
type Unguarded struct {
	Agent     Dialect    `json:"agent"`
	NotAsked  int64      `json:"not_asked"`          // calls
	Disobeyed int64      `json:"disobeyed"`          // calls
	Last      *time.Time `json:"last,omitempty"`     // of such a call; nil = there was none
	Gone      string     `json:"gone,omitempty"`     // why it does not call hookd as it was connected; "" = it does, or never was
	Do        string     `json:"do,omitempty"`       // the command to type, with gone
	Executed  *Executed  `json:"executed,omitempty"` // nil = the setting watch_programs is off, or it started none
}

// Executed counts the programs that the processes below an agent have started, since a time.
type Executed struct {
	Since    time.Time `json:"since"`
	Asked    int64     `json:"asked"`    // while a call was open that hookd was asked about, or below a program of one
	Later    int64     `json:"later"`    // of these, when no call was open: in the background, or by a shell that was written to
	Unasked  int64     `json:"unasked"`  // while no such call was open
	Commands int64     `json:"commands"` // of these, in the form in which the agent runs a model's command
	Programs []Program `json:"programs"` // of the unasked, newest first; 100 at most
}

// Program is a program that an agent started while no call was open.
type Program struct {
	Name    string    `json:"name"`    // the last part of its path; "" = it ended before it could be read
	Command bool      `json:"command"` // it has the form in which the agent runs a model's command
	Count   int64     `json:"count"`
	Last    time.Time `json:"last"`
	Example string    `json:"example"` // the last command line, without secrets, 200 bytes at most
}

// Snoozed is a hook that is off until a time.
type Snoozed struct {
	Hook  string    `json:"hook"`
	Until time.Time `json:"until"`
	By    string    `json:"by"` // the person and the program that switched it off
}

// Policy is the signed bundle of hooks that is in force.
type Policy struct {
	Name     string     `json:"name"`
	Sequence uint64     `json:"sequence"`
	Source   string     `json:"source"`
	Key      string     `json:"key"`               // fingerprint of the public key
	Expires  *time.Time `json:"expires,omitempty"` // after this a daemon would not take it up; nil = never
	Fetched  time.Time  `json:"fetched"`
	Checked  time.Time  `json:"checked"`         // when the source was asked last
	Error    string     `json:"error,omitempty"` // why that failed
}

// MostWaiting is how many waiting decisions are counted at most.
const MostWaiting = 10_000

// Forward is how far decisions were handed on to one target of the setting forward.
type Forward struct {
	Name    string     `json:"name"`
	Type    string     `json:"type"`    // otlp, webhook or file
	To      string     `json:"to"`      // URL or path
	Waiting int        `json:"waiting"` // decisions that were not handed on yet, MostWaiting at most
	Oldest  *time.Time `json:"oldest,omitempty"`
	Sent    uint64     `json:"sent"`              // decisions since the daemon started
	Failed  uint64     `json:"failed"`            // attempts since then
	Refused uint64     `json:"refused,omitempty"` // decisions since then that the target says it has thrown away
	Missed  int64      `json:"missed,omitempty"`  // decisions that were pruned before they were handed on
	Error   string     `json:"error,omitempty"`   // why the last attempt failed; "" = it did not
	Since   *time.Time `json:"since,omitempty"`   // of the first attempt that failed in a row
	Unread  string     `json:"unread,omitempty"`  // why waiting, oldest and missed are not known; "" = they are
}

// HTTP is the state of http.listen.
type HTTP struct {
	Listen string `json:"listen"`
	Open   bool   `json:"open"`
	Error  string `json:"error,omitempty"` // why it is not; hookd tries again
}

// Tell is a line on the plain door that has no answer: it has the answer that the agent was told
// for the verdicts on the events before it that are marked tells, and that no other Tell was
// about.
type Tell struct {
	Told *Told `json:"told"`
}

// PingLine, a line on the plain door, asks whether the daemon works: the answer comes
// at once. A hookd that does not know it answers at once, too, with an error.
const (
	PingLine = `{"ping":true}`
	PongLine = `{"ok":true,"pong":true}` + "\n"
)
