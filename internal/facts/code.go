package facts

import (
	"cmp"
	"path"
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
var common = names(`remove open get post put patch delete write read copy move replace run call send link append rename
	request
	kill new join pop load parse execute connect command exec rm cp mv file from output lines touch test install symlink
	unlink rmdir mkdir chmod chown truncate spawn fork stream head file_put sync config parse command sql sync start`)

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
var innards = lazyregexp.New(`__dict__\s*(?:\.get\(|\[)|__globals__|__builtins__|__subclasses__|__getattribute__|\bmethodcaller\(|` +
	`Loader\s*=\s*(?:yaml\.)?(?:Unsafe)?Loader\b`)

// setsVariable finds a variable that code sets for the programs that it starts.
var setsVariable = lazyregexp.New(`(?:os\.environ|process\.env|\bENV|\$ENV|\$_ENV)(?:\[['"]|\.|\{['"]?)([A-Za-z_]\w*)['"]?[\]}]?\s*(?:\|\|)?=\s*` +
	`('[^']*'|"[^"]*"|[^\s=])`)

// socketText finds the path of a socket in code.
var socketText = lazyregexp.New(`[~/][\w./@-]*\.sock\b`)

var (
	cmdHome     = lazyregexp.New(`(?i)%(?:userprofile|homedrive%%homepath|homepath|home)%`)
	cmdVariable = lazyregexp.New(`%([A-Za-z_][A-Za-z0-9_]*)%`)
)

// languageNames are the names of a language under which others are known.
var languageNames = map[string]string{
	"javascript": "node", "js": "node", "deno": "node", "bun": "node", "tsx": "node", "jsx": "node", "ts": "node", "typescript": "node", "py": "python", "python3": "python",
	"pwsh": "powershell",
	"bash": "sh", "shell": "sh", "zsh": "sh", "fish": "sh", "mysql": "sql", "postgres": "sql", "sqlite": "sql",
}

// code follows code of another language than a shell's.
func (c *call) code(lang string, w Word) {
	lang = strings.ToLower(lang)
	lang = cmp.Or(languageNames[lang], lang)
	r := c.sh.r
	if r.read += len(w.Text); r.read > maxRead || c.sh.depth > maxDepth {
		r.doubt(DoubtLimits, "the text is too long, or has too many lines within lines", c.span, c.index)
		return
	}
	if lang != "sh" {
		c.environ(w.Text)
	}
	if lang == "python" {
		c.magic(w.Text)
	}
	if lang == "python" || lang == "node" {
		for _, found := range openedOnly.FindAllStringSubmatch(w.Text, 20) {
			file := Word{Text: cmp.Or(found[1], found[2], found[3], found[4]), Kind: Literal}
			c.path(KindWrite, file)
			c.path(KindDelete, file)
		}
	}
	if strings.HasPrefix(w.Text, "/dev/fd/") && w.from != "" {
		c.doubt(DoubtEval, c.name()+" runs what "+w.from+" gives it")
		return
	}
	if w.Kind == Unknown && !(w.safe && lang == "sed") {
		c.doubt(DoubtEval, "a part of the "+lang+" code that it runs is only known when it runs")
	}
	switch lang {
	case "sh":
		c.shellText(c.nested(c.name()), w)
		return
	case "sed":
		c.sed(w.Text)
		return
	case "awk":
		for _, found := range awkExpression.FindAllStringSubmatch(w.Text, 8) {
			c.seeks(found[1])
		}
		c.awk(w.Text)
		return
	case "sql":
		c.sql(w.Text)
		return
	case "powershell":
		c.powershell(w.Text)
		return
	case "sftp":
		c.transfers(w.Text)
		return
	case "jq":
		for _, found := range jqVariable.FindAllStringSubmatch(w.Text, 8) {
			if name := found[1]; name == "" || isSecretVariable(name) {
				c.effect(KindSecret, "env:"+cmp.Or(name, "*"), true)
			}
		}
		return
	case "envsubst":
		for _, found := range shellVariable.FindAllStringSubmatch(w.Text, 32) {
			if isSecretVariable(found[1]) {
				c.effect(KindSecret, "env:"+found[1], true)
			}
		}
		return
	case "redis":
		for line := range strings.Lines(w.Text) {
			c.nested(c.name()).line("redis-cli " + strings.TrimSpace(line))
		}
		return
	case "dc":
		for line := range strings.Lines(w.Text) {
			if _, command, has := strings.Cut(line, "!"); has {
				c.nested(c.name()).line(command)
			}
		}
		return
	case "rpm": // %(…) runs a shell
		for _, found := range rpmShell.FindAllStringSubmatch(w.Text, 8) {
			c.nested(c.name()).line(found[1])
		}
		if strings.Contains(w.Text, "%{lua:") {
			c.doubt(DoubtEval, "rpm runs code of Lua")
		}
		return
	case "make":
		c.doubt(DoubtCode, "the makefile is not read in full")
		c.makefile(w.Text)
		return
	case "cmd":
		text := cmdHome.ReplaceAllString(strings.ReplaceAll(w.Text, `\`, "/"), "~")
		c.nested("cmd").line(cmdVariable.ReplaceAllString(text, "$${$1}"))
		return
	}
	t := languages()[lang]
	index := c.index
	if c.loaded {
		index = -1 // what runs it is another program than an interpreter
	}
	r.doubt(DoubtCode, "code of "+cmp.Or(lang, "another language")+" is not read in full", c.span, index)
	if t == nil {
		c.quotedLines(w.Text, true)
		return
	}
	loose := func(name string) bool {
		if lang != "ruby" && lang != "perl" && lang != "php" && lang != "lua" {
			return false
		}
		_, known := t.byName[name]
		return known || t.evals[name] || lang == "ruby" && name == "require"
	}
	if servesAll.MatchString(w.Text) {
		c.effect(KindSend, "host:tunnel", false)
	}
	if lang == "python" && innards.MatchString(w.Text) {
		c.doubt(DoubtEval, "the code takes a function out of what holds it")
	}
	for _, found := range setsVariable.FindAllStringSubmatch(w.Text, 20) {
		value := darkValue.word
		if text := found[2]; len(text) > 1 {
			value = Word{Text: text[1 : len(text)-1], Kind: Literal}
		}
		c.variable(found[1], value)
	}
	for _, found := range socketText.FindAllString(w.Text, 8) {
		c.role(role{name: "socket"}, Word{Text: found, Kind: Literal}, &args{}, nil)
	}
	if forks.MatchString(w.Text) {
		c.effectWhy(KindKill, "process:*", false, "it starts processes without end")
	}
	calls := readCode(lang, w.Text, loose)
	c.client = cmp.Or(t.client(c.words, calls), shellsOfServers[c.name()])
	c.keepsEmpty = !writesText.MatchString(w.Text)
	for _, k := range calls {
		c.codeCall(lang, t, k)
	}
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
func (c *call) quotedLines(text string, whole bool) {
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

func (c *call) guessLine(text string) {
	sh := c.nested(c.name())
	sh.guess = true
	sh.line(strings.TrimSpace(text))
}

// loadsModule are functions, and words, that load a module.
var loadsModule = names("import require __import__ importlib.import_module require_relative load include include_once use do")

// codeCall follows one call in code.
func (c *call) codeCall(lang string, t *languageTable, k codeCall) {
	span, text := c.span, c.text
	inner := *c
	c = &inner
	c.text = k.text
	defer func() { c.span, c.text = span, text }()
	if loadsModule[k.name] && len(k.args) > 0 && k.args[0].word.Kind == Literal {
		c.imported(lang, k.args[0].word.Text)
	}
	if lang == "php" {
		k.name = strings.ToLower(k.name) // as PHP compares names of functions
	}
	if slices.ContainsFunc(k.args, func(v codeValue) bool { return v.name != "" && t.evals[v.name] }) {
		c.doubt(DoubtEval, short(k.text)+" runs code that is made when it runs")
	}
	switch {
	case k.name == "`":
		c.shellText(c.nested(lang), k.args[0].word)
		return
	case lang == "node" && (k.name == "setTimeout" || k.name == "setInterval") && len(k.args) > 0 &&
		k.args[0].word.Kind == Literal:
		k.name = "eval"
		c.codeCall(lang, t, k)
		return
	case lang == "node" && strings.HasSuffix(k.name, ".constructor"):
		c.doubt(DoubtEval, short(k.text)+" runs code that is made when it runs")
	case lang == "python" && strings.HasSuffix(k.name, ".replace") && len(k.args) == 1: // of a path, not of a text
		c.path(KindMove, k.self.word)
		c.path(KindWrite, k.args[0].word)
		return
	case k.name == computedMember:
		c.doubt(DoubtEval, short(k.text)+" is a call of a function that is only known when it runs")
		return
	case t.isEval(k.name):
		if strings.HasSuffix(strings.ToLower(k.name), "function") && len(k.args) > 0 { // the code is the last one
			k.args = k.args[len(k.args)-1:]
		}
		last := k.name[strings.LastIndexByte(k.name, '.')+1:]
		if len(k.args) > 0 && k.args[0].word.Kind == Literal && c.sh.depth < maxDepth && !opensCode[last] {
			sh := *c.sh
			sh.depth++
			c.sh = &sh
			c.code(lang, k.args[0].word)
		} else if len(k.args) > 0 || k.self.word.Kind != "" || lang == "perl" {
			c.doubt(DoubtEval, short(k.text)+" runs code that is made when it runs")
		}
		return
	}
	isOutside := func(v codeValue) bool {
		return v.word.Kind == Literal && strings.HasPrefix(v.word.Text, "/") &&
			!strings.HasPrefix(v.word.Text+"/", c.sh.r.env.Cwd+"/")
	}
	loads := strings.HasPrefix(k.name, "sys.path.") || k.name == "require" || k.name == "import"
	if loads && slices.ContainsFunc(k.args, isOutside) {
		c.doubt(DoubtProgram, "what the code loads by "+short(k.text)+" lies outside of the project")
	}
	isModule := func(v codeValue) bool { return holdsFunctions[v.name] }
	if !looksAt[k.name] && slices.ContainsFunc(k.args, isModule) && !t.has(k.name) {
		c.doubt(DoubtEval, short(k.text)+" may run any function of a module") // Object.values(require("child_process"))
	}
	for i, v := range k.args { // map(os.remove, files)
		if roles, sure, known := t.roles(v.name); v.name != "" && known && sure && hasDeed(roles) && v.name != k.name {
			c.codeCall(lang, t, codeCall{name: v.name, args: append(slices.Clone(k.args[:i]), darkValue), text: k.text})
		}
	}
	roles, sure, known := t.roles(k.name)
	if !known {
		c.codeVerb(lang, t, k)
		return
	}
	if !sure {
		sh := *c.sh
		sh.guess = true
		c.sh = &sh
	}
	c.emptiedByCode(k, roles)
	at := 0
	list := strings.Fields(roles)
	for i, name := range list {
		name, repeats := strings.CutSuffix(name, "...")
		if own, is := strings.CutPrefix(name, "self:"); is {
			c.codeRole(lang, own, k.self, k.args, k)
			continue
		}
		for at < len(k.args) {
			c.codeRole(lang, name, k.args[at], k.args[at+1:], k)
			if at++; !repeats {
				break
			}
		}
		switch {
		case i > 0 || len(k.args) > 0:
		case name == "variable": // each of them
			c.codeRole(lang, "env", darkValue, nil, k)
		default:
			c.codeRole(lang, name, darkValue, nil, k)
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
var deeds = names(`
	delete destroy drop truncate purge wipe erase shred nuke flushall flushdb prune terminate shutdown kill
	stop reboot halt send sendmail sendall sendto publish deploy upload post put patch revoke grant rotate
	rollback migrate restore transfer charge refund cancel disable enable detach suspend execute exec invoke
	spawn extractall unpack untar unzip extractto extract restart serve to_sql write_database rm rmdir rmtree
	unlink mv chmod chown setuid putenv setenv install uninstall remove`)

// makes are words that the name of a class seldom begins with.
var makes = names("set create delete write put add remove update")

// reads are words in the name of a method that only reads, opens a connection, or works on a value.
var reads = names(`
	get list describe find scan keys count exists fetch select head read load loads dump dumps connect client
	resource session from cursor close ping info version len print str int float bool dict set tuple sorted sum
	min max format join split strip items values keys append map filter zip range enumerate isinstance type
	vars dir any all lower upper decode encode first last limit sort skip next iter query search show status
	stat log error warn table then catch finally entries parse stringify slice push includes each puts inspect
	to is has iterator aggregate distinct estimated stats config open database collection table db end
	isoformat strftime now datetime today foreach reduce some every require import use loadenv env getenv argv
	exit new with printjson tojson
	fetchone fetchall fetchmany create_engine`)

// codeVerb adds what the name of a function in no table tells: client.delete_bucket(…), repo.git.reset("--hard").
// What a client of a service is told is not known beyond reading.
func (c *call) codeVerb(lang string, t *languageTable, k codeCall) {
	last := k.name[strings.LastIndexByte(k.name, '.')+1:]
	of := parts(last)
	isMethod := strings.Contains(k.name, ".")
	for _, a := range k.args {
		sqlText(c, a)
	}
	switch {
	case deletesByName.MatchString(last) && !strings.Contains(last, "cookie"):
		c.effect(KindDelete, "data:"+last, false)
	case deletesSelf[last] && len(k.args) == 0 && isMethod:
		c.effect(KindDelete, "data:"+last, false)
	case last == "sync" && dropsFirst.MatchString(k.text):
		c.effect(KindDelete, "database:", false)
	case last == "reset" && len(k.args) > 0 && k.args[0].word.Text == "--hard":
		c.effect(KindHistory, "worktree", false)
	case t.mild[last] && c.client == "" || len(of) == 0:
	case c.client != "" && isMethod && anyOf(of, showVerbs) && anyOf(of, secretNouns):
		c.effect(KindSecret, "tool:"+c.client, false)
	case c.client == "mongosh" && k.name == "load" && len(k.args) > 0:
		c.started(k.args[0].word, "node")
	case c.client == "mongosh" && (of[0] == "insert" || strings.HasPrefix(last, "createIndex") ||
		last == "createCollection"): // as INSERT and CREATE
	case c.client != "" && !reads[of[0]] && !reads[last] &&
		(unicode.IsLower(rune(last[0])) || len(of) > 1 && anyOf(of[:1], makes)):
		c.doubt(DoubtProgram, "what "+short(k.text)+" does by "+c.client+" is not in the tables")
	case deeds[last] || anyOf(of[:1], deeds) || anyOf(of[len(of)-1:], deeds):
		c.doubt(DoubtProgram, "what "+short(k.text)+" does is not in the tables")
	}
}

// dropsFirst finds that an ORM drops the tables before it makes them.
var dropsFirst = lazyregexp.New(`\bforce['"]?\s*:\s*true`)

// sqlText follows an argument of a function in no table that is a statement which changes something.
func sqlText(c *call, v codeValue) {
	text := v.word.Text
	if v.word.Kind == "" || len(text) < 8 || !strings.Contains(text, " ") || !looksLikeSQL(text) {
		return
	}
	inner, sh := *c, *c.sh
	sh.guess = true
	inner.sh = &sh
	inner.sql(strings.ReplaceAll(text, unknownPart, "x"))
}

// emptiedByCode adds that a call leaves a file without content: truncateSync(f), writeFileSync(f, "").
func (c *call) emptiedByCode(k codeCall, roles string) {
	last := strings.ToLower(k.name[strings.LastIndexByte(k.name, '.')+1:])
	switch {
	case len(k.args) == 0 || k.args[0].word.Kind == "":
	case strings.HasPrefix(last, "write_") && roles == "self:write" && k.args[0].word.Kind == Literal &&
		strings.TrimSpace(k.args[0].word.Text) == "":
		c.codeRole("python", "delete", k.self, nil, k)
	case roles == "read write" && len(k.args) > 1 && k.args[0].word.Text == "/dev/null":
		c.path(KindDelete, k.args[1].word)
	case strings.HasPrefix(last, "truncate") && strings.HasPrefix(roles, "delete"):
		c.path(KindWrite, k.args[0].word)
	case strings.HasPrefix(roles, "write") && !strings.HasPrefix(last, "append") && len(k.args) > 1 &&
		k.args[1].word.Kind == Literal && strings.TrimSpace(k.args[1].word.Text) == "":
		c.path(KindDelete, k.args[0].word)
	}
}

// openedOnly finds a file that is opened for writing, and closed or cut without a write.
var openedOnly = lazyregexp.New(`\bcreateWriteStream\(\s*(?:'([^']+)'|"([^"]+)")\s*\)\s*\.(?:end|close|destroy)\(\s*\)|` +
	`\bopen\(\s*(?:'([^']+)'|"([^"]+)")\s*,\s*(?:mode\s*=\s*)?['"]w[bt]?\+?['"]\s*\)\s*` +
	`(?:\.close\b|\.truncate\b|;|$)`)

// readsAdmin finds a command of a MongoDB server that only reads.
var readsAdmin = lazyregexp.New(`\{\s*['"]?(?:ping|hello|isMaster|serverStatus|list\w+|buildInfo|collStats|dbStats|currentOp|getParameter|` +
	`getCmdLineOpts|replSetGet\w+|connectionStatus|find|count|distinct|explain|top|hostInfo|getLog|\w+Info|validate|dbHash)\b`)

// codeRole follows the effect of a call in code on an argument.
func (c *call) codeRole(lang, name string, v codeValue, rest []codeValue, k codeCall) {
	if v.word.Kind == "" {
		v.word = darkValue.word
	}
	if name == "database" || name == "admin" && !readsAdmin.MatchString(k.text) {
		c.effect(KindDelete, "database:", name == "database")
		return
	}
	if v.list != nil && name != "command" {
		for _, one := range v.list {
			if c.sh.r.steps++; c.sh.r.steps > maxSteps {
				c.doubt(DoubtLimits, "a call in the code has too many arguments")
				return
			}
			c.codeRole(lang, name, one, nil, k)
		}
		return
	}
	switch name {
	case "", "_", "admin":
	case "open":
		c.opened(lang, v, rest)
	case "shell":
		c.shellText(c.nested(lang), v.word)
	case "command":
		c.codeCommand(lang, v, rest)
	case "tree":
		c.tree(v.word)
	case "env":
		c.effect(KindSecret, "env:*", true)
	case "secrets":
		c.path(KindRead, Word{Text: "~/.netrc", Kind: Literal})
	case "setting":
		c.effect(KindConfigure, "variable:"+v.word.Text, true)
	case "eval":
		c.doubt(DoubtEval, short(k.text)+" runs code that is made when it runs")
	case "calls":
		callback(c, lang, v, k)
	case "listed":
		if v.word.Kind != Unknown {
			v.word.Kind = Pattern
			c.path(KindRead, v.word)
		}
	case "mode":
		if c.fileMode(v.word.Text); strings.Contains(k.text, "S_ISUID") || strings.Contains(k.text, "S_ISGID") {
			c.effect(KindEscalate, "user:owner", true)
		}
	case "chained": // a program whose arguments are added later
		c.nested(lang).run([]Word{v.word, darkValue.word}, &call{text: c.text, span: c.span, env: c.env})
	case "request": // request("DELETE", url)
		if len(rest) > 0 {
			role := "send"
			if m := strings.ToUpper(v.word.Text); m == "GET" || m == "HEAD" || m == "OPTIONS" {
				role = "url"
			}
			c.codeRole(lang, role, rest[0], nil, k)
		}
	case "send":
		c.address(v.word)
		if v.word.Kind == Literal {
			c.effect(KindSend, "host:"+hostOf(v.word.Text), true)
		} else {
			c.effect(KindSend, "", false)
		}
	case "kill":
		c.kills(v.word)
	case "url", "host":
		if v.word.Kind == Unknown && strings.HasPrefix(v.word.Text, unknownPart) {
			c.effect(KindConnect, "", false)
		} else {
			c.address(v.word)
			if name == "url" && sendsBody.MatchString(k.text) {
				c.effect(KindSend, "host:"+hostOf(v.word.known()), true)
			}
		}
	case "code:sql":
		if strings.HasSuffix(k.name, ".executescript") && strings.HasPrefix(v.word.Text, unknownPart) {
			c.doubt(DoubtEval, "which statements "+short(k.text)+" runs is only known when it runs")
		}
		text := strings.ReplaceAll(v.word.Text, unknownPart, "x") // also of an f-string
		if looksLikeSQL(text) {
			c.sql(text)
		} else if c.client != "" && v.word.Kind == Literal && looksLikeLine(text) { // ssh.exec("rm -rf src")
			c.guessLine(text)
		}
	case "write", "delete", "read", "move":
		if name == "delete" && recursive.MatchString(k.text) {
			c.tree(v.word)
			return
		}
		if name == "read" && inPlace.MatchString(k.text) {
			c.path(KindWrite, v.word)
			c.path(KindDelete, v.word)
		}
		if name == "read" && lang == "ruby" && strings.HasPrefix(v.word.Text, "|") {
			c.shellText(c.nested(lang), v.word.with(v.word.Text[1:]))
			return
		}
		if name != "read" || v.word.Kind != Unknown || strings.Contains(v.word.Text, unknownPart+"/") {
			c.path(EffectKind(name), v.word)
		}
		if name == "delete" && v.word.Kind == Pattern {
			c.doubt(DoubtWord, "which files "+short(k.text)+" deletes is only known when it runs")
		}
	default:
		c.role(parseRole(name), v.word, &args{}, nil)
	}
}

// inPlace finds that fileinput gives its files the content that is printed.
var inPlace = lazyregexp.New(`inplace\s*=\s*(?:True|1)`)

// closure finds a function that is written where it is used.
var closure = lazyregexp.New(`\b(?:function|fn)\b`)

// callback follows the function that v names: another function calls it with its other arguments, as does
// array_map("unlink", glob("*")).
func callback(c *call, lang string, v codeValue, k codeCall) {
	t := languages()[lang]
	name := strings.ToLower(v.word.Text)
	if v.word.Kind != Literal {
		if v.list == nil && v.word.Kind == Unknown && !closure.MatchString(k.text) && sameValue(k.args[0], v) {
			c.doubt(DoubtEval, short(k.text)+" calls a function that is only known when it runs")
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
			c.codeCall(lang, t, inner)
		}
	}
}

func sameValue(a, b codeValue) bool {
	return a.list == nil && b.list == nil && a.word.Text == b.word.Text && a.word.Kind == b.word.Kind
}

// opened follows a file that is opened: written where the mode says so.
func (c *call) opened(lang string, v codeValue, rest []codeValue) {
	writes := false
	for _, m := range rest {
		text := strings.TrimSpace(m.word.Text)
		if m.word.Kind == Literal && (strings.ContainsAny(text, "wax+>") && len(text) < 12 &&
			!strings.ContainsAny(text, "/.") || strings.Contains(text, "WRONLY")) {
			writes = true
		}
	}
	if lang == "perl" && len(rest) > 0 { // open(F, ">", "name"), open(F, ">name")
		last := rest[len(rest)-1]
		mode := strings.TrimSpace(rest[0].word.Text)
		if strings.HasPrefix(mode, "|") || strings.HasSuffix(mode, "|") || mode == "-|" || mode == "|-" {
			line := strings.Trim(last.word.Text, "| ")
			c.shellText(c.nested(lang), last.word.with(line))
			return
		}
		last.word.Text = strings.TrimLeft(last.word.Text, "+<> ")
		v, writes = last, strings.Contains(mode, ">")
	}
	if strings.HasPrefix(v.word.Text, "|") {
		c.shellText(c.nested(lang), v.word.with(v.word.Text[1:]))
		return
	}
	switch {
	case isURL(v.word.Text):
		c.address(v.word)
	case writes:
		c.path(KindWrite, v.word)
		if c.keepsEmpty {
			c.path(KindDelete, v.word)
		}
	case v.word.Kind != Unknown:
		c.path(KindRead, v.word)
	}
}

// codeCommand follows a program that code runs: a list of words, a program with its words, or
// a line.
func (c *call) codeCommand(lang string, v codeValue, rest []codeValue) {
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
		for _, one := range rest {
			if one.list != nil {
				for _, w := range one.list {
					words = append(words, w.word)
				}
				break
			}
			if one.word.Kind == Literal {
				words = append(words, one.word)
			}
		}
	}
	if v.list == nil && (v.word.Kind == Unknown || strings.ContainsAny(v.word.Text, " \t\n;|&<>$`") ||
		len(words) == 1) {
		c.shellText(c.nested(lang), v.word)
		return
	}
	words = slices.DeleteFunc(words, func(w Word) bool { return w.Kind == "" })
	if len(words) > 0 {
		c.nested(lang).run(words, &call{text: c.text, span: c.span, env: c.env})
	}
}

// sed follows a sed program: w writes a file, r reads one, e runs a command.
func (c *call) sed(text string) {
	if isSedProgram(text) {
		return
	}
	found := false
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' }) {
		found = c.sedLine(line) || found
	}
	if !found {
		c.doubt(DoubtCode, "the sed program "+short(text)+" is not read in full")
	}
}

// sedLine finds the commands w, r and e in one line of a sed program.
func (c *call) sedLine(line string) (found bool) {
	for rest := line; rest != ""; {
		rest = strings.TrimLeft(rest, " \t;{}")
		after, ok := sedAddresses(rest)
		if !ok || after == "" {
			return found
		}
		switch after[0] {
		case 'w', 'W':
			c.path(KindWrite, Word{Text: strings.TrimSpace(after[1:]), Kind: Literal})
			return true
		case 'r', 'R':
			c.path(KindRead, Word{Text: strings.TrimSpace(after[1:]), Kind: Literal})
			return true
		case 'e':
			if command := strings.TrimSpace(after[1:]); command != "" {
				c.nested("sed").line(command)
			} else {
				c.doubt(DoubtEval, "sed runs the lines that it reads")
			}
			return true
		case 'a', 'i', 'c':
			return true // the text that follows is data
		case 's':
			flags, next, ok := sedFlags(after)
			if !ok {
				return found
			}
			if strings.Contains(flags, "e") {
				c.doubt(DoubtEval, "sed runs what it replaces: "+short(after))
				found = true
			}
			if _, file, has := strings.Cut(flags, "w"); has {
				c.path(KindWrite, Word{Text: strings.TrimSpace(file), Kind: Literal})
				return true
			}
			rest = next
			continue
		}
		_, next, has := strings.Cut(after, ";")
		if !has {
			return found
		}
		rest = next
	}
	return found
}

// sedFlags are the flags of s/a/b/flags, up to the end of the command.
func sedFlags(text string) (flags, rest string, ok bool) {
	if len(text) < 4 {
		return "", "", false
	}
	delimiter, parts, i := text[1], 0, 2
	for ; i < len(text) && parts < 2; i++ {
		switch text[i] {
		case '\\':
			i++
		case delimiter:
			parts++
		}
	}
	if parts < 2 || i > len(text) {
		return "", "", false
	}
	tail := text[i:]
	if j := strings.IndexAny(tail, ";}"); j >= 0 && !strings.Contains(tail[:j], "w") {
		return tail[:j], tail[j:], true
	}
	return tail, "", true
}

// awkExpression finds regular expressions in an awk program.
var awkExpression = lazyregexp.New(`/([^/\s]+(?: [^/\s]+)*)/`)

// awk follows an awk program: system() and pipes run commands, > writes files.
func (c *call) awk(text string) {
	if isAwkProgram(text) {
		return
	}
	tokens := lexCode("awk", text)
	c.doubt(DoubtCode, "the awk program is not read in full")
	if strings.Contains(text, `"/inet`) {
		c.doubt(DoubtEval, "awk runs what another machine sends")
	}
	for i, t := range tokens {
		if t.kind != tokenString {
			if t.kind == tokenName && t.text == "system" && (i+2 >= len(tokens) || tokens[i+2].kind != tokenString ||
				i+3 < len(tokens) && tokens[i+3].text != ")") {
				c.doubt(DoubtEval, "awk runs a command that is made when it runs")
			}
			continue
		}
		before, after := codeToken{}, codeToken{}
		if i > 0 {
			before = tokens[i-1]
		}
		if i+1 < len(tokens) {
			after = tokens[i+1]
		}
		switch {
		case before.text == "(" && i > 1 && tokens[i-2].text == "system", before.text == "|", before.text == "&" &&
			i > 1 && tokens[i-2].text == "|",
			after.text == "|":
			if strings.HasPrefix(t.text, "/inet") {
				c.effect(KindConnect, "host:"+hostOf(t.text), true)
				continue
			}
			c.nested("awk").line(t.text)
		case before.text == ">":
			c.path(KindWrite, Word{Text: t.text, Kind: Literal})
		case before.text == "<":
			c.path(KindRead, Word{Text: t.text, Kind: Literal})
		}
	}
	printing := false
	for i, t := range tokens { // print > FILE
		switch {
		case t.kind == tokenName && (t.text == "print" || t.text == "printf"):
			printing = true
		case t.kind == tokenMark && (t.text == ";" || t.text == "}" || t.text == "\n"):
			printing = false
		case printing && t.kind == tokenMark && (t.text == ">" || t.text == ">>") && i+1 < len(tokens):
			next := tokens[i+1]
			joined := i+2 < len(tokens) && (tokens[i+2].kind == tokenString || tokens[i+2].kind == tokenName)
			if next.kind != tokenString && next.text != ">" && next.text != "(" || next.kind == tokenString && joined {
				c.path(KindWrite, Word{Text: next.text + unknownPart, Kind: Unknown})
			}
		}
	}
	for i, t := range tokens { // a pipe into what is no string
		if t.text == "|" && t.kind == tokenMark && i+1 < len(tokens) && tokens[i+1].kind == tokenName &&
			tokens[i+1].text != "getline" {
			c.doubt(DoubtEval, "awk runs a command that is made when it runs")
		}
	}
}

// fileMode follows the rights that code gives a file: 0o4755.
func (c *call) fileMode(text string) {
	digits := strings.TrimLeft(strings.TrimPrefix(strings.ToLower(text), "0o"), "0")
	if strings.Trim(digits, "01234567") != "" || len(digits) < 3 {
		return
	}
	if len(digits) == 4 && strings.IndexByte("2467", digits[0]) >= 0 {
		c.effect(KindEscalate, "user:owner", true)
	}
	if strings.IndexByte("2367", digits[len(digits)-1]) >= 0 {
		c.effect(KindEscalate, "rights:all", true)
	}
}

// forks finds code that starts processes without end.
var forks = lazyregexp.New(`(?s)\b(?:while|for|until|loop)\b.*\bfork\b|\bfork\b[^;\n]*\b(?:while|until|for)\b`)

// cellOfShell finds the first line of a notebook's cell that a shell runs.
var cellOfShell = lazyregexp.New(`^%%(?:bash|sh|script|system|sx|!)\b`)

// lineMagic finds a magic that is a command of the shell: %rm -rf src.
var lineMagic = lazyregexp.New(`^%(?:rm|rmdir|mv|cp|cat|less|more|ls|mkdir|ln|env|pip|conda|git)\b`)

// magic follows the lines of a notebook that run a shell: !LINE, %sx LINE, and all behind %%bash.
func (c *call) magic(text string) {
	first, rest, _ := strings.Cut(strings.TrimLeft(text, " \t\n"), "\n")
	if cellOfShell.MatchString(first) {
		c.nested(c.name()).line(rest)
		return
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if lineMagic.MatchString(line) {
			c.nested(c.name()).line(line[1:])
			continue
		}
		for _, mark := range []string{"!!", "!", "%sx ", "%system ", "%run "} {
			if command, is := strings.CutPrefix(line, mark); is {
				c.nested(c.name()).line(command)
				break
			}
		}
	}
}

var (
	rpmShell      = lazyregexp.New(`%\((.*?)\)`)
	jqVariable    = lazyregexp.New(`(?:\$ENV|(?:^|[^.\w"$@])env\b)(?:\.([A-Za-z_][A-Za-z0-9_]*)|(?:[^\w:"]|$))`)
	shellVariable = lazyregexp.New(`\$\{?([A-Za-z_][A-Za-z0-9_]*)`)
)

// transfers follows the commands of sftp, ftp and lftp.
func (c *call) transfers(text string) {
	host := "host:"
	if w := (&filler{call: c}).hostWord(); w != nil {
		host += hostOf(w.Text)
	} else if len(c.words) > 1 {
		host += hostOf(c.words[len(c.words)-1].Text)
	}
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == ';' }) {
		if command, is := strings.CutPrefix(strings.TrimSpace(line), "!"); is {
			c.nested(c.name()).line(command)
			continue
		}
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "put", "mput", "reput", "send", "append", "mirror":
			for _, file := range words[1:] {
				if !strings.HasPrefix(file, "-") {
					c.path(KindRead, Word{Text: strings.Trim(file, `'"`), Kind: Literal})
				}
			}
			c.effect(KindSend, host, true)
		case "get", "mget", "reget", "recv":
			c.path(KindWrite, Word{Text: path.Base(words[len(words)-1]), Kind: Literal})
		case "rm", "rmdir", "delete", "mdelete", "mrm":
			c.effect(KindDelete, host, true)
		}
	}
}

// recursive finds an option with which code deletes a folder with all in it.
var recursive = lazyregexp.New(`recursive["']?\s*[:=]>?\s*(?:true|True|1)`)

// tree follows that a folder is deleted with all in it.
func (c *call) tree(w Word) {
	c.path(KindDelete, w)
	if target, certain := c.target(w); target != "" {
		c.onPath(KindDelete, target+"/**/*", certain)
	}
}
