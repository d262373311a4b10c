package contain

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/verdict"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/run/box"
)

// A way out is one folder or file that a box may write beside its profile, or one destination that
// it may reach: an absolute path, or HOST:PORT. A person opens it from the ask about a call whose
// box kept it; the call then runs in its box all the same.

// maxWays is how many ways out one ask is about: a person has to read them.
const maxWays = 4

// Opens fits dispatch.Boxes.
func (k *Boxer) Opens(e *events.Event, v *verdict.Verdict) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t := k.failedBefore(e, v); t != nil {
		return t.kept()
	}
	return nil
}

// kept are the ways that the box of a ticket kept, and that a person may open; nil = none is known.
func (t *ticket) kept() (list []string) {
	if t.End == nil {
		return nil
	}
	for _, to := range append(slices.Clone(t.End.Refused), t.Outside...) {
		if !slices.Contains(t.Profile.Write, to) && !slices.Contains(list, to) && len(list) < maxWays {
			list = append(list, to)
		}
	}
	return list
}

// open adds ways to a profile.
func open(p box.Profile, ways []string) box.Profile {
	for _, way := range ways {
		switch {
		case filepath.IsAbs(way):
			p.Write = append(slices.Clip(p.Write), way)
		case p.Base == box.ProjectNet:
			p.Hosts = append(slices.Clip(p.Hosts), way)
		}
	}
	return p
}

// lasting lists the ways that a person has opened for a session, as long as the grant of that answer is in force.
func (k *Boxer) lasting(session, profile string) (ways []string) {
	for _, one := range k.tickets.list {
		if one.Lasts && one.Session == session && one.Profile.Name == profile && session != "" &&
			(k.opts.Granted == nil || k.opts.Granted(one.Event)) {
			ways = append(ways, one.Opens...)
		}
	}
	slices.Sort(ways)
	return slices.Compact(ways)
}

// writes are effects on a place that a box keeps.
var writes = []facts.EffectKind{facts.KindWrite, facts.KindDelete, facts.KindMove}

// outsideOf lists the ways that a call in a box writes, as far as its line says, or its output does.
func (k *Boxer) outsideOf(t *ticket, output string) (list []string) {
	if t.Profile.Base == box.Read {
		return nil // it writes nothing: a wider profile is another answer of a hook
	}
	s, err := box.Resolve(t.Profile, k.place(t.Cwd))
	if err != nil {
		return nil
	}
	add := func(path string) {
		if way := s.WayOut(path, k.opts.Home); way != "" && !slices.Contains(list, way) {
			list = append(list, way)
		}
	}
	for _, e := range k.opts.Facts.Line(t.Line, t.Cwd).Effects {
		if slices.Contains(writes, e.Kind) && filepath.IsAbs(e.Target) && e.Certain {
			add(e.Target)
		}
	}
	for _, path := range refusedIn(output) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(t.Cwd, path)
		}
		add(path)
	}
	return list
}

var (
	// refusals are the words of a box that keeps a file.
	refusals = lazyregexp.New(`(?i)read-only file system|\bEROFS\b|permission denied|\bEACCES\b`)
	// named are paths in a message: in quotes, or between blanks and colons.
	named = lazyregexp.New(`['"‘` + "`" + `]([^'"’` + "`" + `]*/[^'"’` + "`" + `]*)['"’` + "`" + `]|(?:^|[\s:])(\.{0,2}/[^\s:'"]+)`)
)

// refusedIn lists the paths of messages that say that a file is kept. A program may write such words
// itself: then a person is asked about a path, and reads which one.
func refusedIn(output string) (list []string) {
	if len(output) > 64<<10 {
		output = output[len(output)-64<<10:]
	}
	for line := range strings.Lines(output) {
		if !refusals.MatchString(line) || len(list) >= 2*maxWays {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(strings.TrimSpace(line), -1) {
			if path := m[1] + m[2]; len(path) < 1000 {
				list = append(list, path)
			}
		}
	}
	return list
}

// failedBefore returns the ticket of the same line of the session, if that has just failed in its box: a
// person may open a way, or let the line run outside. The caller holds the lock.
func (k *Boxer) failedBefore(e *events.Event, v *verdict.Verdict) *ticket {
	if v.UpdatedInput != nil || e.SessionID == "" {
		return nil
	}
	_, line := lineOf(dialect.Call(e))
	t := k.tickets.find(func(t *ticket) bool {
		return t.Session == e.SessionID && t.Whole == line && t.End != nil && t.age() < askAgain
	})
	if t == nil || t.End.Exit == 0 {
		return nil
	}
	return t
}

// sentence tells the model which things a box kept out, and how to act on that.
func (t *ticket) sentence() string {
	var limits string
	switch t.Profile.Base {
	case box.Read:
		limits = "nothing but /tmp can be written and there is no network"
	case box.Project:
		limits = "only the project, caches of build tools and /tmp can be written and there is no network"
	default:
		limits = "only the project, caches of build tools and /tmp can be written and only listed hosts can be reached"
	}
	if t.End != nil && t.End.Level == string(box.Landlock) {
		limits += "; it makes no sockets, and its /tmp is $TMPDIR"
	}
	if ways := t.kept(); len(ways) > 0 {
		limits += "; it kept the line from " + strings.Join(ways, ", ")
	}
	return `hookd ran this in the box "` + t.Profile.Name + `": ` + limits + `. If the step needs more, run that one step ` +
		`alone and say why; a person will be asked.`
}
