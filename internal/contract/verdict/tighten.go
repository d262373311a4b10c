package verdict

import (
	"maps"
	"slices"
	"strings"
)

// Tightened returns the answer of a hook that may only tighten, without the parts that could loosen
// anything: a permission, a rewrite of input, result or messages, a skipped turn, a summary, metadata,
// hidden output, and fields that few agents read. A denial, an ask, context and a word to the user stay.
// It warns of the parts that it has dropped, and leaves all other answers as they are.
func (a Answer) Tightened() Answer {
	if !a.Terms.TightenOnly {
		return a
	}
	if a.PermissionDecision == wordContain { // alone it would let a call run
		a.PermissionDecision = "ask"
	}
	var dropped []string
	drop := func(key string, given bool) bool {
		if given {
			dropped = append(dropped, key)
		}
		return given
	}
	if drop(keyPermission+" allow", a.PermissionDecision == "allow") {
		a.PermissionDecision, a.PermissionReason = "", ""
	}
	if drop(keyInput, a.UpdatedInput != nil) {
		a.UpdatedInput = nil
	}
	if drop(keyResponse, a.UpdatedResponse != nil) {
		a.UpdatedResponse = nil
	}
	if drop(keyMessages, a.UpdatedMessages != nil) {
		a.UpdatedMessages = nil
	}
	if drop(keySummary, a.Summary != "") {
		a.Summary = ""
	}
	if drop(keyMetadata, len(a.Metadata) > 0) {
		a.Metadata = nil
	}
	if keys := a.loosens(); drop(strings.Join(keys, ", "), len(keys) > 0) {
		a.Specific = maps.Clone(a.Specific)
		for _, key := range keys {
			delete(a.Specific, key)
		}
	}
	if drop(keySuppress, a.SuppressOutput) {
		a.SuppressOutput = false
	}
	if drop("skip", a.Skip) {
		a.Skip = false
	}
	if len(dropped) > 0 {
		a.warn(strings.Join(dropped, ", ") + " was ignored: a hook of this layer may only deny, ask or add context")
	}
	return a
}

// loosens returns the keys of Specific that are neither an ask nor a denial, sorted.
func (a *Answer) loosens() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a.Specific)), func(key string) bool {
		return key == keyDefer || key == keyAction && string(a.Specific[key]) != `"accept"`
	})
}
