package hookfiles

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/agents/transcripts"
	"github.com/hookd/hookd/internal/people/blindspots"
	"github.com/hookd/hookd/internal/people/learn"
	"github.com/hookd/hookd/internal/people/scan"
)

// Limits of looking into transcripts for the page, which waits for the answer.
const (
	scanBudget = 10 * time.Second
	scanBack   = 30 * 24 * time.Hour
	learnBack  = 90 * 24 * time.Hour
)

// reading lets one look into transcripts run at a time: each takes a processor.
var reading sync.Mutex

// Scan judges the calls of the last 30 days as `hookd scan` does.
func (f Files) Scan(ctx context.Context) (any, error) { return f.scan(ctx, scanBack, nil) }

func (f Files) scan(ctx context.Context, back time.Duration, evidence *learn.Evidence) (*scan.Report, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("find the home folder: %w", err)
	}
	if !reading.TryLock() {
		return nil, errors.New("transcripts are being read already: try again in some seconds")
	}
	defer reading.Unlock()
	since := time.Now().Add(-back)
	opt := scan.Options{Home: home, Env: os.Getenv, Since: since, Budget: scanBudget, Evidence: evidence}
	if evidence != nil {
		opt.Answered = func(give func(*transcripts.Call)) error { return learn.Answers(ctx, f.Client, since, give) }
	}
	report, err := scan.Run(ctx, opt)
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	return report, nil
}

// Lessons are the rules that would answer for a person, as `hookd learn --list` has them.
type Lessons struct {
	Rules   []learn.Proposal `json:"rules"`
	Learned []string         `json:"learned"` // names of rules that were taken before
	Asked   int              `json:"asked"`   // questions of the last 90 days
	Saved   learn.Saved      `json:"saved"`
}

// Learn lists rules that may be taken.
func (f Files) Learn(ctx context.Context) (any, error) { return f.lessons(ctx) }

func (f Files) lessons(ctx context.Context) (*Lessons, error) {
	cfg, err := f.Load()
	if err != nil {
		return nil, err
	}
	report, err := f.scan(ctx, learnBack, &learn.Evidence{})
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir() // without one there is no report
	list, known := learn.New(cfg.HooksDir, home, report.Proposals()), learn.Learned(cfg.HooksDir)
	return &Lessons{
		Rules: append([]learn.Proposal{}, list...), Learned: append([]string{}, known...),
		Asked: report.Prompts.Asked, Saved: report.Prompts.Saved,
	}, nil
}

// Take writes one of the rules that Learn lists, by its name, into the hook quiet. The evidence is read once more:
// the page brings no rule along.
func (f Files) Take(ctx context.Context, name string) error {
	cfg, err := f.Load()
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return fmt.Errorf("find the home folder: %w", err)
	}
	lessons, err := f.lessons(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(lessons.Rules, func(p learn.Proposal) bool { return p.Name == name })
	if i < 0 {
		return fmt.Errorf("no rule that can be learned is called %s", name)
	}
	_, err = learn.Write(cfg.HooksDir, home, lessons.Rules[i:i+1])
	return err
}

// BlindSpots compares the last week with the transcripts, as `hookd agent blindspots` does.
func (f Files) BlindSpots(ctx context.Context) (any, error) {
	home, _ := os.UserHomeDir() // without one there are no transcripts
	return blindspots.Look(ctx, blindspots.Options{
		Record: f.Client, Env: os.Getenv, Home: home, Since: time.Now().Add(-7 * 24 * time.Hour),
	})
}
