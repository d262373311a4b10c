package facts

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Programs that print names of files: the reader knows the names as patterns, so that it knows
// which files the next program of a pipe reads or deletes.

// oneOf is a word that stands for any of some names: the only pattern among them, or all below their folder.
func oneOf(words []Word) Word {
	var patterns []Word
	for _, w := range words {
		if w.Kind == Pattern && !strings.HasSuffix(w.Text, "/.*") && w.Text != ".*" {
			patterns = append(patterns, w)
		}
	}
	if len(words) == 1 || len(patterns) == 0 {
		return words[0]
	}
	if len(patterns) == 1 {
		return patterns[0]
	}
	folder, _, _ := strings.Cut(patterns[0].Text, "*")
	for _, w := range patterns[1:] {
		for !strings.HasPrefix(w.Text, folder) {
			folder = folder[:strings.LastIndexByte(strings.TrimSuffix(folder, "/"), '/')+1]
		}
	}
	return Word{Text: folder[:strings.LastIndexByte(folder, '/')+1] + "**/*", Kind: Pattern}
}

// listsFiles are options with which grep prints names of files.
var listsFiles = map[string]bool{
	"-l": true, "-L": true, "--files": true, "--files-with-matches": true, "--files-without-match": true,
}

// namedFiles are the files that grep -l names: its operands, and any file in folders.
func namedFiles(operands []Word) (words []Word) {
	for _, w := range operands {
		if w.Kind == Unknown {
			return []Word{{Text: "**/*", Kind: Pattern}}
		}
		if base := path.Base(w.Text); path.Ext(w.Text) != "" || base != "." && base != ".." {
			words = append(words, w)
		}
		if path.Ext(w.Text) == "" || strings.HasPrefix(path.Base(w.Text), ".") {
			words = append(words, Word{Text: strings.TrimSuffix(w.Text, "/") + "/**/*", Kind: Pattern})
		}
	}
	if words == nil {
		words = []Word{{Text: "**/*", Kind: Pattern}}
	}
	return words
}

// found is the output of find and fd: a pattern for each folder and each name in their words.
func (c *finder) found(a *args) (words []Word) {
	var names []string
	flat, files := false, false
	for _, g := range a.given {
		if g.value == nil || g.value.Kind == Unknown {
			continue
		}
		switch g.name {
		case "-e", "--extension":
			names = append(names, "*."+g.value.Text)
		case "-type", "--type", "-t":
			files = g.value.Text != "d"
		case "-maxdepth":
			flat = g.value.Text == "1" || g.value.Text == "0"
		}
	}
	roots := a.operands
	if base := c.name(); base == "fd" || base == "fdfind" {
		if len(roots) > 0 && names == nil {
			if names = globsOf(roots[0]); names == nil || a.has("-g") || a.has("--glob") {
				names = []string{roots[0].Text}
			}
		}
		roots = roots[min(1, len(roots)):]
	} else {
		names = soughtNames(c.words)
	}
	if isFd := c.name() == "fd" || c.name() == "fdfind"; !isFd || a.has("-H") || a.has("--hidden") || a.has("-u") {
		names = withHidden(names, c.sh.r.env.Home)
	}
	roots = slices.DeleteFunc(slices.Clone(roots), func(w Word) bool {
		return w.Text == "(" || w.Text == ")" || w.Text == "!"
	})
	if len(roots) == 0 {
		roots = []Word{{Text: ".", Kind: Literal}}
	}
	for _, root := range roots {
		if root.Kind == Unknown && root.known() == "" {
			return nil
		}
		folder := strings.TrimSuffix(strings.ReplaceAll(root.Text, unknownPart, "*"), "/")
		if len(names) == 0 {
			if !files {
				words = append(words, Word{Text: cmp.Or(folder, "/"), Kind: root.Kind})
			}
			names = []string{"*"}
		}
		for _, name := range names {
			if !flat {
				name = "**/" + name
			}
			words = append(words, Word{Text: folder + "/" + name, Kind: Pattern})
		}
	}
	return words
}

// soughtNames are the patterns of -name in an expression of find; nil = files of any name. A part between two -o
// that has no test of a name, or only the opposite of one, fits any; a part with -prune leaves folders out.
func soughtNames(words []Word) (names []string) {
	not, named, pruned, anyName := false, false, false, false
	for i := range len(words) + 1 {
		text := "-o" // at the end
		if i < len(words) {
			text = words[i].Text
		}
		switch text {
		case "!", "-not":
			not = !not
			continue
		case "-o", "-or", ",":
			anyName = anyName || !named && !pruned
			named, pruned = false, false
		case "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname", "-ilname":
			named = named || !not
		case "-name", "-iname":
			if i+1 < len(words) && words[i+1].Kind != Unknown && !not {
				named, names = true, append(names, words[i+1].Text)
			}
		case "-prune", "-quit":
			pruned = true
		}
		not = false
	}
	if anyName {
		return nil
	}
	return names
}

// listedNames is the output of ls: its operands, and the names in folders.
func listedNames(a *args) (words []Word) {
	hidden := slices.ContainsFunc(a.given, func(g given) bool {
		return g.name == "-a" || g.name == "-A" || g.name == "--all" || g.name == "--almost-all"
	})
	for _, w := range a.operands {
		if w.Kind != Unknown && !strings.HasSuffix(w.Text, "/") {
			words = append(words, w)
		}
	}
	words = append(words, Word{Text: "*", Kind: Pattern})
	if hidden {
		words = append(words, Word{Text: ".*", Kind: Pattern})
	}
	return words
}

// filtered are the words that are left when grep looks for an expression in them, one a line.
func filtered(words []Word, expression Word, inverted bool) (left []Word) {
	globs := globsOf(expression)
	if inverted || globs == nil || words == nil {
		return words
	}
	for _, w := range words {
		if w.Kind == Literal {
			if re, err := regexp.Compile(expression.Text); err != nil || re.MatchString(w.Text) {
				left = append(left, w)
			}
			continue
		}
		folder, base := path.Split(w.Text)
		if base != "*" && base != ".*" {
			left = append(left, w)
			continue
		}
		for _, glob := range globs {
			left = append(left, Word{Text: folder + glob, Kind: Pattern})
			if rest, any := strings.CutPrefix(glob, "?"); any {
				left = append(left, Word{Text: folder + "." + rest, Kind: Pattern})
			}
			if strings.HasPrefix(glob, "*") { // names of hidden files may be among them
				left = append(left, Word{Text: folder + "." + glob, Kind: Pattern})
			}
		}
	}
	return left
}

// withHidden adds names with a dot in the place of a first *, where these have secrets: *.env* is also .env.
func withHidden(names []string, home string) []string {
	for _, name := range slices.Clip(names) {
		rest, is := strings.CutPrefix(name, "*")
		hidden := "." + strings.TrimLeft(rest, ".?")
		if _, ok := places().secret.find("/**/"+hidden, home, true); is && ok && hidden != "." {
			names = append(names, hidden)
		}
	}
	return names
}

// globsOf are globs that fit the same names as a regular expression: one for each of its
// alternatives; nil where it has a construct that globs lack.
func globsOf(w Word) (globs []string) {
	if w.Kind == Unknown {
		return nil
	}
	for alternative := range strings.SplitSeq(strings.ReplaceAll(w.Text, `\|`, "|"), "|") {
		glob, ok := globOf(alternative)
		if !ok {
			return nil
		}
		globs = append(globs, glob)
	}
	return globs
}

func globOf(expression string) (string, bool) {
	var b strings.Builder
	text, anchored := strings.CutPrefix(expression, "^")
	if !anchored {
		b.WriteByte('*')
	}
	text, ends := strings.CutSuffix(text, "$")
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case c == '.' && i+1 < len(text) && (text[i+1] == '*' || text[i+1] == '+'):
			i++
			b.WriteByte('*')
		case c == '.':
			b.WriteByte('?')
		case strings.IndexByte("*+?()[]{}", c) >= 0:
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	if !ends {
		b.WriteByte('*')
	}
	return b.String(), true
}
