package trust

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellWords are commands that a shell has itself.
var shellWords = strings.Fields(`. : [ alias bg break cd command continue echo eval exec exit export false fg getopts
	hash jobs kill let local printf pwd read readonly return set shift source test times trap true type typeset ulimit
	umask unalias unset wait declare builtin enable shopt mapfile readarray pushd popd dirs disown history`)

// Commands are the names of the programs that shell text calls, as far as the text
// itself says it: in the order in which they come, each once, without commands that a
// shell has itself, functions of the text, and paths.
func Commands(text string) (names []string) {
	if len(text) > maxScript {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	known := slices.Clone(shellWords)
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok {
			known = append(known, f.Name.Value)
		}
		return true
	})
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		word, ok := literal(call.Args[0])
		if ok && word != "" && !strings.Contains(word, "/") && !slices.Contains(known, word) {
			known, names = append(known, word), append(names, word)
		}
		return true
	})
	return names
}
