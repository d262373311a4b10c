package facts

import (
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// Words that name an effect of a command whose program, subcommand or option is in no table. An
// effect that they give is never certain.
var (
	destroyVerbs = wordLists["destroyVerbs"]
	endVerbs     = names("leave stop kill terminate shutdown reboot poweroff halt quit")
	publishVerbs = names("publish push upload deploy submit")
	changeVerbs  = names("apply rollback failover promote scale drain resize restore reset flush rotate revoke migrate")
	mailVerbs    = names("send post notify email sms broadcast")
	showVerbs    = names("get show read view reveal print dump list ls cat fetch pull export download access")
	secretNouns  = wordLists["secretNouns"]
	openVerbs    = names("shell console repl bash sh zsh ssh attach dbshell dbconsole psql")
)

// mildWords name deeds that only show, check, build or run something of the project.
var mildWords = wordLists["mildWords"]

// plainFirst returns the first word that is no option.
func plainFirst(words []Word) string {
	i := slices.IndexFunc(words, func(w Word) bool { return !strings.HasPrefix(w.Text, "-") })
	if i < 0 {
		return ""
	}
	return words[i].Text
}

// plainWord is a word that may be a subcommand.
var plainWord = lazyregexp.New(`^[A-Za-z][A-Za-z]*(?:[-_:][A-Za-z]+)*$`)

// parts are the words of a name, in small letters: drop-all, dropAll, db:drop.
func parts(name string) []string { return verbsOf(strings.ReplaceAll(name, "__", "_")) }

func anyOf(words []string, of map[string]bool) bool {
	return slices.ContainsFunc(words, func(w string) bool { return of[w] })
}

// guesser adds the effects that the words of a command name, where the tables do not tell them.
type guesser struct{ *finder }

// verbs adds the effects that the words of a command name: `borg delete`, `gvfs-rm FILE`, `x --purge`.
// It is for commands that no table knows.
func (g *guesser) verbs(name string, words []Word) {
	base := programName(name)
	if of := parts(base); len(of) > 1 && (destroyVerbs[of[0]] || destroyVerbs[of[len(of)-1]]) {
		for _, w := range words {
			if !strings.HasPrefix(w.Text, "-") {
				g.path(KindDelete, w)
			}
		}
		g.effect(KindDelete, "data:"+base, false)
	}
	for i, w := range words {
		g.mentions(w)
		if i > 0 && takesCode[words[i-1].Text] && w.Kind != Unknown && strings.ContainsAny(w.Text, "({;") {
			g.doubt(DoubtCode, "what "+base+" runs is code of a language that is not read")
		}
	}
	var said []string // the words that may be subcommands
	for _, w := range words {
		switch {
		case w.Kind == Unknown:
		case strings.HasPrefix(w.Text, "-"):
			g.optionVerb(base, w.Text)
		case strings.ContainsAny(w.Text, " \n") && looksLikeSQL(w.Text):
			g.code("sql", w)
		case len(said) < 3 && plainWord.MatchString(w.Text):
			said = append(said, w.Text)
		}
	}
	for i, w := range said {
		g.verb(base, i, parts(w))
	}
	if len(said) > 0 && g.sh.r.t.program(base) == nil && said[0] == plainFirst(words) &&
		!anyOf(parts(said[0]), mildWords) {
		g.doubt(DoubtSubcommand, base+" "+said[0]+" is not in the tables")
	}
	if len(said) > 1 {
		g.showsSecret(base, said)
	}
	if len(said) > 0 && openVerbs[strings.ToLower(said[0])] && len(words) < 4 {
		g.doubt(DoubtOpen, short(g.text)+" may be left open for commands")
	}
}

// disks finds a device with data of its own.
var disks = lazyregexp.New(`^/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|md|dm-|r?disk|mapper/)`)

// mentions adds possible effects from the place of a file among the words of an unknown program: the
// program may read or change the file.
func (g *guesser) mentions(w Word) {
	_, value, has := strings.Cut(w.Text, "=")
	switch {
	case has:
		w = w.with(value)
	case strings.HasPrefix(w.Text, "-"):
		return
	}
	text := strings.TrimPrefix(w.Text, "@")
	if w.Kind == Unknown || text == "" || len(text) > maxPath || strings.ContainsAny(text, " \n:;|&<>()") {
		return
	}
	target, ok := g.absolute(text)
	if !ok || g.sh.where != "" {
		return
	}
	if disks.MatchString(target) {
		g.effect(KindWrite, target, false)
	}
	g.placed(KindRead, target, false)
	g.placed(KindWrite, target, false)
}

// verb adds the effect that a subcommand names, the i-th word of the command.
func (g *guesser) verb(base string, i int, of []string) {
	if len(of) == 0 {
		return
	}
	ends := []string{of[0], of[len(of)-1]}
	switch {
	case anyOf(ends, destroyVerbs):
		g.effect(KindDelete, "data:"+base, false)
	case i > 1:
	case anyOf(ends, endVerbs):
		g.effect(KindKill, "unit:"+base, false)
	case anyOf(ends, publishVerbs):
		g.effect(KindPublish, "data:"+base, false)
	case anyOf(ends, changeVerbs):
		g.effect(KindWrite, "cloud:"+base, false)
	case i == 0 && mailVerbs[of[0]]:
		g.effect(KindSend, "service:"+base, false)
	case of[0] == "decrypt" || of[0] == "reveal" || anyOf(of, showVerbs) && anyOf(of, secretNouns):
		g.effect(KindSecret, "tool:"+base, false)
	}
}

// looksOnly name deeds of a command of a cloud that change nothing.
var looksOnly = wordLists["looksOnly"]

// beyondTables adds that a command of a cloud may change it, where neither the tables nor a word of the command say
// that it only looks: oci compute instance terminate.
func (p *applier) beyondTables() {
	all := p.sh.r.out.Effects
	if !slices.ContainsFunc(p.e.effects, func(t template) bool {
		return t.kind == "connect" && strings.HasPrefix(t.target, "cloud:")
	}) || slices.ContainsFunc(all[min(p.from, len(all)):], func(e Effect) bool {
		return e.Kind != KindConnect && e.Kind != KindRead
	}) {
		return
	}
	said := strings.Fields(p.called)[1:]
	for _, w := range p.a.operands {
		if plainWord.MatchString(w.Text) {
			said = append(said, w.Text)
		}
	}
	for i, w := range said {
		of := parts(w)
		if len(of) > 1 && anyOf(of, showVerbs) && anyOf(of, secretNouns) { // get-credentials
			p.effect(KindSecret, "tool:"+p.name(), false)
			return
		}
		if i < 5 && anyOf(of, looksOnly) {
			return
		}
	}
	if len(said) > 1 {
		p.effect(KindWrite, "cloud:"+p.name(), false)
	}
}

// verbsOfOthers adds the effect that a subcommand names which the tables do not have, of a program that they have:
// consul leave.
func (p *applier) verbsOfOthers() {
	path := strings.Fields(p.called)
	all := p.sh.r.out.Effects
	for i, w := range p.words { // mix run -e CODE
		if i > 0 && strings.Contains(p.e.Options, "*") && takesCode[p.words[i-1].Text] &&
			strings.ContainsAny(w.Text, "({;") &&
			slices.ContainsFunc(p.a.operands, func(o Word) bool { return o.Text == w.Text }) {
			p.doubt(DoubtProgram, "what "+path[0]+" runs is code of a language that is not read")
		}
	}
	if !strings.Contains(p.e.Options, "*") || scriptRunners[path[0]] || len(path) < 2 && p.e.Words != "_..." ||
		quietPrograms[path[0]] || slices.ContainsFunc(all[min(p.from, len(all)):], func(e Effect) bool {
		return e.Kind != KindConnect && e.Kind != KindRead && e.Kind != KindRun
	}) {
		return
	}
	if len(path) < 2 && !slices.ContainsFunc(p.e.effects, func(t template) bool { return t.kind != "read" }) {
		return // a program that only looks at texts and files
	}
	said := path[1:]
	for _, w := range p.a.operands[:min(2, len(p.a.operands))] {
		if plainWord.MatchString(w.Text) && w.Kind == Literal {
			said = append(said, w.Text)
		}
	}
	k := guesser{p.guessed()}
	for i, w := range p.a.operands { // consul kv get app/db_password
		if i > 0 && anyOf(parts(p.a.operands[i-1].Text), showVerbs) && anyOf(parts(w.Text), secretNouns) {
			k.effect(KindSecret, "tool:"+path[0], false)
		}
	}
	if anyOf(parts(path[len(path)-1]), looksOnly) { // prisma migrate status
		return
	}
	for i, w := range said[:min(3, len(said))] {
		if of := parts(w); anyOf(of, mildWords) || anyOf(of, looksOnly) {
			return
		}
		k.verb(path[0], i, parts(w))
	}
}

// quietPrograms have words that are no subcommands, such as names of files, tests or targets.
var quietPrograms = wordLists["quietPrograms"]

// contentPrinters print the content of files, or the environment.
var contentPrinters = wordLists["contentPrinters"]

// streamed finds an address that a program of sound and pictures, or of data, sends to.
var streamed = lazyregexp.New(`^(?:tcp|udp|rtmps?|rtsp|srt|rtp)://`)

// ofVersion finds a file that holds a version alone, which is a part of many addresses.
var ofVersion = lazyregexp.New(`(?i)version|\.nvmrc$`)

// streams adds that a program sends sound, pictures or data to an address among its operands.
func (p *applier) streams() {
	for _, w := range p.a.operands {
		if streamed.MatchString(w.Text) {
			p.effect(KindSend, "host:"+hostOf(w.known()), false)
		}
	}
}

// printsContent reports whether the origin of a word prints the content of files, or the environment.
func printsContent(from string) bool {
	file, isFile := strings.CutPrefix(from, "file ")
	return contentPrinters[from] || isFile && !ofVersion.MatchString(file)
}

// sendsContent adds that a command sends what another one printed, where a word of it is computed so and it
// connects to another machine: curl -H "X: $(cat notes.md)" example.org.
func (p *applier) sendsContent() {
	all := p.sh.r.out.Effects
	mine := all[min(p.from, len(all)):]
	at := slices.IndexFunc(mine, func(e Effect) bool {
		return e.Kind == KindConnect && (e.Target == "" || strings.HasPrefix(e.Target, "host:"))
	})
	if p.name() == "ssh" || p.name() == "git" {
		return
	}
	target := ""
	if i := slices.IndexFunc(p.a.operands, func(w Word) bool { return isURL(w.known()) }); at >= 0 {
		target = mine[at].Target
	} else if i >= 0 {
		target = "host:" + hostOf(p.a.operands[i].known())
	} else {
		return
	}
	computed := func(w Word) bool { return w.Kind == Unknown && printsContent(w.from) }
	if slices.ContainsFunc(p.a.operands, computed) ||
		slices.ContainsFunc(p.a.given, func(g given) bool { return g.value != nil && computed(*g.value) }) {
		p.effect(KindSend, target, false)
	}
}

// showsSecret adds that a command shows a secret: `x secrets get KEY`, `x get password`.
func (g *guesser) showsSecret(base string, said []string) {
	var of []string
	for _, w := range said[:min(2, len(said))] {
		of = append(of, parts(w)...)
	}
	if anyOf(of, showVerbs) && anyOf(of, secretNouns) {
		g.effect(KindSecret, "tool:"+base, false)
	}
}

// optionVerb adds the effect that an option in no table names: --delete-all, --purge.
func (g *guesser) optionVerb(base, text string) {
	if !strings.HasPrefix(text, "--") {
		return
	}
	name, _, _ := strings.Cut(strings.TrimLeft(text, "-"), "=")
	if of := parts(name); len(of) > 0 && len(of[0]) > 2 && destroyVerbs[of[0]] {
		g.effect(KindDelete, "data:"+base, false)
	}
}

// verbsOfOptions does so for options that the tables know, where the command has no effect that they tell.
func (p *applier) verbsOfOptions() {
	all := p.sh.r.out.Effects
	if quietPrograms[p.name()] || slices.ContainsFunc(all[min(p.from, len(all)):], func(e Effect) bool {
		return e.Kind != KindConnect && e.Kind != KindRead
	}) {
		return
	}
	for _, g := range p.a.given {
		if g.value == nil {
			(&guesser{p.finder}).optionVerb(p.name(), g.name)
		}
	}
}

// rawPeers send their input to a service as it is.
var rawPeers = names("nc ncat netcat nc.traditional nc.openbsd socat telnet websocat")

// types adds the effects that a text names, which a service is given as it is: flush_all.
func (g *guesser) types(text string) {
	if strings.Contains(text, "HTTP/") {
		return
	}
	for line := range strings.Lines(text) {
		for i, w := range strings.Fields(line) {
			if i < 2 {
				g.verb("service", i, parts(w))
			}
		}
	}
}

// scriptRunners are programs whose words name scripts of a project.
var scriptRunners = wordLists["scriptRunners"]

// urlRunners run a script that they fetch.
var urlRunners = names("bun deno dotnet dotnet-script jbang tsx ts-node")

// onlyTries begin names of scripts that try, check or build the thing in the rest of the name.
var onlyTries = names("test tests e2e lint check build dev start serve watch typecheck format bench dry")

// databaseNouns and undoVerbs name together a script that empties a database: db:reset, migrate:undo.
var (
	databaseNouns = names("db database migrate migration migrations schema prisma sequelize knex typeorm ecto seed flyway liquibase")
	undoVerbs     = names("reset undo down rollback revert fresh refresh recreate rebuild clean wipe")
)

// mildVerbs are common names of scripts that only delete their own products.
var mildVerbs = names("clear remove rm del prune uninstall")

// scripts adds the effects that the names of a project's scripts tell: make deploy, npm run db:drop.
func (p *applier) scripts() {
	words := strings.Fields(p.called)
	for _, w := range p.a.operands[:min(2, len(p.a.operands))] {
		if isURL(w.Text) && urlRunners[words[0]] && !(words[0] == "dotnet" && localHosts[hostOf(w.Text)]) {
			p.started(w, "")
		}
	}
	if !scriptRunners[words[0]] {
		return
	}
	said := words[1:]
	for _, w := range p.a.operands[:min(3, len(p.a.operands))] {
		if text := strings.TrimRight(w.Text, ":*"); w.Kind != Unknown && plainWord.MatchString(text) {
			said = append(said, text)
		}
	}
	k := guesser{p.guessed()}
	for _, w := range said {
		of := parts(w)
		if len(of) == 0 { // yarn .
			continue
		}
		ends := []string{of[0], of[len(of)-1]}
		switch {
		case onlyTries[of[0]]:
		case anyOf(of, databaseNouns) && anyOf(of, undoVerbs):
			k.effect(KindDelete, "data:project", false)
		case slices.ContainsFunc(of, func(v string) bool { return destroyVerbs[v] && !mildVerbs[v] }):
			k.effect(KindDelete, "data:project", false)
		case ends[0] == "deploy" || ends[0] == "publish" || ends[0] == "release" || ends[1] == "deploy" ||
			ends[1] == "publish":
			k.effect(KindPublish, "data:project", false)
		case ends[1] == "decrypt" || anyOf(of, showVerbs) && anyOf(of, secretNouns):
			k.effect(KindSecret, "tool:"+words[0], false)
		}
	}
}
