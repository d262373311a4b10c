package facts

import (
	"slices"
	"strings"
	"unicode"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// sql follows statements of SQL: drops, truncations, deletions, changes and grants. A
// statement that only reads adds nothing.
func (c *call) sql(text string) {
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
var accounts = names(`
	pg_shadow pg_authid sql_logins syslogins authentication_string rolpassword pg_user_mappings user$ dba_users`)

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

func (c *call) statement(words []sqlWord) {
	if words[0].kind == '\\' {
		c.metaCommand(words[0].text)
		return
	}
	written := make([]string, 0, len(words))
	for _, w := range words {
		written = append(written, w.text)
	}
	why := short(strings.Join(written, " "))
	add := func(kind EffectKind, target string) { c.effectWhy(kind, target, true, why) }
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
		for i, w := range words {
			if i > 0 && w.is("delete", "update", "insert", "merge") {
				c.statement(words[i:])
			}
		}
		return
	}
	c.sqlFunctions(words, why)
	rest := words[1:]
	what := ""
	if len(rest) > 0 {
		what = strings.ToLower(rest[0].text)
	}
	switch verb := strings.ToLower(words[0].text); verb {
	case "drop":
		for len(rest) > 0 && rest[0].is("materialized", "temporary", "foreign", "external", "global") {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return
		}
		what = strings.ToLower(rest[0].text)
		for i := 1; i <= len(rest); {
			name, next := nameAt(rest, i)
			switch what {
			case "database", "schema", "keyspace", "catalog":
				add(KindDelete, "database:"+name)
			case "user", "role", "login", "owned":
				add(KindDelete, "user:"+name)
			default:
				add(KindDelete, "table:"+name)
			}
			if next >= len(rest) || rest[next].text != "," {
				break
			}
			i = next + 1
		}
	case "truncate":
		for i := 0; i <= len(rest); {
			name, next := nameAt(rest, i)
			add(KindDelete, "table:"+name)
			if next >= len(rest) || rest[next].text != "," {
				break
			}
			i = next + 1
		}
	case "delete":
		name, _ := nameAt(rest, 0)
		add(KindDelete, "table:"+name)
	case "flush":
	case "update":
		name, _ := nameAt(rest, 0)
		add(KindWrite, "table:"+name)
		if base := name[strings.LastIndexByte(name, '.')+1:]; base == "pg_authid" || base == "pg_user" ||
			(base == "user" || base == "db" || base == "tables_priv") && c.isMySQL() {
			add(KindEscalate, "user:"+name)
		}
		if !isNarrow(rest) {
			add(KindDelete, "table:"+name) // the old values of all rows
		}
	case "insert", "replace", "merge", "upsert":
		name, _ := nameAt(rest, 0)
		add(KindWrite, "table:"+name)
		if verb == "merge" && slices.ContainsFunc(rest, func(w sqlWord) bool { return w.is("delete") }) {
			add(KindDelete, "table:"+name)
		}
	case "alter", "create", "rename", "comment", "reindex", "refresh":
		for len(rest) > 1 && rest[0].is("or", "replace", "unique", "temporary", "temp", "definer") {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return
		}
		what = strings.ToLower(rest[0].text)
		at := 1
		for at < len(rest) && rest[at].is("or", "replace", "unique", "table") {
			at++
		}
		name, _ := nameAt(rest, at)
		kind := "table:"
		if what == "database" || what == "schema" {
			kind = "database:"
		} else if what == "user" || what == "role" || what == "login" {
			kind = "user:"
		}
		add(KindWrite, kind+name)
		if verb == "rename" { // nothing finds it under its name
			add(KindDelete, kind+name)
		}
		for i, w := range rest {
			if verb == "alter" && (w.is("drop", "truncate", "discard", "clear") ||
				w.is("rename") && kind == "database:" ||
				w.is("delete") && !rest[i-1].is("on")) {
				add(KindDelete, kind+name)
			}
			if verb == "alter" && w.is("disable") && i+1 < len(rest) &&
				rest[i+1].is("row", "trigger", "rule", "policy") {
				add(KindEscalate, kind+name)
			}
			if w.kind == '\'' && (what == "function" || what == "procedure") { // its body may run in the same text
				sh := *c.sh
				sh.guess = true
				inner := *c
				inner.sh = &sh
				inner.sql(w.text)
			}
		}
		if kind == "user:" || verb == "alter" && what == "system" {
			add(KindEscalate, kind+name)
		}
		if what == "extension" || what == "function" || what == "procedure" || what == "trigger" {
			c.doubt(DoubtEval, "the database is given code: "+why)
		}
	case "grant", "revoke", "set" + " role":
		for i, w := range rest {
			if w.is("to", "from") && i+1 < len(rest) {
				add(KindEscalate, "user:"+rest[i+1].text)
			}
		}
	case "copy", "load", "unload":
		for i, w := range rest {
			if w.is("program") && i+1 < len(rest) && rest[i+1].kind == '\'' {
				c.nested("sql").line(rest[i+1].text)
				c.doubt(DoubtEval, "the database runs a program: "+why)
			}
			if w.is("to") && i+1 < len(rest) && isURL(rest[i+1].text) {
				add(KindSend, "host:"+hostOf(rest[i+1].text))
			} else if w.is("to", "outfile", "dumpfile") && i+1 < len(rest) && rest[i+1].kind == '\'' {
				add(KindWrite, rest[i+1].text)
			}
			if w.is("from", "infile") && i+1 < len(rest) && rest[i+1].kind == '\'' {
				c.path(KindRead, Word{Text: rest[i+1].text, Kind: Literal})
			}
		}
		if name, _ := nameAt(rest, 0); slices.ContainsFunc(rest, func(w sqlWord) bool { return w.is("from") }) {
			add(KindWrite, "table:"+name)
		}
	case "call", "exec", "execute":
		c.doubt(DoubtCode, "a procedure of the database runs: "+why)
		if len(rest) > 0 && saysDestroy(rest[0].text) {
			c.effectWhy(KindDelete, "database:", false, why)
		}
		computedSQL(c, rest, why)
	case "prepare":
		i := slices.IndexFunc(rest, func(w sqlWord) bool { return w.is("as", "from") })
		if i < 0 || i+1 == len(rest) {
			return
		}
		if rest = rest[i+1:]; rest[0].kind == 0 && !strings.HasPrefix(rest[0].text, "@") {
			c.statement(rest)
		}
		computedSQL(c, rest, why)
	case "attach":
		for _, w := range rest {
			if w.kind == '\'' {
				c.path(KindWrite, Word{Text: w.text, Kind: Literal})
			}
		}
	case "install":
		if what == "plugin" || what == "component" {
			c.doubt(DoubtEval, "the database is given code: "+why)
		}
	case "kill", "shutdown":
		add(KindKill, "process:database")
	case "vacuum":
		for i, w := range rest {
			if w.is("into") && i+1 < len(rest) {
				c.path(KindWrite, Word{Text: rest[i+1].text, Kind: Literal})
			}
		}
	case "set":
		switch {
		case what == "password":
			add(KindEscalate, "user:database")
		case slices.ContainsFunc(rest, func(w sqlWord) bool {
			return w.is("global", "persist", "persist_only", "@@global", "@@persist", "@@persist_only")
		}):
			add(KindConfigure, "database:"+what)
		}
	case "select", "show", "values", "table", "use", "pragma", "commit", "rollback", "start", "begin", "end",
		"describe", "desc", "fetch",
		"declare", "close", "listen", "reset", "savepoint", "release", "analyze", "explain", "if", "print", "go",
		"lock", "unlock", "(", ")", "return", "summarize", "checkpoint", "check", "help", "exists", "optimize", "from",
		"list", "info", "import", "export", "deallocate", "cluster", "match", "exit", "quit":
	default:
		if isWordStart(words[0].text) {
			c.doubt(DoubtCode, "the statement is not known: "+why)
			c.effectWhy(KindDelete, "database:", false, why)
		}
	}
}

// computedSQL follows the statement that a text holds, or adds that it may be any where the text is put together.
func computedSQL(c *call, words []sqlWord, why string) {
	for len(words) > 0 && words[0].is("immediate", "sp_executesql", "n", "(") {
		words = words[1:]
	}
	switch {
	case len(words) == 0:
	case words[0].kind == '\'' && (len(words) < 2 || words[1].text != "|" && words[1].text != "+"):
		c.sql(words[0].text)
	case words[0].kind == '\'' || strings.HasPrefix(words[0].text, "@") || words[0].is("concat", "format"):
		c.effectWhy(KindDelete, "database:", false, why)
	}
}

// sqlFunctions adds the effects of functions in a statement: they may read and run something.
func (c *call) sqlFunctions(words []sqlWord, why string) {
	for i, w := range words {
		if w.kind != 0 {
			continue
		}
		argument := Word{Text: unknownPart, Kind: Unknown}
		if i+2 < len(words) && words[i+1].text == "(" && words[i+2].kind == '\'' {
			argument = Word{Text: words[i+2].text, Kind: Literal}
		}
		if accounts[strings.ToLower(w.text)] {
			c.effectWhy(KindSecret, "table:"+w.text, true, why)
		}
		if i+1 < len(words) && words[i+1].text == "(" && saysDestroy(w.text) {
			c.effectWhy(KindDelete, "database:", false, why)
		}
		switch strings.ToLower(w.text) {
		case "pg_read_file", "pg_read_binary_file", "load_file", "lo_import", "readfile", "pg_ls_dir":
			if argument.Kind == Literal {
				c.path(KindRead, argument)
			}
		case "lo_export", "writefile":
			c.path(KindWrite, argument)
		case "xp_cmdshell", "sys_exec", "sys_eval", "shell":
			if i+1 < len(words) && words[i+1].kind == '\'' {
				argument = Word{Text: words[i+1].text, Kind: Literal}
			}
			if i > 0 && words[i-1].is("exec", "execute", "call", "select", ".", ",") || argument.Kind == Literal {
				c.shellText(c.nested("sql"), argument)
			}
		case "load_extension", "dblink_exec", "dblink":
			c.doubt(DoubtEval, "the database runs other code: "+why)
		case "pg_terminate_backend", "pg_cancel_backend":
			c.effectWhy(KindKill, "process:database", true, why)
		case "outfile", "dumpfile":
			if i+1 < len(words) && words[i+1].kind == '\'' {
				c.path(KindWrite, Word{Text: words[i+1].text, Kind: Literal})
			}
		case "into":
			if i > 0 && words[0].is("select") && i+1 < len(words) && words[i+1].kind != '\'' &&
				isWordStart(words[i+1].text) && !words[i+1].is("outfile", "dumpfile") {
				name, _ := nameAt(words, i+1)
				c.effectWhy(KindWrite, "table:"+name, true, why)
			}
		}
	}
}

// metaCommand follows a command of a client, such as \! of psql or .shell of sqlite3.
func (c *call) metaCommand(line string) {
	name, rest, _ := strings.Cut(line, " ")
	if !strings.HasPrefix(name, `\`) {
		name = strings.ToLower(name)
	}
	rest = strings.Trim(rest, ` '"`)
	switch {
	case strings.HasPrefix(line, `\!`):
		c.nested("sql").line(strings.TrimSpace(line[2:]))
	case name == ".shell" || name == ".system" || name == "system" || name == "host" || name == "!" || name == "pager":
		c.nested("sql").line(rest)
	case name == "tee" && rest != "":
		c.path(KindWrite, Word{Text: rest, Kind: Literal})
	case name == `\i` || name == `\ir` || name == ".read" || name == `\.` || name == `\include` || name == "source":
		if command, is := strings.CutPrefix(rest, "|"); is {
			c.nested("sql").line(command)
			return
		}
		c.path(KindRead, Word{Text: rest, Kind: Literal})
		c.started(Word{Text: rest, Kind: Literal}, "sql")
	case name == `\copy`:
		c.statement(append([]sqlWord{{text: "copy"}}, sqlStatements(rest)[0]...))
	case name == `\o` || name == `\w` || name == ".output" || name == ".once" || name == ".save" ||
		name == ".backup" || name == ".dump" && rest != "":
		if command, is := strings.CutPrefix(rest, "|"); is {
			c.nested("sql").line(command)
		} else if rest != "" {
			c.path(KindWrite, Word{Text: rest, Kind: Literal})
		}
	case name == ".restore":
		c.effect(KindDelete, "database:", true)
	case name == ".open" || name == ".import":
		c.doubt(DoubtCode, "the client is told "+line)
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

func (c *call) isMySQL() bool {
	name := c.name()
	return strings.HasPrefix(name, "mysql") || strings.HasPrefix(name, "maria") || name == "mycli"
}
