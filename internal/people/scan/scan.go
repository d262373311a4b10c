// Package scan reports the acts of agents in the past, by the transcripts that they keep: how much
// they did, which calls the guards of the gallery would have stopped, how often a person was asked,
// which things were destroyed.
//
// It promises: it works without a daemon, settings or hooks; nothing of an agent is changed, and
// nothing leaves the machine; no secret, prompt, file content or output is in a report; memory is
// bounded, and time by the caller, with the newest transcripts read first; a fact that a transcript
// does not tell is not made up. It judges by text alone: a link, a branch or a file of that day is
// not looked at, but in which repository a folder is today.
package scan

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookd/hookd/internal/agents/transcripts"
	"github.com/hookd/hookd/internal/people/learn"
)

// Options of a scan.
type Options struct {
	Home  string              // of the person, absolute
	Env   func(string) string // nil = no variables
	Since time.Time           // zero = all that is there
	// Budget is how long transcripts are read; 0 = until all are.
	Budget time.Duration
	// Evidence takes the evidence of approvals; nil = the report has its own.
	Evidence *learn.Evidence
	// Answered gives calls that a person answered elsewhere, as further evidence; nil = there are
	// none. They count as evidence alone. Its error ends the scan.
	Answered func(give func(*transcripts.Call)) error
	// Progress is called now and then with how many transcripts were read; nil = not called. It
	// must return soon.
	Progress func(read, of int)
}

// Run reads the transcripts. An error means that the scan could not begin, or that of Answered; a transcript that could
// not be read is counted. When ctx ends, the report is about the transcripts that were read until then.
func Run(ctx context.Context, opt Options) (*Report, error) {
	j, err := newJudge(opt.Home)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	found := transcripts.Find(transcripts.Options{Home: opt.Home, Env: opt.Env, Since: opt.Since})
	if opt.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opt.Budget)
		defer cancel()
	}
	evidence := opt.Evidence
	if evidence == nil {
		evidence = &learn.Evidence{}
	}
	total := newSum(evidence)
	if opt.Answered != nil {
		err := opt.Answered(func(c *transcripts.Call) {
			if d := j.call(c, j.look(c)); d.learns {
				d.learn(evidence, c)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	once := transcripts.NewOnce()
	var mu sync.Mutex // guards total
	var next, done atomic.Int64
	var workers sync.WaitGroup
	stop := progress(opt.Progress, &done, len(found.Files))
	for range min(runtime.GOMAXPROCS(0), max(len(found.Files), 1)) {
		workers.Go(func() {
			mine := newSum(evidence)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(found.Files) {
					break
				}
				mine.file(ctx, found.Files[i], opt.Since, j, once)
				done.Add(1)
			}
			mu.Lock()
			defer mu.Unlock()
			total.merge(mine)
		})
	}
	workers.Wait()
	stop()
	total.lookedAcross(j)
	r := total.report(found, opt)
	r.Distinct, r.TookMS = j.asked, time.Since(begun).Milliseconds()
	return r, nil
}

// progress calls back ten times a second until the function that it returns is called.
func progress(tell func(int, int), done *atomic.Int64, of int) (stop func()) {
	if tell == nil {
		return func() {}
	}
	ended := make(chan struct{})
	var waits sync.WaitGroup
	waits.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				tell(int(done.Load()), of)
			}
		}
	})
	return func() { close(ended); waits.Wait() }
}
