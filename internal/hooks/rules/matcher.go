package rules

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/facts"
)

// Matcher is a condition on an event. All members that are given must fit, and those about
// an effect must fit the same effect. The zero Matcher fits each event.
type Matcher struct {
	gate     gate   // first: it leaves out most matchers
	Text     string // as it is written
	Commands []facts.CommandPattern
	Programs Choice // of a command
	Effects  []facts.EffectKind
	Paths    Choice // of an effect's target that is a path
	Wholly   bool   // of allow and unless: no folder above a place or path fits, and each value of Data must
	Named    bool   // Commands fit no operands beyond their own: of unless
	Hosts    Choice // of an effect's target that is a host
	Targets  Choice // of an effect's target, with its scheme
	Outside  []FolderWord
	Inside   []FolderWord
	Emptied  bool              // of an effect: the file stays, and what it held is lost
	Undoable string            // of an effect: true or false, whether it can be taken back; "" = no condition
	Doubts   []facts.DoubtKind // nil = no condition; empty = any
	Tools    Choice
	Cwd      Choice // of the folder that the call is made in
	Prompts  []*regexp.Regexp
	Data     []DataChoice
	Said     []*regexp.Regexp // by the agent, at the end of its turn
	Branches Choice           // that the working tree is on

	exact string // the text that no other matcher has
}

// Choice is a list of globs, of which one must fit, and of those after `!`, none. With the
// latter alone, everything else fits. The zero Choice is no condition.
type Choice struct{ Yes, No []pattern.Fold }

func (c Choice) given() bool { return len(c.Yes)+len(c.No) > 0 }

func (c Choice) fits(texts ...string) bool {
	return (len(c.Yes) == 0 || pattern.MatchAny(c.Yes, texts...)) && !pattern.MatchAny(c.No, texts...)
}

// DataChoice is a condition on the value under a path in the event's data.
type DataChoice struct {
	Path []string // keys, the outermost first
	Choice
}

// FolderWord is a folder that depends on the event.
type FolderWord string

// The places. Project is the repository of the event's folder, or that folder.
const (
	Project FolderWord = "project"
	Home    FolderWord = "home"
	Temp    FolderWord = "tmp"
	Cache   FolderWord = "cache" // a folder below the home that programs fill again
)

// Places are the words for `inside` and `outside`.
var Places = []FolderWord{Project, Home, Temp, Cache}

// fit is how surely a matcher fits, and which part of the call it fits.
type fit struct {
	level facts.Fit
	span  facts.Span
	what  string
	of    *facts.Effect // nil = none
	at    int           // index of the command; -1 = none
}

var sure = fit{level: facts.Sure, at: -1}

// fits holds the matcher against the subject.
func (m *Matcher) fits(s *Subject) fit {
	switch {
	case m.Tools.given() && (len(s.Tools) == 0 || !m.Tools.fits(s.Tools...)),
		m.Cwd.given() && !m.fitsCwd(s.Cwd),
		len(m.Prompts) > 0 && !fitsText(m.Prompts, s.Prompt),
		len(m.Said) > 0 && !fitsText(m.Said, s.Said),
		m.Branches.given() && !m.fitsBranch(s),
		slices.ContainsFunc(m.Data, func(c DataChoice) bool { return !c.fitsData(s, m.Wholly) }):
		return fit{}
	case !m.looksAtCall():
		return sure
	case s.Facts == nil:
		return fit{}
	case m.looksAtEffects():
		return m.fitsEffects(s, nil)
	case m.Doubts != nil:
		return m.fitsDoubts(s, nil)
	}
	return m.fitsCommands(s, nil)
}

// looksAtCall reports whether the matcher needs the facts of a call.
func (m *Matcher) looksAtCall() bool {
	return len(m.Commands) > 0 || m.Programs.given() || m.Doubts != nil || m.looksAtEffects()
}

func (m *Matcher) looksAtEffects() bool {
	return len(m.Effects) > 0 || m.Paths.given() || m.Hosts.given() || m.Targets.given() ||
		len(m.Outside) > 0 || len(m.Inside) > 0 || m.Emptied || m.Undoable != ""
}

// gate has the needs of a matcher, or the properties of a call, as bits: it leaves out most matchers quickly.
type gate struct {
	kinds    uint32 // of effects; 0 = any
	programs uint64 // 0 = any
}

// misses reports whether a call with these properties surely does not fit.
func (g gate) misses(has gate) bool {
	return g.kinds != 0 && g.kinds&has.kinds == 0 || g.programs != 0 && g.programs&has.programs == 0
}

func (g *gate) add(kind facts.EffectKind) {
	if i := slices.Index(facts.Kinds, kind); i >= 0 {
		g.kinds |= 1 << i
	}
}

// needs returns the gate of a matcher that was read.
func (m *Matcher) needs() (g gate) {
	for _, kind := range m.Effects {
		g.add(kind)
	}
	for i := range m.Commands {
		g.programs |= m.Commands[i].Programs()
	}
	return g
}

// has returns the properties of the call for a gate.
func (s *Subject) has() (g gate) {
	if s.Facts == nil {
		return g
	}
	for i := range s.Facts.Effects {
		g.add(s.Facts.Effects[i].Kind)
	}
	for i := range s.Facts.Commands {
		g.programs |= s.Facts.Commands[i].Programs()
	}
	return g
}

// fitsText holds expressions against a text; nil = there is none.
func fitsText(list []*regexp.Regexp, text *string) bool {
	return text != nil && slices.ContainsFunc(list, func(re *regexp.Regexp) bool { return re.MatchString(*text) })
}

// fitsBranch holds the branches against that of the working tree; on none, it fits none.
func (m *Matcher) fitsBranch(s *Subject) bool {
	if s.Branch == nil {
		return false
	}
	branch := s.Branch()
	return branch != "" && m.Branches.fits(branch)
}

// fitsData holds a condition on data against the event as it was sent, and in the words that rules are written in. One
// value that fits is enough; with all, every value there must fit.
func (c DataChoice) fitsData(s *Subject, all bool) bool {
	fits, others := c.count(s.Data, c.Path)
	if s.Given != nil && (all || fits == 0) {
		for _, data := range s.Given() {
			yes, no := c.count(data, c.Path)
			fits, others = fits+yes, others+no
		}
	}
	return fits > 0 && !(all && others > 0)
}

// count counts the values under a path that fit and the others: each element of a list, and the JSON of
// a value that is no text.
func (c DataChoice) count(v json.RawMessage, at []string) (fits, others int) {
	look := func(value json.RawMessage, rest []string) {
		yes, no := c.count(value, rest)
		fits, others = fits+yes, others+no
	}
	var elements []json.RawMessage
	switch {
	case len(v) == 0 || string(v) == "null":
	case v[0] == '[' && json.Unmarshal(v, &elements) == nil:
		for i, element := range elements {
			rest := at
			if len(at) > 0 && at[0] == strconv.Itoa(i) {
				rest = at[1:]
			}
			look(element, rest)
		}
	case len(at) > 0:
		for key, value := range rawjson.Members(v) {
			if key == at[0] {
				look(value, at[1:])
			}
		}
	default:
		text, isText := rawjson.Text(v)
		if !isText {
			text = string(v)
		}
		if c.fits(text) {
			return 1, 0
		}
		return 0, 1
	}
	return fits, others
}

// fitsCommands finds the command that the matcher fits most surely. Commands that except fits do not count;
// nil = every command counts.
func (m *Matcher) fitsCommands(s *Subject, except *Matcher) (best fit) {
	for i := range s.Facts.Commands {
		c := &s.Facts.Commands[i]
		if level := m.fitsCommand(c); level > best.level && (except == nil || !except.fitsWhole(s, i)) {
			best = fit{level: level, span: c.Span, what: shortened(c.Text), at: i}
		}
	}
	return best
}

// fitsCommand holds program and command patterns against a command.
func (m *Matcher) fitsCommand(c *facts.Command) facts.Fit {
	level := facts.Sure
	if m.Programs.given() {
		switch name, known := c.Program(); {
		case !known:
			level = facts.Perhaps
		case !m.Programs.fits(name):
			return facts.No
		}
	}
	if len(m.Commands) > 0 {
		of := facts.No
		for i := range m.Commands {
			if p := &m.Commands[i]; !m.Named || p.NamesAll(c) {
				of = max(of, p.Fit(c))
			}
		}
		level = min(level, of)
	}
	if c.Guess {
		level = min(level, facts.Perhaps)
	}
	return level
}

// fitsDoubts finds the first doubt of the wanted kinds. Doubts about a command that except fits do not count; nil = all
// do.
func (m *Matcher) fitsDoubts(s *Subject, except *Matcher) fit {
	for _, d := range s.Facts.Doubts {
		if len(m.Doubts) > 0 && !slices.Contains(m.Doubts, d.Kind) || m.fitsOwner(s, d.Command) == facts.No ||
			except != nil && d.Command >= 0 && except.fitsWhole(s, d.Command) {
			continue
		}
		return fit{level: facts.Sure, span: d.Span, what: shortened(d.Text), at: d.Command}
	}
	return fit{}
}

// fitsOwner holds the matcher's conditions on commands against the command at index i; -1 is
// no command.
func (m *Matcher) fitsOwner(s *Subject, i int) facts.Fit {
	switch {
	case len(m.Commands) == 0 && !m.Programs.given():
		return facts.Sure
	case i < 0 || i >= len(s.Facts.Commands):
		return facts.No
	}
	return m.fitsCommand(&s.Facts.Commands[i])
}

// fitsEffects finds the effect that the matcher fits most surely. Effects that except fits do not count;
// nil = every effect counts.
func (m *Matcher) fitsEffects(s *Subject, except *Matcher) (best fit) {
	if m.Doubts != nil && m.fitsDoubts(s, nil).level == facts.No {
		return fit{}
	}
	for i := range s.Facts.Effects {
		e := &s.Facts.Effects[i]
		level := min(m.fitsEffect(s, e), m.fitsOwner(s, e.Command))
		if level > best.level && (except == nil || !except.fitsPart(s, e)) {
			if best = (fit{level, e.Span, whatOf(s, e), e, e.Command}); level == facts.Sure {
				break
			}
		}
	}
	return best
}

// whatOf is the part of the call that an effect comes from, for people.
func whatOf(s *Subject, e *facts.Effect) string {
	if e.Why != "" && !strings.Contains(e.Why, "\n") {
		return shortened(e.Why)
	}
	if e.Command >= 0 && e.Command < len(s.Facts.Commands) {
		return shortened(s.Facts.Commands[e.Command].Text)
	}
	return shortened(e.Target)
}

func (m *Matcher) fitsEffect(s *Subject, e *facts.Effect) facts.Fit {
	if len(m.Effects) > 0 && !slices.Contains(m.Effects, e.Kind) {
		return facts.No
	}
	if m.Emptied && !empties(s.Facts, e) {
		return facts.No
	}
	level := facts.Sure
	if !e.Certain {
		level = facts.Perhaps
	}
	isPath := strings.HasPrefix(e.Target, "/") || strings.HasPrefix(e.Target, "~")
	if m.Paths.given() {
		fits := ofTarget(e, isPath, func() bool { return m.fitsPath(s, e) })
		if fits == facts.No && isPath && !m.Wholly && m.standsFor(s, e) {
			fits = facts.Perhaps
		}
		level = min(level, fits)
	}
	if m.Hosts.given() {
		host, isHost := strings.CutPrefix(e.Target, "host:")
		level = min(level, ofTarget(e, isHost, func() bool { return m.Hosts.fits(host) }))
	}
	if m.Targets.given() {
		level = min(level, ofTarget(e, e.Target != "", func() bool { return m.Targets.fits(e.Target) }))
	}
	if len(m.Inside) > 0 {
		fits := ofTarget(e, isPath, func() bool {
			return slices.ContainsFunc(m.Inside, func(p FolderWord) bool { return s.within(p, e.Target) })
		})
		if fits == facts.No && isPath && !m.Wholly && takesAlong(e) {
			fits = s.above(m.Inside, e.Target)
		}
		level = min(level, fits)
	}
	if len(m.Outside) > 0 {
		level = min(level, ofTarget(e, isPath, func() bool {
			return !slices.ContainsFunc(m.Outside, func(p FolderWord) bool { return s.within(p, e.Target) }) &&
				!(m.Wholly && s.above(m.Outside, e.Target) > facts.No)
		}))
	}
	if m.Undoable != "" && level > facts.No && s.undoable(e) != (m.Undoable == "true") {
		return facts.No // last: to know it, hookd keeps what the call destroys
	}
	return level
}

// undoable reports whether an effect can be taken back, as far as that is known.
func (s *Subject) undoable(e *facts.Effect) bool { return s.Undoable != nil && s.Undoable(e) }

// empties reports whether an effect deletes a file that the call writes, too.
func empties(f *facts.Facts, e *facts.Effect) bool {
	return e.Kind == facts.KindDelete && slices.ContainsFunc(f.Effects, func(o facts.Effect) bool {
		return o.Kind == facts.KindWrite && o.Target == e.Target && o.Command == e.Command
	})
}

// ofTarget holds a condition on the target of an effect: it fits perhaps where the target
// is not known, and not where it is of another sort.
func ofTarget(e *facts.Effect, sort bool, fits func() bool) facts.Fit {
	switch {
	case e.Target == "":
		return facts.Perhaps
	case sort && fits():
		return facts.Sure
	}
	return facts.No
}

// fitsPath holds the path globs against the target. A glob with `/**` at its end fits the folder
// itself, too. A folder that is deleted or moved takes its files along: a rule about these fits, unless it lets pass.
// The project's own folder takes all files inside the project along.
func (m *Matcher) fitsPath(s *Subject, e *facts.Effect) bool {
	whole := takesAlong(e) && !m.Wholly
	all := whole && e.Target == s.Project && slices.Contains(m.Inside, Project)
	one := func(f pattern.Fold) bool { return all || covers(f, e.Target, whole) }
	return (len(m.Paths.Yes) == 0 || slices.ContainsFunc(m.Paths.Yes, one)) && !m.leavesOut(s, e.Target)
}

// covers holds a path glob against a target. whole means that the folders above a named file fit, too.
func covers(f pattern.Fold, target string, whole bool) bool {
	if f.Match(target) || strings.HasSuffix(f.Glob(), "/**") && f.Match(target+"/") {
		return true
	}
	if !whole {
		return false
	}
	folder := target
	if base := path.Base(folder); strings.Trim(base, "*.") == "" && strings.Contains(base, "*") {
		if folder = path.Dir(folder); f.Match(folder) {
			return true
		}
	}
	head := literalHead(f.Glob())
	return head != "" && folder != "/" && strings.HasPrefix(head, strings.TrimSuffix(folder, "/")+"/") ||
		head != "" && folder == "/"
}

func takesAlong(e *facts.Effect) bool { return e.Kind == facts.KindDelete || e.Kind == facts.KindMove }

// standsFor reports whether a target that is a pattern may be a file that a path glob names: ~/no* fits ~/notes, and
// mig* fits **/migrations. A pattern such as * says too little for a glob that begins in any folder.
func (m *Matcher) standsFor(s *Subject, e *facts.Effect) bool {
	if !strings.ContainsAny(e.Target, wildcards) {
		return false
	}
	said := strings.Trim(path.Base(e.Target), "*?.") != ""
	return slices.ContainsFunc(m.Paths.Yes, func(f pattern.Fold) bool {
		return (said || strings.HasPrefix(f.Glob(), "/")) && mayBe(e.Target, f, takesAlong(e))
	}) && !m.leavesOut(s, e.Target)
}

const wildcards = "*?["

// mayBe reports whether a pattern may be what a glob names, or, if whole, a folder above.
func mayBe(target string, f pattern.Fold, whole bool) bool {
	glob, last := strings.TrimSuffix(f.Glob(), "/**"), path.Base(target)
	if !strings.HasPrefix(glob, "/") {
		name := strings.TrimPrefix(strings.TrimPrefix(glob, "**/"), "{/,/**/}")
		at := path.Join(path.Dir(target), name)
		return !strings.ContainsAny(name, wildcards+"{/") && fitsGlob(last, name) && (f.Match(at) || f.Match(at+"/"))
	}
	folder, deep := strings.CutSuffix(path.Dir(target), "/**")
	for at := glob; !strings.ContainsAny(glob, wildcards+"{") && at != "/"; at = path.Dir(at) {
		if fitsGlob(target, at) || deep && strings.HasPrefix(at, folder+"/") && fitsGlob(last, path.Base(at)) {
			return true
		} else if !whole {
			return false
		}
	}
	return false
}

func fitsGlob(glob, text string) bool {
	ok, err := pattern.MatchPath(glob, text)
	return ok && err == nil
}

// leavesOut reports whether a glob after `!` fits the target. In a rule about files inside the
// project, a glob that begins in any folder counts from the project's root: a project may lie in a
// folder that is called tmp, or build. A rule that lets pass leaves out a folder
// above such a file, and a pattern for it, too.
func (m *Matcher) leavesOut(s *Subject, target string) bool {
	below := target
	root := strings.TrimSuffix(s.Project, "/")
	if root != "" && slices.Contains(m.Inside, Project) && under(root, target) {
		below = "/" + strings.TrimPrefix(strings.TrimPrefix(target, root), "/")
	}
	return slices.ContainsFunc(m.Paths.No, func(f pattern.Fold) bool {
		at := target
		if glob := f.Glob(); strings.HasPrefix(glob, "**") || strings.HasPrefix(glob, "{/,/**/}") {
			at = below
		}
		mayFit := func() bool { return covers(f, at, true) || strings.ContainsAny(at, wildcards) && mayBe(at, f, true) }
		return f.Match(at) || m.Wholly && mayFit()
	})
}

// literalHead is the folder that everything that an absolute glob matches lies in; "" = that
// is not known.
func literalHead(glob string) string {
	if !strings.HasPrefix(glob, "/") {
		return ""
	}
	if i := strings.IndexAny(glob, `*?[{\`); i >= 0 {
		glob = glob[:strings.LastIndexByte(glob[:i], '/')+1]
	}
	if glob == "/" {
		return ""
	}
	return glob
}

// within reports whether a path is a place, or in it.
func (s *Subject) within(p FolderWord, file string) bool {
	if p == Temp && s.Home != "" && under(s.Home, file) { // a home or a project there is none
		return false
	}
	return slices.ContainsFunc(s.roots(p), func(root string) bool { return root != "" && under(root, file) })
}

// above says how surely a path is a folder above one of the places, or the place itself.
func (s *Subject) above(places []FolderWord, target string) (level facts.Fit) {
	for _, p := range places {
		for _, root := range s.roots(p) {
			switch f, err := pattern.CompileFold(pattern.Quote(root), '/'); {
			case err != nil: // the place is not known
			case covers(f, target, true):
				return facts.Sure
			case strings.ContainsAny(target, wildcards) && mayBe(target, f, true):
				level = facts.Perhaps
			}
		}
	}
	return level
}

// roots are the folders of a place.
func (s *Subject) roots(p FolderWord) []string {
	switch {
	case p == Home:
		return []string{s.Home}
	case p == Temp:
		return []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders"}
	case p == Cache:
		return facts.Caches(s.Home)
	case s.Home != "" && under(s.Project, s.Home):
		return nil // a home is no project
	}
	return []string{s.Project}
}

func under(root, file string) bool {
	root = strings.TrimSuffix(root, "/")
	return file == root || strings.HasPrefix(file, root+"/")
}
