package facts

import (
	"slices"
	"strings"
	"unicode"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// sql follows statements of SQL: drops, truncations, deletions, changes and grants. A
// statement that only reads adds nothing.
func (c *finder) sql(text string) {
	if strings.Contains(text, `\gexec`) {
		c.doubt(DoubtEval, "psql runs the statements that it prints")
	}
	for _, words := range sqlStatements(text) {
		c.statement(words)
	}
}

// sqlWord is one word of a statement; kind is ' for a string, " for a quoted name, 0 else.
type sqlWord struct {
	text string
	kind byte
}

func (w sqlWord) is(names ...string) bool {
	return w.kind == 0 && slices.Contains(names, strings.ToLower(w.text))
}

// clientCommand finds a command of the client itself at the beginning of a statement.
var clientCommand = lazyregexp.New(`(?i)^(?:system|source|pager|tee|host|edit|!)[ \t]`)

// dollarQuote finds the mark that begins a text of PostgreSQL: $$ or $name$.
var dollarQuote = lazyregexp.New(`^\$[A-Za-z_]*\$`)

// sqlStatements splits text into statements and those into words. Comments go, but those of
// MySQL that begin with ! are run.
func sqlStatements(text string) (all [][]sqlWord) {
	var words []sqlWord
	end := func() {
		if len(words) > 0 {
			all = append(all, words)
		}
		words = nil
	}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case strings.HasPrefix(text[i:], "--") || c == '#':
			if j := strings.IndexByte(text[i:], '\n'); j >= 0 {
				i += j
			} else {
				i = len(text)
			}
		case strings.HasPrefix(text[i:], "/*!"):
			i += 3
			for i < len(text) && text[i] >= '0' && text[i] <= '9' {
				i++
			}
		case strings.HasPrefix(text[i:], "*/"):
			i += 2
		case strings.HasPrefix(text[i:], "/*"):
			j := strings.Index(text[i:], "*/")
			if j < 0 {
				i = len(text)
			} else {
				i += j + 2
			}
		case c == '\\' || c == '.' && len(words) == 0 || len(words) == 0 && clientCommand.MatchString(text[i:]):
			j := strings.IndexByte(text[i:], '\n')
			if j < 0 {
				j = len(text) - i
			}
			end()
			all = append(all, []sqlWord{{text: strings.TrimSpace(text[i : i+j]), kind: '\\'}})
			i += j
		case c == ';':
			end()
			i++
		case c == '$' && dollarQuote.MatchString(text[i:]):
			mark := dollarQuote.FindString(text[i:])
			body, _, _ := strings.Cut(text[i+len(mark):], mark)
			words = append(words, sqlWord{body, '\''})
			i = min(len(text), i+2*len(mark)+len(body))
		case c == '\'' || c == '"' || c == '`' || c == '[':
			closing := c
			if c == '[' {
				closing = ']'
			}
			j := strings.IndexByte(text[i+1:], closing)
			if j < 0 {
				j = len(text) - i - 1
			}
			kind := byte('"')
			if c == '\'' {
				kind = c
			}
			words = append(words, sqlWord{text[i+1 : i+1+j], kind})
			i = min(len(text), i+j+2)
		case c == '_' || c == '@' || c == '$' || c >= 0x80 || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c)):
			j := i
			for j < len(text) && (text[j] == '_' || text[j] == '@' || text[j] == '$' || text[j] >= 0x80 ||
				unicode.IsLetter(rune(text[j])) || unicode.IsDigit(rune(text[j]))) {
				j++
			}
			words = append(words, sqlWord{text: text[i:j]})
			i = j
		case unicode.IsSpace(rune(c)):
			i++
		default:
			words = append(words, sqlWord{text: string(c)})
			i++
		}
	}
	end()
	return all
}

// sqlSkips are words between a statement's verb and the name that it is about.
var sqlSkips = []string{
	"if", "exists", "not", "only", "table", "temporary", "temp", "concurrently", "into", "from", "ignore",
	"low_priority", "quick", "materialized",
	"external", "foreign", "cascade", "or", "replace", "abort", "fail", "rollback", "overwrite",
}

// accounts are tables and columns in which a database keeps the passwords of its users.
var accounts = wordLists["accounts"]

// saysDestroy reports whether the name of a function says that it deletes: drop_chunks, lo_unlink.
func saysDestroy(name string) bool {
	of := parts(name)
	return len(of) > 1 && (destroyVerbs[of[0]] && !mildVerbs[of[0]] || of[len(of)-1] == "unlink" || of[1] == "drop" ||
		slices.ContainsFunc(of[:2], func(w string) bool { return deedsOfServers[w] }))
}

// deedsOfServers are words in the names of functions with which a statement changes its server, or reaches another.
var deedsOfServers = names("reload rotate promote reset write terminate http dblink ole smtp mail send publish invoke shutdown kill configure")

// nameAt reads a name such as shop.users from index i on.
func nameAt(words []sqlWord, i int) (name string, next int) {
	for i < len(words) && words[i].is(sqlSkips...) {
		i++
	}
	for i < len(words) {
		w := words[i]
		if w.kind == '\'' || w.kind == 0 && !isWordStart(w.text) {
			break
		}
		name += w.text
		if i++; i+1 < len(words) && words[i].text == "." && words[i].kind == 0 {
			name += "."
			i++
			continue
		}
		break
	}
	return name, i
}

func isWordStart(text string) bool {
	return text != "" && (text[0] == '_' || text[0] == '@' || text[0] == '$' || text[0] >= 0x80 ||
		unicode.IsLetter(rune(text[0])) || unicode.IsDigit(rune(text[0])))
}

// statement is one statement of SQL while its effects are found.
type statement struct {
	*finder
	verb string
	rest []sqlWord // the words behind the verb
	what string    // the first of these, such as table or user
	why  string    // the statement, for people
}

// statement follows one statement, a command of the client, or a block of statements.
func (c *finder) statement(words []sqlWord) {
	if words[0].kind == '\\' {
		c.metaCommand(words[0].text)
		return
	}
	written := make([]string, 0, len(words))
	for _, w := range words {
		written = append(written, w.text)
	}
	why := short(strings.Join(written, " "))
	if words[0].is("do") {
		for _, w := range words {
			if w.kind == '\'' {
				c.sql(w.text)
			}
		}
		return
	}
	for len(words) > 1 && words[0].is("explain", "analyze", "verbose", "(", "do", "begin", "perform") {
		words = words[1:]
	}
	if words[0].is("with") { // a common table expression may change what it selects
		(&statement{finder: c, why: why}).functions(words)
		for i, w := range words {
			if i > 0 && w.is("delete", "update", "insert", "merge") {
				c.statement(words[i:])
			}
		}
		return
	}
	s := statement{finder: c, verb: strings.ToLower(words[0].text), rest: words[1:], why: why}
	s.functions(words)
	s.notesWhat()
	s.follow(words[0])
}

// notesWhat notes the first word of the rest.
func (s *statement) notesWhat() {
	if s.what = ""; len(s.rest) > 0 {
		s.what = strings.ToLower(s.rest[0].text)
	}
}

// follow follows the statement by its verb, the first word.
func (s *statement) follow(first sqlWord) {
	switch s.verb {
	case "drop":
		s.drop()
	case "truncate":
		s.truncate()
	case "delete":
		name, _ := nameAt(s.rest, 0)
		s.add(KindDelete, "table:"+name)
	case "update":
		s.update()
	case "insert", "replace", "merge", "upsert":
		s.insert()
	case "alter", "create", "rename", "comment", "reindex", "refresh":
		s.define()
	case "grant", "revoke":
		s.grant()
	case "copy", "load", "unload":
		s.copyRows()
	case "call", "exec", "execute":
		s.execute()
	case "prepare":
		s.prepare()
	case "attach":
		s.attach()
	case "install":
		if s.what == "plugin" || s.what == "component" {
			s.doubt(DoubtEval, "the database is given code: "+s.why)
		}
	case "export": // of DuckDB: a folder
		s.attach()
	case "kill", "shutdown":
		s.add(KindKill, "process:database")
	case "vacuum":
		s.vacuum()
	case "set":
		s.setVariable()
	case "reset":
		if s.isMySQL() && slices.Contains([]string{"master", "binary", "slave", "replica"}, s.what) { // logs of changes
			s.add(KindDelete, "database:")
		}
	default:
		if isWordStart(first.text) && !mildStatements[s.verb] {
			s.doubt(DoubtCode, "the statement is not known: "+s.why)
			s.effectWhy(KindDelete, "database:", false, s.why)
		}
	}
}

// mildStatements are the verbs of statements that change nothing which a person must know of.
var mildStatements = wordLists["mildStatements"]

// add adds an effect that the statement has for certain.
func (s *statement) add(kind EffectKind, target string) { s.effectWhy(kind, target, true, s.why) }

func (s *statement) drop() {
	for len(s.rest) > 0 && s.rest[0].is("materialized", "temporary", "foreign", "external", "global") {
		s.rest = s.rest[1:]
	}
	if s.notesWhat(); len(s.rest) == 0 {
		return
	}
	kind := "table:"
	switch s.what {
	case "database", "schema", "keyspace", "catalog":
		kind = "database:"
	case "user", "role", "login", "owned":
		kind = "user:"
	}
	s.deletesEach(kind, 1)
}

func (s *statement) truncate() { s.deletesEach("table:", 0) }

// deletesEach adds that each name of a list is deleted. The list begins at a word of the rest.
func (s *statement) deletesEach(kind string, from int) {
	for i := from; i <= len(s.rest); {
		name, next := nameAt(s.rest, i)
		s.add(KindDelete, kind+name)
		if next >= len(s.rest) || s.rest[next].text != "," {
			break
		}
		i = next + 1
	}
}

func (s *statement) update() {
	name, _ := nameAt(s.rest, 0)
	s.add(KindWrite, "table:"+name)
	if base := name[strings.LastIndexByte(name, '.')+1:]; base == "pg_authid" || base == "pg_user" ||
		(base == "user" || base == "db" || base == "tables_priv") && s.isMySQL() {
		s.add(KindEscalate, "user:"+name)
	}
	if !isNarrow(s.rest) {
		s.add(KindDelete, "table:"+name) // the old values of all rows
	}
}

func (s *statement) insert() {
	name, _ := nameAt(s.rest, 0)
	s.add(KindWrite, "table:"+name)
	if s.verb == "merge" && slices.ContainsFunc(s.rest, func(w sqlWord) bool { return w.is("delete") }) {
		s.add(KindDelete, "table:"+name)
	}
}

// define follows a statement that makes or changes a table, a user or code of the database.
func (s *statement) define() {
	for len(s.rest) > 1 && s.rest[0].is("or", "replace", "unique", "temporary", "temp", "definer") {
		s.rest = s.rest[1:]
	}
	if s.notesWhat(); len(s.rest) == 0 {
		return
	}
	at := 1
	for at < len(s.rest) && s.rest[at].is("or", "replace", "unique", "table") {
		at++
	}
	name, _ := nameAt(s.rest, at)
	kind := "table:"
	if s.what == "database" || s.what == "schema" {
		kind = "database:"
	} else if s.what == "user" || s.what == "role" || s.what == "login" {
		kind = "user:"
	}
	s.add(KindWrite, kind+name)
	if s.verb == "rename" { // nothing finds it under its name
		s.add(KindDelete, kind+name)
	}
	isCode := s.what == "function" || s.what == "procedure"
	for i, w := range s.rest {
		if s.verb == "alter" {
			s.alters(i, kind, name)
		}
		if w.kind == '\'' && isCode { // its body may run in the same text
			s.guessed().sql(w.text)
		}
	}
	if kind == "user:" || s.verb == "alter" && s.what == "system" {
		s.add(KindEscalate, kind+name)
	}
	if isCode || s.what == "extension" || s.what == "trigger" {
		s.doubt(DoubtEval, "the database is given code: "+s.why)
	}
}

// alters adds the loss of data or of protection that a word of an ALTER stands for.
func (s *statement) alters(i int, kind, name string) {
	w := s.rest[i]
	if w.is("drop", "truncate", "discard", "clear") || w.is("rename") && kind == "database:" ||
		w.is("delete") && !s.rest[i-1].is("on") {
		s.add(KindDelete, kind+name)
	}
	if w.is("disable") && i+1 < len(s.rest) && s.rest[i+1].is("row", "trigger", "rule", "policy") {
		s.add(KindEscalate, kind+name)
	}
}

func (s *statement) grant() {
	for i, w := range s.rest {
		if w.is("to", "from") && i+1 < len(s.rest) {
			s.add(KindEscalate, "user:"+s.rest[i+1].text)
		}
	}
}

// copyRows follows rows that go between a table and a file, a program or another machine.
func (s *statement) copyRows() {
	for i, w := range s.rest[:max(0, len(s.rest)-1)] {
		next := s.rest[i+1]
		if w.is("program") && next.kind == '\'' {
			s.nested("sql").line(next.text)
			s.doubt(DoubtEval, "the database runs a program: "+s.why)
		}
		if w.is("to") && isURL(next.text) {
			s.add(KindSend, "host:"+hostOf(next.text))
		} else if w.is("to", "outfile", "dumpfile") && next.kind == '\'' {
			s.add(KindWrite, next.text)
		}
		if w.is("from", "infile") && next.kind == '\'' {
			s.path(KindRead, literal(next.text))
		}
	}
	if name, _ := nameAt(s.rest, 0); slices.ContainsFunc(s.rest, func(w sqlWord) bool { return w.is("from") }) {
		s.add(KindWrite, "table:"+name)
	}
}

// execute follows the call of a procedure, or a statement in a text.
func (s *statement) execute() {
	s.doubt(DoubtCode, "a procedure of the database runs: "+s.why)
	if len(s.rest) > 0 && saysDestroy(s.rest[0].text) {
		s.effectWhy(KindDelete, "database:", false, s.why)
	}
	s.inText(s.rest)
}

func (s *statement) prepare() {
	i := slices.IndexFunc(s.rest, func(w sqlWord) bool { return w.is("as", "from") })
	if i < 0 || i+1 == len(s.rest) {
		return
	}
	prepared := s.rest[i+1:]
	if prepared[0].kind == 0 && !strings.HasPrefix(prepared[0].text, "@") {
		s.statement(prepared)
	}
	s.inText(prepared)
}

// inText follows the statement that a text holds, or adds that it may be any where the text is put together.
func (s *statement) inText(words []sqlWord) {
	for len(words) > 0 && words[0].is("immediate", "sp_executesql", "n", "(") {
		words = words[1:]
	}
	switch {
	case len(words) == 0:
	case words[0].kind == '\'' && (len(words) < 2 || words[1].text != "|" && words[1].text != "+"):
		s.sql(words[0].text)
	case words[0].kind == '\'' || strings.HasPrefix(words[0].text, "@") || words[0].is("concat", "format"):
		s.effectWhy(KindDelete, "database:", false, s.why)
	}
}

func (s *statement) attach() {
	for _, w := range s.rest {
		if w.kind == '\'' {
			s.path(KindWrite, literal(w.text))
		}
	}
}

func (s *statement) vacuum() {
	for i, w := range s.rest {
		if w.is("into") && i+1 < len(s.rest) {
			s.path(KindWrite, literal(s.rest[i+1].text))
		}
	}
}

func (s *statement) setVariable() {
	switch {
	case s.what == "password":
		s.add(KindEscalate, "user:database")
	case slices.ContainsFunc(s.rest, func(w sqlWord) bool {
		return w.is("global", "persist", "persist_only", "@@global", "@@persist", "@@persist_only")
	}):
		s.add(KindConfigure, "database:"+s.what)
	}
}

// functions adds the effects of functions in a statement: they may read and run something.
func (s *statement) functions(words []sqlWord) {
	for i, w := range words {
		if w.kind != 0 {
			continue
		}
		argument := Word{Text: unknownPart, Kind: Unknown}
		if i+2 < len(words) && words[i+1].text == "(" && words[i+2].kind == '\'' {
			argument = literal(words[i+2].text)
		}
		if accounts[strings.ToLower(w.text)] {
			s.effectWhy(KindSecret, "table:"+w.text, true, s.why)
		}
		if i+1 < len(words) && words[i+1].text == "(" && saysDestroy(w.text) {
			s.effectWhy(KindDelete, "database:", false, s.why)
		}
		s.rowsOf(words, i, argument)
		switch strings.ToLower(w.text) {
		case "pg_read_file", "pg_read_binary_file", "load_file", "lo_import", "readfile", "pg_ls_dir":
			if argument.Kind == Literal {
				s.path(KindRead, argument)
			}
		case "lo_export", "writefile":
			s.path(KindWrite, argument)
		case "xp_cmdshell", "sys_exec", "sys_eval", "shell", "executable":
			if i+1 < len(words) && words[i+1].kind == '\'' {
				argument = literal(words[i+1].text)
			}
			if i > 0 && words[i-1].is("exec", "execute", "call", "select", ".", ",") || argument.Kind == Literal {
				s.shellText(s.nested("sql"), argument)
			}
		case "edit": // of sqlite3: the second argument is a program
			if i+5 < len(words) && words[i+4].kind == '\'' {
				s.shellText(s.nested("sql"), literal(words[i+4].text))
			}
		case "load_extension", "dblink_exec", "dblink":
			s.doubt(DoubtEval, "the database runs other code: "+s.why)
		case "pg_terminate_backend", "pg_cancel_backend":
			s.effectWhy(KindKill, "process:database", true, s.why)
		case "outfile", "dumpfile":
			if i+1 < len(words) && words[i+1].kind == '\'' {
				s.path(KindWrite, literal(words[i+1].text))
			}
		case "into":
			if i > 0 && words[0].is("select") && i+1 < len(words) && words[i+1].kind != '\'' &&
				isWordStart(words[i+1].text) && !words[i+1].is("outfile", "dumpfile") {
				name, _ := nameAt(words, i+1)
				s.effectWhy(KindWrite, "table:"+name, true, s.why)
			}
		}
	}
}

// tableFunctions read rows of a file or an address.
var tableFunctions = wordLists["tableFunctions"]

// rowsOf adds that a statement reads rows of a file or an address, or writes them there: from read_csv('x'),
// from 'x', insert into function url('x').
func (s *statement) rowsOf(words []sqlWord, i int, argument Word) {
	isFunction := tableFunctions[strings.ToLower(words[i].text)]
	if !isFunction && words[i].is("from", "join") && strings.Contains(s.name(), "duckdb") && i+1 < len(words) &&
		words[i+1].kind == '\'' {
		isFunction, argument = true, literal(words[i+1].text)
	}
	if !isFunction || argument.Kind != Literal {
		return
	}
	reads, connects := KindRead, KindConnect
	if i > 0 && words[i-1].is("function") {
		reads, connects = KindWrite, KindSend
	}
	if isURL(argument.Text) {
		s.effectWhy(connects, "host:"+hostOf(argument.Text), true, s.why)
		return
	}
	s.path(reads, argument)
}

func (s *statement) isMySQL() bool {
	name := s.name()
	return strings.HasPrefix(name, "mysql") || strings.HasPrefix(name, "maria") || name == "mycli"
}

// dotDeeds are the commands of sqlite3 and DuckDB that run, write or load, dotLooks the others.
var (
	dotDeeds = strings.Fields(`.shell .system .read .output .once .save .backup .restore .open .import .load .log .cd
		.clone .archive .excel .www .trace .iotrace .session .connection .testcase .testctrl .filectrl .dbconfig
		.imposter .recover .selftest .unmodule .check`)
	dotLooks = strings.Fields(`.auth .bail .binary .changes .columns .constant .crlf .crnl .databases .dbinfo .dump
		.echo .eqp .exit .expert .explain .fullschema .headers .help .indexes .indices .intck .keyword
		.large_number_rendering .limit .lint .maxrows .maxwidth .mode .nonce .nullvalue .parameter .print
		.progress .prompt .quit .rows .scanstats .schema .separator .sha3sum .show .stats .tables .timeout
		.timer .version
		.vfsinfo .vfslist .vfsname .width`)
)

// dotCommand is the whole name of a command that begins with a dot: any beginning is enough. Where
// several commands have a beginning, it is that of a deed.
func dotCommand(name string) string {
	if slices.Contains(dotLooks, name) {
		return name
	}
	for _, list := range [][]string{dotDeeds, dotLooks} {
		for _, whole := range list {
			if strings.HasPrefix(whole, name) {
				return whole
			}
		}
	}
	return name
}

// metaCommand follows a command of a client, such as \! of psql or .shell of sqlite3.
func (c *finder) metaCommand(line string) {
	words := strings.FieldsFunc(line, unicode.IsSpace)
	name := words[0]
	rest := strings.Trim(line[len(name):], " \t'\"")
	if !strings.HasPrefix(name, `\`) {
		name = strings.ToLower(name)
	}
	if len(name) > 1 && name[0] == '.' {
		name = dotCommand(name)
	}
	switch {
	case strings.HasPrefix(line, `\!`):
		c.nested("sql").line(strings.TrimSpace(line[2:]))
	case name == ".shell" || name == ".system" || name == "system" || name == "host" || name == "!" || name == "pager":
		c.nested("sql").line(rest)
	case name == "tee" && rest != "":
		c.path(KindWrite, literal(rest))
	case name == `\i` || name == `\ir` || name == ".read" || name == `\.` || name == `\include` || name == "source":
		if command, is := strings.CutPrefix(rest, "|"); is {
			c.nested("sql").line(command)
			return
		}
		c.path(KindRead, literal(rest))
		c.started(literal(rest), "sql")
	case name == `\copy`:
		c.statement(append([]sqlWord{{text: "copy"}}, sqlStatements(rest)[0]...))
	case name == `\o` || name == `\w` || name == `\g` || name == `\gx` || name == `\s` ||
		name == ".output" || name == ".once" || name == ".save" ||
		name == ".backup":
		if command, is := strings.CutPrefix(rest, "|"); is {
			c.nested("sql").line(command)
		} else if rest != "" {
			c.path(KindWrite, literal(rest))
		}
	case name == ".import" && strings.HasPrefix(rest, "|"):
		c.nested("sql").line(strings.SplitN(rest[1:], "'", 2)[0])
	case name == ".import" && rest != "" && rest[0] != '-':
		c.path(KindRead, literal(strings.Trim(strings.Fields(rest)[0], "'\"")))
	case name == ".restore":
		c.effect(KindDelete, "database:", true)
	case strings.HasPrefix(name, ".") && !slices.Contains(dotLooks, name):
		c.doubt(DoubtCode, "the client is told "+line)
		if name == ".load" {
			c.abroad(literal(rest))
		}
	}
}

// isNarrow reports whether a statement has a condition that is not always true.
func isNarrow(words []sqlWord) bool {
	isOr := func(w sqlWord) bool { return w.is("or") }
	rest := words[slices.IndexFunc(words, func(w sqlWord) bool { return w.is("where") })+1:]
	if len(rest) == len(words) {
		return false
	}
	for {
		for len(rest) > 0 && rest[0].text == "(" {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0].is("true", "1") && (len(rest) == 1 || rest[1].text != "=") ||
			len(rest) > 2 && rest[1].text == "=" && rest[0].text == rest[2].text {
			return false
		}
		next := slices.IndexFunc(rest, isOr)
		if next < 0 {
			return true
		}
		rest = rest[next+1:]
	}
}
