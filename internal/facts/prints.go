package facts

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"path"
	"slices"
	"strings"
)

// printing is a command, asked for its output.
type printing struct {
	*finder
	name string // of the program, and of its subcommand
	a    *args
}

// prints is the known output of a few commands.
func (p *printing) prints(words []Word) (output, bool) {
	if list := p.listed(); list != nil {
		return output{words: list, origin: p.name}, true
	}
	switch p.name {
	case "echo", "gecho":
		return echoed(words)
	case "printf":
		return formatted(words)
	case ":", "true", "false", "exec":
		return output{known: true}, true
	case "jq":
		if len(p.a.operands) > 0 && p.a.operands[0].Text == "empty" {
			return output{known: true}, true
		}
		return output{origin: cmp.Or(p.sh.stdin.origin, p.name)}, true
	case "cat", "tee", "head", "tail", "sort", "uniq":
		return p.lines(), true
	case "pwd":
		if p.sh.cwd != "" && p.sh.where == "" {
			return output{known: true, text: p.sh.cwd + "\n"}, true
		}
	case "git rev-parse":
		if text := p.repository(); text != "" {
			return output{known: true, text: text + "\n"}, true
		}
		return output{safe: true, origin: p.name}, true
	case "mktemp", "gmktemp":
		w := Word{Text: "/tmp/tmp.*", Kind: Pattern}
		return output{words: []Word{w}, origin: p.name}, true
	case "which", "command", "gwhich":
		if w := p.a.operands; len(w) == 1 && w[0].Kind == Literal && !strings.Contains(w[0].Text, "/") &&
			(p.name != "command" || p.a.has("-v")) {
			return output{known: true, text: "/usr/bin/" + w[0].Text + "\n"}, true
		}
	case "dirname", "basename", "realpath", "readlink":
		return p.partOfPath()
	case "base64", "gbase64", "xxd", "rev":
		return p.turned()
	case "tr", "sed", "awk", "cut", "grep", "gunzip", "zcat", "openssl":
		return output{origin: cmp.Or(p.sh.stdin.origin, p.name)}, true
	}
	if printsPlainWord[p.name] {
		return output{safe: true, origin: p.name}, true
	}
	return output{}, false
}

// printsPlainWord are commands that print one word which is no option and no path, such as a number.
var printsPlainWord = map[string]bool{
	"date": true, "nproc": true, "wc": true, "id": true, "whoami": true, "hostname": true, "uname": true, "seq": true,
	"expr": true, "arch": true, "tty": true, "git rev-list": true, "git symbolic-ref": true, "git branch": true,
	"git describe": true, "stat": true, "sha256sum": true, "md5sum": true, "uuidgen": true, "lsb_release": true,
	"getconf": true, "sw_vers": true, "pgrep": true, "pidof": true,
}

// lines is the output of a command that prints lines of its files, or of its input.
func (p *printing) lines() output {
	if p.a.takesNothing() {
		return output{known: true}
	}
	in := p.sh.stdin
	switch {
	case len(p.a.operands) > 0:
		return output{origin: "file " + p.a.operands[0].Text}
	case !in.has:
		return output{origin: p.name}
	}
	p.sh.takes()
	if p.name == "cat" || p.name == "tee" {
		return output{known: in.known, text: in.text, words: in.words, origin: cmp.Or(in.origin, p.name)}
	}
	return output{words: in.words, origin: cmp.Or(in.origin, p.name)}
}

// partOfPath is the output of a command that prints a path in another form.
func (p *printing) partOfPath() (output, bool) {
	if len(p.a.operands) != 1 || p.a.operands[0].Kind != Literal {
		return output{}, false
	}
	text := p.a.operands[0].Text
	switch p.name {
	case "dirname":
		text = path.Dir(text)
	case "basename":
		text = path.Base(text)
	default:
		text, _ = p.absolute(text)
	}
	return output{known: true, text: text + "\n"}, true
}

// turned is the output of a command that decodes its input, or turns it around.
func (p *printing) turned() (output, bool) {
	in := p.sh.stdin
	if !in.known {
		return output{}, false
	}
	joined := strings.Join(strings.Fields(in.text), "")
	switch {
	case p.name == "rev":
		b := []rune(strings.TrimSuffix(in.text, "\n"))
		slices.Reverse(b)
		return output{known: true, text: string(b) + "\n", origin: p.name}, true
	case p.name == "xxd" && p.a.has("-r"):
		if b, err := hex.DecodeString(joined); err == nil {
			return output{known: true, text: string(b), origin: p.name}, true
		}
	case p.name != "xxd" && (p.a.has("-d") || p.a.has("-D") || p.a.has("--decode")):
		if b, err := base64.StdEncoding.DecodeString(joined); err == nil {
			return output{known: true, text: string(b), origin: p.name}, true
		}
	}
	return output{}, false
}

// listed returns the words that a program which lists files prints; nil = they are not known.
func (p *printing) listed() []Word {
	in := p.sh.stdin
	switch p.name {
	case "find", "gfind", "fd", "fdfind":
		return p.found(p.a)
	case "ls", "gls":
		return listedNames(p.a)
	case "git ls-files", "git grep", "git diff":
		return []Word{{Text: "**/*", Kind: Pattern}}
	case "grep", "ggrep", "egrep", "fgrep", "rg":
		switch {
		case slices.ContainsFunc(p.a.given, func(g given) bool { return listsFiles[g.name] }):
			return namedFiles(p.a.operands[min(1, len(p.a.operands)):])
		case len(p.a.operands) == 1:
			return filtered(in.words, p.a.operands[0], p.a.has("-v") || p.a.has("--invert-match"))
		}
	case "sort", "gsort", "uniq", "head", "ghead", "tail", "gtail", "shuf", "cat", "tee", "tac", "xargs":
		if len(p.a.operands) == 0 {
			return in.words
		}
	case "tr":
		return in.words
	}
	return nil
}

// repository is the output of git rev-parse about the places of a repository; "" = the command asks
// for something else, or the folder is not known.
func (p *printing) repository() string {
	folder := p.folder()
	if folder == "" || p.sh.where != "" {
		return ""
	}
	for _, g := range p.a.given {
		switch g.name {
		case "--show-toplevel":
			return folder
		case "--git-dir", "--git-common-dir", "--absolute-git-dir":
			return folder + "/.git"
		case "--git-path":
			if len(p.a.operands) > 0 {
				return folder + "/.git/" + p.a.operands[0].Text
			}
		}
	}
	return ""
}

// countsOutput are the options of head and tail that say how much they print.
var countsOutput = names("-c -n --bytes --lines")

// takesNothing reports whether a command prints nothing: its only file is /dev/null, or it prints 0 bytes or lines.
func (a *args) takesNothing() bool {
	for _, g := range a.given {
		if g.value != nil && g.value.Text == "0" && countsOutput[g.name] {
			return true
		}
	}
	return len(a.operands) > 0 && !slices.ContainsFunc(a.operands, func(w Word) bool { return w.Text != "/dev/null" })
}

func echoed(words []Word) (output, bool) {
	plain := true
	for len(words) > 0 && (words[0].Text == "-n" || words[0].Text == "-e" || words[0].Text == "-ne" ||
		words[0].Text == "-en" || words[0].Text == "-E") {
		plain = plain && !strings.Contains(words[0].Text, "e")
		words = words[1:]
	}
	out, ok := said(words, plain)
	if plain && out.known && unescaped(out.text, true) != out.text { // zsh and dash take \\n for the end of a line
		return output{origin: "echo"}, ok
	}
	return out, ok
}

func said(words []Word, plain bool) (output, bool) {
	var texts []string
	unknown, from := false, ""
	for _, w := range words {
		texts = append(texts, w.Text)
		unknown = unknown || w.Kind == Unknown
		from = cmp.Or(from, w.from)
	}
	text := strings.Join(texts, " ")
	if !plain {
		text = unescaped(text, true)
	}
	if unknown {
		w := Word{Text: text, Kind: Unknown, from: from}
		if len(words) == 1 {
			w = words[0]
		}
		return output{words: []Word{w}, origin: cmp.Or(from, "echo")}, true
	}
	if slices.ContainsFunc(words, func(w Word) bool { return w.Kind == Pattern }) {
		return output{words: words, origin: "echo"}, true
	}
	return output{known: true, text: text + "\n"}, true
}

// mostRepeats is how often printf uses its format again for more words.
const mostRepeats = 256

// formatted is the output of printf for formats with %s, %b, %d and %%.
func formatted(words []Word) (output, bool) {
	if len(words) > 0 && words[0].Text == "--" {
		words = words[1:]
	}
	if len(words) == 0 || words[0].Text == "-v" {
		return output{known: len(words) > 0}, len(words) > 0
	}
	format, rest := words[0], words[1:]
	plain := strings.NewReplacer("%s", "", "%b", "", "%d", "", "%%", "").Replace(format.Text)
	dark := format.Kind == Unknown || slices.ContainsFunc(rest, func(w Word) bool { return w.Kind == Unknown })
	switch {
	case len(rest) == 1 && strings.Trim(ansiC(format.Text), "%dxo\n-") == "":
		return output{safe: true, origin: "printf"}, true
	case strings.Contains(plain, "%"):
		return output{origin: "printf"}, true
	case dark && strings.Trim(ansiC(plain), " \n") == "":
		return said(rest, true)
	case dark:
		return said([]Word{{Text: unknownPart, Kind: Unknown, from: cmp.Or(fromOf(words), "printf")}}, true)
	}
	var b strings.Builder
	for n := 0; n == 0 || len(rest) > 0; n++ {
		before := len(rest)
		if n > mostRepeats {
			return output{origin: "printf"}, true
		}
		for text := format.Text; text != ""; {
			literal, after, found := strings.Cut(text, "%")
			if b.WriteString(ansiC(literal)); !found {
				break
			}
			text = after[1:]
			if after[0] == '%' {
				b.WriteByte('%')
				continue
			}
			word := ""
			if len(rest) > 0 {
				word, rest = rest[0].Text, rest[1:]
			}
			if after[0] == 'b' {
				word = unescaped(word, true)
			}
			b.WriteString(word)
		}
		if len(rest) == before {
			break
		}
	}
	return output{known: true, text: b.String(), origin: fromOf(words)}, true
}

func fromOf(words []Word) (from string) {
	for _, w := range words {
		from = cmp.Or(from, w.from)
	}
	return from
}
