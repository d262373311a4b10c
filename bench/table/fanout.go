package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	fanSubscribers = 10
	fanAhead       = 700 // how many records the slowest subscriber may be behind: less than the ring
	fanBatch       = 100 // events a write
)

// follower is one subscriber and the lines that it received.
type follower struct {
	conn  net.Conn
	lines atomic.Int64
}

// group is a sender and its subscribers.
type group struct {
	sender    net.Conn
	followers []*follower
	batch     []byte
	sent      int64
	readers   sync.WaitGroup
}

// follow connects n subscribers and a sender of event to a daemon.
func (d *daemon) follow(n int, event []byte) (*group, error) {
	g := &group{batch: bytes.Repeat(event, fanBatch)}
	for range n {
		c, err := net.Dial("unix", d.socket)
		if err != nil {
			return g, err
		}
		f := &follower{conn: c}
		g.followers = append(g.followers, f)
		if _, err := io.WriteString(c, `{"subscribe":["bench:*"]}`+"\n"); err != nil {
			return g, err
		}
		if _, err := c.Read(make([]byte, 4096)); err != nil { // its answer
			return g, err
		}
		g.readers.Go(func() { counter(c, &f.lines) })
	}
	var err error
	if g.sender, err = net.Dial("unix", d.socket); err != nil {
		return g, err
	}
	g.readers.Go(func() { counter(g.sender, new(atomic.Int64)) })
	return g, nil
}

func (g *group) close() {
	if g.sender != nil {
		g.sender.Close()
	}
	for _, f := range g.followers {
		f.conn.Close()
	}
	g.readers.Wait()
}

// slowest returns how many records the slowest subscriber has.
func (g *group) slowest() (n int64) {
	n = g.sent
	for _, f := range g.followers {
		n = min(n, f.lines.Load())
	}
	return n
}

// sample sends for d, never further ahead than the ring is long, and returns
// deliveries per second.
func (g *group) sample(d time.Duration) (float64, error) {
	begin, before := time.Now(), g.sent
	for time.Since(begin) < d {
		if g.sent-g.slowest() > fanAhead-fanBatch {
			time.Sleep(20 * time.Microsecond)
			continue
		}
		if _, err := g.sender.Write(g.batch); err != nil {
			return 0, err
		}
		g.sent += fanBatch
	}
	for begin := time.Now(); g.slowest() < g.sent; time.Sleep(50 * time.Microsecond) {
		if time.Since(begin) > patience {
			return 0, fmt.Errorf("the slowest subscriber has %d of %d records", g.slowest(), g.sent)
		}
	}
	return float64((g.sent-before)*int64(len(g.followers))) / time.Since(begin).Seconds(), nil
}
