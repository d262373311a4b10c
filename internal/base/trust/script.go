package trust

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxScript is the longest text, in bytes, that is parsed as a shell does.
const maxScript = 64 << 10

// script adds the files and programs that the words of shell text name. Words made
// by a variable or a command are not known. Files that a redirection writes to are
// no part of a hook.
func (p *parts) script(text string, depth int) {
	if strings.TrimSpace(text) == "" || depth > 3 {
		return
	}
	var file *syntax.File
	err := error(nil)
	if len(text) <= maxScript {
		file, err = syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	}
	if file == nil || err != nil {
		for _, word := range strings.Fields(text) {
			p.file(word)
		}
		return
	}
	defer func(was bool) { p.giving = was }(p.giving)
	dots := map[*syntax.Word]bool{} // the command ., which names no directory
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			return n.Op == syntax.RdrIn || n.Op == syntax.Hdoc || n.Op == syntax.DashHdoc || n.Op == syntax.WordHdoc
		case *syntax.CallExpr:
			if depth == 0 {
				p.giving = givesData(n)
			}
			for i, arg := range n.Args {
				if i == 0 && arg.Lit() == "." {
					dots[arg] = true
				}
				if word, ok := literal(arg); ok && (i == 0 || !strings.HasPrefix(word, "-")) {
					p.program(word)
				}
			}
		case *syntax.Word:
			if !dots[n] {
				p.scriptWord(n, depth)
			}
		}
		return true
	})
}

// givesData reports whether a command executes none of the files among its words.
func givesData(n *syntax.CallExpr) bool {
	if len(n.Args) == 0 {
		return false
	}
	command, ok := literal(n.Args[0])
	return ok && !strings.Contains(command, "/") &&
		!slices.Contains(openers, strings.TrimRight(command, "0123456789.-")) && command != "."
}

func (p *parts) scriptWord(w *syntax.Word, depth int) {
	word, ok := literal(w)
	if !ok {
		return
	}
	if rest, tilde := strings.CutPrefix(word, "~/"); tilde && p.l.Home != "" {
		word = filepath.Join(p.l.Home, rest)
	}
	if p.file(word) {
		return
	}
	p.pieces(word)
	if strings.ContainsAny(word, " \t\n;") {
		p.script(word, depth+1) // sh -c "…"
	}
}

// literal returns the text of a word without its quotes; false if it is known only
// when the script runs.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		if !writeLiteral(&b, part) {
			return "", false
		}
	}
	return b.String(), true
}

func writeLiteral(b *strings.Builder, part syntax.WordPart) bool {
	switch part := part.(type) {
	case *syntax.Lit:
		b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		return true
	case *syntax.SglQuoted:
		b.WriteString(part.Value)
		return !part.Dollar
	case *syntax.DblQuoted:
		for _, inner := range part.Parts {
			if !writeLiteral(b, inner) {
				return false
			}
		}
		return true
	}
	return false
}
