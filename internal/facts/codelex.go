package facts

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// codeValue is the known part of an expression in code.
type codeValue struct {
	word Word        // a text; Unknown where it is computed
	list []codeValue // of a list; nil = it is none
	name string      // of a module or a function: os.system; "" = it is none
	key  string      // of a named argument, or of a member of an object; "" = it has none
}

// member is the name of the function that an object has as a member; "" = it has none.
func (v codeValue) member(key string) string {
	for _, one := range v.list {
		if one.key == key {
			return one.name
		}
	}
	return ""
}

func textValue(text string) codeValue { return codeValue{word: Word{Text: text, Kind: Literal}} }

var darkValue = codeValue{word: Word{Text: unknownPart, Kind: Unknown}}

// codeCall is one call in a piece of code.
type codeCall struct {
	name string // the function with its module, as far as that is known: os.remove
	self codeValue
	args []codeValue
	text string // as it is written
}

// named is the argument that has one of the names, also within an object among the arguments.
func (k codeCall) named(names ...string) (value codeValue, ok bool) {
	for _, a := range k.args {
		for _, v := range append([]codeValue{a}, a.list...) {
			if v.key != "" && slices.Contains(names, v.key) {
				return v, true
			}
		}
	}
	return codeValue{}, false
}

// maxCodeDepth bounds brackets within brackets.
const maxCodeDepth = 64

// codeReader finds the calls in code of a scripting language: it knows strings, names and
// brackets, and no grammar. It takes time in proportion to the code.
type codeReader struct {
	lang   string
	text   string
	tokens []codeToken
	at     int
	depth  int
	vars   map[string]codeValue
	whole  []string // modules all whose functions the code has by their own names: from subprocess import *
	calls  []codeCall
	joined int                    // bytes of all texts that were joined
	loose  func(name string) bool // a function that may be called without brackets
}

// readCode returns the calls in code, in order. loose says which functions the language calls
// without brackets.
func readCode(lang, text string, loose func(name string) bool) []codeCall {
	r := &codeReader{lang: lang, text: text, vars: map[string]codeValue{}, loose: loose}
	r.tokens = lexCode(lang, text)
	for r.at < len(r.tokens) {
		before := r.at
		r.statement()
		if r.at == before {
			r.at++
		}
	}
	return r.calls
}

func (r *codeReader) peek(n int) codeToken {
	if r.at+n >= 0 && r.at+n < len(r.tokens) {
		return r.tokens[r.at+n]
	}
	return codeToken{}
}

func (r *codeReader) is(n int, text string) bool {
	t := r.peek(n)
	return t.kind != tokenString && t.text == text
}

// statement reads up to the end of a statement: imports, an assignment, or an expression.
func (r *codeReader) statement() {
	if t := r.peek(0); t.kind == tokenName {
		switch t.text {
		case "import", "from", "use":
			if r.imports() {
				return
			}
		case "foreach": // foreach (glob("*") as $f)
			if r.lang == "php" && r.is(1, "(") {
				r.at += 2
				list := r.expression()
				name := r.peek(0).text
				if r.is(1, "=>") {
					name = r.peek(2).text
				}
				r.vars[name] = list
				return
			}
		case "for": // for p in Path("src").rglob("*.ts")
			if name := r.peek(1).text; r.lang == "python" && r.is(2, "in") {
				r.at += 3
				r.vars[name] = r.expression()
				return
			}
		case "const", "let", "var", "my", "our", "local", "await", "return", "yield":
			r.at++
			return
		}
	}
	if r.is(0, "{") { // { a, b: c } = require("m")
		if end := r.closing(r.at); end > 0 && end+1 < len(r.tokens) && r.tokens[end+1].text == "=" {
			names := r.tokens[r.at+1 : end]
			r.at = end + 2
			r.takeApart(names, r.expression())
			return
		}
	}
	if r.peek(0).kind == tokenName && (r.is(1, "=") || r.is(1, ":=")) {
		name := r.peek(0).text
		r.at += 2
		r.vars[name] = r.expression()
		return
	}
	r.expression()
	if r.is(0, ",") || r.is(0, ";") || r.is(0, "\n") || r.is(0, ":") {
		r.at++
	}
}

// closing returns the index of the bracket that closes the one at index from; 0 = there is none.
func (r *codeReader) closing(from int) int {
	depth := 0
	for i := from; i < min(len(r.tokens), from+200); i++ {
		if r.tokens[i].kind != tokenMark {
			continue
		}
		switch r.tokens[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}

// passesOn adds a list with functions as a call that gets them: [s("ls") for s in [os.system]]
func (r *codeReader) passesOn(t codeToken, list []codeValue) {
	if t.text == "[" && slices.ContainsFunc(list, func(v codeValue) bool { return v.name != "" }) {
		r.calls = append(r.calls, codeCall{name: "[", args: list, text: r.written(t)})
	}
}

// pattern returns the tokens of { a, b: c } before the token at which the reader stands; nil = there is no such text.
func (r *codeReader) pattern() []codeToken {
	depth := 0
	for from := r.at - 1; from >= max(0, r.at-200); from-- {
		switch t := r.tokens[from]; {
		case t.kind == tokenMark && t.text == "}":
			depth++
		case t.kind == tokenMark && t.text == "{":
			depth--
		}
		if depth == 0 {
			return r.tokens[min(from+1, r.at-1) : r.at-1]
		}
	}
	return nil
}

// takeApart gives the names of { a, b: c } the members of a module.
func (r *codeReader) takeApart(names []codeToken, of codeValue) {
	for i := 0; i < len(names); i++ {
		if names[i].kind != tokenName {
			continue
		}
		member, as := names[i].text, names[i].text
		if i+2 < len(names) && (names[i+1].text == ":" || names[i+1].text == "as") {
			as = names[i+2].text
			i += 2
		}
		if of.name != "" {
			r.vars[as] = codeValue{word: darkValue.word, name: of.name + "." + member}
		}
	}
}

// imports reads `import a.b as c`, `from a import b as c`, `import {b as c} from "a"`.
func (r *codeReader) imports() bool {
	end := r.at
	for end < len(r.tokens) && r.tokens[end].text != ";" && (r.tokens[end].text != "\n" ||
		r.tokens[end].kind == tokenString) {
		end++
	}
	words := r.tokens[r.at:end]
	if len(words) > 1 && words[1].text == "(" { // import("m") is a call
		return false
	}
	r.at = end
	module := func(name string) codeValue {
		return codeValue{word: darkValue.word, name: strings.TrimPrefix(name, "node:")}
	}
	loads := func(name string) {
		r.calls = append(r.calls, codeCall{name: "import", args: []codeValue{textValue(name)}, text: "import " + name})
	}
	if last := words[len(words)-1]; last.kind == tokenString { // JavaScript
		loads(last.text)
		from := module(last.text)
		for i := 1; i < len(words)-1; i++ {
			w := words[i]
			switch {
			case w.text == "{":
				for end := i; end < len(words); end++ {
					if words[end].text == "}" {
						r.takeApart(words[i+1:end], from)
						i = end
						break
					}
				}
			case w.kind == tokenName && w.text != "from" && w.text != "as" && w.text != "type":
				r.vars[w.text] = from
			}
		}
		return true
	}
	from := ""
	if words[0].text == "from" && len(words) > 3 {
		loads(words[1].text)
		from = words[1].text + "."
		words = words[2:]
		if words[len(words)-1].text == "*" {
			r.whole = append(r.whole, from)
		}
	}
	for i := 1; i < len(words); i++ {
		if words[i].kind != tokenName {
			continue
		}
		name, as := words[i].text, words[i].text
		if i+2 < len(words) && words[i+1].text == "as" {
			as = words[i+2].text
			i += 2
		}
		if from == "" {
			loads(name)
		} else {
			loads(from + name)
		}
		if from != "" || as != name {
			r.vars[as] = module(from + name)
		}
	}
	return true
}

// expression reads values that operators join, up to the token that ends an expression.
func (r *codeReader) expression() (sum codeValue) {
	if r.depth++; r.depth > maxCodeDepth {
		r.at = len(r.tokens)
		return darkValue
	}
	key, apart := "", []codeToken(nil)
	defer func() {
		r.depth--
		if sum.key = cmp.Or(key, sum.key); key != "" && sum.name != "" { // also where a function is passed by that name
			r.vars[key] = sum
		}
		r.takeApart(apart, sum)
	}()
	parts, joins := 0, false
	add := func(v codeValue) {
		if parts++; parts == 1 {
			sum = v
			return
		}
		w := r.join(sum.word, v.word)
		if !joins || sum.list != nil || v.list != nil {
			w = darkValue.word
		}
		sum = codeValue{word: w}
	}
	for r.at < len(r.tokens) {
		t := r.peek(0)
		switch {
		case t.kind == tokenString:
			r.at++
			joins = joins || r.lang == "python"
			v := r.interpolated(t)
			if r.lang == "php" { // "system"("ls")
				v = r.postfix(v)
			}
			add(v)
		case t.kind == tokenShell:
			r.at++
			v := r.interpolated(t)
			r.calls = append(r.calls, codeCall{name: "`", args: []codeValue{v}, text: t.text})
			add(darkValue)
		case t.kind == tokenNumber:
			r.at++
			add(textValue(t.text))
		case t.kind == tokenName:
			if t.text == "as" && r.lang == "php" && parts > 0 {
				r.at++
				return sum
			}
			if t.text == "do" && r.lang == "perl" && r.peek(1).kind == tokenString { // do "file"
				add(r.operand())
				continue
			}
			switch t.text {
			case "if", "and", "or", "in", "for", "do", "then", "unless", "while", "else", "new", "not", "await",
				"return", "lambda", "print", "puts", "console.log", "function", "async", "typeof", "void":
				if r.at++; parts > 0 && t.text != "new" {
					return sum
				}
				continue
			}
			add(r.operand())
		case t.text == "(" || t.text == "[" || t.text == "{":
			r.at++
			list := r.list(map[string]string{"(": ")", "[": "]", "{": "}"}[t.text])
			r.passesOn(t, list)
			if t.text == "(" && len(list) == 1 {
				add(r.postfix(list[0]))
			} else {
				add(r.postfix(codeValue{word: darkValue.word, list: list}))
			}
		case t.text == "+" || t.text == "." || t.text == "..":
			r.at++
			joins = true
		case t.text == "/" && parts > 0: // Path("a") / "b"
			r.at++
			joins = true
			sum.word.Text += "/"
		case t.text == ")" || t.text == "]" || t.text == "}" || t.text == "," || t.text == ";" || t.text == "\n" &&
			r.depth <= 1 || t.text == ":":
			return sum
		case t.text == "=" || t.text == "=>": // a named argument
			key, apart = r.before(), r.pattern()
			r.at++
			sum, parts, joins = codeValue{}, 0, false
		case t.text == "\n":
			r.at++
		case t.text == "&" && parts == 0 && r.lang == "perl" && r.is(1, "{"): // &{"sys"."tem"}("ls")
			r.calls = append(r.calls, codeCall{name: computedMember, text: r.written(t)})
			r.at++
		default:
			if r.at++; parts > 0 {
				joins = false
				sum = darkValue
			}
		}
	}
	return sum
}

// join is the text of two; once all that were joined are too long, it is not known.
func (r *codeReader) join(a, b Word) Word {
	if r.joined += len(a.Text) + len(b.Text); r.joined > maxExpanded {
		return darkValue.word
	}
	w := Word{Text: a.Text + b.Text, Kind: Literal, from: cmp.Or(a.from, b.from)}
	if a.Kind == Unknown || b.Kind == Unknown {
		w.Kind = Unknown
	}
	return w
}

// before is the text of the last token.
func (r *codeReader) before() string { return r.peek(-1).text }

// list reads expressions up to a closing bracket.
func (r *codeReader) list(end string) []codeValue {
	list, key := []codeValue{}, ""
	for r.at < len(r.tokens) {
		if r.is(0, end) {
			r.at++
			return list
		}
		if t := r.peek(0); t.kind == tokenMark && (t.text == ")" || t.text == "]" || t.text == "}") {
			return list // of another bracket
		}
		before := r.at
		v := r.expression()
		if r.at > before && (v.word.Kind != "" || v.list != nil) {
			v.key = cmp.Or(v.key, key)
			list = append(list, v)
		}
		if key = ""; r.is(0, ":") {
			key = r.before()
		}
		if r.is(0, ",") || r.is(0, ";") || r.is(0, "\n") || r.is(0, ":") || r.is(0, "=>") {
			r.at++
		} else if r.at == before {
			r.at++
		}
	}
	return list
}

// operand reads a name and its continuation: a call, members, an index.
func (r *codeReader) operand() codeValue {
	t := r.peek(0)
	r.at++
	name := t.text
	if r.lang == "node" && strings.HasSuffix(name, "$") && r.peek(0).kind == tokenString &&
		r.text[r.peek(0).from] == '`' { // Bun.$`…` and zx run a shell
		s := r.peek(0)
		r.at++
		r.calls = append(r.calls, codeCall{name: "`", args: []codeValue{r.interpolated(s)}, text: s.text})
		return darkValue
	}
	if v, known := r.vars[name]; known {
		if r.is(0, "(") && v.name != "" {
			return r.postfix(r.call(v.name, codeValue{}, t))
		}
		return r.postfix(v)
	}
	if head, rest, has := strings.Cut(name, "."); has {
		v, known := r.vars[head]
		switch {
		case known && v.name != "":
			name = v.name + "." + rest
		case known && v.member(rest) != "": // {x: execSync}
			name = v.member(rest)
		case known && r.is(0, "("):
			return r.postfix(r.call(name, v, t))
		}
	}
	switch {
	case r.is(0, "(") && r.lang == "php" && strings.HasPrefix(name, "$") && !strings.Contains(name, "."):
		return r.postfix(r.call(computedMember, codeValue{}, t))
	case r.is(0, "("):
		return r.postfix(r.call(name, codeValue{}, t))
	case r.lang == "perl" && name == "$ENV" && r.is(0, "{") && r.is(1, "HOME") && r.is(2, "}"):
		r.at += 3
		return textValue("~")
	case name == "__dirname" || name == "os.curdir":
		return textValue(".")
	case name == "process.env.HOME" || name == "$HOME" || name == "Dir.home":
		return textValue("~")
	case r.lang == "perl" && name == "eval" && (r.at >= len(r.tokens) || r.is(0, ";") || r.is(0, "}") || r.is(0, "\n")):
		r.calls = append(r.calls, codeCall{name: name, text: r.written(t)}) // it runs $_
		return darkValue
	case r.lang == "perl" && (name == "unlink" || name == "rmdir") && !r.argumentFollows(), // of $_
		r.lang == "perl" && (name == "exec" || name == "system") && r.is(0, "{"): // exec {"sh"} "sh", "-c", …
		r.calls = append(r.calls, codeCall{name: name, args: []codeValue{darkValue}, text: r.written(t)})
		return darkValue
	case r.loose(name) && r.argumentFollows():
		args := []codeValue{r.expression()}
		for r.is(0, ",") {
			r.at++
			args = append(args, r.expression())
		}
		r.calls = append(r.calls, codeCall{name: name, args: args, text: r.written(t)})
		return darkValue
	}
	if strings.Contains(name, ".") && !r.loose(name) {
		r.calledWithout(name, codeValue{}, t)
	}
	return r.postfix(codeValue{word: darkValue.word, name: name})
}

// calledWithout adds a call without brackets and arguments, as Ruby makes it: bucket.clear!
func (r *codeReader) calledWithout(name string, self codeValue, t codeToken) {
	if r.lang == "ruby" && !r.is(0, "=") {
		r.calls = append(r.calls, codeCall{name: name, self: self, text: r.written(t)})
	}
}

// argumentFollows reports whether the token behind a function's name is an argument of a call.
func (r *codeReader) argumentFollows() bool {
	switch t := r.peek(0); t.kind {
	case tokenString, tokenName, tokenShell, tokenNumber:
		return true
	case tokenMark:
		return t.text == "[" || t.text == "<" || t.text == "\\" || t.text == "@"
	}
	return false
}

// written is the text from a token up to where the reader stands.
func (r *codeReader) written(from codeToken) string {
	end := len(r.text)
	if r.at > 0 && r.at <= len(r.tokens) {
		end = r.tokens[r.at-1].end
	}
	if from.from >= end {
		return from.text
	}
	return short(r.text[from.from:end])
}

// bind gives v to the parameter of a function that follows: import("m").then(m => …).
func (r *codeReader) bind(v codeValue) {
	at := r.at
	for at < len(r.tokens) && slices.Contains([]string{"async", "function", "("}, r.tokens[at].text) {
		at++
	}
	switch {
	case at+1 >= len(r.tokens):
	case r.tokens[at].text == "{":
		if end := r.closing(at); end > 0 {
			r.takeApart(r.tokens[at+1:end], v)
		}
	case r.tokens[at].kind == tokenName && (r.tokens[at+1].text == "=>" || r.tokens[at+1].text == ")"):
		r.vars[r.tokens[at].text] = v
	}
}

// call reads the arguments of a call, and returns its known result.
func (r *codeReader) call(name string, self codeValue, t codeToken) codeValue {
	if module, is := strings.CutSuffix(name, ".then"); is && r.lang == "node" && self.name != "" {
		r.bind(codeValue{word: darkValue.word, name: module})
	}
	r.at++ // (
	args := r.list(")")
	r.calls = append(r.calls, codeCall{name: name, self: self, args: args, text: r.written(t)})
	for _, module := range r.whole[:min(len(r.whole), 4)] {
		if !strings.Contains(name, ".") {
			r.calls = append(r.calls, codeCall{name: module + name, args: args, text: r.written(t)})
		}
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	first := darkValue
	if len(args) > 0 {
		first = args[0]
	}
	switch last {
	case "require", "__import__", "import_module", "import":
		if first.word.Kind == Literal {
			return codeValue{word: darkValue.word, name: strings.TrimPrefix(first.word.Text, "node:")}
		}
	case "getattr":
		switch {
		case len(args) > 1 && args[1].word.Kind == Literal && first.name != "":
			return codeValue{word: darkValue.word, name: first.name + "." + args[1].word.Text}
		case len(args) > 1 && first.name != "":
			return codeValue{word: darkValue.word, name: computedMember}
		}
	case "joinpath":
		if self.word.Kind == Literal {
			return r.joinedPath(append([]codeValue{self}, args...))
		}
	case "join", "resolve":
		if strings.Contains(name, "path") || strings.HasPrefix(name, "File.") {
			return r.joinedPath(args)
		}
	case "expanduser", "expand_path", "Path", "PurePath", "str", "String", "open", "File", "normpath", "abspath",
		"realpath", "quote", "split", "HTTPConnection", "HTTPSConnection":
		return first
	case "c", "list": // of R
		if r.lang == "r" {
			return codeValue{word: darkValue.word, list: args}
		}
	case "glob", "rglob", "iglob":
		switch w := self.word; {
		case (r.lang == "php" || r.lang == "perl") && name == "glob" && first.word.Kind == Literal:
			return codeValue{word: Word{Text: first.word.Text, Kind: Pattern}}
		case r.lang != "python" || first.word.Kind != Literal:
		case self.word.Kind == "" && name == "glob."+last:
			return codeValue{word: Word{Text: first.word.Text, Kind: Pattern}}
		case w.Kind == Literal:
			return codeValue{word: Word{Text: w.Text + "/**/" + first.word.Text, Kind: Pattern}}
		}
	case "RecursiveIteratorIterator", "IteratorIterator": // of PHP
		return first
	case "RecursiveDirectoryIterator", "DirectoryIterator", "FilesystemIterator":
		if first.word.Kind == Literal {
			return codeValue{word: Word{Text: first.word.Text + "/**", Kind: Pattern}}
		}
	case "homedir", "home":
		return textValue("~")
	case "getcwd", "getcwdb", "cwd", "pwd":
		return textValue(".")
	case "getenv", "get":
		if first.word.Text == "HOME" {
			return textValue("~")
		}
	}
	switch {
	case givesContent[last]:
		return codeValue{word: Word{Text: unknownPart, Kind: Unknown, from: contentOfFile}}
	case encodes.MatchString(last):
		return codeValue{word: Word{Text: unknownPart, Kind: Unknown, from: cmp.Or(self.word.from, first.word.from)}}
	}
	return darkValue
}

// contentOfFile is where a word in code is from that has the content of a file.
const contentOfFile = "a file"

// givesContent are functions that return the content of a file.
var givesContent = names("read readlines read_text read_bytes readFile readFileSync readTextFileSync file_get_contents binread")

// encodes finds a function that returns its argument in another form.
var encodes = lazyregexp.New(`(?i)encode|decode|quote|hex|64|^to_?s|^from$|str|strip|trim|escape|btoa|join|replace|compress|dumps`)

// computedMember is the name of a function of a module that is only known when the code runs.
const computedMember = "computed member"

// givesText are members that give the content of a file or a host.
var givesText = names("read readlines readline gets text content body string contents")

// holdsFunctions are modules of which a function does something that matters.
var holdsFunctions = wordLists["holdsFunctions"]

func (r *codeReader) joinedPath(args []codeValue) codeValue {
	w := Word{Kind: Literal}
	for i, a := range args {
		if i > 0 {
			w.Text += "/"
		}
		w = r.join(w, a.word)
	}
	return codeValue{word: w}
}

// tags are members that run the template behind them, with the call that each is.
var tags = map[string]string{"$": "`", "$executeRaw": "*.$executeRaw", "$queryRaw": "*.$executeRaw", "sql": "*.$executeRaw"}

// postfix reads the parts behind a value: .name, .name(…), ["name"], (…).
func (r *codeReader) postfix(v codeValue) codeValue {
	for r.at < len(r.tokens) {
		t := r.peek(0)
		switch {
		case t.kind == tokenMember:
			r.at++
			name := t.text
			called, isTag := tags[name] // db.$executeRaw`…`
			if next := r.peek(0); isTag && r.lang == "node" && next.kind == tokenString && r.text[next.from] == '`' {
				r.at++
				args := []codeValue{r.interpolated(next)}
				r.calls = append(r.calls, codeCall{name: called, args: args, text: next.text})
				return darkValue
			}
			if v.name != "" {
				name = v.name + "." + name
			} else {
				name = "*." + name
			}
			if r.is(0, "(") {
				v = r.call(name, v, t)
			} else if v.name != "" {
				v = codeValue{word: darkValue.word, name: name}
			} else {
				v = codeValue{word: v.word, list: v.list, name: name}
				if givesText[t.text] {
					v.word = darkValue.word
				}
				if !r.loose(t.text) { // a method without brackets
					v.name = ""
					r.calledWithout(name, v, t)
				}
			}
		case t.text == "[" && t.kind == tokenMark && v.list == nil:
			r.at++
			index := r.list("]")
			switch {
			case len(index) == 1 && index[0].word.Text == "HOME":
				v = textValue("~")
			case r.lang == "php":
				v = darkValue
			case len(index) == 1 && index[0].word.Kind == Literal && v.name != "":
				v = codeValue{word: darkValue.word, name: v.name + "." + index[0].word.Text}
			case v.name != "" && holdsFunctions[strings.TrimSuffix(v.name, ".__dict__")]:
				v = codeValue{word: darkValue.word, name: computedMember}
			default:
				v = darkValue
			}
		case t.text == "(" && t.kind == tokenMark && (v.name != "" || r.lang == "python" || r.lang == "node"):
			v = r.call(v.name, codeValue{}, t) // also of a function that is written here
		case t.text == "(" && t.kind == tokenMark && r.lang == "php": // $f("x"), ("sys"."tem")("ls")
			name := computedMember
			if v.word.Kind == Literal {
				name = v.word.Text
			}
			v = r.call(name, codeValue{}, t)
		default:
			return v
		}
	}
	return v
}

// interpolated is a string with the variables in it, as far as they are known.
func (r *codeReader) interpolated(t codeToken) codeValue {
	w := Word{Kind: Literal}
	for _, part := range t.parts {
		if !part.computed {
			w.Text += part.text
			continue
		}
		v := r.vars[part.text]
		if v.word.Kind != Literal {
			v.word = Word{Text: unknownPart, Kind: Unknown, from: v.word.from}
		}
		w = r.join(w, v.word)
	}
	return codeValue{word: w}
}

// tokenKind is a sort of token.
type tokenKind int

const (
	tokenNone tokenKind = iota
	tokenName
	tokenMember // .name behind a value
	tokenString
	tokenShell // text between backquotes, where that runs a shell
	tokenNumber
	tokenMark
)

type codeToken struct {
	kind      tokenKind
	text      string
	parts     []stringPart
	from, end int
}

// stringPart is a part of a string: its text, or the name of a computed value.
type stringPart struct {
	text     string
	computed bool
}

// codeLexer splits code into tokens.
type codeLexer struct {
	lang, text string
	at         int
	out        []codeToken
}

func lexCode(lang, text string) []codeToken {
	l := &codeLexer{lang: lang, text: text}
	for l.at < len(l.text) {
		l.next()
	}
	return l.out
}

func (l *codeLexer) add(kind tokenKind, text string, from int) {
	if kind == tokenName && l.lang == "python" { // it compares names in this form
		text = norm.NFKC.String(text)
	}
	l.out = append(l.out, codeToken{kind: kind, text: text, from: from, end: l.at})
}

func (l *codeLexer) has(prefix string) bool { return strings.HasPrefix(l.text[l.at:], prefix) }

// skipTo goes behind the next end, or to the end of the code.
func (l *codeLexer) skipTo(end string) {
	if i := strings.Index(l.text[l.at:], end); i >= 0 {
		l.at += i + len(end)
	} else {
		l.at = len(l.text)
	}
}

func isNameStart(c rune) bool {
	return c == '_' || c == '$' || c == '@' || unicode.IsLetter(c)
}

// valueBefore reports whether the last token ends a value: a / behind it divides, and a dot
// begins a member.
func (l *codeLexer) valueBefore() bool {
	if len(l.out) == 0 {
		return false
	}
	t := l.out[len(l.out)-1]
	return t.kind != tokenMark || t.text == ")" || t.text == "]" || t.text == "}"
}

// Languages by the beginning of a comment: #, and //.
var (
	hashComments  = names("python perl php powershell ruby r awk other")
	slashComments = names("node php go rs java c")
)

func (l *codeLexer) next() {
	from, c := l.at, l.text[l.at]
	comment, slashes := hashComments[l.lang], slashComments[l.lang]
	switch {
	case c == '\n':
		l.at++
		l.add(tokenMark, "\n", from)
	case c == ' ' || c == '\t' || c == '\r':
		l.at++
	case c == '\\' && l.at+1 < len(l.text) && l.text[l.at+1] == '\n':
		l.at += 2
	case c == '#' && comment && !(l.lang == "perl" && from > 0 && l.text[from-1] == '$'):
		l.line()
	case slashes && l.has("//"), l.lang == "lua" && l.has("--"):
		l.line()
	case slashes && l.has("/*"):
		l.at += 2
		l.skipTo("*/")
	case c == '"' || c == '\'':
		l.quoted("", from)
	case c == '`':
		l.quoted("", from)
	case l.lang == "lua" && l.has("[["):
		l.at += 2
		l.raw("]]", from)
	case (l.lang == "ruby" || l.lang == "perl") && l.percent():
	case (l.lang == "ruby" || l.lang == "php") && l.has("<<"):
		if !l.document() {
			l.at++
			l.add(tokenMark, "<", from)
		}
	case unicode.IsDigit(rune(c)):
		for l.at < len(l.text) && (l.text[l.at] >= '0' && l.text[l.at] <= '9' ||
			strings.IndexByte(".xXoOabcdefABCDEF_", l.text[l.at]) >= 0) {
			l.at++
		}
		l.add(tokenNumber, l.text[from:l.at], from)
	case c == '/' && l.lang == "node" && !l.valueBefore():
		l.pattern()
	default:
		r, size := utf8.DecodeRuneInString(l.text[l.at:])
		if isNameStart(r) && (r != '@' || l.lang != "php") {
			l.name()
			return
		}
		l.mark(size)
	}
}

// line skips a comment to the end of its line.
func (l *codeLexer) line() {
	if i := strings.IndexByte(l.text[l.at:], '\n'); i >= 0 {
		l.at += i
	} else {
		l.at = len(l.text)
	}
}

// pattern skips a regular expression.
func (l *codeLexer) pattern() {
	from, class := l.at, false
	for l.at++; l.at < len(l.text); l.at++ {
		switch c := l.text[l.at]; {
		case c == '\\':
			l.at++
		case c == '\n':
			return
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			l.at++
			l.add(tokenNumber, l.text[from:l.at], from)
			return
		}
	}
}

// mark reads an operator or a member behind a value.
func (l *codeLexer) mark(size int) {
	from := l.at
	for _, m := range []string{"->", "::", "?.", "&.", "."} {
		if !l.has(m) || !l.valueBefore() {
			continue
		}
		l.at += len(m)
		start := l.at
		for l.at < len(l.text) {
			r, n := utf8.DecodeRuneInString(l.text[l.at:])
			if !isNameStart(r) && !unicode.IsDigit(r) {
				break
			}
			l.at += n
		}
		if l.at > start && !(m == "." && (l.lang == "perl" || l.lang == "php")) {
			l.add(tokenMember, l.text[start:l.at], from)
			return
		}
		l.at = start
		l.add(tokenMark, ".", from)
		return
	}
	for _, m := range []string{"==", "!=", "<=", ">=", "=>", ":=", "=~", "..", "+=", "&&", "||", "**"} {
		if l.has(m) {
			l.at += len(m)
			l.add(tokenMark, m, from)
			return
		}
	}
	l.at += size
	l.add(tokenMark, l.text[from:l.at], from)
}

// name reads a name with its members: os.path.join, IO::File.
func (l *codeLexer) name() {
	from := l.at
	var b strings.Builder
	part := func() {
		for l.at < len(l.text) {
			r, n := utf8.DecodeRuneInString(l.text[l.at:])
			if !isNameStart(r) && !unicode.IsDigit(r) && r != '?' && r != '!' ||
				(r == '$' || r == '@') && b.Len() > 0 && (l.lang == "perl" || l.lang == "php" || l.lang == "ruby") ||
				(r == '?' || r == '!') && (l.lang != "ruby" || l.at+1 < len(l.text) && l.text[l.at+1] == '=') {
				return
			}
			b.WriteRune(r)
			l.at += n
		}
	}
	part()
	if l.lang == "python" && l.at < len(l.text) && (l.text[l.at] == '"' || l.text[l.at] == '\'') && b.Len() <= 2 &&
		strings.Trim(strings.ToLower(b.String()), "rbfu") == "" {
		l.quoted(strings.ToLower(b.String()), from)
		return
	}
	for l.at < len(l.text) {
		step := 0
		for _, m := range []string{"?.", "&.", "->", "::", "."} {
			if l.has(m) && !(m == "." && (l.lang == "perl" || l.lang == "php")) {
				step = len(m)
				break
			}
		}
		if step == 0 || l.at+step >= len(l.text) {
			break
		}
		if r, _ := utf8.DecodeRuneInString(l.text[l.at+step:]); !isNameStart(r) {
			break
		}
		l.at += step
		b.WriteByte('.')
		part()
	}
	l.add(tokenName, strings.ReplaceAll(b.String(), "#", ""), from)
}

// quoted reads a string: prefix are the letters before it in Python.
func (l *codeLexer) quoted(prefix string, from int) {
	quote := l.text[l.at : l.at+1]
	if l.lang == "python" && l.has(strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	l.at += len(quote)
	kind := tokenString
	if quote == "`" && l.lang != "node" {
		kind = tokenShell
	}
	raw := strings.Contains(prefix, "r")
	fills := strings.Contains(prefix, "f") || l.lang != "python" && quote != "'" && l.lang != "lua" &&
		!(l.lang == "node" && quote != "`")
	l.body(quote, raw, fills, kind, from)
}

// raw reads a string without escapes.
func (l *codeLexer) raw(end string, from int) { l.body(end, true, false, tokenString, from) }

// body reads a string up to its end.
func (l *codeLexer) body(end string, raw, fills bool, kind tokenKind, from int) {
	var parts []stringPart
	var b strings.Builder
	computed := func(name string) {
		parts = append(parts, stringPart{text: b.String()}, stringPart{text: name, computed: true})
		b.Reset()
	}
	for l.at < len(l.text) && !l.has(end) {
		c := l.text[l.at]
		switch {
		case c == '\\' && !raw && l.at+1 < len(l.text):
			l.escape(&b)
		case fills && l.fill(computed):
		default:
			b.WriteByte(c)
			l.at++
		}
	}
	l.at = min(len(l.text), l.at+len(end))
	parts = append(parts, stringPart{text: b.String()})
	l.add(kind, "", from)
	t := &l.out[len(l.out)-1]
	t.parts = parts
	for _, p := range parts {
		if !p.computed {
			t.text += p.text
		}
	}
}

// escape reads a backslash with the characters that belong to it.
func (l *codeLexer) escape(b *strings.Builder) {
	c := l.text[l.at+1]
	l.at += 2
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case '\n':
	case 'x', 'u':
		l.at += number(b, l.text[l.at:], 16, map[byte]int{'x': 2, 'u': 4}[c], c == 'u')
	case '0', '1', '2', '3', '4', '5', '6', '7':
		l.at += number(b, l.text[l.at-1:], 8, 3, false) - 1
	default:
		if l.lang != "node" && l.lang != "php" && strings.IndexByte("\\'\"`$@#/ ", c) < 0 && l.lang == "python" {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
}

// fill reads a computed part of a string: ${a} #{a} {a} $a.
func (l *codeLexer) fill(computed func(name string)) bool {
	open := map[string]string{"node": "${", "ruby": "#{", "python": "{", "php": "{$", "perl": "${"}[l.lang]
	if open != "" && l.has(open) {
		if l.lang == "python" && l.has("{{") {
			return false
		}
		start := l.at + len(open)
		end := strings.IndexByte(l.text[start:], '}')
		if end < 0 {
			return false
		}
		name := l.text[start : start+end]
		if l.lang == "php" {
			name = "$" + name
		}
		computed(strings.TrimSpace(name))
		l.at = start + end + 1
		return true
	}
	if (l.lang == "perl" || l.lang == "php") && (l.text[l.at] == '$' || l.text[l.at] == '@' && l.lang == "perl") &&
		l.at+1 < len(l.text) {
		end := l.at + 1
		for end < len(l.text) && (l.text[end] == '_' || unicode.IsLetter(rune(l.text[end])) ||
			unicode.IsDigit(rune(l.text[end]))) {
			end++
		}
		if end > l.at+1 {
			computed(l.text[l.at:end])
			l.at = end
			return true
		}
	}
	return false
}

// percent reads strings with their own brackets: qx(…), q{…}, %x(…), %w[…].
func (l *codeLexer) percent() bool {
	from := l.at
	for _, p := range []struct {
		mark, lang string
		kind       tokenKind
		fills      bool
	}{
		{"qx", "perl", tokenShell, true}, {"qq", "perl", tokenString, true}, {"qw", "perl", tokenString, false},
		{"q", "perl", tokenString, false},
		{"%x", "ruby", tokenShell, true}, {"%q", "ruby", tokenString, false}, {"%Q", "ruby", tokenString, true},
		{"%w", "ruby", tokenString, false},
	} {
		if l.lang != p.lang || !l.has(p.mark) || l.at+len(p.mark) >= len(l.text) || l.lang == "perl" &&
			l.wordBefore() {
			continue
		}
		open := l.text[l.at+len(p.mark)]
		end := map[byte]string{'(': ")", '[': "]", '{': "}", '<': ">", '/': "/", '|': "|", '!': "!", '#': "#"}[open]
		if end == "" {
			continue
		}
		l.at += len(p.mark) + 1
		l.body(end, false, p.fills, p.kind, from)
		return true
	}
	return false
}

// wordBefore reports whether a name goes on here.
func (l *codeLexer) wordBefore() bool {
	if l.at == 0 {
		return false
	}
	c := l.text[l.at-1]
	return c == '_' || c == '$' || c == '@' || c == '%' || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))
}

// document reads <<NAME up to the line NAME.
func (l *codeLexer) document() bool {
	from := l.at
	rest := strings.TrimLeft(l.text[l.at+2:], "<-~'\"")
	end := 0
	for end < len(rest) && (rest[end] == '_' || unicode.IsUpper(rune(rest[end]))) {
		end++
	}
	if end == 0 {
		return false
	}
	name := rest[:end]
	start := strings.IndexByte(l.text[l.at:], '\n')
	if start < 0 {
		return false
	}
	l.at += start + 1
	begin := l.at
	stop := strings.Index(l.text[l.at:], name)
	if stop < 0 {
		l.at = from
		return false
	}
	text := l.text[begin : begin+stop]
	l.at = begin + stop + len(name)
	l.add(tokenString, text, from)
	l.out[len(l.out)-1].parts = []stringPart{{text: text}}
	return true
}
