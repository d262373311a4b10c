package facts

import (
	"cmp"
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/lazyregexp"
	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/facts/secrets"
)

// Line returns the facts of a shell line.
func Line(line string, env Env) *Facts {
	r := newReading(env, neutral.Shell, line)
	r.shell(line, true)
	return r.whole()
}

// whole is all that was read, once nothing is added to it.
func (r *reading) whole() *Facts {
	r.killSought()
	for i := range r.out.Commands {
		if c := &r.out.Commands[i]; len(c.Words) > 0 {
			c.program = programName(c.Words[0].Text)
		}
	}
	return r.out
}

func newReading(env Env, tool, text string) *reading {
	return &reading{
		env: env, out: &Facts{Tool: tool, Text: text}, t: programs(), made: map[string]*madeFile{},
		folder: map[string]bool{}, links: map[string]string{}, placed: map[Effect]bool{},
	}
}

// panicked is the doubt of a call whose reading has failed.
const panicked = "the call cannot be read"

// recovered makes a panic, which no call should cause, a doubt: a guard must not fall silent.
func (r *reading) recovered() {
	if p := recover(); p != nil {
		r.doubt(DoubtParse, panicked, Span{}, -1)
	}
}

// shell follows a line. exact means that the line is Facts.Text.
func (r *reading) shell(line string, exact bool) {
	sh := &shell{
		r: r, place: place{cwd: cmp.Or(r.start, r.env.Cwd)}, vars: map[string]Word{},
		funcs: map[string]*syntax.FuncDecl{}, src: map[string]string{}, exact: exact,
	}
	defer r.recovered()
	setVariables(sh, r.variables)
	sh.line(line)
	sh.runTraps()
	if r.usual != "" {
		r.withoutUsual(line)
	}
}

// setVariables sets the variables that a call gives its command, as the shell would by export before its line.
func setVariables(sh *shell, list []string) {
	exact := sh.exact
	sh.exact = false
	for _, v := range list {
		name, value, _ := strings.Cut(v, "=")
		switch w := (Word{Text: value, Kind: Literal}); {
		case !isAssignment.MatchString(v) || strings.HasSuffix(name, "+"):
			sh.r.doubt(DoubtVariable, "the call sets the variable "+short(name)+", which is no usual name", Span{}, -1)
		case variables().isHarmless(name, w):
			sh.vars[name] = w
			sh.export(name)
		default:
			sh.line("export " + escape.Quote(v))
		}
	}
	sh.exact = exact
}

// withoutUsual reads a line once more, as the shell does where its variables are not set: then
// rm -rf $TMPDIR/* is about /*, and cd $TMPDIR leads home. Only losses there are added. Where a word stands for such a
// variable, as in ${CODEX_HOME:-src}, it is read with the variable's usual value, for effects in the home.
func (r *reading) withoutUsual(line string) {
	other := newReading(r.env, r.out.Tool, line)
	other.unset, other.start, other.variables = true, r.start, r.variables
	other.shell(line, true)
	for _, e := range other.out.Effects {
		switch e.Kind {
		case KindDelete, KindMove, KindGuard, KindConfigure, KindSecret:
		default:
			continue
		}
		loses := (e.Kind == KindDelete || e.Kind == KindMove) && isWholeOf(e.Target, "/", r.env.Home)
		isSame := func(o Effect) bool { return o.Kind == e.Kind && o.Target == e.Target }
		if loses || r.defaults && strings.HasPrefix(e.Target, r.env.Home+"/") &&
			!slices.ContainsFunc(r.out.Effects, isSame) {
			r.bare(line).effectWhy(e.Kind, e.Target, false, "where "+r.usual+" has another value")
		}
	}
	r.usual = ""
}

// isWholeOf reports whether a target is one of the folders, or all names in one.
func isWholeOf(target string, folders ...string) bool {
	if dir, last := path.Split(target); strings.Trim(last, "*?.[]!^") == "" {
		target = path.Clean(dir)
	}
	return target != "" && slices.Contains(folders, target)
}

// Read returns the facts of a tool call.
func Read(call neutral.ToolCall, env Env) *Facts {
	r := newReading(env, call.Tool, "")
	r.call(call)
	f := r.whole()
	r.secrets(call.Given)
	return f
}

// call follows a tool call.
func (r *reading) call(call neutral.ToolCall) {
	defer r.recovered()
	lines := call.Commands()
	r.variables = call.Variables()
	switch {
	case call.Own == "" && call.Tool == "":
	case call.Code != "":
		r.languages(call.Code, lines)
	case call.Tool == neutral.Shell:
		r.inEach(call.Dirs, func() { r.lines(lines) })
		if len(lines) == 0 {
			r.doubt(DoubtTool, "the call names no command", Span{}, -1)
		}
		r.session(call.Given)
	default:
		r.tool(call)
	}
}

// secrets finds secrets in the arguments themselves: a key in a line, or in a text to write.
func (r *reading) secrets(given json.RawMessage) {
	if len(given) > maxRead {
		given = given[:maxRead]
	}
	texts := string(given)
	if strings.Contains(texts, "%") { // in the query of an address
		if plain := escapedByte.ReplaceAllStringFunc(texts, unescapedByte); plain != texts {
			texts += "\n" + plain
		}
	}
	for _, hit := range secrets.Find(texts) {
		if hit.Rule == "database-url-password" && isNear(texts[hit.End:]) {
			continue
		}
		r.bare("a secret in the call").effectWhy(KindSecret, "text:"+hit.Rule, true,
			"the call carries a secret ("+hit.Rule+")")
	}
}

// escapedByte finds a character as a query of an address has it: %3A.
var escapedByte = lazyregexp.New(`%[2-7][0-9A-Fa-f]`)

func unescapedByte(text string) string {
	plain, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return plain
}

// isNear reports whether the rest of an address, from the @ behind its password, names this machine or a usual
// database beside the project: such a password opens nothing elsewhere.
func isNear(rest string) bool {
	host := strings.TrimPrefix(rest, "@")
	if i := strings.IndexAny(host, ":/?\"\\' \t\n"); i >= 0 && !strings.HasPrefix(host, "[") {
		host = host[:i]
	} else if i := strings.IndexByte(host, ']'); i >= 0 {
		host = host[:i+1]
	}
	return localHosts[strings.ToLower(host)]
}

// lines follows the lines that a call may run: all that any of its arguments may be.
func (r *reading) lines(lines []string) {
	for i, line := range lines {
		if i == 0 {
			r.out.Text = line
		}
		r.shell(line, i == 0)
	}
}

// inEach reads in each of the directories that a call may run its command in.
func (r *reading) inEach(dirs []string, read func()) {
	if len(dirs) == 0 {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		if rest, ok := strings.CutPrefix(dir, "~"); ok && r.env.Home != "" && (rest == "" || rest[0] == '/') {
			dir = r.env.Home + rest
		}
		switch {
		case path.IsAbs(dir):
			r.start = path.Clean(dir)
		case dir == "" || r.env.Cwd == "":
			r.start = ""
		default:
			r.start = path.Join(r.env.Cwd, dir)
		}
		read()
	}
	r.start = ""
}

// languages follows code of a language that is no shell's.
func (r *reading) languages(lang string, texts []string) {
	for i, text := range texts {
		if i == 0 {
			r.out.Text = text
		}
		c := r.bare(text)
		c.code(strings.ToLower(lang), Word{Text: text, Kind: Literal})
	}
}

// bare is the finder of effects that belong to no command.
func (r *reading) bare(text string) *finder {
	sh := &shell{
		r:     r,
		place: place{cwd: r.env.Cwd},
		vars:  map[string]Word{},
		funcs: map[string]*syntax.FuncDecl{},
		src:   map[string]string{},
	}
	return &finder{sh: sh, index: -1, text: text}
}

// session adds the doubt of a shell that is left open: text typed into the shell later is no
// command of this call. Without text it only asks what the shell has said.
func (r *reading) session(given json.RawMessage) {
	typed := rawjson.Get(given, "chars")
	if typed != nil && string(typed) != `""` && rawjson.Get(given, "session_id") != nil {
		r.doubt(DoubtOpen, "the text is typed into a program that runs already", Span{}, -1)
	}
}

// Arguments of tools by their meaning, folded: without `_`, `-` and letter case.
var (
	pathNames    = wordLists["pathNames"]
	contentNames = wordLists["contentNames"]
	wholeNames   = names("content contents text filetext newcontent data")
	oldNames     = names("oldstring oldstr search find oldtext pattern")
	commandNames = names("command cmd commandline shellcommand script bash shell commands exec chars keys clicommand")
	verbNames    = names("command cmd action operation op verb method subcommand")
	argsNames    = names("args argv arguments")
	kindNames    = names("resource resources resourcetype kind type object objecttype")
	codeNames    = names("code python javascript source expression snippet")
	toNames      = names("to new newname target output outputpath outputfile out dst saveto savepath")
	sqlNames     = names("sql query statement statements q")
	urlNames     = names("url uri urls endpoint address link")
)

func names(text string) map[string]bool {
	m := map[string]bool{}
	for n := range strings.FieldsSeq(text) {
		m[n] = true
	}
	return m
}

// wordLists are the lists of words.yaml, by their names.
var wordLists = func() map[string]map[string]bool {
	text, _ := otherFiles.ReadFile("words.yaml") // it is a part of the program
	all := map[string]map[string]bool{}
	for _, b := range split("words.yaml", string(text)) {
		all[b.key] = names(strings.TrimPrefix(b.text, b.key+":"))
	}
	return all
}()

func folded(key string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(key))
}

// verbs of a tool's name.
var (
	readVerbs   = wordLists["readVerbs"]
	writeVerbs  = wordLists["writeVerbs"]
	deleteVerbs = wordLists["deleteVerbs"]
	moveVerbs   = wordLists["moveVerbs"]
	sendVerbs   = wordLists["sendVerbs"]
	// mildToolVerbs do nothing that a person must know of: they look, draft, or act in a page that a person sees.
	mildToolVerbs = wordLists["mildToolVerbs"]
)

// verbsOf are the words of a tool's name: mcp__fs__search_and_replace, readFile.
func verbsOf(tool string) []string {
	if i := strings.LastIndex(tool, "__"); i >= 0 {
		tool = tool[i+2:]
	}
	var words []string
	start := 0
	isUpper := func(b byte) bool { return b >= 'A' && b <= 'Z' }
	for i := 0; i <= len(tool); i++ {
		if i == len(tool) || strings.IndexByte("_-./ :", tool[i]) >= 0 {
			if i > start {
				words = append(words, strings.ToLower(tool[start:i]))
			}
			start = i + 1
		} else if i > start && isUpper(tool[i]) && !isUpper(tool[i-1]) {
			words = append(words, strings.ToLower(tool[start:i]))
			start = i
		}
	}
	return words
}

// argument is one argument of a tool, wherever it stands in its input.
type argument struct {
	key  string // folded
	text string
}

// leftOut is the name of an argument in place of the arguments that are too many, or too deep in others.
const leftOut = "…"

// arguments are all texts of a tool's input with the names that they stand under.
func arguments(v json.RawMessage, key string, depth int, to []argument) []argument {
	switch n := len(to); {
	case len(v) == 0, n > 0 && to[n-1].key == leftOut:
		return to
	case depth > 8, n > 2000:
		return append(to, argument{key: leftOut})
	}
	switch v[0] {
	case '"':
		if text, ok := rawjson.Text(v); ok {
			if t := strings.TrimSpace(text); depth < 4 && len(t) > 1 && (t[0] == '{' || t[0] == '[') &&
				json.Valid([]byte(t)) {
				to = arguments(json.RawMessage(t), key, depth+1, to)
			}
			to = append(to, argument{key, text})
		}
	case '{':
		for k, value := range rawjson.Members(v) {
			to = arguments(value, folded(k), depth+1, to)
		}
	case '[':
		var elements []json.RawMessage
		_ = json.Unmarshal(v, &elements) // a broken list has no elements
		var words []string
		for _, e := range elements {
			if text, ok := rawjson.Text(e); ok {
				words = append(words, text)
			}
			to = arguments(e, key, depth+1, to)
		}
		if len(words) > 1 && (commandNames[key] || argsNames[key]) {
			to = append(to, argument{key, joinQuoted(words)})
		}
	}
	return to
}

func joinQuoted(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

// withoutJoined leaves out the one text that has all files of a call, a line each: it names no file.
func withoutJoined(args []argument) []argument {
	var files []string
	for _, a := range args {
		if a.key == "filepaths" {
			files = append(files, a.text)
		}
	}
	joined := argument{"filepath", strings.Join(files, "\n")}
	return slices.DeleteFunc(args, func(a argument) bool { return len(files) > 1 && a == joined })
}

// tool reads a call of a tool that is no shell.
func (r *reading) tool(call neutral.ToolCall) {
	args := withoutJoined(arguments(call.Input, "", 0, nil))
	for _, a := range arguments(call.Given, "", 0, nil) {
		if !slices.Contains(args, a) {
			args = append(args, a)
		}
	}
	if slices.ContainsFunc(args, func(a argument) bool { return a.key == leftOut }) {
		r.doubt(DoubtLimits, "it has too many arguments", Span{}, -1)
	}
	switch call.Tool {
	case "Write", "Edit", "MultiEdit", "NotebookEdit", "ApplyPatch", "apply_patch":
		r.writes(args, call.Tool)
	case "Read", "LS", "Glob", "Grep", "NotebookRead":
		r.paths(KindRead, args, call.Tool == "Read" || call.Tool == "NotebookRead" || call.Tool == "Grep")
		for _, a := range args {
			if a.key == "glob" && call.Tool == "Grep" { // the files that fit are shown
				r.bare(a.text).path(KindRead, Word{Text: a.text, Kind: Pattern})
			}
		}
	case "WebFetch", "WebSearch":
		r.addresses(args)
		if len(r.out.Effects) == 0 {
			r.bare(call.Tool).effect(KindConnect, "host:search", true)
		}
	case "TodoWrite",
		"TodoRead",
		"Task",
		"Agent",
		"ExitPlanMode",
		"EnterPlanMode",
		"AskUserQuestion",
		"BashOutput",
		"TaskOutput",
		"ToolSearch",
		"update_plan",
		"ListMcpResourcesTool",
		"TaskCreate",
		"TaskUpdate",
		"TaskList",
		"TaskGet",
		"SendMessage",
		"LSP",
		"Monitor":
		r.skillLines(args)
	case "ReadMcpResourceTool":
		r.addresses(args)
	case "KillShell", "KillBash", "TaskStop":
		r.bare(call.Tool).effect(KindKill, "process:agent-shell", true)
	case "Skill", "SlashCommand":
		r.skillLines(args)
	default:
		r.byShape(call, args)
	}
}

// writes follows a tool that writes files: each path that it names, and lines that a skill or
// a slash command runs when it is used.
func (r *reading) writes(args []argument, tool string) {
	r.paths(KindWrite, args, true)
	r.emptied(tool, args)
	for _, a := range args {
		if a.key == "patch" || a.key == "input" || a.key == "diff" ||
			a.key == "content" && strings.Contains(a.text, "*** Begin Patch") ||
			isPatch(a.text) {
			r.patch(a.text)
		}
	}
	if len(r.out.Effects) == 0 {
		r.bare(tool).effect(KindWrite, "", false)
		r.doubt(DoubtTool, tool+" names no file", Span{}, -1)
	}
	if slices.ContainsFunc(r.out.Effects, func(e Effect) bool { return isSkill(e.Target) }) {
		r.skillLines(args)
	}
	if tool == "NotebookEdit" {
		r.written("python", args)
	}
	for _, a := range args {
		if pathNames[a.key] && buildFiles[path.Base(a.text)] {
			target, _ := r.bare(a.text).absolute(a.text)
			delete(r.made, target) // its text is read here: it hides nothing from the commands in it
			r.written(languageOf(a.text, ""), args)
		}
	}
}

// emptied adds that a tool which writes whole files leaves the named files without content.
func (r *reading) emptied(tool string, args []argument) {
	blank := slices.ContainsFunc(args, func(a argument) bool {
		return wholeNames[a.key] && strings.TrimSpace(a.text) == ""
	})
	if tool == "Write" && blank {
		r.paths(KindDelete, args, true)
	}
}

// written follows code that is written into a file that runs later: it may run.
func (r *reading) written(lang string, args []argument) {
	for _, a := range args {
		if !contentNames[a.key] || a.text == "" {
			continue
		}
		c := r.bare(a.text)
		c.sh.guess = true
		c.follow(&madeFile{text: a.text, whole: true}, lang)
	}
}

// isSkill reports whether a file is a skill or a slash command, whose !`…` lines an agent runs.
func isSkill(target string) bool {
	return strings.HasSuffix(target, ".md") &&
		(strings.Contains(target, "/commands/") || strings.Contains(target, "/skills/") ||
			strings.Contains(target, "/prompts/") || strings.Contains(target, "/agents/") ||
			path.Base(target) == "SKILL.md")
}

// skillLines follows the !`…` lines in texts.
func (r *reading) skillLines(args []argument) {
	for _, a := range args {
		text := a.text
		for {
			_, rest, found := strings.Cut(text, "!`")
			if !found {
				break
			}
			line, after, closed := strings.Cut(rest, "`")
			if text = after; !closed {
				break
			}
			r.shell(line, false)
		}
	}
}

// addresses follows the addresses that arguments name.
func (r *reading) addresses(args []argument) {
	for _, a := range args {
		if urlNames[a.key] {
			r.bare(a.text).address(literal(a.text))
		}
	}
}

// paths follows the files that arguments name.
func (r *reading) paths(kind EffectKind, args []argument, content bool) {
	for _, a := range args {
		if !pathNames[a.key] || a.text == "" {
			continue
		}
		text, _ := localFile(a.text)
		if isURL(text) {
			continue
		}
		if r.out.Text == "" {
			r.out.Text = text
		}
		c := r.bare(text)
		if kind == KindRead && !content {
			target, _ := c.absolute(text)
			c.effect(KindRead, target, true)
			continue
		}
		c.path(kind, Word{Text: text, Kind: Literal})
	}
}

// patchKinds are the kinds of the changes of patches.
var patchKinds = map[neutral.PatchChange]EffectKind{
	neutral.PatchWrites: KindWrite, neutral.PatchDeletes: KindDelete, neutral.PatchMoves: KindMove,
}

// patch follows the files that a patch changes.
func (r *reading) patch(text string) {
	for _, file := range neutral.PatchedFiles(text) {
		r.noteText(file.Path)
		r.bare(file.Path).path(patchKinds[file.Change], literal(file.Path))
	}
}

// isPatch reports whether a text is a patch from its beginning on.
func isPatch(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "*** Begin Patch") || strings.HasPrefix(text, "diff --git ") ||
		strings.HasPrefix(text, "--- ") && strings.Contains(text, "\n+++ ")
}

// unknownTool is a call of a tool that hookd does not know by its name, while it is read by the shape of its
// arguments and the verbs of its name. A reading verb never hides a changing one.
type unknownTool struct {
	*reading
	call  neutral.ToolCall
	args  []argument
	verbs []string

	content, file, old bool // it has an argument of that meaning
	known              bool // an effect or a command was found
}

// byShape follows a tool that hookd does not know by its name.
func (r *reading) byShape(call neutral.ToolCall, args []argument) {
	t := unknownTool{reading: r, call: call, args: args, verbs: verbsOf(call.Own)}
	if call.Tool != call.Own {
		t.verbs = append(t.verbs, verbsOf(call.Tool)...)
	}
	for _, a := range args {
		if verbNames[a.key] && plainWord.MatchString(a.text) {
			t.verbs = append(t.verbs, parts(a.text)...)
		}
	}
	t.nameFiles()
	for _, a := range t.args {
		text, _ := localFile(a.text)
		t.content = t.content || contentNames[a.key] && a.text != ""
		t.old = t.old || oldNames[a.key]
		t.file = t.file || pathNames[a.key] && a.text != "" && !isURL(text)
	}
	r.inEach(call.Dirs, func() { t.known = r.commandArguments(call, args, t.verbs) })
	if t.file {
		t.known = true
		t.files()
	}
	t.texts()
	t.pathsAnywhere()
	t.service()
	if !t.known && !t.has(readVerbs) && !t.has(mildToolVerbs) {
		r.doubt(DoubtTool, "what "+call.Own+" does is not known", Span{}, -1)
	}
}

// has reports whether a verb of the tool is one of some.
func (t *unknownTool) has(of map[string]bool) bool { return anyOf(t.verbs, of) }

// changes reports whether the tool changes files by its verbs.
func (t *unknownTool) changes() bool {
	return t.has(writeVerbs) || t.has(deleteVerbs) || t.has(moveVerbs)
}

// nameFiles gives an argument the name of a path if its text clearly is a path, where the tool changes files.
func (t *unknownTool) nameFiles() {
	if !t.changes() {
		return
	}
	t.args = slices.Clone(t.args)
	for i := range t.args {
		if a := &t.args[i]; clearPath.MatchString(a.text) && !pathNames[a.key] && !a.isText() {
			key := "path"
			if toNames[a.key] {
				key = "newpath"
			}
			a.key = key
		}
	}
}

// isText reports whether an argument is content, a command or an address, not the name of a file.
func (a argument) isText() bool {
	return contentNames[a.key] || oldNames[a.key] || commandNames[a.key] || argsNames[a.key] || sqlNames[a.key] ||
		urlNames[a.key] && !fileScheme.MatchString(a.text)
}

// clearPath finds the text of a path, whatever name it has: a folder of a usual root, of the home or above it, a hidden
// file, or a file with a suffix in a folder.
var clearPath = lazyregexp.New(`^(?:(?i:file:/)\S+|~(?:/\S*)?|\.{1,2}/\S*|\.[A-Za-z][\w.-]*(?:/\S*)?|[\w.@-]+(?:/[\w.@-]+)*/[\w@-]*\.\w+|` +
	`/(?:home|Users|root|etc|usr|var|opt|srv|tmp|private|mnt|media|Library|Applications|bin|sbin|boot|dev|proc|` +
	`sys|run|data|workspaces?|Volumes)(?:/\S*)?)$`)

// files follows the files that the arguments name.
func (t *unknownTool) files() {
	changes := t.changes()
	switch {
	case t.has(deleteVerbs):
		t.paths(KindDelete, t.args, true)
	case t.has(moveVerbs):
		t.moved(t.args)
	case t.content && (changes || !t.has(readVerbs)), changes, t.old && t.content:
		t.paths(KindWrite, t.args, true)
		if t.has(writeVerbs) && !t.old {
			t.emptied("Write", t.args)
		}
	default:
		t.paths(KindRead, t.args, true)
		if !t.has(readVerbs) {
			t.doubt(DoubtTool, "what "+t.call.Own+" does to a file is not known", Span{}, -1)
		}
	}
	t.skillIfWritten(t.args)
}

// texts follows patches, addresses and statements of SQL among the arguments.
func (t *unknownTool) texts() {
	for _, a := range t.args {
		if isPatch(a.text) {
			t.known = true
			t.patch(a.text)
		}
		if code, is := strings.CutPrefix(strings.ToLower(a.text), "javascript:"); is && urlNames[a.key] {
			t.known = true
			t.bare(a.text).code("node", literal(a.text[len(a.text)-len(code):]))
			t.bare(a.text).doubt(DoubtEval, "the address is code that runs in a page")
		}
		if urlNames[a.key] && isURL(webAddress(a.text)) || a.key == "url" && webHost.MatchString(a.text) {
			t.known = true
			t.bare(a.text).address(literal(a.text))
		}
		if mutation.MatchString(a.text) {
			t.known = true
			t.bare(a.text).effect(KindSend, "service:graphql", true)
		}
		if (sqlNames[a.key] || t.has(sqlVerbs)) && looksLikeSQL(a.text) {
			t.known = true
			t.noteText(a.text)
			t.bare(a.text).code("sql", literal(a.text))
		}
	}
}

// mutation finds a request of GraphQL that changes something.
var mutation = lazyregexp.New(`^\s*mutation\b[^{]*\{`)

// pathsAnywhere follows the places of files: a file may stand under any name.
func (t *unknownTool) pathsAnywhere() {
	for _, a := range t.args {
		file, isFile := localFile(a.text)
		isPath := isFile || strings.HasPrefix(file, "/") && !strings.ContainsAny(file, " \t\n") ||
			clearPath.MatchString(file) && !a.isText()
		if isPath && !contentNames[a.key] {
			c := t.bare(file)
			target, _ := c.absolute(file)
			c.placed(KindRead, target, true)
			if t.changes() {
				c.placed(KindWrite, target, true)
			}
		}
	}
}

// service adds the effects on the service of the tool's server.
func (t *unknownTool) service() {
	server := t.call.Own
	if parts := strings.Split(t.call.Own, "__"); len(parts) > 2 {
		server = parts[1]
	}
	c, reads := t.bare(t.call.Own), t.has(readVerbs)
	if t.has(deleteVerbs) && !t.file {
		t.known = true
		c.effect(KindDelete, "service:"+server, true)
	}
	inRepository := t.hasArgument("repo") && t.hasArgument("owner")
	reaches := inRepository || t.hasArgument("attendees") || endsMatter(t.verbs) || anyOf(t.verbs, sentNouns)
	if t.has(sendVerbs) || reaches && !reads {
		t.known = true
		c.effect(KindSend, "service:"+server, true)
	}
	if anyOf(t.verbs, changeVerbs) && !t.content && !reads {
		t.known = true
		c.effect(KindWrite, "cloud:"+server, true)
	}
	if t.showsSecrets() || secretKeepers[strings.ToLower(server)] && reads {
		c.effect(KindSecret, "tool:"+server, true)
	}
	if (schedulers[strings.ToLower(server)] || anyOf(t.verbs, schedulers)) && !reads {
		t.known = true
		c.effect(KindConfigure, "service:"+server, true)
	}
	if t.has(environmentNouns) || strings.HasPrefix(strings.ToLower(server), "env") {
		for _, a := range t.args {
			if a.text == strings.ToUpper(a.text) && isSecretVariable(a.text) {
				c.effect(KindSecret, "env:"+a.text, true)
			}
		}
	}
}

func (t *unknownTool) hasArgument(key string) bool {
	return slices.ContainsFunc(t.args, func(a argument) bool { return a.key == key })
}

// showsSecrets reports whether the tool shows secrets by its words: kubectl_get {resourceType: secrets}.
func (t *unknownTool) showsSecrets() bool {
	nouns := slices.Clone(t.verbs)
	for _, a := range t.args {
		if kindNames[a.key] && plainWord.MatchString(a.text) {
			nouns = append(nouns, parts(a.text)...)
		}
	}
	return (anyOf(nouns, secretNouns) || t.has(cookieNouns)) && anyOf(t.verbs, showVerbs)
}

// endsMatter reports whether a tool ends or takes up a matter that people follow: close_issue, resolve_incident.
func endsMatter(verbs []string) bool {
	return anyOf(verbs, names("resolve close acknowledge ack reopen complete")) &&
		anyOf(verbs, names("position positions incident incidents alert alerts ticket tickets issue issues case conversation thread pr request"))
}

var (
	// sentNouns go to others once they are made: create_tweet.
	sentNouns = names("tweet tweets toot sms mms fax webhook invitation campaign broadcast payment invoice gist gists repository permission permissions")
	// schedulers run something later.
	schedulers = names("cron crontab cronjob scheduler launchd systemd autostart")
	sqlVerbs   = names("query sql execute exec run statement")
)

// secretKeepers are servers that keep passwords and tokens.
var secretKeepers = names("1password onepassword op bitwarden vault keychain keepass lastpass dashlane doppler infisical passwords secrets")

func (r *reading) skillIfWritten(args []argument) {
	if slices.ContainsFunc(r.out.Effects, func(e Effect) bool { return e.Kind == KindWrite && isSkill(e.Target) }) {
		r.skillLines(args)
	}
}

func (r *reading) noteText(text string) {
	if r.out.Text == "" {
		r.out.Text = text
	}
}

// runVerbs are the verbs of tools that run the text in their arguments, scriptVerbs of tools that run JavaScript.
var (
	runVerbs         = wordLists["runVerbs"]
	scriptVerbs      = names("javascript js node browser evaluate page")
	appleVerbs       = names("applescript osascript jxa")
	environmentNouns = names("env environment")
	cookieNouns      = names("cookie cookies")
)

// commandArguments follows arguments that are command lines or code.
func (r *reading) commandArguments(call neutral.ToolCall, args []argument, verbs []string) (found bool) {
	runs := anyOf(verbs, runVerbs)
	program, words := "", ""
	ofFile := slices.ContainsFunc(args, func(a argument) bool {
		return pathNames[a.key] && a.text != "" && !(codeNames[a.key] && runs)
	})
	for _, a := range args {
		switch {
		case ofFile && contentNames[a.key]: // the content of a file is not run
		case commandNames[a.key] && a.text != "" && (runs || !anyOf(verbs, readVerbs) || looksLikeLine(a.text)):
			if a.key == "command" && program == "" && !strings.ContainsAny(a.text, " \n;|&") {
				program = a.text
			}
			found = true
			exact := r.out.Text == ""
			r.noteText(a.text)
			if a.key == "chars" {
				r.doubt(DoubtOpen, "the text is typed into a program that runs already", Span{}, -1)
			}
			r.shell(a.text, exact)
		case argsNames[a.key]:
			words = a.text
		case codeNames[a.key] && runs:
			found = true
			r.noteText(a.text)
			lang := "python"
			switch {
			case anyOf(verbs, scriptVerbs):
				lang = "node"
			case anyOf(verbs, appleVerbs):
				lang = "applescript"
			}
			r.bare(a.text).code(lang, Word{Text: a.text, Kind: Literal})
			if lang == "python" && strings.Contains(a.text, "require(") {
				r.bare(a.text).code("node", Word{Text: a.text, Kind: Literal})
			}
			if looksLikeLine(a.text) { // the language is not said
				r.shell(a.text, false)
			}
		case sqlNames[a.key] && slices.Contains(verbs, "sql"): // statements, in which select is no word of a shell
		case runs && looksLikeLine(a.text) && strings.ContainsAny(a.text, " \n"):
			found = true
			r.noteText(a.text)
			r.shell(a.text, false)
		}
	}
	if words != "" && (program != "" || runs) {
		found = true
		r.shell(program+" "+words, false)
	}
	return found
}

// moved follows a tool that moves files: the first path is the moved file.
func (r *reading) moved(args []argument) {
	first := true
	for _, a := range args {
		if !pathNames[a.key] || a.text == "" {
			continue
		}
		kind := KindWrite
		if isSource := names("source src oldpath sourcepath from path")[a.key]; isSource && first ||
			first && a.key != "destination" && a.key != "dest" && a.key != "newpath" && a.key != "target" {
			kind, first = KindMove, false
		}
		file, _ := localFile(a.text)
		r.noteText(file)
		r.bare(file).path(kind, literal(file))
	}
}

// sqlBegins finds the beginning of a statement: a word such as `delete` alone begins many texts.
var sqlBegins = lazyregexp.New(`(?is)^[\s(;]*(?:--.*?\n\s*|/\*.*?\*/\s*)*(?:select\b|insert\s+into|update\s+\S+\s+set\b|` +
	`delete\s+from|delete\s+\S+\s+where|drop\s+(?:table|database|schema|index|view|user|role|keyspace|column|materialized|` +
	`function|procedure|trigger|type|sequence|extension|owned|collection)\b|truncate\b|alter\s+\w+\s|create\s+(?:or\s+replace\s+)?\w+\s|` +
	`grant\s|revoke\s|with\s+(?:recursive\s+)?\w+\s+as\b|begin\b|explain\b|show\s|merge\s+into|replace\s+into|` +
	`vacuum\b|copy\s|pragma\s|attach\s|call\s|do\s+\$|exec\w*\s|use\s|describe\s|rename\s+table|set\s+\w+\s*=)`)

func looksLikeSQL(text string) bool { return sqlBegins.MatchString(text) }
