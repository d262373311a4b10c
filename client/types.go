package client

import (
	"encoding/json"
	"time"
)

// The types in this file repeat those of the wire on purpose. Aliases of internal
// types would show no field in `go doc` and would make each internal change a
// change of this package's API. types_test.go holds both to the same members.

// An Event is an event as it is sent: each field goes to hookd. Only Event, its
// name, is required. SessionID, AgentID, AgentName and Cwd are taken from Data
// where they are empty.
type Event struct {
	// Event is the name, e.g. "agent:end" or "pre_tool_use"; `hookd events` lists them.
	Event string `json:"event"`
	// Data is a JSON object, what the hooks are given; nil is {}.
	Data json.RawMessage `json:"data,omitempty"`
	// Wait holds the answer until the runs have ended, and asks for a verdict.
	// EmitWait and Decide set it.
	Wait bool `json:"wait,omitempty"`
	// ID is the sender's own: hookd takes the same ID from the same Sender once in
	// 10 minutes, and answers the second time with the first answer. With an ID, an
	// event can be sent again after its connection was lost.
	ID string `json:"id,omitempty"`
	// SessionID is the agent's session.
	SessionID string `json:"session_id,omitempty"`
	// AgentID is the agent's id.
	AgentID string `json:"agent_id,omitempty"`
	// AgentName is the agent's name, for people and for filters of hooks.
	AgentName string `json:"agent_name,omitempty"`
	// Cwd is the folder that the agent works in.
	Cwd string `json:"cwd,omitempty"`
	// Sender is what sends the event; "" is uid:N, the user of this process.
	Sender string `json:"sender,omitempty"`
	// Dialect is the system whose name Event is; "" is the first that knows it.
	Dialect Dialect `json:"dialect,omitempty"`
	// Lane is which hooks of pre_tool_use run: "default" or "preempt"; "" is both.
	Lane string `json:"lane,omitempty"`
	// TimeoutMS is how many milliseconds the hooks of a decidable event may take
	// together; 0 is as long as their own timeouts allow.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
	// Parent is the EventID of the event that this one follows from.
	Parent string `json:"parent,omitempty"`
	// Unasked says that the agent runs without a person, and takes an ask for a denial.
	Unasked bool `json:"unasked,omitempty"`
	// Tried says that a person tries hooks with it. hookd takes that from its own commands alone, and
	// from none of an agent's processes: the event of another program counts as an agent's.
	Tried bool `json:"tried,omitempty"`
	// Tells says that Conn.Tell follows the answer. The decision is recorded with it, or as not
	// known when the connection ends without it.
	Tells bool `json:"tells,omitempty"`
}

// An Answer is what the sender of an event gets.
type Answer struct {
	OK        *bool       `json:"ok,omitempty"`        // true in each answer to a line; nil in one over HTTP
	EventID   string      `json:"event_id"`            // hookd's own id of the event
	Seq       uint64      `json:"seq"`                 // its place in the stream
	Matched   []string    `json:"matched"`             // names of the hooks that run for it, in registration order
	Duplicate bool        `json:"duplicate,omitempty"` // it was accepted before, under this EventID
	Warnings  []string    `json:"warnings"`            // what hookd tolerated
	Verdict   *Verdict    `json:"verdict,omitempty"`   // with Event.Wait; else nil
	Runs      []RunResult `json:"runs,omitempty"`      // with Event.Wait

	own error // see Own
}

// Own returns why the user's own daemon has no part in the answer of a machine's system
// daemon; nil = it has, or there is no system daemon.
func (a Answer) Own() error { return a.own }

// A RunResult is a run in an Answer.
type RunResult struct {
	RunID      string  `json:"run_id"` // Client.Run has its record
	Hook       string  `json:"hook"`
	Result     Result  `json:"result"`
	ExitCode   int     `json:"exit_code"`        // -1 where there is none: killed, or never started
	Signal     string  `json:"signal,omitempty"` // that ended it
	DurationMS float64 `json:"duration_ms"`
	Error      string  `json:"error,omitempty"` // why it failed, for people
}

// A Verdict is what the hooks that block say together. What no hook said is
// zero, but Allowed and Continue, which are then true.
type Verdict struct {
	Allowed            bool   `json:"allowed"`                       // false denies, and Message says why
	Continue           bool   `json:"continue"`                      // false stops the agent, not only this call
	PermissionDecision string `json:"permission_decision,omitempty"` // "", allow, ask or deny
	DecisionReason     string `json:"decision_reason,omitempty"`     // of PermissionDecision
	PermissionAllowed  bool   `json:"permission_allowed,omitempty"`  // a hook granted a permission that the agent asks for
	Message            string `json:"message,omitempty"`             // why it is denied, for the model
	SystemMessage      string `json:"system_message,omitempty"`      // text for the user
	AdditionalContext  string `json:"additional_context,omitempty"`  // text for the model

	UpdatedInput        json.RawMessage `json:"updated_input,omitempty"`         // the tool's whole new input; nil = none
	UpdatedToolResponse json.RawMessage `json:"updated_tool_response,omitempty"` // its new result, "" clears it; nil = none
	UpdatedMessages     json.RawMessage `json:"updated_messages,omitempty"`      // the whole new list; nil = none

	Summary  string            `json:"summary,omitempty"`  // what replaces a conversation that is compacted
	Metadata map[string]string `json:"metadata,omitempty"` // what hooks add for the agent's own use
	// Specific has what few agents read, by its key in hook_specific_output: session_title,
	// watch_paths and others that `hookd events NAME` lists. Nil = no hook said any of it.
	Specific       map[string]json.RawMessage `json:"specific,omitempty"`
	Skip           bool                       `json:"skip,omitempty"`            // the agent leaves this step out, without an error
	StopReason     string                     `json:"stop_reason,omitempty"`     // why Continue is false
	SuppressOutput bool                       `json:"suppress_output,omitempty"` // the agent does not show what the hooks printed
	ExitCode       int                        `json:"exit_code,omitempty"`       // of the hook that denied by its exit code
	Stderr         string                     `json:"stderr,omitempty"`          // of that hook
	DecidedBy      []string                   `json:"decided_by,omitempty"`      // hooks whose answers made the verdict what it is
}

// An Error is a refusal of hookd.
type Error struct {
	Code    Code   `json:"code"`           // why, for programs
	Message string `json:"message"`        // why, for people
	Hint    string `json:"hint,omitempty"` // what to do about it
}

// Error returns the Message.
func (e *Error) Error() string { return e.Message }

// A Dialect is a system whose names an event uses, e.g. "claude-code";
// `hookd events` lists them.
type Dialect string

// A Problem is something wrong with a hook's file.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`   // 0 = of the whole file
	Column  int    `json:"column,omitempty"` // 0 = of the whole line
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Warning bool   `json:"warning"` // the hook runs nevertheless
}

// A Hook is a hook as the daemon has it.
type Hook struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"` // as people see it
	Description string          `json:"description,omitempty"`
	State       string          `json:"state"`  // active, degraded, rejected, refused, waiting or disabled
	Layer       string          `json:"layer"`  // policy, user, pack or project
	Source      string          `json:"source"` // what kind of file it comes from, and which folder
	File        string          `json:"file"`
	Type        string          `json:"type,omitempty"`    // command, script, builtin, model, …
	Events      []string        `json:"events,omitempty"`  // names and globs that it matches
	Command     string          `json:"command,omitempty"` // with its folder, as it is started
	Args        []string        `json:"args,omitempty"`
	Script      string          `json:"script,omitempty"` // text for the shell; of Client.Hook only
	TimeoutMS   int64           `json:"timeout_ms,omitempty"`
	Order       string          `json:"order,omitempty"`       // which runs wait for each other
	Concurrency int             `json:"concurrency,omitempty"` // how many run at once
	Persistent  *Workers        `json:"persistent,omitempty"`  // nil = a process for each event
	Matcher     string          `json:"matcher,omitempty"`     // of tools' names, or of what an event is about; "" = all
	Decides     bool            `json:"decides,omitempty"`     // it takes part in the verdict of an event that is known
	Failure     Failure         `json:"failure,omitempty"`     // denies if its failure does so on any event; "" = it decides nothing
	Warm        bool            `json:"warm,omitempty"`        // its workers start when it is loaded
	When        []string        `json:"when,omitempty"`        // conditions, any of which fits; none = always
	Shadow      bool            `json:"shadow,omitempty"`      // its answers are recorded and never count
	DebounceMS  int64           `json:"debounce_ms,omitempty"`
	Throttle    string          `json:"throttle,omitempty"` // runs/duration
	Scope       string          `json:"scope,omitempty"`    // fleet or every; "" = local
	Tests       int             `json:"tests,omitempty"`    // in its file
	Digest      string          `json:"digest,omitempty"`   // of the files that it is made of
	Problems    []Problem       `json:"problems"`
	Counts      map[string]int  `json:"counts"` // runs by Result since the daemon started
	LastRun     *Run            `json:"last_run,omitempty"`
	Settings    json.RawMessage `json:"settings,omitempty"` // the rest, as configured
	Changes     []Change        `json:"changes,omitempty"`  // the last ones, newest first; of Client.Hook only
}

// Workers are the processes of a persistent hook.
type Workers struct {
	Copies []Worker `json:"copies"` // that live, oldest first; none before the first event
	Starts int      `json:"starts"` // since the daemon started or the hook changed
}

// A Worker is one of them.
type Worker struct {
	PID      int       `json:"pid"`
	Lane     string    `json:"lane"` // decidable or observers
	Started  time.Time `json:"started"`
	Owes     int       `json:"owes"`     // events that it has and has not answered
	Answered uint64    `json:"answered"` // events that it has answered
}

// A Change is one change of a hook: loaded, changed, rejected, removed.
type Change struct {
	Time   time.Time `json:"time"`
	Hook   string    `json:"hook"`           // its ID
	Change string    `json:"change"`         // added, changed, removed, or the state that it came to
	From   string    `json:"from,omitempty"` // digest before
	To     string    `json:"to,omitempty"`   // digest after
	File   string    `json:"file,omitempty"`
	By     string    `json:"by,omitempty"`    // the user that owns the file or allowed the change
	Guard  bool      `json:"guard,omitempty"` // it is a guard; of one that was removed, it was
	Why    string    `json:"why,omitempty"`   // the first problem of a hook that came to a bad state
}

// A HookList is all hooks.
type HookList struct {
	Generation uint64    `json:"generation"` // rises by one with each reload that changed something
	Hooks      []Hook    `json:"hooks"`      // in registration order
	Problems   []Problem `json:"problems"`   // of files that are no hook
}

// Reloaded is what a reload did.
type Reloaded struct {
	Generation uint64    `json:"generation"`
	Changed    bool      `json:"changed"` // whether the hooks differ from those before
	Hooks      int       `json:"hooks"`   // that can run
	Problems   []Problem `json:"problems"`
}

// A TestResult is everything that a hook did that was tried.
type TestResult struct {
	Run     Run      `json:"run"`
	Given   string   `json:"given"`             // the event's name as the hook was given it
	Stdin   string   `json:"stdin"`             // what it read
	Verdict *Verdict `json:"verdict"`           // as if it were the only hook
	Decides bool     `json:"decides"`           // its answer counts; else it observes
	Why     string   `json:"why,omitempty"`     // why it would not run for this event
	Warning string   `json:"warning,omitempty"` // something odd about its answer that was tolerated
}

// Tests are the outcome of the tests in a hook's file.
type Tests struct {
	Hook   string     `json:"hook"`
	File   string     `json:"file"`
	Digest string     `json:"digest,omitempty"` // of the hook that was tested
	Failed int        `json:"failed"`
	Tests  []TestedAs `json:"tests"` // in the order of the file
}

// TestedAs is the outcome of one test.
type TestedAs struct {
	Name       string  `json:"name"`
	Line       int     `json:"line,omitempty"` // in the file
	Event      string  `json:"event"`
	Tool       string  `json:"tool,omitempty"`    // canonical name
	Subject    string  `json:"subject,omitempty"` // what the event is about
	Expect     string  `json:"expect"`            // deny, ask, allow, none or rewrite
	Got        string  `json:"got"`               // as Expect, or failed
	OK         bool    `json:"ok"`
	Why        string  `json:"why,omitempty"`     // in words, where it is not as expected
	Reason     string  `json:"reason,omitempty"`  // that the hook gave
	Context    string  `json:"context,omitempty"` // that it added
	NotRun     string  `json:"not_run,omitempty"` // why the hook does not run for the event; "" = it ran
	RunID      string  `json:"run_id,omitempty"`
	DurationMS float64 `json:"duration_ms"`
}

// A Run is the record of one execution of one hook for one event.
type Run struct {
	ID         string  `json:"run_id"`
	Seq        uint64  `json:"seq,omitempty"` // its place in the stream
	EventID    string  `json:"event_id"`
	Event      string  `json:"event"`           // the name that was sent
	Given      string  `json:"given,omitempty"` // the name that the hook was given, where it is another
	Hook       string  `json:"hook"`
	Called     string  `json:"called,omitempty"`     // as messages to the agent call the hook; "" = Hook
	Source     string  `json:"source,omitempty"`     // as Hook.Source
	Digest     string  `json:"digest,omitempty"`     // as Hook.Digest
	Generation uint64  `json:"generation,omitempty"` // of the hooks that it was matched with
	SessionID  string  `json:"session_id,omitempty"`
	AgentID    string  `json:"agent_id,omitempty"`
	AgentName  string  `json:"agent_name,omitempty"`
	Sender     string  `json:"sender,omitempty"`
	Dialect    Dialect `json:"dialect,omitempty"`
	Tool       string  `json:"tool,omitempty"`     // of the event, by its canonical name
	Subject    string  `json:"subject,omitempty"`  // what the event was about: one line of 256 bytes at most
	Reason     string  `json:"reason,omitempty"`   // why Decision is what it is
	Decision   Outcome `json:"decision,omitempty"` // what it answered, where that counts
	Rule       string  `json:"rule,omitempty"`     // of the hook that answered so; "" = it has no rules, or none fitted
	Span       [2]int  `json:"span,omitzero"`      // of the call's text that the rule fitted: from and to, in bytes; zero = the whole
	Awaited    bool    `json:"awaited,omitempty"`  // the verdict waited for it
	Failure    Failure `json:"failure,omitempty"`  // what came of it that the run failed; "" = it did not, or nothing waited
	Cause      string  `json:"cause,omitempty"`    // of its failure, without its exit code
	Shadow     bool    `json:"shadow,omitempty"`   // its hook is in the shadow: Decision did not count
	Tried      bool    `json:"tried,omitempty"`    // a person tried hooks: in no count of what agents did
	Test       bool    `json:"test,omitempty"`     // it was only tried: in no list, count or metric

	Spawned string `json:"spawned,omitempty"` // the agent that the hook started
	Input   string `json:"input,omitempty"`   // the beginning of its payload, a tool call first: 256 bytes at most

	Result     Result    `json:"result"`
	ExitCode   int       `json:"exit_code"`         // -1 where there is none: killed, or never started
	Signal     string    `json:"signal,omitempty"`  // that ended it
	Error      string    `json:"error,omitempty"`   // why it failed, for people
	Warning    string    `json:"warning,omitempty"` // what was odd about its answer, or does not reach the agent
	Killed     string    `json:"killed,omitempty"`  // how its processes were killed: group, tree or cgroup
	Left       int       `json:"left,omitempty"`    // processes that may have survived the kill
	Started    time.Time `json:"started"`
	QueueMS    float64   `json:"queue_ms"`    // from accepted to started
	DurationMS float64   `json:"duration_ms"` // from started to the end of its main process

	Stdout Output `json:"stdout"` // of Client.Run only
	Stderr Output `json:"stderr"` // of Client.Run only
}

// Output is what the record of a run keeps of one stream: the first 16 KiB and
// the last 48 KiB.
type Output struct {
	Head  string `json:"head,omitempty"`
	Tail  string `json:"tail,omitempty"` // empty while Head holds all of it
	Bytes int64  `json:"bytes"`          // how many there were
}

// Truncated reports whether bytes between Head and Tail were dropped.
func (o Output) Truncated() bool { return o.Bytes > int64(len(o.Head)+len(o.Tail)) }

// A RunQuery selects runs; the zero value selects the newest 50.
type RunQuery struct {
	Hook    string // name; "" = of all
	Event   string // name; "" = all
	Session string // SessionID; "" = all
	Agent   string // AgentID, AgentName or Dialect; "" = all
	Result  string // a Result; "" = all
	EventID string // "" = of all events
	Tool    string // canonical name of the event's tool; "" = all
	Text    string // in Subject, Reason or Error, in any case of ASCII letters; "" = all
	Test    bool   // those that were only tried, and no others

	Since  time.Time // of Run.Started; zero = from the first
	Until  time.Time // of Run.Started, which is before it; zero = to the last
	Before uint64    // of Run.Seq, which is below it; 0 = begin with the newest
	Limit  int       // 0 = 50
}

// A StoredEvent is an accepted event as the history keeps it.
type StoredEvent struct {
	Event     string          `json:"event"`
	Data      json.RawMessage `json:"data,omitempty"`
	Wait      bool            `json:"wait,omitempty"`
	ID        string          `json:"id,omitempty"` // the sender's own
	SessionID string          `json:"session_id,omitempty"`
	AgentID   string          `json:"agent_id,omitempty"`
	AgentName string          `json:"agent_name,omitempty"`
	Cwd       string          `json:"cwd,omitempty"`
	Sender    string          `json:"sender,omitempty"`
	Dialect   Dialect         `json:"dialect,omitempty"`
	Lane      string          `json:"lane,omitempty"`
	TimeoutMS int64           `json:"timeout_ms,omitempty"`
	Parent    string          `json:"parent,omitempty"`
	Unasked   bool            `json:"unasked,omitempty"` // see Event; not kept
	Tried     bool            `json:"tried,omitempty"`   // a person tried hooks with it
	Tells     bool            `json:"tells,omitempty"`   // see Event; not kept

	EventID  string    `json:"event_id"`
	Seq      uint64    `json:"seq"`
	Time     time.Time `json:"time"`                // when it was accepted
	ReplayOf string    `json:"replay_of,omitempty"` // EventID of the event that it repeats
	Bytes    int       `json:"bytes"`               // of Data, as it was sent
	Whole    bool      `json:"whole"`               // Data is all of it: the event can be replayed
	Preview  string    `json:"preview,omitempty"`   // how Data begins, where it is not whole
	Redacted bool      `json:"redacted,omitempty"`  // secrets were taken out of Data
	Tool     string    `json:"tool,omitempty"`      // canonical name
	Subject  string    `json:"subject,omitempty"`   // what it is about, on one line
	CallID   string    `json:"call_id,omitempty"`   // of the tool call; "" = it is about none

	Decision *Decision `json:"decision,omitempty"` // nil = none was made
}

// A Decision is the record of what was decided about one event: one that its
// sender waited for, that can be decided, and that a hook took part in.
type Decision struct {
	EventID   string    `json:"event_id"`
	Seq       uint64    `json:"seq"`       // its own place in the stream
	EventSeq  uint64    `json:"event_seq"` // that of the event
	Time      time.Time `json:"time"`      // when the event was accepted
	Event     string    `json:"event"`
	Kind      string    `json:"kind"` // what the event stands for in every dialect, such as tool.before
	Dialect   Dialect   `json:"dialect,omitempty"`
	AgentID   string    `json:"agent_id,omitempty"`
	AgentName string    `json:"agent_name,omitempty"`
	SessionID string    `json:"session_id,omitempty"`
	Cwd       string    `json:"cwd,omitempty"`
	Tool      string    `json:"tool,omitempty"`    // canonical name
	Subject   string    `json:"subject,omitempty"` // what it was about: one line of 256 bytes at most
	CallID    string    `json:"call_id,omitempty"` // of the tool call, as its agent counts them; "" = it was about none
	Tried     bool      `json:"tried,omitempty"`   // a person tried hooks: in no count of what agents did

	// Outcome is what people read: Decision, or rewrite or context where hooks changed or added
	// something and none denied or asked.
	Outcome    Outcome         `json:"outcome,omitempty"`
	Decision   Outcome         `json:"decision"`              // as the agent heard it, where Told is known
	Reason     string          `json:"reason,omitempty"`      // may have several lines
	DecidedBy  []string        `json:"decided_by,omitempty"`  // hooks whose answers made it what it is
	Rewrote    []string        `json:"rewrote,omitempty"`     // of input, result, messages, context
	NewInput   json.RawMessage `json:"new_input,omitempty"`   // the input that runs instead, without secrets; a text where it is long
	NewSubject string          `json:"new_subject,omitempty"` // Subject, of the new input
	Told       *Told           `json:"told,omitempty"`        // nil = the sender says nothing of that
	Answered   *Answered       `json:"answered,omitempty"`    // nil = no question was held
	Shadow     []Shadowed      `json:"shadow,omitempty"`      // what hooks would have said that only watch
	DurationMS float64         `json:"duration_ms"`           // from the event to the verdict
	Runs       []string        `json:"runs,omitempty"`        // ids of the runs whose answers were waited for
}

// An Outcome is a decision in one word.
type Outcome string

// The outcomes.
const (
	OutcomeDeny  Outcome = "deny"
	OutcomeAsk   Outcome = "ask"   // a person has to decide
	OutcomeAllow Outcome = "allow" // a hook, a person or a grant said yes
	OutcomeNone  Outcome = "none"  // nothing was said against it

	OutcomeRewrite Outcome = "rewrite" // the call goes on with another input, or its result is another
	OutcomeContext Outcome = "context" // nothing was said against it, and the model gets more to read
)

// Told is the answer that an agent got, as its bridge has written it.
type Told struct {
	Decision Outcome `json:"decision,omitempty"` // deny, ask, allow or none; "" = not known
	Reason   string  `json:"reason,omitempty"`   // in the words that the agent got
	Rewrote  bool    `json:"rewrote,omitempty"`  // it got another input
	Unsure   string  `json:"unsure,omitempty"`   // why Decision is not known; "" = it is
}

// A Failure is the effect of a failed guard on its call.
type Failure string

// The effects of a failed guard.
const (
	FailureDenies Failure = "denies" // what it guards is denied
	FailurePasses Failure = "passes" // it counts as no opinion
)

// Shadowed is what a hook would have decided if it counted.
type Shadowed struct {
	Hook     string   `json:"hook"`
	Decision Outcome  `json:"decision"`
	Reason   string   `json:"reason,omitempty"`
	Rewrote  []string `json:"rewrote,omitempty"`
}

// A DecisionQuery selects decisions; the zero value selects the newest 50. Several
// values of one field may be given by comma, but of EventID and Text: any fits.
type DecisionQuery struct {
	Decision string // an Outcome; "" = all
	Tool     string // canonical name; "" = all
	Agent    string // AgentID, AgentName or Dialect; "" = all
	Session  string // SessionID; "" = all
	Hook     string // of DecidedBy or Shadow; "" = all
	Event    string // name or kind; "" = all
	EventID  string // "" = of all events
	Cwd      string // the folder, or one above it; "" = all
	Text     string // in Subject or Reason, in any case of ASCII letters; "" = all
	Shadow   bool   // only those with Shadow

	Since  time.Time // of Time; zero = from the first
	Until  time.Time // of Time, which is before it; zero = to the last
	Before uint64    // of Seq, which is below it; 0 = begin with the newest
	Limit  int       // 0 = 50
}

// Counts is how many decisions fit a query, by what people ask for. Of Agents, Tools
// and Hooks the most frequent come first; what is beyond 50 is counted together.
type Counts struct {
	Total     int64    `json:"total"`           // without those that a person tried
	Tried     int64    `json:"tried,omitempty"` // these, which nothing else counts
	Decisions []Count  `json:"decisions"`
	Agents    []Count  `json:"agents"` // by AgentName, else by Dialect
	Tools     []Count  `json:"tools"`
	Hooks     []Count  `json:"hooks"`             // that decided or watched
	Sessions  int64    `json:"sessions"`          // how many
	Rewrote   int64    `json:"rewrote"`           // decisions that changed something
	Buckets   []Bucket `json:"buckets,omitempty"` // with CountQuery.Every; those without decisions are left out
	// Next is DecisionQuery.Before for what is not counted here; 0 = all is. A long
	// history is counted in parts.
	Next uint64 `json:"next,omitempty"`
}

// A Count is how many decisions have a value.
type Count struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// A Bucket counts decisions about events of a stretch of time.
type Bucket struct {
	Start time.Time `json:"start"`
	Deny  int64     `json:"deny"`
	Ask   int64     `json:"ask"`
	Allow int64     `json:"allow"`
	None  int64     `json:"none"`
}

// A CountQuery selects the decisions that are counted. The DecisionQuery's Limit
// does not count.
type CountQuery struct {
	DecisionQuery
	Every time.Duration // length of a Bucket, 1 s or more, with a Since; 0 = no buckets
}

// An AcceptedEvent is an accepted event without its data.
type AcceptedEvent struct {
	EventID   string    `json:"event_id"`
	Seq       uint64    `json:"seq"`
	Time      time.Time `json:"time"`
	Event     string    `json:"event"`
	Kind      string    `json:"kind,omitempty"` // as in Decision
	Dialect   Dialect   `json:"dialect,omitempty"`
	SessionID string    `json:"session_id,omitempty"`
	AgentID   string    `json:"agent_id,omitempty"`
	AgentName string    `json:"agent_name,omitempty"`
	Cwd       string    `json:"cwd,omitempty"`
	Sender    string    `json:"sender,omitempty"`
	Tool      string    `json:"tool,omitempty"`      // canonical name
	Subject   string    `json:"subject,omitempty"`   // what it is about, on one line
	CallID    string    `json:"call_id,omitempty"`   // of the tool call; "" = it is about none
	Tried     bool      `json:"tried,omitempty"`     // a person tries hooks with it
	Parent    string    `json:"parent,omitempty"`    // EventID of the event that it follows from
	ReplayOf  string    `json:"replay_of,omitempty"` // EventID of the event that it repeats
	Wait      bool      `json:"wait,omitempty"`      // its sender waited for the answer
	Bytes     int       `json:"bytes"`               // of its data, as sent
	Whole     bool      `json:"whole"`               // the history has all of them: it can be replayed
}

// An EventQuery selects accepted events; the zero value selects the newest 50.
type EventQuery struct {
	Session string // SessionID; "" = all
	Event   string // name; "" = all
	Tool    string // canonical name; "" = all
	Agent   string // AgentID, AgentName or Dialect; "" = all
	Cwd     string // the folder, or one above it; several by comma; "" = all
	Text    string // in Subject, in any case of ASCII letters; "" = all

	Since  time.Time // of Time; zero = from the first
	Until  time.Time // of Time, which is before it; zero = to the last
	Before uint64    // of Seq, which is below it; 0 = begin with the newest
	Limit  int       // 0 = 50
}

// A Session is what is known of one session of an agent.
type Session struct {
	SessionID string    `json:"session_id"`
	Dialect   Dialect   `json:"dialect,omitempty"`
	AgentID   string    `json:"agent_id,omitempty"`
	AgentName string    `json:"agent_name,omitempty"`
	Cwd       string    `json:"cwd,omitempty"`
	First     time.Time `json:"first"`             // event
	Last      time.Time `json:"last"`              // event
	State     string    `json:"state"`             // working, waiting (for a person), idle or ended
	Events    int64     `json:"events"`            // accepted
	Tools     int64     `json:"tools"`             // calls
	Denials   int64     `json:"denials"`           // decisions
	Asks      int64     `json:"asks"`              // decisions
	Tool      string    `json:"tool,omitempty"`    // of the last event that had a subject
	Subject   string    `json:"subject,omitempty"` // of that event
}

// A SessionQuery selects sessions; the zero value selects the newest 50.
type SessionQuery struct {
	Agent   string    // AgentID, AgentName or Dialect; "" = all
	Session string    // SessionID; "" = all
	Cwd     string    // the folder, or one above it; "" = all
	State   string    // "" = all
	Since   time.Time // of Last; zero = from the first
	Until   time.Time // of Last, which is before it; zero = to the last
	Limit   int       // 0 = 50
}

// A RunUnderWay is a run that has begun and not ended.
type RunUnderWay struct {
	RunID     string    `json:"run_id"`
	Hook      string    `json:"hook"`
	Event     string    `json:"event"`
	EventID   string    `json:"event_id"`
	SessionID string    `json:"session_id,omitempty"`
	AgentID   string    `json:"agent_id,omitempty"`
	AgentName string    `json:"agent_name,omitempty"`
	Dialect   Dialect   `json:"dialect,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	Subject   string    `json:"subject,omitempty"`
	Lane      string    `json:"lane"`          // decidable: something waits for its answer; observers
	PID       int       `json:"pid,omitempty"` // of its process; 0 = it has none of its own, or not yet
	Started   time.Time `json:"started"`
	AgeMS     float64   `json:"age_ms"`
	LeftMS    float64   `json:"left_ms"` // until its deadline; below 0 after it
}

// Replayed is the outcome of an event that was accepted again.
type Replayed struct {
	ReplayOf string   `json:"replay_of"`          // EventID of the old event
	EventID  string   `json:"event_id,omitempty"` // of the new one; "" after a dry run
	Seq      uint64   `json:"seq,omitempty"`      // of the new one
	Matched  []string `json:"matched"`            // hooks that run for it
	Warnings []string `json:"warnings"`           // what was tolerated
}

// A StatsQuery selects what Stats counts. Times are rounded to hours.
type StatsQuery struct {
	Hook  string    // name; "" = each
	By    string    // agent, tool, day or hour, for GroupStats; "" or hook = each hook
	Since time.Time // zero = from the first
	Until time.Time // zero = to the last
}

// GroupStats is what happened with one agent, with one tool, on one day or in one hour.
type GroupStats struct {
	Name     string  `json:"name"` // "" = of none; of a day 2006-01-02, of an hour 2006-01-02T15:00:00Z, in UTC
	Runs     int64   `json:"runs"`
	Failures int64   `json:"failures"` // as in HookStats
	Blocked  int64   `json:"blocked"`
	WaitedMS float64 `json:"waited_ms"` // by agents, for answers of hooks
	P50MS    float64 `json:"p50_ms"`    // of the durations of runs, within 5 %
	P95MS    float64 `json:"p95_ms"`
	P99MS    float64 `json:"p99_ms"`
}

// HookStats is what one hook did in the time asked for.
type HookStats struct {
	Hook     string  `json:"hook"`
	Runs     int64   `json:"runs"`
	Failures int64   `json:"failures"` // failed, timed out, did not start, interrupted
	Blocked  int64   `json:"blocked"`
	WaitedMS float64 `json:"waited_ms"` // by agents, for its answers
	P50MS    float64 `json:"p50_ms"`    // of the durations, within 5 %
	P95MS    float64 `json:"p95_ms"`
	P99MS    float64 `json:"p99_ms"`
}

// A DeadLetter is a run that was given up.
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

	Data json.RawMessage `json:"data,omitempty"` // of the event; of Client.DeadLetter only
}

// DaemonInfo is how the daemon is.
type DaemonInfo struct {
	Version     string         `json:"version"`
	PID         int            `json:"pid"`
	Home        string         `json:"home"`
	Socket      string         `json:"socket"`
	Started     time.Time      `json:"started"`
	Epoch       string         `json:"epoch"` // which sequence Seq is of
	Seq         uint64         `json:"seq"`   // the newest
	Draining    bool           `json:"draining"`
	Ready       bool           `json:"ready"`
	Generation  uint64         `json:"generation"` // of the hooks
	Reloaded    time.Time      `json:"reloaded"`
	Watching    string         `json:"watching"` // "fsnotify", or "polling every 2s: REASON"
	Path        string         `json:"path"`     // PATH of hooks, where they do not set it themselves
	Hooks       map[string]int `json:"hooks"`    // by state
	Runs        map[string]int `json:"runs"`     // by Result since the start
	Events      uint64         `json:"events"`   // accepted since the start
	Running     map[string]int `json:"running"`  // runs by lane
	Queued      int            `json:"queued"`   // runs that wait
	QueuedBytes int64          `json:"queued_bytes"`
	Subscribers int            `json:"subscribers"`
	Gaps        uint64         `json:"gaps"`     // reported to subscribers that were too slow
	Retrying    int            `json:"retrying"` // runs that wait for their next attempt
	Behind      bool           `json:"behind"`   // events wait on disk for room in the queue
	Store       Storage        `json:"store"`
	Copies      int            `json:"copies"`           // processes of persistent hooks
	Cgroup      string         `json:"cgroup,omitempty"` // that runs live in; "" = process groups only
	Starts      string         `json:"starts"`           // how processes are started: "clone3", or "fork: WHY NOT clone3"
	HTTP        *HTTP          `json:"http,omitempty"`   // nil = not asked for
	Policy      *Policy        `json:"policy,omitempty"` // nil = none is set
	Forward     []Forward      `json:"forward,omitempty"`
	Fleet       *FleetLag      `json:"fleet,omitempty"` // nil = it is in none
	Problems    []Problem      `json:"problems"`
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

// Forward is how far decisions were handed on to one target of the setting forward.
type Forward struct {
	Name    string     `json:"name"`
	Type    string     `json:"type"`    // otlp, webhook or file
	To      string     `json:"to"`      // URL or path
	Waiting int        `json:"waiting"` // decisions that were not handed on yet, 10,000 at most
	Oldest  *time.Time `json:"oldest,omitempty"`
	Sent    uint64     `json:"sent"`              // decisions since the daemon started
	Failed  uint64     `json:"failed"`            // attempts since then
	Refused uint64     `json:"refused,omitempty"` // decisions since then that the target says it has thrown away
	Missed  int64      `json:"missed,omitempty"`  // decisions that were pruned before they were handed on
	Error   string     `json:"error,omitempty"`   // why the last attempt failed; "" = it did not
	Since   *time.Time `json:"since,omitempty"`   // of the first attempt that failed in a row
	Unread  string     `json:"unread,omitempty"`  // why waiting, oldest and missed are not known; "" = they are
}

// Storage is how the daemon's database is.
type Storage struct {
	Path          string    `json:"path"`
	OK            bool      `json:"ok"`
	Error         string    `json:"error,omitempty"` // why nothing can be kept
	Since         time.Time `json:"since,omitzero"`  // of the Error
	Bytes         int64     `json:"bytes"`
	Events        int64     `json:"events"`
	Runs          int64     `json:"runs"`
	PendingEvents int       `json:"pending_events"` // with runs that have not ended
	PendingRuns   int       `json:"pending_runs"`
	PendingBytes  int64     `json:"pending_bytes"`
	DeadLetters   int64     `json:"dead_letters"`
	Journaled     int       `json:"journal_events"` // that the journal has, and the database not yet
	JournalBytes  int64     `json:"journal_bytes"`  // of the journal on disk
	Lost          uint64    `json:"lost"`           // records that could not be kept since the start
	Losses        []Loss    `json:"losses,omitempty"`
}

// Loss is a part of the accepted events that was lost, or a file that was set aside, until
// Client.Recover has taken it back.
type Loss struct {
	ID          int64     `json:"id"`
	Time        time.Time `json:"time"`
	Why         string    `json:"why"`
	Path        string    `json:"path,omitempty"`         // of the file that was set aside or kept; "" = there is none
	Lost        int64     `json:"lost"`                   // accepted runs, or events, that do not run
	More        bool      `json:"more,omitempty"`         // there may be more of them
	DeadLetters int64     `json:"dead_letters,omitempty"` // that went with the file
}

// Recovered is what Client.Recover did.
type Recovered struct {
	Losses []RecoveredLoss `json:"losses"`
}

// RecoveredLoss is how it went with one loss.
type RecoveredLoss struct {
	Loss       Loss   `json:"loss"`
	Events     int    `json:"events"`               // that run now
	Unreadable int    `json:"unreadable,omitempty"` // parts of the file that cannot be read
	Error      string `json:"error,omitempty"`      // why the loss stays; "" = it is settled
	Kept       string `json:"kept,omitempty"`       // path of the file now, once it is settled
}

// HTTP is how the door for agents that call HTTP is.
type HTTP struct {
	Listen string `json:"listen"` // address
	Open   bool   `json:"open"`
	Error  string `json:"error,omitempty"` // why it is not; hookd tries again by itself
}
