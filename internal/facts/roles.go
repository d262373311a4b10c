package facts

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// use is a word with the role that a table gives it.
type use struct {
	*finder
	ro  role
	w   Word
	a   *args
	all []Word // the operands that the word stands among; nil = it is the value of an option
}

// role follows the use of a word. all are the operands that it stands among; nil = it
// is the value of an option.
func (c *finder) role(ro role, w Word, a *args, all []Word) {
	if w.Text == "" && w.Kind == Literal {
		return
	}
	u := use{c, ro, w, a, all}
	if !u.ofFile() && !u.ofCode() {
		u.ofOther()
	}
}

// ofFile follows a word that names a file or a folder; known is false where it has another role.
func (u *use) ofFile() (known bool) {
	switch u.ro.name {
	case "read", "write", "delete", "move":
		u.file()
	case "pattern":
		u.pattern()
	case "into":
		u.into()
	case "from", "to":
		u.transfer()
	case "whole":
		u.whole()
	case "data":
		u.data()
	case "at":
		if _, file, is := strings.Cut(u.w.Text, "@"); is {
			u.path(KindRead, u.w.with(file))
		}
	case "form":
		u.form()
	case "volume":
		u.volume()
	case "mount":
		u.mount()
	case "held":
		u.held()
	case "new":
		u.newFolder()
	case "shown": // a file of which git shows the text, or adds it
		if target, certain := u.target(u.w); target != "" && u.sh.where == "" {
			u.placed(KindRead, target, certain)
		}
	case "linked":
		if target, certain := u.target(u.w); target != "" && u.sh.where == "" {
			u.placed(KindMove, target, certain) // it can be changed, and read, by another name
		}
	default:
		return false
	}
	return true
}

// ofCode follows a word that names code or a program; known is false where it has another role.
func (u *use) ofCode() (known bool) {
	switch u.ro.name {
	case "shell":
		u.shell()
	case "opens": // a line to which names of files are added
		u.shellText(u.nested(u.name()), u.w.with(u.w.Text+" *"))
	case "command":
		u.nested(u.name()).line(u.w.Text)
	case "program":
		u.program()
	case "script":
		u.started(u.w, u.ro.arg)
		u.named()
	case "named":
		u.named()
	case "module":
		u.module()
	case "code":
		u.code(u.ro.arg, u.w)
	case "context":
		u.context()
	case "classpath":
		u.classpath()
	case "package":
		u.pack()
	case "expanded":
		if u.w.Kind != Unknown && strings.ContainsAny(u.w.Text, "$`") {
			u.nested(u.name()).line(": " + u.w.Text)
		}
	default:
		return false
	}
	return true
}

// ofOther follows a word that names a machine, a process, a variable or a setting.
func (u *use) ofOther() {
	switch u.ro.name {
	case "host", "url", "address":
		u.address(u.w)
	case "proxy":
		u.proxy()
	case "repo":
		if u.w.Kind == Unknown && u.ro.arg == "" {
			u.effect(KindConnect, "", false)
		} else if repoHost(u.w.Text, u.ro.arg) != "" {
			u.address(u.w)
		}
	case "backup":
		u.address(u.w.with(backupAddress(u.w.Text)))
	case "remote":
		u.remote()
	case "refspec":
		if u.w.Kind == Unknown && !u.w.safe && u.w.from != "" && !strings.HasPrefix(u.w.from, "${") {
			u.doubt(DoubtWord, "which branches "+short(u.text)+" is about is only known when it runs")
		}
	case "socket":
		u.socket()
	case "process":
		u.kills(u.w)
	case "seek":
		if u.w.Kind != Unknown {
			u.seeks(u.w.Text)
		}
	case "assign":
		u.assign()
	case "variable":
		if isSecretVariable(u.w.Text) {
			u.effect(KindSecret, "env:"+u.w.Text, true)
		}
	case "unset":
		u.unset(u.w.Text)
	case "setting":
		u.setting()
	}
}

// file follows a file that is read, written, deleted or moved; in its place an address or a variable may stand.
func (u *use) file() {
	w := u.w
	if name, is := strings.CutPrefix(strings.ToLower(w.Text), "env:"); is && u.ro.name == "write" {
		u.variable(strings.ToUpper(strings.TrimLeft(name, `\/`)), Word{Text: unknownPart, Kind: Unknown})
		return
	}
	if u.ro.name == "read" && isURL(w.Text) {
		u.address(w)
		return
	}
	if u.ro.name == "write" && isURL(w.Text) && !strings.HasPrefix(w.Text, "file://") &&
		(len(u.all) == 0 || sameWord(w, u.all[len(u.all)-1])) {
		u.address(w)
		u.effect(KindSend, "host:"+hostOf(w.known()), w.Kind != Unknown)
		return
	}
	if line, is := strings.CutPrefix(w.Text, "|"); is || strings.HasSuffix(line, "|") && u.name() == "perl" {
		u.shellText(u.nested(u.name()), w.with(strings.TrimSuffix(line, "|"))) // psql -o '|tee x', perl -n 'ls|'
		return
	}
	u.path(EffectKind(u.ro.name), w)
}

// pattern follows a pattern of files that are read.
func (u *use) pattern() {
	w := u.w
	if strings.HasPrefix(w.Text, "!") {
		return
	}
	if w.Kind == Literal {
		w.Kind = Pattern
	}
	u.path(KindRead, w)
}

// whole follows a folder that is written with all in it.
func (u *use) whole() {
	u.path(KindWrite, u.w)
	if target, certain := u.target(u.w); target != "" && u.sh.where == "" {
		u.guarded(target, certain, true)
	}
}

// data follows the body of a request: text, or @FILE.
func (u *use) data() {
	if file, is := strings.CutPrefix(u.w.Text, "@"); is {
		u.path(KindRead, u.w.with(file))
	}
	if _, value, has := strings.Cut(u.w.Text, "="); has && looksLikeSQL(value) && u.w.Kind == Literal {
		u.code("sql", u.w.with(value))
	}
	if bodySQL.MatchString(u.w.Text) {
		u.effect(KindDelete, "database:", false)
	}
}

// form follows a field of a form: NAME=TEXT, NAME=@FILE or NAME=<FILE.
func (u *use) form() {
	if _, value, ok := strings.Cut(u.w.Text, "="); ok && value != "" && (value[0] == '@' || value[0] == '<') {
		file, _, _ := strings.Cut(value[1:], ";")
		u.path(KindRead, u.w.with(file))
	}
}

// held follows a file: the command seeks the processes that have it open.
func (u *use) held() {
	if target, _ := u.target(u.w); target != "" {
		if _, ok := places().guard.find(target, u.sh.r.env.Home, false); ok {
			u.sh.r.seeksGuard = true
		}
	}
}

// newFolder follows a folder that must not be there yet.
func (u *use) newFolder() {
	u.effect(KindWrite, "worktree:"+u.w.Text, u.w.Kind != Unknown)
	if target := u.anyPath(u.w); target != "" {
		u.entryGuess(target)
	}
}

// shell follows a line of a shell.
func (u *use) shell() {
	w := u.w
	if w.Text == "-" { // of trap: as before
		return
	}
	if name := u.name(); name == "env" || name == "genv" {
		w = w.with(splitByEnv(w.Text))
	}
	sh := u.nested(u.name())
	sh.cwd = cmp.Or(u.cwd, sh.cwd) // env -C FOLDER -S LINE
	u.shellText(sh, w)
}

// program follows a program that is run or loaded.
func (u *use) program() {
	w := u.w
	w.Text = strings.TrimPrefix(w.Text, ":") // -javaagent:FILE
	if name := u.name(); (name == "ruby" || name == "perl") && w.Kind == Literal && !strings.Contains(w.Text, "/") {
		w.Text = "./" + w.Text // -Ilib is a folder
		folder, _ := u.target(w)
		for _, file := range sorted(u.sh.r.made) {
			if folder != "" && strings.HasPrefix(file, folder+"/") {
				u.doubt(DoubtMade, "the line makes "+path.Base(file)+", which "+name+" may load")
			}
		}
	}
	u.helper(w)
}

// context follows the folder, the file or the repository that a program runs as its project.
func (u *use) context() {
	if isURL(u.w.Text) || isScpLike(u.w.Text) || strings.HasPrefix(u.w.Text, "github.com/") {
		u.address(u.w)
		u.effect(KindRun, "package:"+u.w.Text, u.w.Kind != Unknown)
		return
	}
	if u.ro.arg == "file" {
		u.path(KindRead, u.w)
	}
	u.abroad(u.w)
}

// classpath follows a list of folders and files from which a program loads code or settings. The value that a variable
// had before may be among them.
func (u *use) classpath() {
	for part := range strings.SplitSeq(u.w.Text, ":") {
		w := u.w.with(strings.TrimSuffix(part, "/*"))
		if w.Kind == Unknown {
			if part != unknownPart {
				u.doubt(DoubtVariable, "what "+u.name()+" loads is only known when it runs")
			}
			continue
		}
		if target, ok := u.absolute(w.Text); ok && !u.runsMade(target, "", part) {
			u.abroad(w.with(target))
		}
	}
}

// socket follows a socket that the program connects to.
func (u *use) socket() {
	t := u.anyPath(u.w)
	u.effect(KindConnect, t, u.w.Kind != Unknown)
	if why, ok := places().guard.find(t, u.sh.r.env.Home, false); ok {
		u.effectWhy(KindGuard, t, u.w.Kind != Unknown, why)
	}
}

// assign follows NAME=VALUE, a variable for the program.
func (u *use) assign() {
	if name, value, ok := strings.Cut(u.w.Text, "="); ok {
		u.variable(name, u.w.with(value))
	}
}

// with is the word with another text.
func (w Word) with(text string) Word {
	w.Text = text
	if w.Kind == Unknown && !strings.Contains(text, unknownPart) {
		w.Kind = Literal
	}
	return w
}

func (c *finder) anyPath(w Word) string {
	t, _ := c.target(w)
	return t
}

func isURL(text string) bool { return strings.Contains(text, "://") }

// address follows a host or a URL that is connected to.
func (c *finder) address(w Word) {
	if file, is := localFile(w.Text); is {
		c.path(KindRead, w.with(file))
		return
	}
	head := w.known()
	looksUp := c.sh.where == "" && resolvers[c.name()] && w.from != "" && !strings.HasPrefix(w.from, "${")
	if w.Kind == Unknown && (encoders[w.from] || looksUp) {
		c.effect(KindSend, "host:"+cmp.Or(hostOf(head), strings.TrimPrefix(w.Text, unknownPart+".")), false)
	}
	if w.Kind == Unknown && (hostOf(head) == "" || !strings.Contains(strings.TrimPrefix(head, "https://"), "/")) {
		c.effect(KindConnect, "", false)
		return
	}
	for _, host := range redirects(head) {
		c.effect(KindConnect, "host:"+host, false)
	}
	for _, host := range hostsOf(head) {
		c.effect(KindConnect, "host:"+host, true)
		if metadataHosts[host] {
			c.effectWhy(KindSecret, "cloud:metadata", true, "it reads the credentials of a machine in a cloud")
		}
		if dockerPort.MatchString(head) {
			c.effectWhy(KindEscalate, "user:root", true, "who talks to Docker is root")
		}
	}
}

// dockerPort finds the address of Docker's own API.
var dockerPort = lazyregexp.New(`:237[56](?:/|$)`)

// bodySQL finds a statement that changes data in the body of a request to a database.
var bodySQL = lazyregexp.New(`(?i)"(?:query|sql|q|stmt|statement)"\s*:\s*"\s*(?:drop|delete|truncate|alter|update)\b`)

// encoders make data of any kind fit for an address, and resolvers send the name that they look up.
var (
	encoders  = names("base64 base32 xxd od hexdump gzip openssl basenc uuencode urlencode")
	resolvers = names("dig nslookup host drill getent ping resolvectl kdig dog doggo")
)

// metadataHosts are those from which a machine in a cloud gets its credentials.
var metadataHosts = wordLists["metadataHosts"]

// into follows a file or folder that is written: DEST itself, or its entry for each source.
func (u *use) into() {
	w, a, all := u.w, u.a, u.all
	target, certain := u.target(w)
	if target == "" {
		u.path(KindWrite, w)
		return
	}
	sources := all
	if len(all) > 0 && len(a.operands) == len(all) && sameWord(all[len(all)-1], w) {
		sources = all[:len(all)-1]
	} else if all == nil {
		sources = a.operands
	}
	isFolder := strings.HasSuffix(w.Text, "/") || w.Text == "." || w.Text == ".." || w.Text == "~" ||
		len(sources) > 1 || all == nil ||
		target == u.sh.r.env.Home || target == "/tmp" ||
		target == "/etc"
	if !isFolder {
		u.onPath(KindWrite, target, certain)
		if path.Ext(target) != "" && len(sources) == 1 && path.Ext(sources[0].Text) == path.Ext(target) {
			return
		}
	}
	if u.name() == "ln" && len(sources) == 1 && sources[0].Kind != Unknown {
		to, _ := u.absolute(sources[0].Text)
		u.sh.r.links[target] = to
		u.sh.r.links[path.Join(target, path.Base(to))] = to
	}
	for _, s := range sources {
		base := path.Base(strings.TrimSuffix(s.Text, "/"))
		if host, file, remote := strings.Cut(base, ":"); remote && host != "" { // of scp and rsync
			base = file
		}
		all := strings.HasSuffix(u.name(), "rsync") && strings.HasSuffix(s.Text, "/")
		if s.Kind == Unknown || all || base == "." || base == ".." || base == "/" {
			base = "*"
		}
		if u.isMadeWord(s) && u.sh.where == "" {
			from, _ := u.target(s)
			u.sh.r.made[path.Join(target, base)] = u.sh.r.madeAt(from)
		}
		if isFolder {
			u.onPath(KindWrite, path.Join(target, base), certain)
			if base == "*" && u.sh.where == "" { // all of a folder
				u.guarded(target, false, true)
			}
		} else {
			u.entryGuess(path.Join(target, base))
		}
	}
}

// entryGuess is the write of a copy if its target is a folder: only the effects of the place count.
func (u *use) entryGuess(target string) {
	if u.sh.where != "" {
		return
	}
	u.makes(target)
	u.placed(KindWrite, target, false)
}

func sameWord(a, b Word) bool { return a.Text == b.Text && a.span == b.span }

// transfer follows a word of rsync and scp: a path, or a place on another machine.
func (u *use) transfer() {
	way, w := u.ro.name, u.w
	head := w.known()
	scheme, rest, isScheme := strings.Cut(head, "://")
	remote := ""
	switch {
	case isScheme && (scheme == "s3" || scheme == "gs" || scheme == "az" || scheme == "r2" || scheme == "abfs"):
		target := "cloud:" + scheme + "/" + rest
		if way == "to" {
			u.effect(KindSend, target, true)
		}
		u.effect(KindConnect, target, true)
		return
	case isScheme && scheme != "file":
		remote = hostOf(head)
	case strings.Contains(head, ":") && !strings.HasPrefix(head, "/") && !strings.HasPrefix(head, "./"):
		switch host, _, _ := strings.Cut(head, ":"); {
		case !strings.Contains(host, "/"):
			remote = hostOf(host)
		case u.name() == "kubectl" && strings.Count(host, "/") == 1 && host[0] != '.': // NAMESPACE/POD:FILE
			remote = path.Base(host)
		}
	}
	if remote != "" {
		if way == "to" {
			u.effect(KindSend, "host:"+remote, true)
		} else {
			u.secretAbroad(remote, head)
		}
		u.effect(KindConnect, "host:"+remote, true)
		return
	}
	if way == "from" {
		u.path(KindRead, w)
	} else {
		u.into()
	}
}

// secretAbroad adds that a file with secrets is copied from another machine or from a container.
func (u *use) secretAbroad(host, from string) {
	_, file, _ := strings.Cut(from, ":")
	file = strings.TrimPrefix(file, host) // of host:/path after a scheme
	if why, ok := places().secret.find(strings.TrimLeft(file, ":"), u.sh.r.env.Home, false); ok {
		u.effectWhy(KindSecret, "host:"+host, true, why)
	}
}

// proxy follows a machine that all that is sent goes by. For mapped, the word is NAME:PORT:TARGET, as curl has it.
func (u *use) proxy() {
	text := u.w.Text
	if u.ro.arg == "mapped" {
		if strings.HasPrefix(text, "[") { // an address of IPv6
			_, text, _ = strings.Cut(text, "]")
		}
		parts := strings.SplitN(text, ":", 3)
		if text = parts[len(parts)-1]; len(parts) < 3 || len(text) > 1 && text[0] == ':' && text[1] != ':' {
			return // it maps the port alone
		}
	} else if scheme, rest, _ := strings.Cut(text, ":"); !strings.HasPrefix(rest, "//") && isURL(rest) && scheme != "" {
		text = rest // http:http://proxy.example
	}
	for part := range strings.SplitSeq(text, ",") {
		if strings.Count(part, ":") > 1 && !isURL(part) && part[0] != '[' {
			part = "[" + part + "]"
		}
		w := u.w.with(part)
		u.address(w)
		if host := hostOf(w.known()); host != "" {
			u.effect(KindSend, "host:"+host, true)
		}
	}
}

// remote follows the name or address of a repository.
func (u *use) remote() {
	w := u.w
	if cmd, is := strings.CutPrefix(w.Text, "ext::"); is {
		u.shellText(u.nested(u.name()), w.with(cmd))
		return
	}
	if w.Kind == Unknown && !w.safe && w.known() == "" {
		u.doubt(DoubtWord, "which repository "+short(u.text)+" is about is only known when it runs")
	}
	if rest := w.known(); isURL(rest) || isScpLike(rest) {
		u.address(w)
	}
}

// isScpLike reports whether a text is HOST:PATH, as git and scp take it.
func isScpLike(text string) bool {
	host, _, has := strings.Cut(text, ":")
	return has && len(host) > 1 && !strings.Contains(host, "/")
}

// fromInput follows a program that runs its standard input.
func (c *finder) fromInput(lang string) {
	switch in := c.sh.stdin; {
	case in.has && in.known && lang == "sh":
		sh := c.nested(c.name())
		sh.stdin = input{has: true, known: true}
		sh.line(in.text)
	case in.has && in.known:
		c.code(lang, Word{Text: in.text, Kind: Literal})
	case in.has && lang == "sql" && strings.HasPrefix(in.origin, "file "):
		c.started(Word{Text: strings.TrimPrefix(in.origin, "file "), Kind: Literal}, lang)
	case in.has:
		c.doubt(DoubtEval, c.name()+" runs what "+cmp.Or(in.origin, "its input")+" gives it")
		if file, is := strings.CutPrefix(in.origin, "file "); is {
			if t, ok := c.absolute(file); ok {
				c.effect(KindRun, t, true)
			}
		}
	default:
		c.doubt(DoubtOpen, c.name()+" is left open for commands")
	}
}

// started follows a file that is run: a program, or a script of a language.
func (c *finder) started(w Word, lang string) {
	switch {
	case w.Text == "-" || w.Text == "/dev/stdin" || w.Text == "/dev/fd/0" || w.Text == "/proc/self/fd/0":
		c.fromInput(lang)
		return
	case strings.HasPrefix(w.Text, "/dev/fd/") || strings.HasPrefix(w.Text, "/proc/self/fd/"):
		c.doubt(DoubtEval, c.name()+" runs what "+cmp.Or(w.from, w.Text)+" gives it")
		return
	case strings.HasPrefix(w.Text, "data:"):
		c.doubt(DoubtEval, c.name()+" runs code that stands in the line")
		return
	case strings.HasPrefix(w.Text, "jsr:") || strings.HasPrefix(w.Text, "npm:"):
		c.effect(KindRun, "package:"+w.Text, true)
		return
	case isURL(w.Text):
		c.address(w)
		c.doubt(DoubtEval, c.name()+" runs what it fetches from "+hostOf(w.Text))
		return
	case w.Kind == Unknown:
		if !w.safe {
			c.doubt(DoubtEval, "which file "+c.name()+" runs is only known when it runs")
		} else {
			c.doubt(DoubtWord, "which file "+c.name()+" runs is only known when it runs")
		}
		c.effect(KindRun, "", false)
		return
	}
	target, _ := c.target(w)
	if !c.runsMade(target, lang, w.Text) {
		c.abroad(w)
	}
	c.effect(KindRun, target, true)
	if why, ok := places().secret.find(target, c.sh.r.env.Home, false); ok && c.sh.where == "" {
		c.effectWhy(KindSecret, target, false, why)
	}
	if agentProgram.MatchString(target) {
		c.effectWhy(KindGuard, "program:agent", true, "starts an agent without its hooks")
	}
}

// named follows a script by the entry of its name, such as that of manage.py: all are the operands
// that it stands among.
func (u *use) named() {
	w, all := u.w, u.all
	i := slices.IndexFunc(all, func(o Word) bool { return sameWord(o, w) })
	if i < 0 || w.Kind != Literal || strings.HasPrefix(w.Text, "-") || strings.Trim(w.Text, "./") == "" ||
		u.sh.r.t.program(programName(w.Text)) == nil ||
		ordinary[programName(w.Text)] && path.Ext(w.Text) == "" && !strings.HasPrefix(w.Text, "/usr/") {
		return
	}
	words := slices.Clone(all[i:])
	words[0].Text = programName(w.Text)
	sh := u.nested(u.name())
	sh.guess = path.Ext(w.Text) == ""
	sh.run(words, &finder{text: u.text, span: u.span, env: u.env})
}

// agentProgram finds the programs of agents by the packages that they lie in.
var agentProgram = lazyregexp.New(`(?i)/(?:@anthropic-ai/claude-code|claude-code/cli|@openai/codex|codex\.js|` +
	`@google/gemini-cli|@qwen-code|@github/copilot|@sourcegraph/amp|opencode-ai|\.bin/(?:claude|codex|gemini|qwen))`)

// helper follows a program that another program runs, or loads: an option or a variable names it.
func (c *finder) helper(w Word) {
	switch {
	case harmlessHelpers[w.Text]:
		return
	case w.Kind == Literal && strings.ContainsAny(w.Text, " ;|&$`<>"):
		c.doubt(DoubtVariable, c.name()+" runs "+short(w.Text))
		c.shellText(c.nested(c.name()), w)
		return
	case w.Kind == Literal && !strings.ContainsAny(w.Text, "/\\"):
		if target, ok := c.absolute(w.Text); ok {
			c.runsMade(target, "", w.Text)
		}
		if programName(w.Text) != c.name() {
			sh := c.nested(c.name())
			sh.guess = true
			sh.run([]Word{w}, &finder{text: c.text, span: c.span})
		}
		return
	}
	c.started(w, "")
}

// abroad adds the doubt of a program or a script from elsewhere: neither of the project nor installed.
func (c *finder) abroad(w Word) {
	words := strings.Fields(w.Text)
	if w.Kind == Unknown || len(words) == 0 || c.sh.where != "" {
		return
	}
	n, isScript := 1, func(r role) bool { return r.name == "script" }
	e := c.sh.r.t.program(programName(words[0]))
	if e != nil && slices.ContainsFunc(e.ready(c.sh.r.t).words, isScript) {
		n = 3
	}
	for _, word := range words[:min(n, len(words))] {
		if !strings.Contains(word, "/") || isURL(word) || strings.HasPrefix(word, "/dev/") {
			continue
		}
		if target, _ := c.absolute(word); !c.isAtHome(target) {
			c.doubt(DoubtVariable, c.name()+" runs "+word+", which is not of this project")
			return
		}
	}
}

// remoteSpec finds the name of something that lies elsewhere: github:example/x.
var remoteSpec = lazyregexp.New(`^(?:github|gitlab|gh|gl|bitbucket|oci|docker|git\+\w+|npm|jsr|sourcehut):`)

// harmlessHelpers are programs that only print their input or arguments, or do nothing.
var harmlessHelpers = names("cat true : false less more delta bat nano vim vi code /bin/true /usr/bin/true /bin/false /dev/null /bin/cat")

// isAtHome reports whether a program belongs to the project, or is an installed one.
func (c *finder) isAtHome(target string) bool {
	env := &c.sh.r.env
	below := func(folder string) bool { return folder != "" && strings.HasPrefix(target, folder+"/") }
	if target == env.Cwd || below(env.Cwd) || slices.ContainsFunc(systemFolders, below) {
		return true
	}
	for _, folder := range []string{
		"/usr", "/opt", "/nix", "/snap", "/Library", "/System", "/lib", "/lib64", env.Home + "/go", env.Home + "/sdk",
	} {
		if below(folder) {
			return true
		}
	}
	rest, home := strings.CutPrefix(target, env.Home+"/.") // ~/.pyenv, ~/.nvm
	return home && env.Home != "" && rest != ""
}

// module follows a module that an interpreter runs.
func (u *use) module() {
	w := u.w
	if u.isInstalled(w.Text) {
		u.doubt(DoubtMade, "the line installs "+w.Text+" and runs it")
	}
	if u.sh.r.t.program(w.Text) == nil {
		u.effect(KindRun, "module:"+w.Text, w.Kind != Unknown)
	}
	if u.ro.arg == "perl" && strings.Contains(w.Text, ";") { // perl '-MFOO;CODE'
		u.code("perl", w)
	}
	if u.ro.arg != "python" {
		return
	}
	name := w.Text
	u.imported("python", name)
	if u.sh.r.t.program("python -m "+name) != nil { // its entry is not that of a program of the same name
		name = "python -m " + name
	}
	if e := u.sh.r.t.program(name); e != nil && w.Kind == Literal { // python -m pip install x
		rest := u.a.operands
		sh := u.nested(u.name())
		sh.run(append([]Word{{Text: name, Kind: Literal}}, rest...), &finder{text: u.text, span: u.span, env: u.env})
	}
}

// pack follows a package that is installed or fetched.
func (u *use) pack() {
	w := u.w
	text := w.Text
	if _, file, is := strings.Cut(text, "file:"); is && w.Kind == Literal { // name@file:../x
		w.Text = strings.TrimPrefix(file, "//")
		text = w.Text
	}
	switch {
	case w.Kind == Unknown:
		u.effect(KindInstall, "", false)
	case isURL(text) || strings.HasPrefix(text, "git+") || strings.HasPrefix(text, "git@"):
		u.effect(KindConnect, "host:"+hostOf(strings.TrimPrefix(text, "git+")), true)
		u.effect(KindInstall, "package:"+text, true)
		u.effect(KindRun, "package:"+text, true)
	case strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~"):
		t, _ := u.absolute(text)
		u.abroad(w)
		if u.sh.r.isMade(t) {
			u.doubt(DoubtMade, "the line makes "+text+" and installs it")
		}
		u.effect(KindInstall, "package:"+t, true)
	default:
		u.effect(KindInstall, "package:"+text, true)
	}
}

// volume follows SRC:DST of a container.
func (u *use) volume() {
	w := u.w
	src, rest, has := strings.Cut(w.Text, ":")
	if !has || src == "" || !strings.ContainsAny(src[:1], "/.~$") && w.Kind != Unknown {
		return
	}
	kind := KindWrite
	if strings.HasSuffix(rest, ":ro") || strings.Contains(rest, ":ro,") {
		kind = KindRead
	}
	if strings.HasSuffix(src, "docker.sock") {
		u.effect(KindEscalate, "user:root", true)
		return
	}
	u.mounted(kind, w.with(src))
}

// mounted follows a file or a folder that a container is given.
func (u *use) mounted(kind EffectKind, w Word) {
	u.path(kind, w)
	if target, certain := u.target(w); target != "" && kind == KindWrite && u.sh.where == "" {
		u.placed(KindMove, target, certain)
	}
}

func (u *use) mount() {
	src, bind, read := "", false, false
	for part := range strings.SplitSeq(u.w.Text, ",") {
		k, v, _ := strings.Cut(part, "=")
		switch k {
		case "type":
			bind = v == "bind"
		case "source", "src":
			src = v
		case "readonly", "ro":
			read = v != "false"
		}
	}
	if bind && src != "" {
		kind := KindWrite
		if read {
			kind = KindRead
		}
		u.mounted(kind, u.w.with(src))
	}
}

// setting follows `key=value` or `key value` of a program's settings.
func (u *use) setting() {
	w, all := u.w, u.all
	key, value, has := strings.Cut(w.Text, "=")
	v := w.with(value)
	if !has {
		i := slices.IndexFunc(all, func(o Word) bool { return sameWord(o, w) })
		if i < 0 || i+1 >= len(all) {
			u.abroad(w) // a file of settings
			return
		}
		v = all[i+1]
	}
	if w.Kind == Unknown && strings.Contains(key, unknownPart) {
		u.doubt(DoubtWord, "a setting of "+u.name()+" is only known when it runs")
		return
	}
	what, known := variables().setting(u.ro.arg, strings.ToLower(key))
	if !known || what == "_" {
		return
	}
	if rest, is := strings.CutPrefix(what, "doubt "); is {
		kind, role, _ := strings.Cut(rest, " ")
		u.doubt(DoubtKind(kind), u.name()+" sets "+key)
		if what = role; role == "key" { // url.https://host.example/.insteadOf
			what, v = "remote", w.with(key[strings.IndexByte(key, '.')+1:strings.LastIndexByte(key, '.')])
		}
	}
	ro := parseRole(what)
	if ro.name == "guard" {
		u.effect(KindGuard, "setting:"+key, true)
		return
	}
	switch ro.name {
	case "shell":
		if harmlessHelpers[v.Text] || v.Text == "" {
			return
		}
		v.Text = strings.TrimPrefix(v.Text, "!")
		u.doubt(DoubtVariable, key+" of "+u.name()+" runs a command")
	case "program", "script", "options":
		if v.Text == "" || harmlessHelpers[v.Text] || v.Text == "false" || v.Text == "true" {
			return
		}
		u.doubt(DoubtVariable, key+" of "+u.name()+" says what runs")
	}
	if ro.name == "alias" {
		if cmd, is := strings.CutPrefix(v.Text, "!"); is {
			u.shellText(u.nested(u.name()), v.with(cmd))
		} else {
			u.nested(u.name()).line("git " + v.Text)
		}
		return
	}
	u.finder.role(ro, v, &args{}, nil)
}

// variable follows a variable that is set for commands.
func (c *finder) variable(name string, w Word) {
	vs := variables()
	if vs.isHarmless(name, w) {
		return
	}
	if what, ok := vs.code(name); ok {
		if w.Text == "" && w.Kind == Literal && what != "guard" && what != "cd" && !strings.EqualFold(name, "PATH") {
			return // as if it were not set
		}
		switch what {
		case "", "_", "doubt":
			c.doubt(DoubtVariable, name+" changes what programs run")
		case "guard":
			c.doubt(DoubtVariable, name+" changes what programs run")
			c.effect(KindGuard, "variable:"+name, true)
		case "repo":
			if repoHost(w.Text, "") != "" {
				c.doubt(DoubtVariable, name+" changes what programs run")
			}
			c.role(role{name: what}, w, &args{}, nil)
		default:
			own := (what == "url" || what == "host") && localHosts[hostOf(w.Text)] && !strings.ContainsAny(w.Text, ",|")
			if own || name == "PATH" && w.Text != unknownPart && isPlainPath(w, c) {
				return
			}
			if what == "classpath" {
				c.role(role{name: what}, w, &args{}, nil)
				return
			}
			c.doubt(DoubtVariable, name+" changes what programs run")
			if w.Text != "" {
				c.role(parseRole(what), w, &args{}, nil)
			}
		}
		return
	}
	switch { // a place from which a program may load something
	case w.Kind != Literal || strings.ToLower(name) == name && !strings.HasPrefix(name, "npm_"): // of the shell alone
	case namesProduct.MatchString(name):
	case loadsAgent.MatchString(w.Text), isURL(w.Text) && !localHosts[hostOf(w.Text)]:
		c.doubt(DoubtVariable, name+" may change what programs run")
	case strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "~/") || strings.HasPrefix(w.Text, "../"):
		c.abroad(w)
	}
}

// namesProduct finds a variable or an option for the products or the peers of a program: it loads nothing from there.
var namesProduct = lazyregexp.New(`(?i)(?:(?:out|log|cache|te?mp|data|dest|db|database|report|result|dump|trace|prof|cover|url|host|` +
	`addr|address|endpoint|origin|server|target|sock|pid|base|domain|site|artifact|build|dist|junit|xml|json|html|snapshot|prefix)` +
	`[a-z]{0,7}[-_]?(?:dir|directory|file|path|folder|name)?|^-[odOD])$`)

// loadsAgent finds an option of a Java machine that loads a program.
var loadsAgent = lazyregexp.New(`-(?:java)?agent(?:lib|path)?:`)

// isPlainPath reports whether a PATH only adds folders of the system or the user's home to its old value.
func isPlainPath(w Word, c *finder) bool {
	for part := range strings.SplitSeq(w.Text, ":") {
		switch {
		case part == unknownPart || part == "":
			if part == "" {
				return false
			}
		case !strings.HasPrefix(part, "/") || c.sh.r.isMade(part) || part == c.sh.r.env.Cwd:
			return false
		case strings.HasPrefix(part, "/tmp") || strings.HasPrefix(part, "/var/tmp") || strings.HasPrefix(part, "/dev"):
			return false
		case slices.Contains(systemFolders, part) || strings.HasPrefix(part, "/usr/") || strings.HasPrefix(part,
			"/opt/"):
		case !strings.HasSuffix(part, "/bin") && !strings.HasSuffix(part, "/node_modules/.bin") &&
			!strings.HasSuffix(part, "/shims"):
			return false
		default:
			c.sh.r.path = append(c.sh.r.path, part)
			for f := range c.sh.r.made {
				if strings.HasPrefix(f, part+"/") {
					return false
				}
			}
		}
	}
	return true
}
