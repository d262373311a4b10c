package discovery

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
)

// vetter judges the hooks that were read: refused if other users can change their
// files, waiting if a person has not allowed them.
type vetter struct {
	checker  *trust.Checker
	digest   func(*trust.Seal) string
	path     string                   // the PATH of hooks that set none
	ask      bool                     // new and changed hooks wait to be allowed
	approved map[string]Approval      // by ID of the hook
	lastGood func(hook.Source) []byte // see Options.LastGood
	known    func() []hook.Source     // see Options.Known
	restore  restore
	files    *readfile.Patience
	off      func(*hook.Hook) (by, why string) // see Dirs.Off
}

// restore makes the hooks of an earlier text of a source's file. If blind it looks at no
// other file.
type restore func(u hook.Source, text []byte, blind bool) []*hook.Hook

// knownSources returns the sources with a known last good version.
func (v vetter) knownSources() (known []hook.Source) {
	if v.known != nil {
		known = v.known()
	}
	for _, id := range slices.Sorted(maps.Keys(v.approved)) {
		if a := v.approved[id]; !a.Gone && !slices.Contains(known, a.Source) {
			known = append(known, a.Source)
		}
	}
	return known
}

// lastGoodHooks returns the last good version of a source from before this start of
// hookd: with reload.mode: ask the hooks that were allowed, else those of its last
// good text.
func (v vetter) lastGoodHooks(in place, source hook.Source) []*hook.Hook {
	hooks := v.unsealedLastGood(in, source, false)
	for i, h := range hooks {
		v.seal(h)
		if a, known := v.approval(h.ID); known && !v.allowed(h) {
			hooks[i] = v.denying(h, changedSince(h, a, h))
		}
	}
	return hooks
}

// unsealedLastGood is lastGoodHooks before their files are read. If blind no file is
// looked at.
func (v vetter) unsealedLastGood(in place, source hook.Source, blind bool) (hooks []*hook.Hook) {
	if !v.ask && !in.shared() {
		if v.lastGood != nil {
			if text := v.lastGood(source); text != nil {
				hooks = in.restore(source, text, blind)
			}
		}
		return hooks
	}
	for _, id := range slices.Sorted(maps.Keys(v.approved)) {
		if a := v.approved[id]; a.Source == source {
			if h := v.asAllowed(a, blind); h != nil {
				hooks = append(hooks, h)
			}
		}
	}
	slices.SortStableFunc(hooks, func(a, b *hook.Hook) int { return cmp.Compare(a.Line, b.Line) })
	return hooks
}

// asAllowed returns the hook that a person has allowed, not sealed; nil if its text
// is not stored or cannot be read any more. If blind it looks at no file.
func (v vetter) asAllowed(a Approval, blind bool) *hook.Hook {
	text, kept := a.Texts[a.File]
	if !kept || a.Gone {
		return nil
	}
	for _, h := range v.restore(a.Source, text, blind) {
		if h.ID == a.Hook {
			return h
		}
	}
	return nil
}

// sealRead is seal for a hook that was just read: its rules must be as they were then.
func (v vetter) sealRead(h *hook.Hook) {
	v.seal(h)
	if file := changedRules(h); file != "" {
		why := trust.Refusal{Path: file, Fact: "was changed while hookd read the hook", Do: "hookd reload"}
		h.Seal = h.Seal.With(why)
	}
}

// seal sets the seal and the digest of h from its files.
func (v vetter) seal(h *hook.Hook) {
	f := trust.Files{
		Contents: v.asks(h) || h.Layer.Sealed(), Listed: h.Files.Folders, Signed: h.Files.Signed, Mend: h.Files.Mend,
		Definition: h.Sum,
	}
	if signed, is := h.Files.Signed[h.File]; is && signed.Sum != h.Sum {
		f.Bad = append(f.Bad, trust.Refusal{Path: h.File, Fact: "is not as it was signed", Do: h.Files.Mend})
	}
	if h.Files.Bad != "" {
		f.Bad = append(f.Bad, trust.Refusal{Path: h.Dir, Fact: h.Files.Bad,
			Do: cmp.Or(h.Files.Mend, "ls -la "+escape.Quote(h.Dir))})
	}
	if filepath.IsAbs(h.File) { // hooks of the command line have none
		f.Read = append(f.Read, h.File)
	}
	if h.Source.Type == hookdir.SourceType {
		f.Folder = h.Dir
	}
	launch := v.launch(h)
	switch h.Type {
	case hook.Command:
		launch.Program, launch.Args = h.Path, h.Args
		f.Digested = []string{h.Path}
	case hook.Script, hook.Spawn:
		launch.Program, launch.Script = h.Shell, h.ScriptText
	}
	if h.Type == hook.Command || h.Type == hook.Script || h.Type == hook.Spawn {
		f = v.checker.Add(f, launch)
		for _, file := range f.Own {
			if file != h.Path {
				f.Digested = append(f.Digested, file)
			}
		}
	}
	for _, file := range h.Files.Paths {
		if file != h.File && !slices.Contains(f.Own, file) {
			f.Read, f.Own, f.Digested = append(f.Read, file), append(f.Own, file), append(f.Digested, file)
		}
	}
	if trust.CleanPath(launch.Path) != launch.Path {
		f.Bad = append(f.Bad, trust.Refusal{
			Path: h.File, Fact: "sets a PATH with an empty or relative entry, which depends on the working directory",
			Do: "${EDITOR:-vi} " + escape.Quote(h.File),
		})
	}
	if launch.Path != v.path { // that one is checked as a whole
		f.Search = filepath.SplitList(trust.CleanPath(launch.Path))
	}
	h.Seal = v.checker.Seal(f)
	h.Digest = v.digest(h.Seal)
}

// launch returns where h runs, as far as that is known before an event.
func (v vetter) launch(h *hook.Hook) trust.Launch {
	inherited := func(name string) string {
		if name == "PATH" {
			return v.path
		}
		return os.Getenv(name)
	}
	l := trust.Launch{Dir: h.RunDir("", inherited), Path: v.path, Home: os.Getenv("HOME")}
	l.Env = h.Environ(inherited)
	for _, variable := range l.Env {
		switch name, value, _ := strings.Cut(variable, "="); {
		case name == "PATH":
			l.Path = value
		case name == "HOME":
			l.Home = value
		}
	}
	return l
}

// refresh returns h with a new seal if its files have changed. If it is not allowed,
// or no longer, its runs fail.
func (v vetter) refresh(in place, h *hook.Hook) *hook.Hook {
	if _, changed := errors.AsType[*trust.Changed](v.checker.Recheck(h.Seal)); !changed {
		return h
	}
	next := *h
	next.Files = in.contents(h)
	v.seal(&next)
	a, known := v.approval(h.ID)
	if !v.allowed(&next) {
		return v.denying(&next, changedSince(h, a, &next))
	}
	if old := v.asAllowed(a, true); known && old != nil {
		next.OnError = old.OnError // denying may have changed it
	}
	return &next
}

func (v vetter) approval(id string) (Approval, bool) {
	a, known := v.approved[id]
	return a, known && !a.Gone
}

// allowed reports whether h may come into force.
func (v vetter) allowed(h *hook.Hook) bool {
	if !v.asks(h) || !filepath.IsAbs(h.File) { // to type a hook on the command line is to allow it
		return true
	}
	a, known := v.approval(h.ID)
	return known && a.holds(AllowDigest(h))
}

// asks reports whether h has to be allowed.
func (v vetter) asks(h *hook.Hook) bool { return (v.ask || h.Layer.Shared()) && !h.Layer.Signed() }

// mayDisable reports whether a marker may switch h off: with reload.mode: ask a
// person must allow that, too; a policy is ended as a whole.
func (v vetter) mayDisable(h *hook.Hook) bool {
	if h.Layer.Signed() {
		return false
	}
	a, known := v.approval(h.ID)
	return !v.ask || !known || a.Off
}

// denying returns h with a refusal, so that its runs fail, and deny where it is part
// of a verdict: a guard that was allowed must not vanish because its files changed.
func (v vetter) denying(h *hook.Hook, why trust.Refusal) *hook.Hook {
	next := *h
	if next.Seal == nil {
		next.Seal = v.checker.Seal(trust.Files{})
	}
	next.Seal, next.OnError = next.Seal.With(why), hook.OnErrorDeny
	return &next
}

// standIn returns the hook in force while h waits and no last good version is in
// memory: the allowed hook, with a refusal if its program has changed. Nil
// for a hook that never was allowed.
func (v vetter) standIn(h *hook.Hook) *hook.Hook {
	a, known := v.approval(h.ID)
	if !known {
		return nil
	}
	old := v.asAllowed(a, false)
	if old == nil {
		return v.denying(h, changedSince(h, a, h))
	}
	if v.seal(old); !a.holds(AllowDigest(old)) {
		return v.denying(old, changedSince(h, a, h))
	}
	return old
}

// removed returns entries for the hooks that were allowed and are not present any
// more: removed, renamed, moved, or no longer named by the settings. Guards deny
// until a person has allowed the removal.
func (v vetter) removed(
	present []hook.Entry, before map[hook.Source][]hook.Entry, disabled func(string) bool,
) (list []hook.Entry) {
	if !v.ask {
		return nil
	}
	there := map[string]bool{}
	for _, e := range present {
		for _, h := range []*hook.Hook{e.Hook, e.Waits} {
			if h != nil {
				there[h.ID] = true
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.approved)) {
		a := v.approved[id]
		if there[id] || a.Gone || a.Project != "" || a.Off && disabled(a.Name) {
			continue
		}
		h := v.asAllowed(a, true) // it denies, whatever its program is
		if h != nil && (!h.Enabled || !h.IsGuard()) {
			continue
		}
		e := hook.Entry{Name: cmp.Or(a.Name, id), File: a.File, Source: a.Source, State: hook.Gone}
		name := escape.Quote(e.Name)
		why := trust.Refusal{
			Path: cmp.Or(a.File, id), Fact: "is gone, and the removal of hook " + name + " is not allowed",
			Do: "hookd allow --gone " + name,
		}
		message := "was allowed and is not there any more: it denies until that is allowed, too"
		if h != nil {
			e.Hook, e.Provisional = v.denying(h, why), true
			e.Hook.Digest = a.Digest
		} else {
			message = "was allowed, is not there any more, and cannot be read as it was: nothing stands in for it"
		}
		e.Problems = []hook.Problem{{File: a.File, Message: message, Hint: why.Do}}
		v.switchOff(&e, h)
		list = append(list, same(e, before[a.Source]))
	}
	return list
}

// same returns the previous entry when nothing about it has changed, so that an
// unchanged hook stays the same value from snapshot to snapshot.
func same(e hook.Entry, before []hook.Entry) hook.Entry {
	for _, old := range before {
		if sameEntry(old, e) {
			return old
		}
	}
	return e
}

// switchOff switches h, whose entry is e, off if the fleet has. Where it guards, its absence
// is no detail.
func (v vetter) switchOff(e *hook.Entry, h *hook.Hook) {
	if v.off == nil || h == nil {
		return
	}
	by, why := v.off(h)
	if by == "" {
		return
	}
	e.State, e.OffBy = hook.Disabled, by
	p := hook.Problem{
		File: h.File, Warning: !h.IsGuard(), Hint: "hookd fleet enable " + escape.Quote(h.Name) + " --key FILE",
		Message: "is switched off on all machines of the fleet by " + by + ": " + why,
	}
	if h.IsGuard() {
		p.Message = "this guard " + p.Message
	}
	e.Problems = append([]hook.Problem{p}, e.Problems...)
}

// switchedOff is the problem of a hook whose marker waits to be allowed.
func switchedOff(h *hook.Hook) hook.Problem {
	if h.Layer.Signed() {
		return hook.Problem{
			File: h.File, Message: "is switched off, but of a policy: it stays in force", Warning: true,
			Hint: "hookd enable " + escape.Quote(h.Name),
		}
	}
	return hook.Problem{
		File: h.File, Message: "is switched off, and that was not allowed: it stays in force", Warning: true,
		Hint: "hookd allow --gone " + escape.Quote(h.Name) + ", or hookd enable " + escape.Quote(h.Name),
	}
}

// changedSince is the refusal of a hook whose program is not the allowed one.
func changedSince(h *hook.Hook, a Approval, now *hook.Hook) trust.Refusal {
	return trust.Refusal{
		Path: h.File,
		Fact: "is not as it was allowed: " + strings.Join(a.Changes(now), ", "),
		Do:   allowCommand(h),
	}
}

// allowCommand returns the command that a person types to allow h.
func allowCommand(h *hook.Hook) string {
	if h.Project != "" {
		return "hookd trust " + escape.Quote(h.Project)
	}
	return "hookd allow " + escape.Quote(h.Name)
}

// runsRefused is the effect of a refusal where no last good version is in force.
const runsRefused = "its runs are refused"

// refusals returns the problems of hooks that other users can change, each once. so
// is their effect.
func refusals(hooks []*hook.Hook, so string) (list []hook.Problem) {
	for _, h := range hooks {
		for _, r := range h.Seal.Refusals() {
			p := hook.Problem{File: r.Path, Message: r.Fact + ": " + so, Hint: r.Do}
			if !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// waitingProblem says that h waits, and which version runs meanwhile.
func (v vetter) waitingProblem(h, inForce *hook.Hook) hook.Problem {
	p := hook.Problem{File: h.File, Hint: allowCommand(h), Warning: true}
	a, known := v.approval(h.ID)
	switch {
	case !known:
		p.Message = "is new and waits to be allowed"
	default:
		p.Message = "has changed and waits to be allowed: " + strings.Join(a.Changes(h), ", ")
	}
	switch {
	case inForce == nil:
		p.Message += "; until then it does not run"
	case len(inForce.Seal.Refusals()) > 0:
		p.Message += "; until then its runs are refused"
	default:
		p.Message += fmt.Sprintf("; until then the version with digest %.12s runs", inForce.Digest)
	}
	return p
}

// changedRules returns a file of the rules of h that is not as it was when they were read;
// "" = there is none. It looks after the files were sealed: a change after that fails the runs.
func changedRules(h *hook.Hook) string {
	if h.Rules == nil {
		return ""
	}
	for _, file := range h.Rules.Files {
		sum, own := h.Seal.Content(file.Path)
		if !own {
			text, err := readfile.Read(file.Path, hookdir.MaxFileSize)
			if sum = trust.Sum(text); err != nil {
				sum = ""
			}
		}
		if sum != file.Sum {
			return file.Path
		}
	}
	return ""
}
