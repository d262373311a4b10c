// Package learn turns calls that a person always approved into rules that allow them: it groups
// calls by shape, keeps the evidence for and against each, proposes rules, and writes the chosen
// ones into the hook quiet and, where an agent does not listen to a hook that allows, into the
// agent's own list.
//
// It promises: nothing is proposed that a guard names, that is in doubt, that runs code that its
// words do not say, or that a person refused; a rule allows a command's words with exactly the effects
// that were approved, in the projects in which they were; all that was written is taken out whole.
// It does not promise that evidence is true: transcripts are files that agents can write.
package learn

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/facts"
)

// Trait is one thing that a shape does.
type Trait struct {
	Kind   facts.EffectKind `json:"kind"`
	Target string           `json:"target"`
}

// Shape is the common part of calls that one rule allows.
type Shape struct {
	Words   []string // a command's leading words, the program first; nil = a tool
	Tool    string   // canonical; "" = a command
	Effects []Trait  // sorted; reading is none, which quiet allows anyway

	key string
}

// Key tells shapes apart. Calls with the same key differ in words that do not change their effect.
func (s *Shape) Key() string { return s.key }

// Exact reports whether a rule may allow these words alone and not words behind them: the shape
// reaches out of the machine.
func (s *Shape) exact() bool {
	return slices.ContainsFunc(s.Effects, func(e Trait) bool { return e.Kind == facts.KindConnect })
}

// interpreters run code that their words do not say, or whatever words stand behind them.
var interpreters = lazyregexp.New(`^(` + strings.Join(strings.Fields(`
	python pypy node deno bun ruby jruby perl php lua luajit r rscript irb java julia
	bash sh zsh fish dash ksh csh tcsh busybox pwsh powershell cmd osascript env xargs parallel sudo doas su ssh mosh
	docker podman nerdctl kubectl npx pnpx bunx uvx uv pipx make gmake just task nix eval exec source \. watch nohup
	setsid curl wget http nc ncat socat telnet awk gawk mawk sed gsed find fd tee dd`), "|") + `)[0-9.]*$`)

// plainWord is a word that names the task of a program.
var plainWord = lazyregexp.New(`^[a-z][a-z0-9:_-]*$`)

// patternWord is a word that may stand in a rule as it is.
var patternWord = lazyregexp.New(`^[A-Za-z0-9_./:@=+,-]+$`)

// Shapes returns the shapes that rules must allow so that a call passes: none where it only reads.
// ok is false where no rule may allow it. root is the project that it was made in; "" = not known.
func Shapes(f *facts.Facts, call neutral.ToolCall, root string) (shapes []Shape, ok bool) {
	if len(f.Doubts) > 0 || len(f.Commands)+len(f.Effects) == 0 {
		return nil, false
	}
	if len(f.Commands) == 0 {
		s, ok := toolShape(f, call, root)
		if !ok || s == nil {
			return nil, ok
		}
		return []Shape{*s}, true
	}
	for i := range f.Commands {
		var effects []Trait
		for _, e := range f.Effects {
			if e.Command == i && e.Kind != facts.KindRead {
				if !mayLearn(e, root) {
					return nil, false
				}
				effects = append(effects, Trait{e.Kind, e.Target})
			}
		}
		if f.Commands[i].Guess {
			return nil, false
		}
		if len(effects) == 0 {
			continue
		}
		s, ok := commandShape(&f.Commands[i], effects)
		if !ok {
			return nil, false
		}
		if !slices.ContainsFunc(shapes, func(o Shape) bool { return o.key == s.key }) {
			shapes = append(shapes, s)
		}
	}
	for _, e := range f.Effects {
		if e.Kind != facts.KindRead && (e.Command < 0 || e.Command >= len(f.Commands)) {
			return nil, false
		}
	}
	return shapes, true
}

// ofGit are git's own targets that it changes without any loss.
var ofGit = []string{"index:", "commit:", "stash:"}

// mayLearn reports whether a rule may allow an effect.
func mayLearn(e facts.Effect, root string) bool {
	if !e.Certain || e.Target == "" {
		return false
	}
	switch e.Kind {
	case facts.KindRun:
		return strings.HasPrefix(e.Target, "project:")
	case facts.KindWrite:
		return slices.Contains(ofGit, e.Target) || strings.HasPrefix(e.Target, "project:") || inside(root, e.Target)
	case facts.KindConnect:
		return strings.HasPrefix(e.Target, "host:") && e.Target != "host:"
	}
	return false
}

// inside reports whether a path is in a project, and in none of its hidden parts: settings lie there.
func inside(root, file string) bool {
	rest, is := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/")
	return root != "" && root != "/" && is && !strings.HasPrefix(rest, ".") && !strings.Contains(rest, "/.")
}

// commandShape is the shape of a command with these effects.
func commandShape(c *facts.Command, effects []Trait) (s Shape, ok bool) {
	if len(c.Words) == 0 || len(c.Env) > 0 {
		return s, false
	}
	for _, w := range c.Words {
		if w.Kind != facts.Literal || !patternWord.MatchString(w.Text) {
			break
		}
		s.Words = append(s.Words, w.Text)
	}
	if len(s.Words) == 0 || interpreters.MatchString(strings.ToLower(path.Base(s.Words[0]))) {
		return s, false
	}
	s.Effects = sorted(effects)
	named := s.Words[:1]
	if s.exact() {
		if len(s.Words) != len(c.Words) {
			return s, false // not all of its words can stand in a rule
		}
		named = s.Words
	} else if len(s.Words) > 1 && plainWord.MatchString(s.Words[1]) {
		named = s.Words[:2]
	}
	s.key = strings.Join(named, " ")
	for _, e := range s.Effects {
		s.key += "\n" + string(e.Kind) + " " + e.Target
	}
	return s, true
}

// toolShape is the shape of a tool that edits files of the project; nil = the call only reads.
func toolShape(f *facts.Facts, call neutral.ToolCall, root string) (*Shape, bool) {
	writes := false
	for _, e := range f.Effects {
		switch {
		case e.Kind == facts.KindRead:
		case e.Kind == facts.KindWrite && e.Certain && inside(root, e.Target):
			writes = true
		default:
			return nil, false
		}
	}
	if !writes {
		return nil, true
	}
	if call.Tool != "Edit" {
		return nil, false // a file that is written whole may have been another
	}
	s := &Shape{Tool: call.Tool, Effects: []Trait{{facts.KindWrite, "files of the project"}}}
	s.key = "tool " + s.Tool
	return s, true
}

func sorted(effects []Trait) []Trait {
	slices.SortFunc(effects, func(x, y Trait) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Target, y.Target))
	})
	return slices.Compact(effects)
}
