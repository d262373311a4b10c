package familiar

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// verify parses the rewritten script and checks it: it has as many references as were
// made, each plain, none where a shell would split or expand its value. It finds
// faults of hookd's own rewriting; the script is then rejected.
func verify(text, prefix string, want int) error {
	if want == 0 {
		return nil
	}
	file, err := parseShell(text)
	if err != nil {
		return errors.New("hookd cannot place the placeholders of this script: " + err.Error())
	}
	c, got, safe := &compiler{text: text}, 0, true
	c.walk(file, func(path []syntax.Node) {
		ref, ok := path[len(path)-1].(*syntax.ParamExp)
		if !ok || ref.Param == nil || !strings.HasPrefix(ref.Param.Value, prefix) {
			return
		}
		got++
		simple := !ref.Short && !ref.Excl && !ref.Length && ref.Exp == nil && ref.Index == nil
		safe = safe && simple && enclosing(path) != aroundNothing
	})
	if got != want || !safe {
		return errors.New("hookd cannot place the placeholders of this script safely: " +
			"assign them to variables first, v={{name}}")
	}
	return nil
}
