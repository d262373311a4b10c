package fleet

import (
	"context"
	"errors"
	"time"
)

// Broker is the engine that holds the streams of a fleet: JetStream, see package
// jetstream. All calls end soon after their context, whatever hangs.
type Broker interface {
	Publisher
	Reader
	Consumer
	Board
	Keeper
}

// Publisher stores messages.
type Publisher interface {
	// Publish stores messages in their order, and says of each why it was not; nil = it is
	// on the disks of most servers. One that has the ID of another of the last minutes is
	// stored once.
	Publish(ctx context.Context, list []Message) []error
	// Prepare makes the streams that are missing.
	Prepare(ctx context.Context, streams []Stream) error
	// State says whether the servers answer.
	State() State
}

// Reader reads what is stored.
type Reader interface {
	// Read calls each with messages of a stream in their order, until it returns false or
	// there is no more now.
	Read(ctx context.Context, q Query, each func(Stored) bool) error
	// Waiting returns how many messages a consumer has before it; 0 for one that is not there.
	Waiting(ctx context.Context, stream, consumer string) (int, error)
	// Changed has a token when the servers answer again after they did not.
	Changed() <-chan struct{}
}

// Keeper looks after what is stored.
type Keeper interface {
	// Count returns how many messages of a stream have a subject of a pattern. It reads none.
	Count(ctx context.Context, stream, subject string) (int, error)
	// Drop deletes a message by its number; nil = it is not there any more.
	Drop(ctx context.Context, stream string, seq uint64) error
}

// Consumer gives messages to machines.
type Consumer interface {
	// Consume calls handle with each message of a consumer until ctx ends. Where the
	// consumer is Serial one call has returned before the next, else they run side by side.
	Consume(ctx context.Context, c Spec, handle func(context.Context, Delivery)) error
}

// Message is one message.
type Message struct {
	Subject string
	ID      string // the same on each try; "" = none
	Data    []byte
}

// Stored is a message that a stream has.
type Stored struct {
	Message
	Seq  uint64 // in its stream
	Time time.Time
}

// Query says what is read of a stream.
type Query struct {
	Stream  string
	Subject string    // pattern; "" = all
	After   uint64    // messages with greater numbers; 0 = see Since
	Since   time.Time // messages that are not older; zero = from the first
	Last    bool      // only the newest message of each subject
}

// Spec names a consumer, which machines share that give the same name.
type Spec struct {
	Stream, Name string
	Subject      string        // pattern
	Serial       bool          // one message at a time, in order
	Shared       bool          // a machine that the servers do not give it to leaves it to others
	Idle         time.Duration // without a machine that asks it is forgotten; 0 = never
}

// Delivery is a message that a machine is to take.
type Delivery struct {
	Stored
	Try   int                       // 1 = for the first time
	Took  func() error              // the machine has it: it is given to no other
	Later func(time.Duration) error // it is given again after that time
	Still func()                    // the machine needs more time
}

// State is how the connection is.
type State struct {
	Connected bool
	Server    string    // the last one that answered; "" = none did
	Since     time.Time // when the connection came or went
	Err       string    // why not; "" = nothing went wrong
	Limit     int       // bytes of the largest message; 0 = not known yet
}

// ErrTooLarge is the error of a message that the servers never take.
var ErrTooLarge = errors.New("the message is larger than the servers take")

// ErrAway is the error of a call while no server answers.
var ErrAway = errors.New("no server of the fleet answers")
