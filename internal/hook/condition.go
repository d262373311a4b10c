package hook

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// Condition is one element of a hook's `when`: all members that are given must fit. A
// member may have several values, of which one must fit. Letter case never counts,
// but in Prompts. Package when holds conditions against events.
type Condition struct {
	Tools    []Fold           // names of the tool, the agent's own and canonical ones
	Commands []CommandPattern // of a shell line
	Paths    []Fold           // of files, absolute
	Prompts  []*regexp.Regexp
	Data     []DataPattern
}

// Fold is a pattern that matches whatever the letter case is. The zero Fold matches
// nothing.
type Fold struct {
	Text         string // as it is written
	given, lower Pattern
}

// CompileFold compiles text like CompilePattern.
func CompileFold(text string, separators ...rune) (Fold, error) {
	given, err := CompilePattern(text, separators...)
	if err != nil {
		return Fold{}, err
	}
	lower, err := CompilePattern(strings.ToLower(text), separators...)
	if err != nil {
		lower = given
	}
	return Fold{Text: text, given: given, lower: lower}, nil
}

// Match reports whether the pattern matches s as it is, or without its letter case.
func (f Fold) Match(s string) bool { return f.given.Match(s) || f.lower.Match(strings.ToLower(s)) }

// Glob is the pattern as it is matched; Text is what people know it as.
func (f Fold) Glob() string { return f.given.Text }

// MatchAny reports whether one of the patterns matches one of the texts.
func MatchAny(patterns []Fold, texts ...string) bool {
	return slices.ContainsFunc(patterns, func(f Fold) bool { return slices.ContainsFunc(texts, f.Match) })
}

// CommandPattern is a command to look for in a shell line: its program and words that
// must follow, such as `git push`. A word with a dash at its beginning is an option,
// which may stand anywhere behind the program.
type CommandPattern struct {
	Text  string
	Words []Fold // none of them an option; the first is the program
	Flags []string
}

// CompileCommand compiles the words of text, which are globs.
func CompileCommand(text string) (CommandPattern, error) {
	c := CommandPattern{Text: text}
	for word := range strings.FieldsSeq(text) {
		if len(c.Words) > 0 && len(word) > 1 && word[0] == '-' {
			c.Flags = append(c.Flags, word)
			continue
		}
		f, err := CompileFold(word)
		if err != nil {
			return CommandPattern{}, err
		}
		c.Words = append(c.Words, f)
	}
	if len(c.Words) == 0 {
		return CommandPattern{}, errors.New("no program")
	}
	return c, nil
}

// DataPattern is a glob on what stands under a path in an event's data.
type DataPattern struct {
	Path     []string // keys, the outermost first
	Patterns []Fold
}

// String is the condition as it is written, on one line.
func (c Condition) String() string {
	var parts []string
	part := func(name string, texts []string) {
		if len(texts) > 0 {
			parts = append(parts, name+": "+strings.Join(texts, " or "))
		}
	}
	part("tool", folds(c.Tools))
	var commands, prompts []string
	for _, p := range c.Commands {
		commands = append(commands, p.Text)
	}
	for _, p := range c.Prompts {
		prompts = append(prompts, p.String())
	}
	part("command", commands)
	part("path", folds(c.Paths))
	part("prompt", prompts)
	for _, p := range c.Data {
		part("data."+strings.Join(p.Path, "."), folds(p.Patterns))
	}
	return strings.Join(parts, ", ")
}

func folds(patterns []Fold) (texts []string) {
	for _, f := range patterns {
		texts = append(texts, f.Text)
	}
	return texts
}
