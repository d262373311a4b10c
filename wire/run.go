package wire

import "time"

// Result says how a run ended.
type Result string

const (
	ResultOK         Result = "ok"
	ResultDeny       Result = "deny"        // it answered, and the answer is no
	ResultFailed     Result = "failed"      // exit code, signal, or an answer that cannot be read
	ResultTimeout    Result = "timeout"     // killed at its deadline
	ResultSpawnError Result = "spawn_error" // it never started

	ResultInterrupted Result = "interrupted" // hookd ended while it ran
	ResultDropped     Result = "dropped"     // its hook was gone when its turn came
	ResultMerged      Result = "merged"      // left out by debounce or throttle
)

// InputPreview is how many bytes of a payload a run's record keeps.
const InputPreview = 256

// Run is the record of one execution of one hook for one event.
type Run struct {
	ID         string  `json:"run_id"`
	Seq        uint64  `json:"seq,omitempty"` // place in the stream
	EventID    string  `json:"event_id"`
	Event      string  `json:"event"`           // the emitted name
	Given      string  `json:"given,omitempty"` // the name the hook was given, when it is another
	Hook       string  `json:"hook"`
	Called     string  `json:"called,omitempty"` // as messages to the agent call the hook; "" = Hook
	Source     string  `json:"source,omitempty"`
	Digest     string  `json:"digest,omitempty"`
	Generation uint64  `json:"generation,omitempty"`
	SessionID  string  `json:"session_id,omitempty"`
	AgentID    string  `json:"agent_id,omitempty"`
	AgentName  string  `json:"agent_name,omitempty"`
	Sender     string  `json:"sender,omitempty"`
	Dialect    Dialect `json:"dialect,omitempty"`
	Tool       string  `json:"tool,omitempty"`     // of the event, by its canonical name
	Subject    string  `json:"subject,omitempty"`  // what the event was about: one line of 256 bytes at most
	Reason     string  `json:"reason,omitempty"`   // of an answer that is no, or asks: why
	Decision   Outcome `json:"decision,omitempty"` // what it answered where that counts: deny, ask or allow
	Rule       string  `json:"rule,omitempty"`     // of the hook that answered so; "" = it has no rules, or none fitted
	Span       [2]int  `json:"span,omitzero"`      // of the call's text that the rule fitted: from and to, in bytes; zero = the whole
	Awaited    bool    `json:"awaited,omitempty"`  // the verdict waited for it
	Failure    Failure `json:"failure,omitempty"`  // what the failure led to; "" = the run did not fail, or nothing waited
	Cause      string  `json:"cause,omitempty"`    // of its failure, without its exit code
	Shadow     bool    `json:"shadow,omitempty"`   // its hook is in the shadow: Decision did not count
	Tried      bool    `json:"tried,omitempty"`    // a person tried hooks: in no count of what agents did
	Test       bool    `json:"test,omitempty"`     // it was only tried: in no list, count or metric

	Spawned string `json:"spawned,omitempty"` // the agent that an agent action started
	Input   string `json:"input,omitempty"`   // the beginning of its payload, a tool call first: 256 bytes at most

	Result     Result    `json:"result"`
	ExitCode   int       `json:"exit_code"` // -1 where there is none: signalled, timed out, never started
	Signal     string    `json:"signal,omitempty"`
	Error      string    `json:"error,omitempty"`   // why it failed, for people
	Warning    string    `json:"warning,omitempty"` // what was odd about its answer, or does not reach the agent
	Killed     string    `json:"killed,omitempty"`  // how its processes were killed: group, tree or cgroup
	Left       int       `json:"left,omitempty"`    // processes that may have survived the kill
	Started    time.Time `json:"started"`
	QueueMS    float64   `json:"queue_ms"`    // accepted until started
	DurationMS float64   `json:"duration_ms"` // started until its main process was reaped

	Stdout Output `json:"stdout"`
	Stderr Output `json:"stderr"`
}

// Failure is the effect of a failed guard on its call.
type Failure string

const (
	FailureDenies Failure = "denies" // what it guards is denied
	FailurePasses Failure = "passes" // it counts as no opinion
)

// Output is the part of one stream that the record keeps: the first 16 KiB and the last
// 48 KiB, and how much there was.
type Output struct {
	Head  string `json:"head,omitempty"`
	Tail  string `json:"tail,omitempty"` // empty while Head holds the whole output
	Bytes int64  `json:"bytes"`
}

// Truncated reports whether bytes between Head and Tail were dropped.
func (o Output) Truncated() bool { return o.Bytes > int64(len(o.Head)+len(o.Tail)) }

// UnderWay is a run that has begun and not ended.
type UnderWay struct {
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
	Slots     string    `json:"lane"`          // that it takes one of. decidable: something waits for its answer; observers
	PID       int       `json:"pid,omitempty"` // of its process; 0 = it has none of its own, or not yet
	Started   time.Time `json:"started"`
	AgeMS     float64   `json:"age_ms"`
	LeftMS    float64   `json:"left_ms"` // until its deadline; below 0 after it
}
