package verdict

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// wordContain lets a call run in a box. DefaultProfile is the box of an answer that names none.
const (
	wordContain    = "contain"
	DefaultProfile = "project"
)

// decode reads an answer's object into a. It checks types and words; the use of the
// event for it is decided when the answers are folded.
func (a *Answer) decode(o object) (*heard, error) {
	top := pick(o, topKeys)
	inner := pick(top.object(keySpecific), insideKeys)
	var decision string
	_ = json.Unmarshal(inner.values[keyPermission], &decision) // checkWords finds fault with another type
	h, err := hear(o, a.Terms.Words, top, inner)
	if err != nil {
		return h, err
	}
	a.decodeTop(top)
	a.decodeSpecific(inner)
	if err := errors.Join(top.err, inner.err); err != nil {
		return h, fmt.Errorf("invalid hook output: %s", strings.ReplaceAll(err.Error(), "\n", ", "))
	}
	if err := a.checkWords(); err != nil {
		return h, err
	}
	a.Blocked = a.blocks() || a.PermissionDecision == "deny"
	a.decodeTaken(inner, decision == "defer")
	a.warnOf(h)
	return h, nil
}

func (a *Answer) decodeTop(f *fields) {
	f.into(keyContinue, "true or false", &a.Continue)
	f.into(keySuppress, "true or false", &a.SuppressOutput)
	a.StopReason = f.text(keyStopReason)
	a.SystemMessage = f.text(keySystemMessage)
	a.Reason = f.text(keyReason)
	a.Decision = f.text(keyDecision)
	a.Profile = f.text(keyProfile)
}

func (a *Answer) decodeSpecific(f *fields) {
	_ = f.text(keyEventName)
	a.PermissionDecision = f.text(keyPermission)
	a.PermissionReason = f.text(keyPermReason)
	a.Profile = cmp.Or(f.text(keyProfile), a.Profile)
	a.Context = join(f.text(keyContext), entries(f))
	a.Summary = f.text(keySummary)
	f.into(keyMetadata, "an object of strings", (*stringMap)(&a.Metadata))

	var list []map[string]json.RawMessage
	f.into(keyMessages, "a list of objects", &list)
	if len(list) > 0 {
		a.UpdatedMessages = f.rewrite(keyMessages)
	}
	if f.has(keyInput) && f.values[keyInput][0] != '{' && f.err == nil {
		f.err = fmt.Errorf("%s must be an object", keyInput)
	}
	if f.err == nil {
		a.UpdatedInput = f.rewrite(keyInput)
	}
	a.UpdatedResponse = f.rewrite(keyResponse)
}

// stringMap is a map whose values must be strings: null is none.
type stringMap map[string]string

func (m *stringMap) UnmarshalJSON(text []byte) error {
	var values map[string]*string
	if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	*m = make(stringMap, len(values))
	for k, v := range values {
		if v == nil {
			return errors.New("null is not a string")
		}
		(*m)[k] = *v
	}
	return nil
}

// entries returns the texts of instruction_context: docker-agent shows their changes
// between turns, hookd passes on the texts that are there now.
func entries(f *fields) string {
	var list []struct {
		Content              string
		Removed, Unavailable bool
	}
	f.into(keyEntries, "a list of entries", &list)
	var texts []string
	for _, e := range list {
		if e.Content != "" && !e.Removed && !e.Unavailable {
			texts = append(texts, e.Content)
		}
	}
	return strings.Join(texts, "\n\n")
}

// checkWords accepts the words that docker-agent and Claude Code know; any
// other could be a misspelled deny. approve and allow are no opinion here:
// they must never switch off an agent's own prompts.
func (a *Answer) checkWords() error {
	switch a.Decision {
	case "", "block":
	case "deny":
		a.Decision = "block"
	case "approve", "allow":
		a.Decision = ""
	case wordContain:
		a.Decision = ""
		if rank(a.PermissionDecision) < rank(wordContain) {
			a.PermissionDecision, a.PermissionReason = wordContain, cmp.Or(a.Reason, a.PermissionReason)
		}
	default:
		return fmt.Errorf("invalid decision %q", a.Decision)
	}
	switch a.PermissionDecision {
	case wordContain:
		a.Profile = cmp.Or(a.Profile, DefaultProfile)
		return nil
	case "ask":
		return nil
	case "", "allow", "deny":
		a.Profile = ""
		return nil
	}
	return fmt.Errorf("invalid permission_decision %q", a.PermissionDecision)
}

// warnOf notes keys that were tolerated and are probably a mistake: a key on the wrong
// level would else be a verdict that is lost in silence.
func (a *Answer) warnOf(h *heard) {
	for _, key := range append(slices.Clone(h.top.twice), h.inner.twice...) {
		a.warn(fmt.Sprintf("key %s is given more than once", key))
	}
	for _, key := range h.top.unknown {
		w, ok, _ := insideKeys.find(key)
		if _, denial, _ := denials.find(key); ok && !denial && w != keyEventName && !dialectHas(a.Terms.Words, key) {
			a.warn(fmt.Sprintf("key %s belongs inside hook_specific_output", w))
		}
	}
	for _, key := range h.inner.unknown {
		if w, ok, _ := topKeys.find(key); ok && !h.own[foldKey(keySpecific)+"."+foldKey(key)] {
			a.warn(fmt.Sprintf("key %s does not belong inside hook_specific_output and was ignored", w))
		}
	}
}

// dialectHas reports whether a top-level key is one of a dialect's words.
func dialectHas(list []Word, key string) bool {
	return slices.ContainsFunc(list, func(w Word) bool {
		own, _, _ := strings.Cut(foldKey(w.Key), ".")
		return own == foldKey(key)
	})
}

func (a *Answer) warn(text string) { a.Warning = join(a.Warning, text) }

// Warned returns the answer with more warnings.
func (a Answer) Warned(texts ...string) Answer {
	for _, text := range texts {
		a.warn(text)
	}
	return a
}

// hasVerdictKey reports whether o speaks of a verdict at all.
func (a *Answer) hasVerdictKey(o object) bool {
	for _, m := range o {
		_, common, _ := topKeys.find(m.key)
		_, misplaced, _ := specificKeys.find(m.key)
		if _, denial, _ := denials.find(m.key); common || misplaced || denial || dialectHas(a.Terms.Words, m.key) {
			return true
		}
	}
	return false
}

// join puts texts on lines of their own, without the empty ones.
func join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n")
}
