// Package engine describes the holder of a fleet's messages: streams of servers, which package
// jetstream speaks to, and package link from another process. It has errors and names, and nothing that speaks.
package engine

import (
	"context"
	"errors"
	"time"
)

// Broker holds the streams of a fleet. All calls end soon after their context, whatever hangs.
type Broker interface {
	Publisher
	Reader
	Consumer
	Board
	Counter
}

// Publisher stores messages.
type Publisher interface {
	// Publish stores messages in their order, and says of each why it was not; nil = it is
	// on the disks of most servers. A message with the ID of another of the last minutes is
	// stored once.
	Publish(ctx context.Context, list []Message) []error
	// Prepare makes missing streams. A failure ends it only while the servers are away; else it goes on
	// with the next stream.
	Prepare(ctx context.Context, streams []Stream) error
	// State says whether the servers answer.
	State() State
}

// Reader reads stored messages.
type Reader interface {
	// Read calls each with messages of a stream in their order, until it returns false or
	// there is no more now.
	Read(ctx context.Context, q Query, each func(Stored) bool) error
	// Look returns the state of a stream.
	Look(ctx context.Context, stream string) (Found, error)
	// Changed has a token when the servers answer again after they did not.
	Changed() <-chan struct{}
}

// Counter counts and drops stored messages.
type Counter interface {
	// Count returns how many messages of a stream have a subject of a pattern. It reads none.
	Count(ctx context.Context, stream, subject string) (int, error)
	// Drop deletes a message by its number; nil = it is not there any more.
	Drop(ctx context.Context, stream string, seq uint64) error
}

// Consumer gives messages to machines.
type Consumer interface {
	// Consume calls handle with each message of a consumer until ctx ends. The calls run side
	// by side.
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

// Found is a stream as the servers have it.
type Found struct {
	Begun    time.Time // its numbers begin again with another stream of its name
	Last     uint64    // number of its newest message; 0 = it never had one
	Subjects []string  // patterns of the messages that it takes
}

// Query selects messages of a stream.
type Query struct {
	Stream  string
	Subject string    // pattern; "" = all
	After   uint64    // messages with greater numbers; 0 = see Since
	Since   time.Time // messages that are not older; zero = from the first
	Limited bool      // some machines may not read the stream: it is ErrForbidden for them
}

// Spec names a consumer, which machines share that give the same name.
type Spec struct {
	Stream, Name string
	Subject      string // pattern
	Missing      string // what to do when it is not there, and this machine may not make it
}

// Delivery is a message that a machine is to take.
type Delivery struct {
	Stored
	Try   int                       // 1 = for the first time
	Took  func() error              // the machine has it: it is given to no other
	Later func(time.Duration) error // it is given again after that time
}

// State is how the connection is.
type State struct {
	Connected bool
	Server    string    // the last one that answered; "" = none did
	Since     time.Time // when the connection came or went
	Err       string    // why not; "" = nothing went wrong, that of ErrKey = the key is to blame
	Limit     int       // bytes of the largest message; 0 = not known yet
}

// ErrTooLarge is the error of a message that the servers never take.
var ErrTooLarge = errors.New("the message is larger than the servers take")

// ErrAway is the error of a call while no server answers.
var ErrAway = errors.New("no server of the fleet answers")

// ErrNoStream is the error of a message that no stream takes: none has its subject, or a leader.
var ErrNoStream = errors.New("no stream of the servers takes the message")

// ErrKey is the error of a key that the servers do not let in.
var ErrKey = errors.New("the servers refuse this key: their list has no entry for it, or none any more")

// ErrForbidden is the error of a call that the servers let other machines make.
var ErrForbidden = errors.New("the servers do not let this machine do that")

// ErrRefused is the error of a message to a full stream, or to a stream that refuses for another reason.
var ErrRefused = errors.New("the stream refuses the message")

// Stream is one stream of a tenant. The settings that machines rely on are set here and nowhere
// else; the broker knows the number of copies.
type Stream struct {
	Name       string
	Subjects   []string
	MaxAge     time.Duration // 0 = they stay
	MaxBytes   int64
	MaxMessage int  // bytes of one message; 0 = what the server allows
	PerSubject int  // newest messages that are kept of a subject; 0 = all; of a Queue see BoundQueue
	Queue      bool // a message stays until a consumer has it acknowledged
	Refuse     bool // a full stream refuses new messages, else it drops the oldest
	Objects    bool // it is a bucket of the object store
}

// Board holds messages and objects for all machines.
type Board interface {
	// Listen calls heard after each announcement on a subject, until ctx ends. It may miss some.
	Listen(ctx context.Context, subject string, heard func()) error
	// Announce has those who listen on a subject hear it now. Nothing is stored.
	Announce(subject string) error
	// Object returns an object of a bucket; ErrNoObject if there is none, ErrTooLarge if it
	// has more than limit bytes.
	Object(ctx context.Context, bucket, name string, limit int64) ([]byte, error)
}

// Press publishes for all machines: with the key of an operator.
type Press interface {
	Board
	// Replace stores a message unless the subject has another newest one than that with the
	// number seq, 0 = none: then it fails with ErrReplaced.
	Replace(ctx context.Context, m Message, seq uint64) error
	// PutObject stores an object under a name that has none.
	PutObject(ctx context.Context, bucket, name string, data []byte) error
	// MakeConsumers makes consumers, or brings them up to date.
	MakeConsumers(ctx context.Context, consumers []Spec) error
	// DeleteConsumers deletes consumers; it is no error where they are gone.
	DeleteConsumers(ctx context.Context, consumers []Spec) error
	// BoundQueue has a stream with Queue take messages for its consumers alone, at most PerSubject of a
	// sender at once.
	BoundQueue(ctx context.Context, s Stream) error
	// Purge deletes the messages of a stream with a subject of a pattern.
	Purge(ctx context.Context, stream, subject string) error
}

var (
	// ErrNoObject is the error of an object that is not there.
	ErrNoObject = errors.New("the fleet does not have it")
	// ErrReplaced is the error of a message that was to replace another than the newest.
	ErrReplaced = errors.New("another operator was first")
)

// Options say how a Broker is reached.
type Options struct {
	Servers []string // addresses of one cluster; required
	Creds   string   // file of an nkey seed, or a .creds file; "" = none
	CA      string   // file of certificates; "" = those of the system
	Machine string   // names the connection and its inbox; required
	MakeKey bool     // Creds is made if it is not there
	Tries   int      // after which a message is a dead letter; 0 = 50
}

// Inbox is the prefix of the subjects on which a machine gets its answers: its own, so
// that no other machine can read them.
func Inbox(machine string) string { return "_INBOX." + machine }
