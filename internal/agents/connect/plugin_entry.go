package connect

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// settings are the file that holds the entry, and its parsed text.
func (t *target) settings() (file, map[string]any, error) {
	e := t.agent.Entry
	path := filepath.Join(t.agent.folder(t.Options), e.File)
	if own := t.Getenv(e.Env); own != "" {
		path = own
		if rest, ok := strings.CutPrefix(own, "~/"); ok {
			path = filepath.Join(t.Home, rest)
		}
	}
	f, err := readFile(path)
	if err != nil {
		return f, nil, err
	}
	tree, err := json5Format{}.parse(f.text)
	if err != nil {
		return f, nil, (&target{path: f.real}).at(err)
	}
	if len(e.At) > 0 && includes(neutral.Value(tree, e.At...)) {
		return f, nil, &FileError{f.real, 0, 0, fmt.Errorf("`%s` includes another file: add %s there by hand", strings.Join(e.At, "."), said(missingLeaves(tree, e.Leaves(tree))))}
	}
	return f, tree, nil
}

// includes reports whether settings take a part of v from another file.
func includes(v any) bool {
	m, _ := v.(map[string]any)
	for key, inner := range m {
		if key == "$include" || includes(inner) {
			return true
		}
	}
	return false
}

// has reports whether a tree has a leaf: a member, whatever its value, or an
// item of a list.
func has(tree map[string]any, l leaf) bool {
	path := append(slices.Clone(l.Path), l.Key)
	if !l.List {
		return holds(tree, path)
	}
	list, _ := neutral.Value(tree, path...).([]any)
	return slices.Contains(list, l.Value)
}

func missingLeaves(tree map[string]any, leaves []leaf) []leaf {
	return slices.DeleteFunc(slices.Clone(leaves), func(l leaf) bool { return has(tree, l) })
}

// said names leaves for a person.
func said(leaves []leaf) string {
	var words []string
	for _, l := range leaves {
		words = append(words, fmt.Sprintf("`%s.%s: %s`", strings.Join(l.Path, "."), l.Key, oneLine(l.Value)))
	}
	return strings.Join(words, ", ")
}

// writeEntry plans to add the missing parts of the entry.
func (t *target) writeEntry() ([]Change, []string, error) {
	f, tree, err := t.settings()
	if err != nil {
		return nil, nil, err
	}
	leaves := t.agent.Entry.Leaves(tree)
	missing := missingLeaves(tree, leaves)
	notes := switchedOff(f.real, tree, t.agent.Entry.Switches)
	if len(missing) == 0 {
		return nil, notes, nil
	}
	text, err := json5Format{}.add(f.text, missing)
	if err != nil {
		return nil, nil, (&target{path: f.real}).at(err)
	}
	after, err := json5Format{}.parse(text)
	if err != nil || len(missingLeaves(after, leaves)) > 0 ||
		!reflect.DeepEqual(without(tree, leaves), without(after, leaves)) {
		return nil, nil, &FileError{f.real, 0, 0, errUnsure}
	}
	c := (&target{Options: t.Options, file: f}).change(text)
	if _, err := os.Lstat(f.real + BackupSuffix); f.exists && err != nil {
		c.Backup = f.real + BackupSuffix
	}
	return []Change{c}, notes, nil
}

// removeEntry plans to take out of the settings the members that connect put in. Where the
// settings then say the same as the backup, the backup comes back.
func (t *target) removeEntry() ([]Change, error) {
	f, tree, err := t.settings()
	if err != nil || !f.exists {
		return nil, err
	}
	backup, err := readFile(f.real + BackupSuffix)
	if err != nil {
		return nil, err
	}
	was, err := json5Format{}.parse(backup.text)
	if err != nil {
		return nil, &FileError{backup.real, 0, 0, err}
	}
	leaves := missingLeaves(was, t.agent.Entry.Leaves(tree))
	text, err := json5Format{}.drop(f.text, leaves, func(path []string) bool { return holds(was, path) })
	if err != nil {
		return nil, (&target{path: f.real}).at(err)
	}
	after, err := json5Format{}.parse(text)
	if err != nil || !reflect.DeepEqual(without(tree, leaves), without(after, leaves)) {
		return nil, &FileError{f.real, 0, 0, errUnsure}
	}
	if bytes.Equal(text, f.text) {
		return nil, nil
	}
	c := (&target{Options: t.Options, file: f}).change(text)
	switch {
	case backup.exists && reflect.DeepEqual(after, was):
		c.DropBackup = backup.real
		if sameText(text, backup.text) || len(bytes.TrimSpace(backup.text)) == 0 {
			c.After = f.with(backup.text)
		}
	case !backup.exists && len(after) == 0:
		c.After, c.Remove = nil, true
	}
	return []Change{c}, nil
}

// sameText reports whether two texts differ in white space and commas alone, comments included.
func sameText(a, b []byte) bool {
	drop := func(r rune) rune {
		if strings.ContainsRune(" \t\r\n,", r) {
			return -1
		}
		return r
	}
	return bytes.Equal(bytes.Map(drop, a), bytes.Map(drop, b))
}

// inspectEntry returns the missing parts of the entry, and which switches are off.
func (t *target) inspectEntry() (missing string, notes []string, err error) {
	f, tree, err := t.settings()
	if err != nil {
		return "", nil, err
	}
	if list := missingLeaves(tree, t.agent.Entry.Leaves(tree)); len(list) > 0 {
		missing = f.real + " lacks " + said(list) + ": type `hookd connect " + t.Agent + "` again"
	}
	return missing, switchedOff(f.real, tree, t.agent.Entry.Switches), nil
}

// without returns a copy of v without leaves and without the objects that are empty then.
func without(tree map[string]any, leaves []leaf) map[string]any {
	out := map[string]any{}
	for key, v := range tree {
		below, own := under(leaves, key)
		switch inner := v.(type) {
		case map[string]any:
			if inner := without(inner, below); len(inner) > 0 || len(below) == 0 {
				out[key] = inner
			}
			continue
		case []any:
			if own.List {
				v = slices.DeleteFunc(slices.Clone(inner), func(item any) bool { return item == own.Value })
			}
		}
		if own.Key == "" || own.List || v != own.Value {
			out[key] = v
		}
	}
	return out
}
