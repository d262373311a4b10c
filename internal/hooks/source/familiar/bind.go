package familiar

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd/hookd/internal/hooks/hook"
)

// How many bytes of a run's environment one value may have, and all of them together:
// systems bound the whole, too. Larger values go into files.
const (
	maxValue  = 96 << 10
	maxValues = 256 << 10
)

// Script is a shell script in which every placeholder is replaced by a reference to a
// variable. Its text has no value and is the same for every event.
type Script struct {
	text     string
	bindings []binding
	echoes   []hook.Problem // values that an echo may change: they matter to guards
}

// binding is one variable of the shell and where its value comes from.
type binding struct {
	name       string // of the template variable
	env        string
	arithmetic bool // it is in $((…)): whole numbers only
}

// binds reports whether the value of a variable is used, not only named in a
// comment.
func (s *Script) binds(name string) bool {
	return slices.ContainsFunc(s.bindings, func(b binding) bool { return b.name == name })
}

// Text returns the rewritten script.
func (s *Script) Text() string { return s.text }

// Bind returns the script with the values of one event in its environment. A value
// that does not fit there is in a file, which the script reads first. The error names
// a value that is not a number where one is required.
func (s *Script) Bind(values func(name string) (text string, known bool)) (hook.Bound, error) {
	var bound hook.Bound
	var prelude strings.Builder
	total := 0
	for _, b := range s.bindings {
		value, known := values(b.name)
		if !known && !slices.Contains(bound.Unknown, b.name) {
			bound.Unknown = append(bound.Unknown, b.name)
		}
		value = clean(value)
		if b.arithmetic {
			n, err := integer(value)
			if err != nil {
				return hook.Bound{}, fmt.Errorf("{{%s}} stands in arithmetic: %w", b.name, err)
			}
			value = n
		}
		if len(value) > maxValue || total+len(value) > maxValues {
			bound.Files = append(bound.Files, hook.BoundFile{Env: b.env + "_file", Content: []byte(value)})
			fmt.Fprintf(&prelude, readFile, b.env)
			continue
		}
		total += len(value)
		bound.Env = append(bound.Env, b.env+"="+value)
	}
	bound.Text = prelude.String() + s.text
	return bound, nil
}

// readFile reads a value into its variable, with all the line ends that a
// command substitution drops. It is on one line, so that the shell's messages
// name the lines of the script.
const readFile = `%[1]s=$(PATH="$PATH:/bin:/usr/bin" cat "$%[1]s_file" && printf x) || exit 1; %[1]s=${%[1]s%%x}; `

// integer returns value as every shell reads it: decimal, without leading
// zeros, which some take for octal.
func integer(value string) (string, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n == -1<<63 {
		if value == "" {
			return "", fmt.Errorf("it has no value, and a whole number is needed")
		}
		return "", fmt.Errorf("its value is not a whole number")
	}
	return strconv.FormatInt(n, 10), nil
}

// Prompt is text for an agent with placeholders. Values are inserted unchanged,
// because no program parses it.
type Prompt struct{ text string }

// Bind returns the prompt with the values of one event. It never fails.
func (p Prompt) Bind(values func(name string) (text string, known bool)) (hook.Bound, error) {
	var bound hook.Bound
	bound.Text = placeholder.ReplaceAllStringFunc(p.text, func(text string) string {
		name := placeholder.FindStringSubmatch(text)[1]
		value, known := values(name)
		if !known && !slices.Contains(bound.Unknown, name) {
			bound.Unknown = append(bound.Unknown, name)
		}
		return clean(value)
	})
	return bound, nil
}

var (
	_ hook.Template = (*Script)(nil)
	_ hook.Template = Prompt{}
)
