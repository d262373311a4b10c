// Package link joins hookd with hookd-fleet, the program that speaks to the servers of a
// fleet. hookd asks, hookd-fleet answers: HTTP/2 over one connection, which hookd-fleet opens
// to hookd's socket, or which is its stdin and stdout.
//
// It promises: a call fails with engine.ErrAway while hookd-fleet is not there, and is never
// sent twice. Consume and Listen go on when it is back. hookd-fleet keeps nothing: work that
// hookd was not told to be done is done again.
//
// It knows no server, hook or event.
package link

import (
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/hookd/hookd/internal/fleet/engine"
)

// Engine is the broker that hookd-fleet serves.
type Engine interface {
	engine.Broker
	engine.Press
	// Told has a token when State may have changed.
	Told() <-chan struct{}
	Close()
}

// The paths of the calls. Each takes JSON, and answers with JSON or lines of JSON.
const (
	pathConnect  = "/connect" // first, once: engine.Options
	pathState    = "/state"   // lines, one for each change
	pathPublish  = "/publish"
	pathPrepare  = "/prepare"
	pathRead     = "/read"    // lines
	pathConsume  = "/consume" // lines
	pathDone     = "/done"    // with a delivery of pathConsume
	pathListen   = "/listen"  // lines
	pathCount    = "/count"
	pathDrop     = "/drop"
	pathObject   = "/object"
	pathReplace  = "/replace"
	pathPut      = "/put"
	pathAnnounce = "/announce"
	pathMake     = "/make"   // consumers
	pathDelete   = "/delete" // consumers
	pathPurge    = "/purge"
	pathLook     = "/look"
	pathBound    = "/bound"
)

// streams is how many calls may wait at once: consumers and their deliveries, readers,
// publishers.
const streams = 4096

// protocols is HTTP/2 without TLS: both ends are processes of one user.
func protocols() *http.Protocols {
	p := &http.Protocols{}
	p.SetUnencryptedHTTP2(true)
	return p
}

// refusal is an error on its way.
type refusal struct {
	Code string `json:"code,omitempty"` // of codes; "" = another error
	Text string `json:"text"`
}

var codes = map[string]error{
	"away": engine.ErrAway, "too_large": engine.ErrTooLarge,
	"no_object": engine.ErrNoObject, "replaced": engine.ErrReplaced,
	"no_stream": engine.ErrNoStream, "refused": engine.ErrRefused, "forbidden": engine.ErrForbidden,
}

func refuse(err error) *refusal {
	if err == nil {
		return nil
	}
	r := &refusal{Text: err.Error()}
	for code, known := range codes {
		if errors.Is(err, known) {
			r.Code = code
		}
	}
	return r
}

// err is the error that was refused; nil of nil.
func (r *refusal) err() error {
	if r == nil {
		return nil
	}
	return told{r.Text, codes[r.Code]}
}

// told is an error of hookd-fleet.
type told struct {
	text string
	of   error // nil = none that is known here
}

func (t told) Error() string { return t.text }
func (t told) Unwrap() error { return t.of }

// The parameters and answers of calls that are more than one value.
type (
	place struct { // of something in a stream or a bucket
		Stream  string         `json:"stream,omitempty"`
		Subject string         `json:"subject,omitempty"`
		Seq     uint64         `json:"seq,omitempty"`
		Limit   int64          `json:"limit,omitempty"`
		Data    []byte         `json:"data,omitempty"`
		Message engine.Message `json:"message,omitzero"`
	}
	answer struct {
		Errs  []*refusal     `json:"errs,omitempty"` // of pathPublish
		Err   *refusal       `json:"err,omitempty"`
		Count int            `json:"count,omitempty"`
		Data  []byte         `json:"data,omitempty"`
		State *engine.State  `json:"state,omitempty"`
		Got   *engine.Stored `json:"got,omitempty"`
		N     uint64         `json:"n,omitempty"` // of a delivery: pathDone names it
		Try   int            `json:"try,omitempty"`
		Found *engine.Found  `json:"found,omitempty"`
	}
	done struct {
		N     uint64        `json:"n"`
		How   string        `json:"how"`
		After time.Duration `json:"after,omitempty"`
	}
)

// The steps that may be taken with a delivery.
const (
	took     = "took"
	later    = "later"
	returned = "returned" // its handler has returned
)

// conn makes a connection of two streams. Close closes both.
type conn struct {
	io.Reader
	io.Writer
	close func() error
}

func (c conn) Close() error                     { return c.close() }
func (c conn) LocalAddr() net.Addr              { return &net.UnixAddr{Net: "unix"} }
func (c conn) RemoteAddr() net.Addr             { return &net.UnixAddr{Net: "unix"} }
func (c conn) SetDeadline(time.Time) error      { return nil }
func (c conn) SetReadDeadline(time.Time) error  { return nil }
func (c conn) SetWriteDeadline(time.Time) error { return nil }

// Conn makes a connection of a reader and a writer; close ends both.
func Conn(r io.Reader, w io.Writer, close func() error) net.Conn { return conn{r, w, close} }
