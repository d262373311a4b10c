package facts

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// role follows the use of a word. all are the operands that it stands among; nil = it
// is the value of an option.
func (c *call) role(ro role, w Word, a *args, all []Word) {
	if w.Text == "" && w.Kind == Literal {
		return
	}
	switch ro.name {
	case "pattern":
		if strings.HasPrefix(w.Text, "!") {
			return
		}
		if w.Kind == Literal {
			w.Kind = Pattern
		}
		c.path(KindRead, w)
	case "context": // the folder or the file that a program runs as its project
		if isURL(w.Text) || isScpLike(w.Text) || strings.HasPrefix(w.Text, "github.com/") {
			c.address(w)
			c.effect(KindRun, "package:"+w.Text, w.Kind != Unknown)
			return
		}
		if ro.arg == "file" {
			c.path(KindRead, w)
		}
		c.abroad(w)
	case "classpath":
		for part := range strings.SplitSeq(w.Text, ":") {
			if target, ok := c.absolute(part); ok && w.Kind != Unknown {
				c.runsMade(strings.TrimSuffix(target, "/*"), "", part)
			}
		}
	case "named":
		c.named(w, all)
	case "process":
		c.kills(w)
	case "seek":
		if w.Kind != Unknown {
			c.seeks(w.Text)
		}
	case "", "_", "cd", "user", "unit", "table", "name":
	case "read", "write", "delete", "move":
		if name, is := strings.CutPrefix(strings.ToLower(w.Text), "env:"); is && ro.name == "write" {
			c.variable(strings.ToUpper(strings.TrimLeft(name, `\/`)), Word{Text: unknownPart, Kind: Unknown})
			return
		}
		if ro.name == "read" && isURL(w.Text) {
			c.address(w)
			return
		}
		if ro.name == "write" && isURL(w.Text) && !strings.HasPrefix(w.Text, "file://") &&
			(len(all) == 0 || sameWord(w, all[len(all)-1])) {
			c.address(w)
			c.effect(KindSend, "host:"+hostOf(w.known()), w.Kind != Unknown)
			return
		}
		c.path(EffectKind(ro.name), w)
	case "into":
		c.into(w, a, all)
	case "from", "to":
		c.transfer(ro.name, w, a, all)
	case "proxy": // all that is sent goes by it
		c.address(w)
		if host := hostOf(w.known()); host != "" {
			c.effect(KindSend, "host:"+host, true)
		}
	case "host", "url", "address":
		c.address(w)
	case "remote":
		c.remote(w)
	case "shell":
		if w.Text == "-" { // of trap: as before
			return
		}
		if name := c.name(); name == "env" || name == "genv" {
			w = w.with(splitByEnv(w.Text))
		}
		c.shellText(c.nested(c.name()), w)
	case "opens": // a line to which names of files are added
		c.shellText(c.nested(c.name()), w.with(w.Text+" *"))
	case "command":
		sh := c.nested(c.name())
		sh.line(w.Text)
	case "program":
		w.Text = strings.TrimPrefix(w.Text, ":") // -javaagent:FILE
		if name := c.name(); (name == "ruby" || name == "perl") && w.Kind == Literal && !strings.Contains(w.Text, "/") {
			w.Text = "./" + w.Text // -Ilib is a folder
			folder, _ := c.target(w)
			for _, file := range sorted(c.sh.r.made) {
				if folder != "" && strings.HasPrefix(file, folder+"/") {
					c.doubt(DoubtMade, "the line makes "+path.Base(file)+", which "+name+" may load")
				}
			}
		}
		c.helper(w)
	case "script":
		c.started(w, ro.arg)
		c.named(w, all)
	case "module":
		if c.isInstalled(w.Text) {
			c.doubt(DoubtMade, "the line installs "+w.Text+" and runs it")
		}
		if c.sh.r.t.program(w.Text) == nil {
			c.effect(KindRun, "module:"+w.Text, w.Kind != Unknown)
		}
		c.module(ro.arg, w, a)
	case "code":
		c.code(ro.arg, w)
	case "assign":
		if name, value, ok := strings.Cut(w.Text, "="); ok {
			v := w
			if v.Text = value; v.Kind == Unknown && !strings.Contains(value, unknownPart) {
				v.Kind = Literal
			}
			c.variable(name, v)
		}
	case "package":
		c.pack(w)
	case "socket":
		t := c.anyPath(w)
		c.effect(KindConnect, t, w.Kind != Unknown)
		if why, ok := places().guard.find(t, c.sh.r.env.Home, false); ok {
			c.effectWhy(KindGuard, t, w.Kind != Unknown, why)
		}
	case "data":
		if file, is := strings.CutPrefix(w.Text, "@"); is {
			c.path(KindRead, w.with(file))
		}
		if _, value, has := strings.Cut(w.Text, "="); has && looksLikeSQL(value) && w.Kind == Literal {
			c.code("sql", w.with(value))
		}
		if bodySQL.MatchString(w.Text) {
			c.effect(KindDelete, "database:", false)
		}
	case "held": // a file of which the processes are sought that have it open
		if target, _ := c.target(w); target != "" {
			if _, ok := places().guard.find(target, c.sh.r.env.Home, false); ok {
				c.sh.r.seeksGuard = true
			}
		}
	case "at":
		if _, file, is := strings.Cut(w.Text, "@"); is {
			c.path(KindRead, w.with(file))
		}
	case "form":
		if _, value, ok := strings.Cut(w.Text, "="); ok && value != "" && (value[0] == '@' || value[0] == '<') {
			file, _, _ := strings.Cut(value[1:], ";")
			c.path(KindRead, w.with(file))
		}
	case "volume":
		c.volume(w)
	case "mount":
		c.mount(w)
	case "variable":
		if isSecretVariable(w.Text) {
			c.effect(KindSecret, "env:"+w.Text, true)
		}
	case "setting":
		c.setting(ro.arg, w, all)
	case "unset":
		c.unset(w.Text)
	case "expanded":
		if w.Kind != Unknown && strings.ContainsAny(w.Text, "$`") {
			c.nested(c.name()).line(": " + w.Text)
		}
	case "new": // a folder that must not be there yet
		c.effect(KindWrite, "worktree:"+w.Text, w.Kind != Unknown)
		if target := c.anyPath(w); target != "" {
			c.entryGuess(target)
		}
	case "shown": // a file of which git shows the text, or adds it
		if target, certain := c.target(w); target != "" && c.sh.where == "" {
			c.placed(KindRead, target, certain)
		}
	case "linked":
		if target, certain := c.target(w); target != "" && c.sh.where == "" {
			c.placed(KindMove, target, certain) // it can be changed, and read, by another name
		}
	case "whole":
		c.path(KindWrite, w)
		if target, certain := c.target(w); target != "" && c.sh.where == "" {
			c.guarded(target, certain, true)
		}
	case "refspec":
		if w.Kind == Unknown && !w.safe && w.from != "" && !strings.HasPrefix(w.from, "${") {
			c.doubt(DoubtWord, "which branches "+short(c.text)+" is about is only known when it runs")
		}
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

func (c *call) anyPath(w Word) string {
	t, _ := c.target(w)
	return t
}

func isURL(text string) bool { return strings.Contains(text, "://") }

// hostOf is the host that an address names: a URL, user@host:path, host:port or host.
func hostOf(text string) string {
	if isURL(text) {
		u, err := url.Parse(strings.ReplaceAll(text, unknownPart, "x"))
		if err != nil || u.Host == "" {
			_, rest, _ := strings.Cut(text, "://")
			rest, _, _ = strings.Cut(rest, "/")
			_, host, has := strings.Cut(rest, "@")
			if !has {
				host = rest
			}
			return strings.ToLower(host)
		}
		return strings.ToLower(u.Hostname())
	}
	text, _, _ = strings.Cut(text, "/")
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		text = text[at+1:]
	}
	if strings.HasPrefix(text, "[") {
		host, _, _ := strings.Cut(text[1:], "]")
		return strings.ToLower(host)
	}
	host, _, _ := strings.Cut(text, ":")
	return strings.ToLower(host)
}

// address follows a host or a URL that is connected to.
func (c *call) address(w Word) {
	if rest, is := strings.CutPrefix(w.Text, "file://"); is {
		c.path(KindRead, w.with(rest))
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
	if host := hostOf(head); host != "" {
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
var metadataHosts = names(`
	169.254.169.254 169.254.170.2 169.254.170.23 metadata.google.internal metadata metadata.azure.internal
	100.100.100.200 fd00:ec2::254 2852039166 0xa9fea9fe`)

// into follows a file or folder that is written: DEST itself, or its entry for each source.
func (c *call) into(w Word, a *args, all []Word) {
	target, certain := c.target(w)
	if target == "" {
		c.path(KindWrite, w)
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
		target == c.sh.r.env.Home || target == "/tmp" ||
		target == "/etc"
	if !isFolder {
		c.onPath(KindWrite, target, certain)
		if path.Ext(target) != "" && len(sources) == 1 && path.Ext(sources[0].Text) == path.Ext(target) {
			return
		}
	}
	if c.name() == "ln" && len(sources) == 1 && sources[0].Kind != Unknown {
		to, _ := c.absolute(sources[0].Text)
		c.sh.r.links[target] = to
		c.sh.r.links[path.Join(target, path.Base(to))] = to
	}
	for _, s := range sources {
		base := path.Base(strings.TrimSuffix(s.Text, "/"))
		if host, file, remote := strings.Cut(base, ":"); remote && host != "" { // of scp and rsync
			base = file
		}
		all := strings.HasSuffix(c.name(), "rsync") && strings.HasSuffix(s.Text, "/")
		if s.Kind == Unknown || all || base == "." || base == ".." || base == "/" {
			base = "*"
		}
		if c.sh.r.isMadeWord(c, s) && c.sh.where == "" {
			from, _ := c.target(s)
			c.sh.r.made[path.Join(target, base)] = c.sh.r.madeAt(from)
		}
		if isFolder {
			c.onPath(KindWrite, path.Join(target, base), certain)
			if base == "*" && c.sh.where == "" { // all of a folder
				c.guarded(target, false, true)
			}
		} else {
			c.entryGuess(path.Join(target, base))
		}
	}
}

// entryGuess is the write of a copy if its target is a folder: only the effects of the place count.
func (c *call) entryGuess(target string) {
	if c.sh.where != "" {
		return
	}
	c.makes(target)
	c.placed(KindWrite, target, false)
}

func sameWord(a, b Word) bool { return a.Text == b.Text && a.span == b.span }

// transfer follows a word of rsync and scp: a path, or a place on another machine.
func (c *call) transfer(way string, w Word, a *args, all []Word) {
	head := w.known()
	scheme, rest, isScheme := strings.Cut(head, "://")
	remote := ""
	switch {
	case isScheme && (scheme == "s3" || scheme == "gs" || scheme == "az" || scheme == "r2" || scheme == "abfs"):
		target := "cloud:" + scheme + "/" + rest
		if way == "to" {
			c.effect(KindSend, target, true)
		}
		c.effect(KindConnect, target, true)
		return
	case isScheme && scheme != "file":
		remote = hostOf(head)
	case strings.Contains(head, ":") && !strings.HasPrefix(head, "/") && !strings.HasPrefix(head, "./"):
		switch host, _, _ := strings.Cut(head, ":"); {
		case !strings.Contains(host, "/"):
			remote = hostOf(host)
		case c.name() == "kubectl" && strings.Count(host, "/") == 1 && host[0] != '.': // NAMESPACE/POD:FILE
			remote = path.Base(host)
		}
	}
	if remote != "" {
		if way == "to" {
			c.effect(KindSend, "host:"+remote, true)
		} else {
			c.secretAbroad(remote, head)
		}
		c.effect(KindConnect, "host:"+remote, true)
		return
	}
	if way == "from" {
		c.path(KindRead, w)
	} else {
		c.into(w, a, all)
	}
}

// secretAbroad adds that a file with secrets is copied from another machine or from a container.
func (c *call) secretAbroad(host, from string) {
	_, file, _ := strings.Cut(from, ":")
	file = strings.TrimPrefix(file, host) // of host:/path after a scheme
	if why, ok := places().secret.find(strings.TrimLeft(file, ":"), c.sh.r.env.Home, false); ok {
		c.effectWhy(KindSecret, "host:"+host, true, why)
	}
}

// remote follows the name or address of a repository.
func (c *call) remote(w Word) {
	if cmd, is := strings.CutPrefix(w.Text, "ext::"); is {
		c.shellText(c.nested(c.name()), w.with(cmd))
		return
	}
	if w.Kind == Unknown && !w.safe && w.known() == "" {
		c.doubt(DoubtWord, "which repository "+short(c.text)+" is about is only known when it runs")
	}
	if rest := w.known(); isURL(rest) || isScpLike(rest) {
		c.address(w)
	}
}

// isScpLike reports whether a text is HOST:PATH, as git and scp take it.
func isScpLike(text string) bool {
	host, _, has := strings.Cut(text, ":")
	return has && len(host) > 1 && !strings.Contains(host, "/")
}

// fromInput follows a program that runs its standard input.
func (c *call) fromInput(lang string) {
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
func (c *call) started(w Word, lang string) {
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
func (c *call) named(w Word, all []Word) {
	i := slices.IndexFunc(all, func(o Word) bool { return sameWord(o, w) })
	if i < 0 || w.Kind != Literal || strings.HasPrefix(w.Text, "-") || strings.Trim(w.Text, "./") == "" ||
		c.sh.r.t.program(programName(w.Text)) == nil ||
		ordinary[programName(w.Text)] && path.Ext(w.Text) == "" && !strings.HasPrefix(w.Text, "/usr/") {
		return
	}
	words := slices.Clone(all[i:])
	words[0].Text = programName(w.Text)
	sh := c.nested(c.name())
	sh.guess = path.Ext(w.Text) == ""
	sh.run(words, &call{text: c.text, span: c.span, env: c.env})
}

// agentProgram finds the programs of agents by the packages that they lie in.
var agentProgram = lazyregexp.New(`(?i)/(?:@anthropic-ai/claude-code|claude-code/cli|@openai/codex|codex\.js|` +
	`@google/gemini-cli|@qwen-code|@github/copilot|@sourcegraph/amp|opencode-ai|\.bin/(?:claude|codex|gemini|qwen))`)

// helper follows a program that another program runs, or loads: an option or a variable names it.
func (c *call) helper(w Word) {
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
			sh.run([]Word{w}, &call{text: c.text, span: c.span})
		}
		return
	}
	c.started(w, "")
}

// abroad adds the doubt of a program or a script from elsewhere: neither of the project nor installed.
func (c *call) abroad(w Word) {
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
func (c *call) isAtHome(target string) bool {
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
func (c *call) module(lang string, w Word, a *args) {
	if lang != "python" {
		return
	}
	name := w.Text
	c.imported("python", name)
	if c.sh.r.t.program("python -m "+name) != nil { // its entry is not that of a program of the same name
		name = "python -m " + name
	}
	if e := c.sh.r.t.program(name); e != nil && w.Kind == Literal { // python -m pip install x
		rest := a.operands
		sh := c.nested(c.name())
		sh.run(append([]Word{{Text: name, Kind: Literal}}, rest...), &call{text: c.text, span: c.span, env: c.env})
	}
}

// pack follows a package that is installed or fetched.
func (c *call) pack(w Word) {
	text := w.Text
	if _, file, is := strings.Cut(text, "file:"); is && w.Kind == Literal { // name@file:../x
		w.Text = strings.TrimPrefix(file, "//")
		text = w.Text
	}
	switch {
	case w.Kind == Unknown:
		c.effect(KindInstall, "", false)
	case isURL(text) || strings.HasPrefix(text, "git+") || strings.HasPrefix(text, "git@"):
		c.effect(KindConnect, "host:"+hostOf(strings.TrimPrefix(text, "git+")), true)
		c.effect(KindInstall, "package:"+text, true)
		c.effect(KindRun, "package:"+text, true)
	case strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~"):
		t, _ := c.absolute(text)
		c.abroad(w)
		if c.sh.r.isMade(t) {
			c.doubt(DoubtMade, "the line makes "+text+" and installs it")
		}
		c.effect(KindInstall, "package:"+t, true)
	default:
		c.effect(KindInstall, "package:"+text, true)
	}
}

// volume follows SRC:DST of a container.
func (c *call) volume(w Word) {
	src, rest, has := strings.Cut(w.Text, ":")
	if !has || src == "" || !strings.ContainsAny(src[:1], "/.~$") && w.Kind != Unknown {
		return
	}
	kind := KindWrite
	if strings.HasSuffix(rest, ":ro") || strings.Contains(rest, ":ro,") {
		kind = KindRead
	}
	if strings.HasSuffix(src, "docker.sock") {
		c.effect(KindEscalate, "user:root", true)
		return
	}
	c.mounted(kind, w.with(src))
}

// mounted follows a file or a folder that a container is given.
func (c *call) mounted(kind EffectKind, w Word) {
	c.path(kind, w)
	if target, certain := c.target(w); target != "" && kind == KindWrite && c.sh.where == "" {
		c.placed(KindMove, target, certain)
	}
}

func (c *call) mount(w Word) {
	src, bind, read := "", false, false
	for part := range strings.SplitSeq(w.Text, ",") {
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
		c.mounted(kind, w.with(src))
	}
}

// setting follows `key=value` or `key value` of a program's settings.
func (c *call) setting(of string, w Word, all []Word) {
	key, value, has := strings.Cut(w.Text, "=")
	v := w.with(value)
	if !has {
		i := slices.IndexFunc(all, func(o Word) bool { return sameWord(o, w) })
		if i < 0 || i+1 >= len(all) {
			c.abroad(w) // a file of settings
			return
		}
		v = all[i+1]
	}
	if w.Kind == Unknown && strings.Contains(key, unknownPart) {
		c.doubt(DoubtWord, "a setting of "+c.name()+" is only known when it runs")
		return
	}
	what, known := variables().setting(of, strings.ToLower(key))
	if !known || what == "_" {
		return
	}
	if rest, is := strings.CutPrefix(what, "doubt "); is {
		c.doubt(DoubtKind(rest), c.name()+" sets "+key)
		return
	}
	ro := parseRole(what)
	if ro.name == "guard" {
		c.effect(KindGuard, "setting:"+key, true)
		return
	}
	switch ro.name {
	case "shell":
		if harmlessHelpers[v.Text] || v.Text == "" {
			return
		}
		v.Text = strings.TrimPrefix(v.Text, "!")
		c.doubt(DoubtVariable, key+" of "+c.name()+" runs a command")
	case "program", "script", "options":
		if v.Text == "" || harmlessHelpers[v.Text] || v.Text == "false" || v.Text == "true" {
			return
		}
		c.doubt(DoubtVariable, key+" of "+c.name()+" says what runs")
	}
	if ro.name == "alias" {
		if cmd, is := strings.CutPrefix(v.Text, "!"); is {
			c.shellText(c.nested(c.name()), v.with(cmd))
		} else {
			c.nested(c.name()).line("git " + v.Text)
		}
		return
	}
	c.role(ro, v, &args{}, nil)
}

// variable follows a variable that is set for commands.
func (c *call) variable(name string, w Word) {
	vs := variables()
	if vs.isHarmless(name, w) {
		return
	}
	if what, ok := vs.code(name); ok {
		switch what {
		case "", "_", "doubt":
			c.doubt(DoubtVariable, name+" changes what programs run")
		case "guard":
			c.doubt(DoubtVariable, name+" changes what programs run")
			c.effect(KindGuard, "variable:"+name, true)
		default:
			if name == "PATH" && w.Text != unknownPart && isPlainPath(w, c) {
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
func isPlainPath(w Word, c *call) bool {
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

// templates gives the effects of an entry. by is the operand that a condition fitted.
func (c *call) templates(list []template, e *entry, a *args, by *Word) {
	for _, t := range list {
		if t.kind == "doubt" {
			if t.target != "none" {
				c.doubt(DoubtKind(t.target), short(c.text))
			}
			continue
		}
		if t.target == "$found" {
			if c.has(a, "-empty") && !c.has(a, "-o") && !c.has(a, "-or") { // nothing is lost
				continue
			}
			for _, w := range c.found(a) {
				c.path(EffectKind(t.kind), w)
			}
			continue
		}
		if strings.Contains(t.target, "$@") || strings.Contains(t.target, "${@") ||
			strings.Contains(t.target, "$/@") {
			c.perOperand(t, e, a, by)
			continue
		}
		c.templated(EffectKind(t.kind), t.target, e, a, by, nil)
	}
}

// perOperand gives an effect for each operand.
func (c *call) perOperand(t template, e *entry, a *args, by *Word) {
	if len(a.operands) == 0 {
		text := t.target
		if at := strings.Index(text, "${@|"); at >= 0 {
			rest := text[at+4:]
			def, after, _ := strings.Cut(rest, "}")
			c.templated(EffectKind(t.kind), text[:at]+def+after, e, a, by, nil)
		} else {
			c.templated(EffectKind(t.kind), strings.NewReplacer("$@", "", "$/@", "").Replace(text), e, a, by, nil)
		}
		return
	}
	for i := range a.operands {
		text := t.target
		if at := strings.Index(text, "${@|"); at >= 0 {
			_, after, _ := strings.Cut(text[at+4:], "}")
			text = text[:at] + "$@" + after
		}
		c.templated(EffectKind(t.kind), text, e, a, by, &a.operands[i])
	}
}

// templated gives one effect with its target filled in.
func (c *call) templated(kind EffectKind, text string, e *entry, a *args, by, each *Word) {
	unknown := false
	filled := c.fillWith(text, e, a, by, each, &unknown)
	if !slices.Contains(Kinds, kind) {
		return
	}
	if kind == KindRun && strings.HasPrefix(filled, "image:") && !unknown {
		filled = ofImage(c, a, filled)
	}
	isPath := strings.HasPrefix(filled, "/") || strings.HasPrefix(filled, "~") || strings.HasPrefix(filled, ".")
	switch {
	case isPath && (kind == KindRead || kind == KindWrite || kind == KindDelete || kind == KindMove ||
		kind == KindConfigure ||
		kind == KindGuard || kind == KindSecret || kind == KindRun):
		t := filled
		if c.sh.where == "" {
			t, _ = c.absolute(filled)
		} else {
			t = c.sh.where + ":" + filled
		}
		if kind == KindRead || kind == KindWrite || kind == KindDelete || kind == KindMove {
			c.onPath(kind, t, !unknown)
			return
		}
		c.effect(kind, t, !unknown)
	case unknown && (filled == "" || filled == "*" || strings.HasSuffix(filled, ":*") && !strings.Contains(text, "*")):
		c.effect(kind, filled, false)
	default:
		if c.sh.where != "" && filled != "" {
			filled = c.sh.where + ":" + filled
		}
		c.effectWhy(kind, cmp.Or(filled, string(kind)+":"), true, "")
		if kind == KindRun && strings.HasSuffix(filled, "program:agent") && (c.sh.where != "" || c.isElsewhere()) {
			c.effectWhy(KindGuard, "program:agent", true, "starts an agent where its hooks are not")
		}
	}
	if kind == KindRun && strings.HasPrefix(filled, "project:") {
		c.runsProject()
	}
	if kind == KindRun && isPath {
		c.runsMade(filled, "", filled)
	}
}

// opensContainer are options by which a container reaches this machine, or goes on running.
var opensContainer = names(`
	-v --volume --mount --volumes-from --privileged --pid --ipc --uts --userns --cap-add --device --device-cgroup-rule
	--security-opt -d --detach --restart -p --publish -P --publish-all --env-file --secret --group-add --cgroupns
	--cgroup-parent --runtime --add-host --env-host --image-volume --pod --link`)

// ofImage is the target of a container that runs. An image with the name of the project belongs to the project. An
// image of another name that gets nothing of this machine is an unknown program.
func ofImage(c *call, a *args, target string) string {
	name := strings.TrimPrefix(target, "image:")
	last := path.Base(name)
	if own, _, _ := strings.Cut(last, ":"); own == path.Base(c.sh.r.env.Cwd) {
		return "image:" + last
	}
	network := ""
	for _, g := range a.given {
		switch {
		case opensContainer[g.name]:
			return target
		case (g.name == "--network" || g.name == "--net") && g.value != nil:
			network = g.value.Text
		}
	}
	if !strings.Contains(name, "/") || network != "" && network != "none" && network != "bridge" {
		return target
	}
	if network != "none" {
		c.doubt(DoubtProgram, "the image "+name+" is not of this project")
	}
	return "container:" + name
}

// isElsewhere reports whether the command has another home folder than the user.
func (c *call) isElsewhere() bool {
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME"} {
		w, known := c.sh.vars[name]
		if i := slices.IndexFunc(c.env, func(a Assign) bool { return a.Name == name }); i >= 0 {
			w, known = c.env[i].Value, true
		}
		if known && w.Text != c.sh.r.env.Home {
			return true
		}
	}
	return false
}

// fill fills the placeholders of a text.
func (c *call) fill(text string, a *args, by *Word) string {
	var unknown bool
	return c.fillWith(text, nil, a, by, nil, &unknown)
}

func (c *call) fillWith(text string, e *entry, a *args, by, each *Word, unknown *bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 >= len(text) {
			b.WriteByte(text[i])
			continue
		}
		rest := text[i+1:]
		name, n := "", 0
		switch {
		case rest[0] == '{':
			end := strings.IndexByte(rest, '}')
			if end < 0 {
				b.WriteByte('$')
				continue
			}
			name, n = rest[1:end], end+1
		case rest[0] == '/' && len(rest) > 1:
			name, n = rest[:2], 2
		case rest[0] == '-':
			n = 1
			for n < len(rest) && (rest[n] == '-' || rest[n] >= 'a' && rest[n] <= 'z' || rest[n] >= 'A' &&
				rest[n] <= 'Z') {
				n++
			}
			name = rest[:n]
		case strings.HasPrefix(rest, "host"):
			name, n = "host", 4
		default:
			name, n = rest[:1], 1
		}
		whole := strings.HasSuffix(b.String(), "url:")
		b.WriteString(c.placeholder(name, e, a, by, each, whole, unknown))
		i += n
	}
	return strings.ReplaceAll(b.String(), "host:host:", "host:")
}

// placeholder is the value of one placeholder: the first of its alternatives that is given. whole
// means as it is written, and not the host of an address.
func (c *call) placeholder(name string, e *entry, a *args, by, each *Word, whole bool, unknown *bool) string {
	names, def, _ := strings.Cut(name, "|")
	for alt := range strings.FieldsSeq(names) {
		last := strings.HasPrefix(alt, "/")
		alt = strings.TrimPrefix(alt, "/")
		var w *Word
		ro := role{}
		switch {
		case alt == "*":
			w = by
		case alt == "@":
			if w = each; w != nil && e != nil {
				for i := range a.operands {
					if &a.operands[i] == each {
						ro = roleAt(c.rolesOf(e.words, a), i, len(a.operands))
					}
				}
			}
		case alt == "last":
			if n := len(a.operands); n > 0 {
				w = &a.operands[n-1]
				if e != nil {
					ro = roleAt(c.rolesOf(e.words, a), n-1, n)
				}
			}
		case alt == "host":
			w = c.hostWord(e, a)
			ro = role{name: "host"}
		case strings.HasPrefix(alt, "-"):
			for i := range c.options {
				if c.options[i].name == alt && c.options[i].value != nil {
					w, ro = c.options[i].value, c.options[i].role
				}
			}
		default:
			if n, err := strconv.Atoi(alt); err == nil && n >= 1 && n <= len(a.operands) {
				w = &a.operands[n-1]
				if e != nil {
					ro = roleAt(c.rolesOf(e.words, a), n-1, len(a.operands))
				}
			}
		}
		if w == nil || w.Text == "" {
			continue
		}
		if w.Kind == Unknown {
			*unknown = true
		}
		if whole {
			ro = role{}
		}
		return c.shown(*w, ro, last)
	}
	return def
}

// shown is a word as it stands in a target.
func (c *call) shown(w Word, ro role, last bool) string {
	text := strings.ReplaceAll(w.Text, unknownPart, "*")
	if last {
		text, _, _ = strings.Cut(text, "?")
		return strings.TrimSuffix(path.Base(strings.TrimSuffix(text, "/")), ".git")
	}
	switch ro.name {
	case "read", "write", "delete", "move", "into", "script", "program", "cd":
		if t, ok := c.target(w); t != "" || ok {
			return t
		}
		return ""
	case "name":
		return ro.arg + ":" + text
	case "user", "unit", "process", "table":
		return ro.name + ":" + text
	case "remote":
		if isURL(text) || isScpLike(text) {
			return "host:" + hostOf(text)
		}
		if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/") {
			return c.anyPath(w)
		}
		return "remote:" + text
	case "from", "to":
		if head, _, _ := strings.Cut(text, "/"); strings.Contains(head, ":") {
			return "host:" + hostOf(text)
		}
		return c.anyPath(w)
	case "host", "url", "address":
		return "host:" + hostOf(text)
	}
	return text
}

// hostWord is the word that says which host a command is about.
func (c *call) hostWord(e *entry, a *args) *Word {
	for i := range c.options {
		switch c.options[i].role.name {
		case "host", "url", "remote":
			if c.options[i].value != nil {
				return c.options[i].value
			}
		case "name": // psql --dbname=postgres://HOST/shop
			if v := c.options[i].value; v != nil && isURL(v.Text) {
				return v
			}
		}
	}
	if e == nil {
		return nil
	}
	for i := range a.operands {
		switch roleAt(c.rolesOf(e.words, a), i, len(a.operands)).name {
		case "host", "url", "remote":
			return &a.operands[i]
		case "name":
			if isURL(a.operands[i].Text) {
				return &a.operands[i]
			}
		}
	}
	return nil
}
