package facts

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// languageTable is the part of code.yaml about a language.
type languageTable struct {
	Calls   map[string]string `yaml:"calls"`
	Eval    []string          `yaml:"eval"`
	Clients string            `yaml:"clients"` // modules that reach services, devices or other machines
	Plain   string            `yaml:"plain"`   // modules that do not; "" = so do all others that the table does not name
	Mild    string            `yaml:"mild"`    // methods of plain values that are called like a deed

	clients, plain, mild map[string]bool
	byName               map[string]string // of one function
	byLast               map[string]string // of the last part of its name
	evals                map[string]bool
}

// languages is code.yaml.
var languages = sync.OnceValue(func() map[string]*languageTable {
	all := map[string]*languageTable{}
	readTable("code.yaml", &all)
	for _, t := range all {
		t.byName, t.byLast, t.evals = map[string]string{}, map[string]string{}, map[string]bool{}
		t.clients, t.plain, t.mild = names(strings.ToLower(t.Clients)), names(strings.ToLower(t.Plain)), names(t.Mild)
		for names, roles := range t.Calls {
			for name := range strings.FieldsSeq(names) {
				t.byName[name] = roles
			}
		}
		for name, roles := range t.byName {
			last := name[strings.LastIndexByte(name, '.')+1:]
			if last != name && !common[last] && !strings.HasPrefix(name, "db.") {
				t.byLast[last] = roles
			}
		}
		for _, name := range t.Eval {
			t.evals[name] = true
		}
	}
	return all
})

// common are names of functions that many things have: alone they say nothing.
var common = wordLists["common"]

// roles are those of a function's arguments; sure is false where another function may be
// meant.
func (t *languageTable) roles(name string) (roles string, sure, known bool) {
	name = strings.NewReplacer("fs.promises.", "fs.", "fs/promises.", "fs.", "node:", "", "global.", "",
		"globalThis.", "", "builtins.", "", ".default.", ".").Replace(name)
	if roles, known = t.byName[name]; known {
		return roles, true, roles != "same"
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.HasPrefix(name, "db.") { // of MongoDB's shell
		if roles, known = t.byName["db.*."+last]; known {
			return roles, true, true
		}
	}
	if roles, known = t.byName["*."+last]; known && roles != "same" {
		return roles, true, true
	}
	if roles, known = t.byLast[last]; known && roles != "same" {
		return roles, roles != "", true
	}
	for full, roles := range t.byName {
		if strings.HasSuffix(full, "."+last) && t.byName["*."+last] == "same" && !strings.HasPrefix(full, "*.") {
			return roles, true, true
		}
	}
	return "", false, false
}

func (t *languageTable) isEval(name string) bool {
	return t.evals[name] || t.evals[name[strings.LastIndexByte(name, '.')+1:]] && !strings.HasPrefix(name, "re.")
}

// servesAll finds code that serves on each address of this machine.
var servesAll = lazyregexp.New(`(?:run|listen|serve\w*|bind|Server|start)\s*\([^)]*['"]0\.0\.0\.0['"]`)

// innards finds Python that reaches functions by the tables which hold them, or has YAML make them.
var innards = lazyregexp.New(`__dict__\s*(?:\.get\(|\[)|__globals__|__builtins__|__subclasses__|__getattribute__|\b(?:methodcaller|attrgetter)\(|` +
	`Loader\s*=\s*(?:yaml\.)?(?:Unsafe)?Loader\b`)

// setsVariable finds a variable that code sets for the programs that it starts.
var setsVariable = lazyregexp.New(`(?:os\.environ|process\.env|\bENV|\$ENV|\$_ENV)(?:\[['"]|\.|\{['"]?)([A-Za-z_]\w*)['"]?[\]}]?\s*(?:\|\|)?=\s*` +
	`('[^']*'|"[^"]*"|[^\s=])`)

// givesVariables finds the environment of a program in code, namedValue a variable of it: env={"NAME": "value"}.
var (
	givesVariables = lazyregexp.New(`\benv['"]?\s*[=:]\s*(?:dict\(|\{)[^})]*`)
	namedValue     = lazyregexp.New(`\b([A-Z][A-Z0-9_]*)['"]?\s*[=:]\s*('[^']*'|"[^"]*")`)
)

// socketText finds the path of a socket in code.
var socketText = lazyregexp.New(`[~/][\w./@-]*\.sock\b`)

// languageNames are the names of a language under which others are known.
var languageNames = map[string]string{
	"javascript": "node", "js": "node", "deno": "node", "bun": "node", "tsx": "node", "jsx": "node", "ts": "node", "typescript": "node", "py": "python", "python3": "python",
	"pwsh": "powershell",
	"bash": "sh", "shell": "sh", "zsh": "sh", "fish": "sh", "mysql": "sql", "postgres": "sql", "sqlite": "sql",
}

// code follows code of another language than a shell's.
func (c *finder) code(lang string, w Word) {
	lang = strings.ToLower(lang)
	lang = cmp.Or(languageNames[lang], lang)
	r := c.sh.r
	if r.read += len(w.Text); r.read > maxRead || c.sh.depth > maxDepth {
		r.doubt(DoubtLimits, "the text is too long, or has too many lines within lines", c.span, c.index)
		return
	}
	f := codeFollower{finder: c, lang: lang, table: languages()[lang]}
	f.byText(w.Text)
	if strings.HasPrefix(w.Text, "/dev/fd/") && w.from != "" {
		c.doubt(DoubtEval, c.name()+" runs what "+w.from+" gives it")
		return
	}
	if w.Kind == Unknown && !(w.safe && lang == "sed") {
		c.doubt(DoubtEval, "a part of the "+lang+" code that it runs is only known when it runs")
	}
	if s := (toolScript{c, w}); !s.follow(lang) {
		f.follow(w.Text)
	}
}

// byText adds the effects of code that its text alone tells, whatever calls it has.
func (f *codeFollower) byText(text string) {
	if f.lang != "sh" {
		f.environ(text)
	}
	if f.lang == "python" {
		f.magic(text)
	}
	if f.lang == "python" || f.lang == "node" {
		for _, found := range openedOnly.FindAllStringSubmatch(text, 20) {
			file := literal(cmp.Or(found[1], found[2], found[3], found[4]))
			f.path(KindWrite, file)
			f.path(KindDelete, file)
		}
	}
}

// codeFollower follows the calls of functions in code.
type codeFollower struct {
	*finder
	lang  string
	table *languageTable // nil = the language is in none

	client     string // the module that reaches a service, a device or another machine; "" = none
	keepsEmpty bool   // the code writes into no file that it opens
}

// follow follows the whole of a text, as far as it is read.
func (f *codeFollower) follow(text string) {
	index := f.index
	if f.loaded {
		index = -1 // what runs it is another program than an interpreter
	}
	f.sh.r.doubt(DoubtCode, "code of "+cmp.Or(f.lang, "another language")+" is not read in full", f.span, index)
	if f.table == nil {
		f.quotedLines(text, true)
		return
	}
	if servesAll.MatchString(text) {
		f.effect(KindSend, "host:tunnel", false)
	}
	if f.lang == "python" && innards.MatchString(text) {
		f.doubt(DoubtEval, "the code takes a function out of what holds it")
	}
	all := setsVariable.FindAllStringSubmatch(text, 20)
	for _, given := range givesVariables.FindAllString(text, 8) {
		all = append(all, namedValue.FindAllStringSubmatch(given, 20)...)
	}
	for _, found := range all {
		value := darkValue.word
		if text := found[2]; len(text) > 1 {
			value = literal(text[1 : len(text)-1])
		}
		f.variable(found[1], value)
	}
	for _, found := range socketText.FindAllString(text, 8) {
		f.role(role{name: "socket"}, literal(found), &args{}, nil)
	}
	if forks.MatchString(text) {
		f.effectWhy(KindKill, "process:*", false, "it starts processes without end")
	}
	calls := readCode(f.lang, text, f.isWord)
	f.client = cmp.Or(f.table.client(f.words, calls), shellsOfServers[f.name()])
	f.keepsEmpty = !writesText.MatchString(text)
	for _, k := range calls {
		f.one(k)
	}
}

// isWord reports whether a name is a function that the language also calls without brackets.
func (f *codeFollower) isWord(name string) bool {
	if f.lang != "ruby" && f.lang != "perl" && f.lang != "php" && f.lang != "lua" {
		return false
	}
	_, known := f.table.byName[name]
	return known || f.table.evals[name] || f.lang == "ruby" && name == "require"
}

// writesText finds code that may write into a file that it opens, or opens it to add.
var writesText = lazyregexp.New(`(?i)write(?:[^r]|r[^(\s])|print|puts|say|dump|save|to_|copy|pipe|truncate|tee|stdout|\blog|` +
	`["']a[bt]?\+?["']|>>|r\+`)

// shellsOfServers are clients whose whole code is for a server.
var shellsOfServers = map[string]string{"mongosh": "mongosh", "mongo": "mongo"}

// client is a module that the code, or an option of the interpreter, loads to reach a service, a device or another
// machine; "" = there is none.
func (t *languageTable) client(words []Word, calls []codeCall) string {
	is := func(module string) bool {
		module = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(module, "node:")), "::", ".")
		if module == "" || len(t.plain) > 0 && strings.ContainsAny(module[:1], "./~@$") && !t.clients[module] {
			module, _, _ = strings.Cut(module, "/")
			return t.clients[module] // a file, or of a scope, as packages of a project are
		}
		known := len(t.plain) == 0
		for ; module != ""; module = module[:max(0, strings.LastIndexAny(module, "./:"))] {
			if t.clients[module] {
				return true
			}
			known = known || t.plain[module]
		}
		return !known
	}
	for _, k := range calls {
		if loadsModule[k.name] && len(k.args) > 0 && k.args[0].word.Kind == Literal && is(k.args[0].word.Text) {
			return k.args[0].word.Text
		}
	}
	for _, w := range words { // perl -MDBI, ruby -rpg
		if text := w.Text; len(text) > 2 && (strings.HasPrefix(text, "-M") || strings.HasPrefix(text, "-r")) {
			if module, _, _ := strings.Cut(text[2:], "="); is(module) {
				return module
			}
		}
	}
	return ""
}

// quotedLines reads parts of code in an unknown language as lines that may run: its strings, the text
// behind a ! or in parentheses, and each line. whole: a text without any of these is read, too.
func (c *finder) quotedLines(text string, whole bool) {
	for _, t := range lexCode("other", text) {
		if t.kind == tokenString && looksLikeLine(t.text) {
			c.guessLine(t.text)
		}
	}
	for line := range strings.Lines(text) {
		if _, after, has := strings.Cut(line, "!"); has && looksLikeLine(after) {
			c.guessLine(after)
		}
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("()\n", r) }) {
		if (whole || len(part) < len(text)) && strings.Contains(strings.TrimSpace(part), " ") && looksLikeLine(part) {
			c.guessLine(part)
		}
	}
}

func (c *finder) guessLine(text string) {
	sh := c.nested(c.name())
	sh.guess = true
	sh.line(strings.TrimSpace(text))
}

// loadsModule are functions, and words, that load a module.
var loadsModule = names("import require __import__ importlib.import_module require_relative load include include_once use do")

// one follows one call in code.
func (f *codeFollower) one(k codeCall) {
	span, text := f.span, f.text
	inner, c := *f, *f.finder
	c.text = k.text
	inner.finder = &c
	defer func() { c.span, c.text = span, text }() // a trap may keep the call
	inner.load(k)
	switch f.lang {
	case "php":
		k.name = strings.ToLower(k.name) // as PHP compares names of functions
	case "r":
		k.name = strings.TrimPrefix(k.name, "base.")
	}
	k = f.direct(k)
	k.args = inPlaces(k.args)
	if inner.special(k) {
		return
	}
	inner.takesFunction(k)
	roles, sure, known := f.table.roles(k.name)
	if !known {
		inner.verb(k)
		return
	}
	if !sure {
		inner.finder = c.guessed()
	}
	inner.empties(k, roles)
	inner.arguments(k, strings.Fields(roles))
}

// direct is a call of a function where a method of the function makes it: execSync.call(null, "ls").
func (f *codeFollower) direct(k codeCall) codeCall {
	at := strings.LastIndexByte(k.name, '.')
	if at < 0 || !f.table.has(k.name[:at]) {
		return k
	}
	switch method := k.name[at+1:]; {
	case f.lang == "python" && method == "__call__":
		k.name = k.name[:at]
	case f.lang == "node" && (method == "call" || method == "bind") && len(k.args) > 0:
		k.name, k.args = k.name[:at], k.args[1:]
	case f.lang == "node" && method == "apply" && len(k.args) > 1 && k.args[1].list != nil:
		k.name, k.args = k.name[:at], k.args[1].list
	}
	return k
}

// inPlaces are the arguments of a call: named arguments stand behind the others, in the order that functions of
// files and programs take them: copy(dst="b", src="a").
func inPlaces(args []codeValue) []codeValue {
	if !slices.ContainsFunc(args, func(v codeValue) bool { return v.key != "" }) {
		return args
	}
	args = slices.Clone(args)
	slices.SortStableFunc(args, func(a, b codeValue) int { return cmp.Compare(placeOf[a.key], placeOf[b.key]) })
	return args
}

// placeOf says where an argument stands that has a name: 0 = where it is written.
var placeOf = map[string]int{
	"path": 1, "file": 1, "filename": 1, "src": 1, "args": 1, "cmd": 1, "url": 1, "dst": 2, "mode": 2,
	"ignore_errors": 3, "check": 3, "shell": 3, "text": 3, "data": 3, "json": 3, "input": 3, "stdin": 3, "exist_ok": 3,
}

// load follows a call that loads a module.
func (f *codeFollower) load(k codeCall) {
	if loadsModule[k.name] && len(k.args) > 0 && k.args[0].word.Kind == Literal {
		f.imported(f.lang, k.args[0].word.Text)
	}
}

// special follows a call that runs code, and others that no table tells. done is true where nothing more
// follows.
func (f *codeFollower) special(k codeCall) (done bool) {
	const made = " runs code that is made when it runs"
	if slices.ContainsFunc(k.args, func(v codeValue) bool { return v.name != "" && f.table.evals[v.name] }) {
		f.doubt(DoubtEval, short(k.text)+made)
	}
	switch {
	case k.name == "`":
		f.shellText(f.nested(f.lang), k.args[0].word)
	case f.lang == "node" && (k.name == "setTimeout" || k.name == "setInterval") && len(k.args) > 0 &&
		k.args[0].word.Kind == Literal:
		k.name = "eval"
		f.one(k)
	case f.lang == "node" && strings.HasSuffix(k.name, ".constructor"):
		f.doubt(DoubtEval, short(k.text)+made)
		return false
	case f.lang == "python" && strings.HasSuffix(k.name, ".replace") && len(k.args) == 1: // of a path, not of a text
		f.path(KindMove, k.self.word)
		f.path(KindWrite, k.args[0].word)
	case f.client == "git" && strings.HasSuffix(k.name, ".execute") && len(k.args) > 0: // git.execute(["git", "push"])
		f.command(k.args[0], nil, k)
	case k.name == computedMember:
		f.doubt(DoubtEval, short(k.text)+" is a call of a function that is only known when it runs")
	case f.table.isEval(k.name), strings.HasSuffix(k.name, "Worker") && ofText.MatchString(k.text):
		f.eval(k)
	default:
		return false
	}
	return true
}

// eval follows a call that runs a text as code of the same language.
func (f *codeFollower) eval(k codeCall) {
	if strings.HasSuffix(strings.ToLower(k.name), "function") && len(k.args) > 0 { // the code is the last one
		k.args = k.args[len(k.args)-1:]
	}
	last := k.name[strings.LastIndexByte(k.name, '.')+1:]
	if len(k.args) > 0 && k.args[0].word.Kind == Literal && f.sh.depth < maxDepth && !opensCode[last] {
		sh := *f.sh
		sh.depth++
		f.sh = &sh
		f.code(f.lang, k.args[0].word)
	} else if len(k.args) > 0 || k.self.word.Kind != "" || f.lang == "perl" || last == "interact" {
		f.doubt(DoubtEval, short(k.text)+" runs code that is made when it runs")
	}
}

// takesFunction follows modules and functions among the arguments of a call.
func (f *codeFollower) takesFunction(k codeCall) {
	isOutside := func(v codeValue) bool {
		return v.word.Kind == Literal && strings.HasPrefix(v.word.Text, "/") &&
			!strings.HasPrefix(v.word.Text+"/", f.sh.r.env.Cwd+"/")
	}
	loads := strings.HasPrefix(k.name, "sys.path.") || k.name == "require" || k.name == "import"
	if loads && slices.ContainsFunc(k.args, isOutside) {
		f.doubt(DoubtProgram, "what the code loads by "+short(k.text)+" lies outside of the project")
	}
	isModule := func(v codeValue) bool { return holdsFunctions[v.name] }
	if !looksAt[k.name] && slices.ContainsFunc(k.args, isModule) && !f.table.has(k.name) {
		f.doubt(DoubtEval, short(k.text)+" may run any function of a module") // Object.values(require("child_process"))
	}
	for i, v := range k.args { // map(os.remove, files)
		roles, sure, known := f.table.roles(v.name)
		if v.name != "" && v.name != k.name && known && sure && hasDeed(roles) {
			f.one(codeCall{name: v.name, args: append(slices.Clone(k.args[:i]), darkValue), text: k.text})
		}
	}
}

// arguments follows the arguments of a function by their roles.
func (f *codeFollower) arguments(k codeCall, roles []string) {
	at := 0
	for i, name := range roles {
		name, repeats := strings.CutSuffix(name, "...")
		if own, is := strings.CutPrefix(name, "self:"); is {
			f.argument(own, k.self, k.args, k)
			continue
		}
		for at < len(k.args) {
			f.argument(name, k.args[at], k.args[at+1:], k)
			if at++; !repeats {
				break
			}
		}
		switch {
		case i > 0 || len(k.args) > 0:
		case name == "variable": // each of them
			f.argument("env", darkValue, nil, k)
		default:
			f.argument(name, darkValue, nil, k)
		}
	}
}

// deletesByName finds a method of a library that is in no table and that deletes by its name.
var deletesByName = lazyregexp.New(`^(?:(?:delete|destroy|terminate|purge|truncate|wipe)_[a-z_]+|` +
	`(?:delete|destroy|terminate|purge|truncate|wipe)[A-Z]\w+|drop_(?:all|database|table|collection|index)\w*|` +
	`drop(?:All|Database|Table|Collection)\w*|flush(?:all|db))$`)

// deletesSelf are methods without arguments by which an object of a library deletes what it stands for.
var deletesSelf = names("delete purge wipe drop obliterate prune terminate destroy")

// sendsBody finds the options of a request that sends: fetch(url, {method: "POST"}).
var sendsBody = lazyregexp.New(`(?i)\bmethod['"]?\s*[:=]\s*['"](?:post|put|patch|delete)|[(,]\s*data\s*=`)

// opensCode are functions that load code from what they are given, which is no text of code.
var opensCode = names("load loads open CDLL binding dlopen unserialize dl unsafe_load read_pickle")

func (t *languageTable) has(name string) bool {
	_, _, known := t.roles(name)
	return known
}

// looksAt are functions that only show the module which they are given.
var looksAt = names("dir help type len id repr inspect.getfile inspect.getsourcefile Object.keys util.inspect hasattr importlib.reload")

// hasDeed reports whether roles of a function's arguments say that it does more than look.
func hasDeed(roles string) bool {
	return slices.ContainsFunc(strings.Fields(roles), func(role string) bool {
		return changesByRole[strings.TrimSuffix(strings.TrimPrefix(role, "self:"), "...")]
	})
}

var changesByRole = names("tree delete write move open shell command chained send kill database")

// deeds are words in the name of a function that change something, and seldom a value of the code alone.
var deeds = wordLists["deeds"]

// makes are words that the name of a class seldom begins with.
var makes = names("set create delete write put add remove update")

// reads are words in the name of a method that only reads, opens a connection, or works on a value.
var reads = wordLists["reads"]

// verb adds what the name of a function in no table tells: client.delete_bucket(…), repo.git.reset("--hard").
// What a client of a service is told is not known beyond reading.
func (f *codeFollower) verb(k codeCall) {
	last := k.name[strings.LastIndexByte(k.name, '.')+1:]
	of := parts(last)
	isMethod := strings.Contains(k.name, ".")
	for _, a := range k.args {
		f.argumentSQL(a)
	}
	if words := f.asCommand(k); words != nil {
		f.finder = f.guessed()
		f.child(k).run(words, &finder{text: f.text, span: f.span, env: f.env})
		return
	}
	switch {
	case k.name == "" && (f.client == "sh" || f.client == "plumbum"):
		f.doubt(DoubtProgram, short(k.text)+" runs a program that is not known")
	case deletesByName.MatchString(last) && !strings.Contains(last, "cookie"):
		f.effect(KindDelete, "data:"+last, false)
	case deletesSelf[last] && len(k.args) == 0 && isMethod:
		f.effect(KindDelete, "data:"+last, false)
	case last == "sync" && dropsFirst.MatchString(k.text):
		f.effect(KindDelete, "database:", false)
	case last == "reset" && len(k.args) > 0 && k.args[0].word.Text == "--hard":
		f.effect(KindHistory, "worktree", false)
	case f.table.mild[last] && f.client == "" || len(of) == 0:
	case f.client != "" && isMethod && anyOf(of, showVerbs) && anyOf(of, secretNouns):
		f.effect(KindSecret, "tool:"+f.client, false)
	case f.client == "mongosh" && k.name == "load" && len(k.args) > 0:
		f.started(k.args[0].word, "node")
	case f.client == "mongosh" && (of[0] == "insert" || strings.HasPrefix(last, "createIndex") ||
		last == "createCollection"): // as INSERT and CREATE
	case f.client != "" && !reads[of[0]] && !reads[last] &&
		(unicode.IsLower(rune(last[0])) || len(of) > 1 && anyOf(of[:1], makes)):
		f.doubt(DoubtProgram, "what "+short(k.text)+" does by "+f.client+" is not in the tables")
	case deeds[last] || anyOf(of[:1], deeds) || anyOf(of[len(of)-1:], deeds):
		f.doubt(DoubtProgram, "what "+short(k.text)+" does is not in the tables")
	}
}

// ofText finds that a worker gets its code as a text.
var ofText = lazyregexp.New(`\beval['"]?\s*:\s*true`)

// asCommand is the command that a method of a library stands for, where each method is a program or a subcommand:
// repo.git.push("--force") of GitPython, git.push("--force") and rm("-rf", "src") of sh. nil = it is none.
func (f *codeFollower) asCommand(k codeCall) (words []Word) {
	path := strings.Split(strings.TrimPrefix(k.name, "sh."), ".")
	last := strings.ReplaceAll(path[len(path)-1], "_", "-")
	switch {
	case f.client == "git" && len(path) > 1 && f.sh.r.t.program("git").sub(last) != nil:
		path = []string{"git", last}
	case f.client == "sh" && !reads[path[0]] && f.sh.r.t.program(path[0]) != nil:
	default:
		return nil
	}
	for _, name := range path {
		words = append(words, Word{Text: name, Kind: Literal})
	}
	for _, a := range k.args {
		switch flag := "--" + strings.ReplaceAll(a.key, "_", "-"); {
		case a.key == "" && a.word.Kind == "":
			words = append(words, darkValue.word)
		case a.key == "":
			words = append(words, a.word)
		case a.name == "True" || a.word.Text == "True":
			words = append(words, Word{Text: flag, Kind: Literal})
		default:
			words = append(words, a.word.with(flag+"="+a.word.Text))
		}
	}
	return words
}

// dropsFirst finds that an ORM drops the tables before it makes them.
var dropsFirst = lazyregexp.New(`\bforce['"]?\s*:\s*true`)

// argumentSQL follows an argument of a function in no table that is a statement which changes something.
func (f *codeFollower) argumentSQL(v codeValue) {
	text := v.word.Text
	if v.word.Kind == "" || len(text) < 8 || !strings.Contains(text, " ") || !looksLikeSQL(text) {
		return
	}
	f.guessed().sql(strings.ReplaceAll(text, unknownPart, "x"))
}

// empties adds that a call leaves a file without content: truncateSync(f), writeFileSync(f, "").
func (f *codeFollower) empties(k codeCall, roles string) {
	last := strings.ToLower(k.name[strings.LastIndexByte(k.name, '.')+1:])
	switch {
	case len(k.args) == 0 || k.args[0].word.Kind == "":
	case strings.HasPrefix(last, "write_") && roles == "self:write" && k.args[0].word.Kind == Literal &&
		strings.TrimSpace(k.args[0].word.Text) == "":
		f.argument("delete", k.self, nil, k)
	case roles == "read write" && len(k.args) > 1 && k.args[0].word.Text == "/dev/null":
		f.path(KindDelete, k.args[1].word)
	case strings.HasPrefix(last, "truncate") && strings.HasPrefix(roles, "delete"):
		f.path(KindWrite, k.args[0].word)
	case strings.HasPrefix(roles, "write") && !strings.HasPrefix(last, "append") && len(k.args) > 1 &&
		k.args[1].word.Kind == Literal && strings.TrimSpace(k.args[1].word.Text) == "":
		f.path(KindDelete, k.args[0].word)
	}
}

// openedOnly finds a file that is opened for writing, and closed or cut without a write.
var openedOnly = lazyregexp.New(`\bcreateWriteStream\(\s*(?:'([^']+)'|"([^"]+)")\s*\)\s*\.(?:end|close|destroy)\(\s*\)|` +
	`\bopen\(\s*(?:'([^']+)'|"([^"]+)")\s*,\s*(?:mode\s*=\s*)?['"]w[bt]?\+?['"]\s*\)\s*` +
	`(?:\.close\b|\.truncate\b|;|$)`)

// readsAdmin finds a command of a MongoDB server that only reads.
var readsAdmin = lazyregexp.New(`\{\s*['"]?(?:ping|hello|isMaster|serverStatus|list\w+|buildInfo|collStats|dbStats|currentOp|getParameter|` +
	`getCmdLineOpts|replSetGet\w+|connectionStatus|find|count|distinct|explain|top|hostInfo|getLog|\w+Info|validate|dbHash)\b`)

// argument follows the effect of a call in code on an argument. rest are those behind it.
func (f *codeFollower) argument(name string, v codeValue, rest []codeValue, k codeCall) {
	if v.word.Kind == "" {
		v.word = darkValue.word
	}
	if name == "database" || name == "admin" && !readsAdmin.MatchString(k.text) {
		f.effect(KindDelete, "database:", name == "database")
		return
	}
	if v.list != nil && name != "command" {
		for _, one := range v.list {
			if f.sh.r.steps++; f.sh.r.steps > maxSteps {
				f.doubt(DoubtLimits, "a call in the code has too many arguments")
				return
			}
			f.argument(name, one, nil, k)
		}
		return
	}
	switch name {
	case "", "_", "admin":
	case "open":
		f.opened(v, rest, k)
	case "write", "delete", "read", "move":
		f.file(name, v.word, k)
	case "tree":
		f.tree(v.word)
	case "listed":
		if v.word.Kind != Unknown {
			v.word.Kind = Pattern
			f.path(KindRead, v.word)
		}
	case "mode":
		if f.fileMode(v.word.Text); strings.Contains(k.text, "S_ISUID") || strings.Contains(k.text, "S_ISGID") {
			f.effect(KindEscalate, "user:owner", true)
		}
	case "secrets":
		f.path(KindRead, literal("~/.netrc"))
	case "env":
		f.effect(KindSecret, "env:*", true)
	case "setting":
		f.effect(KindConfigure, "variable:"+v.word.Text, true)
	case "shell":
		f.shellText(f.child(k), v.word)
	case "command":
		f.command(v, rest, k)
	case "chained": // a program whose arguments are added later
		f.nested(f.lang).run([]Word{v.word, darkValue.word}, &finder{text: f.text, span: f.span, env: f.env})
	case "eval":
		f.doubt(DoubtEval, short(k.text)+" runs code that is made when it runs")
	case "calls":
		if f.lang != "r" || v.word.Kind == Literal { // do.call(rbind, list) is usual
			f.callback(v, k)
		}
	case "code:sql":
		f.query(v.word, k)
	case "kill":
		f.kills(v.word)
	case "request":
		f.request(v.word, rest, k)
	case "send":
		if strings.Trim(v.word.Text, "0123456789") == "" && len(rest) > 0 { // net.connect(PORT, HOST)
			v = rest[0]
		}
		f.address(v.word)
		f.effect(KindSend, sentTo(v.word), true)
	case "url", "host":
		f.reaches(name, v.word, k)
	default:
		f.role(parseRole(name), v.word, &args{}, nil)
	}
}

// sentTo is the host of an address that is known in full; "" = it is not.
func sentTo(w Word) string {
	if w.Kind == Literal {
		return "host:" + hostOf(w.Text)
	}
	return ""
}

// file follows a file that code reads, writes, deletes or moves.
func (f *codeFollower) file(name string, w Word, k codeCall) {
	deep, given := k.named("recursive")
	if name == "delete" && (recursive.MatchString(k.text) || given && !strings.EqualFold(deep.name, "false")) {
		f.tree(w)
		return
	}
	if name == "read" && inPlace.MatchString(k.text) {
		f.path(KindWrite, w)
		f.path(KindDelete, w)
	}
	if name == "read" && f.lang == "ruby" && strings.HasPrefix(w.Text, "|") {
		f.shellText(f.nested(f.lang), w.with(w.Text[1:]))
		return
	}
	if name != "read" || w.Kind != Unknown || strings.Contains(w.Text, unknownPart+"/") {
		f.path(EffectKind(name), w)
	}
	if name == "delete" && w.Kind == Pattern {
		f.doubt(DoubtWord, "which files "+short(k.text)+" deletes is only known when it runs")
	}
}

// query follows a text that a database or another peer of the code is given.
func (f *codeFollower) query(w Word, k codeCall) {
	if strings.HasSuffix(k.name, ".executescript") && strings.HasPrefix(w.Text, unknownPart) {
		f.doubt(DoubtEval, "which statements "+short(k.text)+" runs is only known when it runs")
	}
	text := strings.ReplaceAll(w.Text, unknownPart, "x") // also of an f-string
	if looksLikeSQL(text) {
		f.sql(text)
	} else if f.client != "" && w.Kind == Literal && looksLikeLine(text) { // ssh.exec("rm -rf src")
		f.guessLine(text)
	}
}

// request follows request("DELETE", url).
func (f *codeFollower) request(method Word, rest []codeValue, k codeCall) {
	if len(rest) == 0 {
		return
	}
	role := "send"
	if onlyReads(method) {
		role = "url"
	}
	address := rest[0]
	if strings.HasPrefix(address.word.Text, "/") { // of the host that the connection is to
		address = k.self
	}
	f.argument(role, address, nil, k)
}

// onlyReads reports whether a request of a method sends nothing.
func onlyReads(method Word) bool {
	m := strings.ToUpper(method.Text)
	return m == "GET" || m == "HEAD" || m == "OPTIONS"
}

// reaches follows the address or the host that code connects to.
func (f *codeFollower) reaches(name string, w Word, k codeCall) {
	if w.Kind == Unknown && strings.HasPrefix(w.Text, unknownPart) {
		f.effect(KindConnect, "", false)
		return
	}
	f.address(w)
	method, given := k.named("method")
	given = given && method.word.Kind == Literal && !onlyReads(method.word)
	if name == "url" && (w.from == contentOfFile || given || sendsBody.MatchString(k.text)) {
		f.effect(KindSend, "host:"+hostOf(w.known()), true)
	}
}

// inPlace finds that fileinput gives its files the content that is printed.
var inPlace = lazyregexp.New(`inplace\s*=\s*(?:True|1)`)

// closure finds a function that is written where it is used.
var closure = lazyregexp.New(`\b(?:function|fn)\b`)

// callback follows the function that v names: another function calls it with its other arguments, as does
// array_map("unlink", glob("*")).
func (f *codeFollower) callback(v codeValue, k codeCall) {
	t := f.table
	name := strings.ToLower(v.word.Text)
	if v.word.Kind != Literal {
		if v.list == nil && v.word.Kind == Unknown && !closure.MatchString(k.text) && sameValue(k.args[0], v) {
			f.doubt(DoubtEval, short(k.text)+" calls a function that is only known when it runs")
		}
		return
	}
	if _, known := t.byName[name]; known && name != k.name || t.evals[name] {
		inner := codeCall{name: name, text: k.text}
		for _, a := range k.args {
			if !sameValue(a, v) {
				inner.args = append(inner.args, a)
			}
		}
		if len(inner.args) == 0 {
			inner.args = []codeValue{darkValue}
		}
		if t.byName[name] != "calls..." {
			f.one(inner)
		}
	}
}

func sameValue(a, b codeValue) bool {
	return a.list == nil && b.list == nil && a.word.Text == b.word.Text && a.word.Kind == b.word.Kind
}

// writeFlags finds the flags with which a file is opened to be written.
var writeFlags = lazyregexp.New(`\b(?:O_)?(?:WRONLY|RDWR|CREAT|TRUNC)\b`)

// opened follows a file that is opened: written where the mode or the flags say so.
func (f *codeFollower) opened(v codeValue, rest []codeValue, k codeCall) {
	if k.name == "sysopen" && len(rest) > 0 { // sysopen(F, "name", 1)
		v, rest = rest[0], rest[1:]
	}
	flagged := writeFlags.MatchString(k.text)
	if len(rest) > 0 && rest[0].word.Kind == Literal { // open("name", 577)
		flags := rest[0].word.Text
		flagged = flagged || strings.Trim(flags, "0123456789") == "" && strings.Trim(flags, "0") != ""
	}
	writes := flagged
	for _, m := range rest {
		text := strings.TrimSpace(m.word.Text)
		if m.word.Kind == Literal && (strings.ContainsAny(text, "wax+>") && len(text) < 12 &&
			!strings.ContainsAny(text, "/.")) {
			writes = true
		}
	}
	if k.name == "open" && f.lang == "perl" && len(rest) > 0 { // open(F, ">", "name"), open(F, ">name")
		last := rest[len(rest)-1]
		mode := strings.TrimSpace(rest[0].word.Text)
		if strings.HasPrefix(mode, "|") || strings.HasSuffix(mode, "|") || mode == "-|" || mode == "|-" {
			line := strings.Trim(last.word.Text, "| ")
			f.shellText(f.nested(f.lang), last.word.with(line))
			return
		}
		last.word.Text = strings.TrimLeft(last.word.Text, "+<> ")
		v, writes = last, strings.Contains(mode, ">") || strings.HasPrefix(mode, "+")
	}
	if strings.HasPrefix(v.word.Text, "|") {
		f.shellText(f.nested(f.lang), v.word.with(v.word.Text[1:]))
		return
	}
	switch {
	case isURL(v.word.Text):
		f.address(v.word)
	case writes:
		f.path(KindWrite, v.word)
		if f.keepsEmpty && (!flagged || strings.Contains(k.text, "TRUNC")) {
			f.path(KindDelete, v.word)
		}
	case v.word.Kind != Unknown:
		f.path(KindRead, v.word)
	}
}

// child is the shell of a program that code runs: with the folder and the input that the call names.
func (f *codeFollower) child(k codeCall) *shell {
	sh := f.nested(f.lang)
	if in, ok := k.named("input", "stdin_data"); ok {
		known := in.word.Kind == Literal
		sh.stdin = input{has: true, known: known, text: in.word.Text, origin: "the code", used: new(bool)}
	}
	if dir, ok := k.named("cwd", "chdir"); ok && dir.word.Kind == Literal {
		sh.cwd, _ = f.absolute(dir.word.Text)
	}
	return sh
}

// openMode finds how a pipe to a program is opened.
var openMode = lazyregexp.New(`^[rw][bt]?\+?$`)

// command follows a program that code runs: a list of words, a program with its words, or
// a line.
func (f *codeFollower) command(v codeValue, rest []codeValue, k codeCall) {
	var words []Word
	switch {
	case v.list != nil:
		for _, one := range v.list {
			words = append(words, one.word)
		}
		if len(words) == 0 || words[0].Kind == "" {
			words = append([]Word{darkValue.word}, words...)
		}
	default:
		words = []Word{v.word}
		for i, one := range rest {
			if i+1 < len(rest) && one.name != "" && one.name == rest[i+1].key {
				continue // the name of the next argument
			}
			if one.list != nil {
				for _, w := range one.list {
					if w.key == "" {
						words = append(words, w.word)
					}
				}
				break
			}
			if one.word.Kind != "" && one.key == "" && !openMode.MatchString(one.word.Text) {
				words = append(words, one.word)
			}
		}
	}
	if v.list == nil && (v.word.Kind == Unknown || strings.ContainsAny(v.word.Text, " \t\n;|&<>$`") ||
		len(words) == 1) {
		f.shellText(f.child(k), v.word)
		return
	}
	words = slices.DeleteFunc(words, func(w Word) bool { return w.Kind == "" })
	if other, ok := k.named("executable"); ok && len(words) > 0 {
		words[0] = other.word
	}
	if len(words) > 0 {
		f.child(k).run(words, &finder{text: f.text, span: f.span, env: f.env})
	}
}

// fileMode follows the rights that code gives a file: 0o4755.
func (f *codeFollower) fileMode(text string) {
	digits := strings.TrimLeft(strings.TrimPrefix(strings.ToLower(text), "0o"), "0")
	if strings.Trim(digits, "01234567") != "" || len(digits) < 3 {
		return
	}
	if len(digits) == 4 && strings.IndexByte("2467", digits[0]) >= 0 {
		f.effect(KindEscalate, "user:owner", true)
	}
	if strings.IndexByte("2367", digits[len(digits)-1]) >= 0 {
		f.effect(KindEscalate, "rights:all", true)
	}
}

// forks finds code that starts processes without end.
var forks = lazyregexp.New(`(?s)\b(?:while|for|until|loop)\b.*\bfork\b|\bfork\b[^;\n]*\b(?:while|until|for)\b`)

// cellOfShell finds the first line of a notebook's cell that a shell runs.
var cellOfShell = lazyregexp.New(`^%%(?:bash|sh|script|system|sx|!)\b`)

// lineMagic finds a magic that is a command of the shell: %rm -rf src.
var lineMagic = lazyregexp.New(`^%(?:rm|rmdir|mv|cp|cat|less|more|ls|mkdir|ln|env|pip|conda|git)\b`)

// magic follows the lines of a notebook that run a shell: !LINE, %sx LINE, and all behind %%bash.
func (f *codeFollower) magic(text string) {
	first, rest, _ := strings.Cut(strings.TrimLeft(text, " \t\n"), "\n")
	if cellOfShell.MatchString(first) {
		f.nested(f.name()).line(rest)
		return
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if lineMagic.MatchString(line) {
			f.nested(f.name()).line(line[1:])
			continue
		}
		for _, mark := range []string{"!!", "!", "%sx ", "%system ", "%run "} {
			if command, is := strings.CutPrefix(line, mark); is {
				f.nested(f.name()).line(command)
				break
			}
		}
	}
}

// recursive finds an option with which code deletes a folder with all in it.
var recursive = lazyregexp.New(`recursive["']?\s*[:=]>?\s*(?:true|True|1)`)

// tree follows that a folder is deleted with all in it.
func (f *codeFollower) tree(w Word) {
	f.path(KindDelete, w)
	if target, certain := f.target(w); target != "" {
		f.onPath(KindDelete, target+"/**/*", certain)
	}
}
