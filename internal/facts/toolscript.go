package facts

import (
	"cmp"
	"path"
	"strings"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// toolScript is a text in the language of a tool, such as sed or SQL.
type toolScript struct {
	*finder
	w Word
}

// follow follows the text; known is false where no tool has a language of that name.
func (s *toolScript) follow(lang string) (known bool) {
	switch lang {
	case "sh":
		s.shellText(s.nested(s.name()), s.w)
	case "sed":
		s.sed()
	case "awk":
		s.awk()
	case "sql":
		s.sql(s.w.Text)
	case "powershell":
		(&powershell{s.finder}).follow(s.w.Text)
	case "sftp":
		s.transfers()
	case "jq":
		s.jq()
	case "envsubst":
		s.envsubst()
	case "redis":
		for line := range strings.Lines(s.w.Text) {
			s.nested(s.name()).line("redis-cli " + strings.TrimSpace(line))
		}
	case "dc":
		for line := range strings.Lines(s.w.Text) {
			if _, command, has := strings.Cut(line, "!"); has {
				s.nested(s.name()).line(command)
			}
		}
	case "rpm":
		s.rpm()
	case "make":
		s.doubt(DoubtCode, "the makefile is not read in full")
		s.makefile()
	case "cmd":
		text := cmdHome.ReplaceAllString(strings.ReplaceAll(s.w.Text, `\`, "/"), "~")
		text = cmdType.ReplaceAllString(text, "${1}cat ") // type of cmd prints a file
		s.nested("cmd").line(cmdVariable.ReplaceAllString(text, "$${$1}"))
	default:
		return false
	}
	return true
}

var (
	cmdHome     = lazyregexp.New(`(?i)%(?:userprofile|homedrive%%homepath|homepath|home)%`)
	cmdType     = lazyregexp.New(`(?i)(^|[&|(]\s*)type\s+`)
	cmdVariable = lazyregexp.New(`%([A-Za-z_][A-Za-z0-9_]*)%`)
)

// jq follows the variables that a program of jq or yq shows, and the files that it reads.
func (s *toolScript) jq() {
	for _, found := range yqLoad.FindAllStringSubmatch(s.w.Text, 8) {
		s.path(KindRead, literal(found[1]))
	}
	for _, found := range jqVariable.FindAllStringSubmatch(s.w.Text, 8) {
		if name := found[1]; name == "" || isSecretVariable(name) {
			s.effect(KindSecret, "env:"+cmp.Or(name, "*"), true)
		}
	}
}

// envsubst follows the variables in a text of envsubst.
func (s *toolScript) envsubst() {
	for _, found := range shellVariable.FindAllStringSubmatch(s.w.Text, 32) {
		if isSecretVariable(found[1]) {
			s.effect(KindSecret, "env:"+found[1], true)
		}
	}
}

// rpm follows a macro of rpm: %(…) runs a shell.
func (s *toolScript) rpm() {
	for _, found := range rpmShell.FindAllStringSubmatch(s.w.Text, 8) {
		s.nested(s.name()).line(found[1])
	}
	if strings.Contains(s.w.Text, "%{lua:") {
		s.doubt(DoubtEval, "rpm runs code of Lua")
	}
}

var (
	rpmShell      = lazyregexp.New(`%\((.*?)\)`)
	yqLoad        = lazyregexp.New(`\bload(?:_\w+)?\(\s*"([^"]*)"`)
	jqVariable    = lazyregexp.New(`(?:\$ENV|(?:^|[^.\w"$@])(?:str)?env\b)(?:[.(]([A-Za-z_][A-Za-z0-9_]*)|(?:[^\w:"]|$))`)
	shellVariable = lazyregexp.New(`\$\{?([A-Za-z_][A-Za-z0-9_]*)`)
)

// transfers follows the commands of sftp, ftp and lftp.
func (s *toolScript) transfers() {
	host := "host:"
	if words := (&filler{finder: s.finder}).hostWords(); len(words) > 0 {
		host += hostOf(words[0].Text)
	} else if len(s.words) > 1 {
		host += hostOf(s.words[len(s.words)-1].Text)
	}
	for line := range strings.FieldsFuncSeq(s.w.Text, func(r rune) bool { return r == '\n' || r == ';' }) {
		if command, is := strings.CutPrefix(strings.TrimSpace(line), "!"); is {
			s.nested(s.name()).line(command)
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
					s.path(KindRead, Word{Text: strings.Trim(file, `'"`), Kind: Literal})
				}
			}
			s.effect(KindSend, host, true)
		case "get", "mget", "reget", "recv":
			s.path(KindWrite, Word{Text: path.Base(words[len(words)-1]), Kind: Literal})
		case "rm", "rmdir", "delete", "mdelete", "mrm":
			s.effect(KindDelete, host, true)
		}
	}
}
