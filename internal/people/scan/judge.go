package scan

import (
	"cmp"
	"hash/maphash"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/agents/transcripts"
	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/facts/secrets"
	"github.com/hookd/hookd/internal/hooks/rules"
	"github.com/hookd/hookd/internal/people/learn"
)

// Guards are the hooks of the gallery that calls are judged by, as `hookd init` installs them.
var Guards = []string{"command-guard", "secret-guard", "self-guard"}

// judge judges calls by the rules of the gallery, each distinct call once. Safe for concurrent use.
type judge struct {
	home     string
	guards   *rules.Set
	quiet    *rules.Set
	looking  *rules.Set // see Looking; the File of each is its hook
	unturned *rules.Set // those of looking that need no prompts
	together *rules.Set // see Together
	patience *readfile.Patience

	seed  maphash.Seed
	mu    sync.Mutex
	known map[uint64]*judged
	older map[uint64]*judged // those before
	tops  map[string]string  // of a folder: the repository that it is in
	asked int                // distinct calls
}

// mostJudged bounds the judgements in one of two lists. A call that neither has is judged again.
const mostJudged = 30_000

// judged is all that is known of a distinct call.
type judged struct {
	decision  rules.Action
	rule, why string
	line      string       // for people: without secrets, on one line, shortened; "" where nothing shows it
	marks     []facts.Span // in line, that made the guard decide
	root      string
	place     string // that rules may hold in; "" = nowhere
	alone     bool   // place is no repository
	shapes    []learn.Shape
	learns    bool     // rules could allow it
	whole     string   // see learn.Answer
	reads     bool     // quiet allows it
	destroys  []string // what it destroys, for people
	secret    string   // the kind of secret that it reads or carries; "" = none
	carried   bool     // the call itself has the secret
	sends     bool
}

func newJudge(home string) (*judge, error) {
	j := &judge{home: home, seed: maphash.MakeSeed(), known: map[uint64]*judged{}, tops: map[string]string{},
		patience: readfile.NewPatience(100*time.Millisecond, nil)}
	var err error
	if j.guards, err = rules.Gallery(home, Guards...); err != nil {
		return nil, err
	}
	if j.quiet, err = rules.Gallery(home, "quiet"); err != nil {
		return nil, err
	}
	if j.together, err = rules.Gallery(home, Together); err != nil {
		return nil, err
	}
	j.looking, err = rules.Gallery(home, Looking...)
	j.unturned = &rules.Set{}
	for _, r := range j.looking.Rules {
		if !slices.ContainsFunc(r.Past, func(n rules.Needed) bool { return n.Since == rules.SincePrompt }) {
			j.unturned.Rules = append(j.unturned.Rules, r)
		}
	}
	return j, err
}

// call returns the known facts of a call, which seen is.
func (j *judge) call(c *transcripts.Call, seen *look) *judged {
	var h maphash.Hash
	h.SetSeed(j.seed)
	for _, part := range []string{string(c.Agent), c.Tool, c.Cwd, c.Root} {
		h.WriteString(part)
		h.WriteByte(0)
	}
	h.Write(c.Input)
	sum := h.Sum64()
	j.mu.Lock()
	found := j.known[sum]
	if found == nil {
		if found = j.older[sum]; found != nil {
			j.remember(sum, found)
		}
	}
	j.mu.Unlock()
	if found != nil {
		return found
	}
	found = j.judge(c, seen)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked++
	j.remember(sum, found)
	return found
}

// remember adds a judgement. j.mu is held.
func (j *judge) remember(sum uint64, d *judged) {
	if len(j.known) >= mostJudged {
		j.older, j.known = j.known, make(map[uint64]*judged, mostJudged)
	}
	j.known[sum] = d
}

// look is a call as rules see it.
type look struct {
	call    neutral.ToolCall
	subject *rules.Subject
}

// look reads a call. Links are not followed and no file is read: the disk of today says nothing about that day.
func (j *judge) look(c *transcripts.Call) *look {
	call, names := dialect.Made(c.Agent, c.Tool, c.Input)
	cwd := cmp.Or(c.Cwd, c.Root, j.home)
	env := facts.Env{Cwd: cwd, Home: j.home}
	return &look{call, &rules.Subject{
		Facts: facts.Read(call, env), Tools: names, Data: c.Input, Cwd: cwd,
		Project: cmp.Or(j.top(cwd), c.Root, cwd), Home: j.home,
		Read: func(line string) *facts.Facts { return facts.Line(line, env) },
	}}
}

// judge asks the guards.
func (j *judge) judge(c *transcripts.Call, seen *look) *judged {
	call, subject, f := seen.call, seen.subject, seen.subject.Facts
	d := &judged{root: subject.Project}
	v := j.guards.Judge(subject)
	if v.Action == rules.Deny || v.Action == rules.Ask {
		d.decision, d.rule, d.why = v.Action, v.Rule.Name, v.Rule.Why
	}
	d.reads = d.decision == "" && j.quiet.Judge(subject).Action == rules.Allow
	top := j.top(subject.Cwd)
	if d.place, d.alone = cmp.Or(top, subject.Cwd), top == ""; isIn(d.place, j.home) {
		d.place = "" // it is no project: all projects lie below
	}
	d.shapes, d.learns = learn.Shapes(f, call, d.place)
	d.effects(f, j.home)
	if d.decision != "" || len(d.destroys) > 0 || d.learns && len(d.shapes) > 0 {
		d.line, d.marks = shown(call, f, v.Span, j.home)
	}
	if d.learns && len(d.shapes) == 1 && len(f.Text) <= maxWhole && !strings.ContainsAny(f.Text, "\r\n\t") &&
		escape.Line(f.Text, maxWhole) == f.Text && secrets.Redact(f.Text) == f.Text {
		d.whole = f.Text
	}
	return d
}

// isIn reports whether a path is a folder or lies below the folder.
func isIn(dir, path string) bool {
	return strings.HasPrefix(path+"/", strings.TrimSuffix(dir, "/")+"/")
}

// top is the repository that a folder is in today; "" = it is in none, or is gone.
func (j *judge) top(dir string) string {
	j.mu.Lock()
	found, known := j.tops[dir]
	j.mu.Unlock()
	if known {
		return found
	}
	var top string
	if j.patience.Try(dir, func() { top = git.Top(dir) }) {
		found = top
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.tops) > 10_000 {
		clear(j.tops)
	}
	j.tops[dir] = found
	return found
}

// madeAgain are names of folders whose content is made again by a build.
var madeAgain = strings.Fields(`
	node_modules dist build out target bin obj coverage tmp temp .cache .next .nuxt .turbo .vite __pycache__
	.pytest_cache .mypy_cache .ruff_cache .tox .venv venv .gradle htmlcov`)

// effects notes the effects that the summary is about.
func (d *judged) effects(f *facts.Facts, home string) {
	for _, e := range f.Effects {
		switch e.Kind {
		case facts.KindSend, facts.KindPublish:
			d.sends = true
		case facts.KindSecret:
			if kind, carried := strings.CutPrefix(e.Target, "text:"); carried {
				d.secret, d.carried = kind, true
			} else if d.secret == "" && e.Certain {
				d.secret = secretKind(e.Target)
			}
		case facts.KindDelete, facts.KindHistory:
			target := escape.Line(tilde(secrets.Redact(e.Target), home), 60)
			if e.Certain && e.Target != "" && !isMadeAgain(e.Target, home) && len(d.destroys) < 8 &&
				!slices.Contains(d.destroys, target) {
				d.destroys = append(d.destroys, target)
			}
		}
	}
}

// secretKind names a place of secrets without its folder.
func secretKind(target string) string {
	if strings.HasPrefix(target, "/") || strings.HasPrefix(target, "~") {
		return escape.Line(path.Base(target), 40)
	}
	kind, _, _ := strings.Cut(target, ":")
	return cmp.Or(kind, "secret")
}

func isMadeAgain(target, home string) bool {
	if rest, in := strings.CutPrefix(target, home+"/"); in {
		target = rest
	} else if hasPrefix(target, "/tmp/", "/var/tmp/", "package:") {
		return true
	}
	return slices.ContainsFunc(strings.Split(target, "/"), func(part string) bool {
		return slices.Contains(madeAgain, part)
	})
}

func hasPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

// maxWhole is how long a line may be that a test of a rule has.
const maxWhole = 200

// maxShown is how long a call may be that people are shown.
const maxShown = 120

// shown is a call as people are shown it: without secrets and content, on one line; marks are the
// part that made a guard decide.
func shown(call neutral.ToolCall, f *facts.Facts, span facts.Span, home string) (string, []facts.Span) {
	text, isLine := f.Text, call.Tool == neutral.Shell
	if !isLine || text == "" {
		text, span = call.Own, facts.Span{}
		for _, e := range f.Effects {
			if hasPrefix(e.Target, "/", "~", "host:") {
				text += " " + strings.TrimPrefix(e.Target, "host:")
				break
			}
		}
	}
	clean := secrets.Redact(text)
	if clean != text || span.From < 0 || span.To > len(clean) || span.From >= span.To {
		return line(tilde(clean, home)), nil
	}
	before, marked := tilde(clean[:span.From], home), tilde(clean[span.From:span.To], home)
	after := tilde(clean[span.To:], home)
	whole := line(before + marked + after)
	from := len(line(before))
	if strings.HasSuffix(before, " ") {
		from++ // line trims it
	}
	to := from + len(line(marked))
	if from >= to || to > len(whole) || !strings.HasPrefix(whole[from:], line(marked)) {
		return whole, nil
	}
	return whole, []facts.Span{{From: from, To: to}}
}

// line is a text on one line, with nothing in it that a terminal would obey.
func line(text string) string { return escape.Line(strings.Join(strings.Fields(text), " "), maxShown) }

// tilde shortens the home.
func tilde(text, home string) string {
	if home == "" || home == "/" {
		return text
	}
	text = strings.ReplaceAll(text, home+"/", "~/")
	if strings.HasSuffix(text, home) {
		text = strings.TrimSuffix(text, home) + "~"
	}
	return text
}
