package facts

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// powershell follows scripts of PowerShell.
type powershell struct{ *finder }

// follow follows a PowerShell script: its commands are run by the tables, as far as they
// are words, strings and pipes. All other parts are doubt.
func (s *powershell) follow(text string) {
	if decoded, ok := decodePowershell(text); ok {
		text = decoded
	}
	p := &powershellReader{text: text, vars: map[string]Word{}, inputs: map[int]string{}}
	p.script()
	s.members(text)
	for _, name := range p.shown {
		s.effect(KindSecret, "env:"+name, true)
	}
	if p.odd != "" {
		s.doubt(DoubtCode, "PowerShell is not read in full: "+short(p.odd))
	}
	for i, words := range p.commands {
		sh := s.nested("powershell")
		if text, has := p.inputs[i]; has {
			sh.stdin = input{has: true, known: true, text: text}
		}
		k := &finder{text: short(joinWordsText(words)), span: s.span, env: s.env}
		switch first := strings.ToLower(words[0].Text); {
		case words[0].Kind == Unknown && !strings.Contains(words[0].Text, "="):
			s.doubt(DoubtWord, "which command PowerShell runs is only known when it runs")
			if len(words) > 1 {
				s.guesses(words[1:])
			}
		case first == "iex" || first == "invoke-expression":
			if len(words) > 1 && words[len(words)-1].Kind == Literal {
				s.nestedScript(words[len(words)-1].Text)
			} else {
				s.doubt(DoubtEval, "PowerShell runs text that is made when it runs")
			}
		default:
			if own, is := powershellAliases[first]; is {
				words[0].Text = own
			}
			s.environmentDrive(words)
			if first == "join-path" && len(words) == 3 && words[1].Kind == Literal && words[2].Kind == Literal {
				target, _ := s.absolute(words[1].Text + "/" + words[2].Text)
				s.placed(KindRead, target, false)
			}
			sh.run(words, k)
		}
	}
}

var (
	staticMember = lazyregexp.New(`(?i)\[(?:System\.)?([\w.]+)\]::(\w+)\s*\(([^()\[]*)\)?`)
	objectMember = lazyregexp.New(`(?i)\.(\w+)\s*\(([^()]*)\)`)
	quotedText   = lazyregexp.New(`"([^"]*)"|'([^']*)'`)
)

// plainTypes are types of .NET of which no member writes, runs or connects.
var plainTypes = wordLists["plainTypes"]

// members follows calls of .NET: of its types, and of objects.
func (s *powershell) members(text string) {
	f := codeFollower{finder: s.finder, lang: "powershell", table: languages()["powershell"]}
	arguments := func(text string) (values []codeValue) {
		for _, found := range quotedText.FindAllStringSubmatch(text, -1) {
			file := strings.ReplaceAll(cmp.Or(found[1], found[2]), `\`, "/")
			file = strings.NewReplacer("$HOME", "~", "$env:USERPROFILE", "~", "$home", "~").Replace(file)
			w := Word{Text: file, Kind: Literal}
			if strings.Contains(file, "$") {
				w = Word{Text: unknownPart, Kind: Unknown}
			}
			values = append(values, codeValue{word: w})
		}
		return values
	}
	for _, found := range staticMember.FindAllStringSubmatch(text, 32) {
		name := strings.ToLower(found[1] + "." + found[2])
		if _, _, known := f.table.roles(name); known {
			f.one(codeCall{name: name, args: arguments(found[3]), text: found[0]})
		} else if !plainTypes[strings.ToLower(found[1])] {
			s.doubt(DoubtEval, short(found[0])+" is code that is not read")
		}
	}
	for _, found := range objectMember.FindAllStringSubmatch(text, 32) {
		f.one(codeCall{
			name: "*." + strings.ToLower(found[1]), args: arguments(found[2]), text: found[0],
		})
	}
}

// powershellAliases are names that mean something else than elsewhere.
var powershellAliases = map[string]string{
	"type": "Get-Content", "cat": "Get-Content", "gp": "Get-ItemProperty",
	"dir": "Get-ChildItem", "ls": "Get-ChildItem",
	"rm": "Remove-Item", "del": "Remove-Item", "erase": "Remove-Item", "rd": "Remove-Item", "rmdir": "Remove-Item",
	"cp": "Copy-Item", "copy": "Copy-Item", "mv": "Move-Item", "move": "Move-Item", "ren": "Rename-Item",
	"echo": "Write-Output", "kill": "Stop-Process", "ps": "Get-Process", "sc": "Set-Content", "ac": "Add-Content",
	"sls": "Select-String", "ii": "Invoke-Item", "start": "Start-Process", "md": "New-Item",
}

// environmentDrive adds the variables that a command shows by the drive Env:.
func (s *powershell) environmentDrive(words []Word) {
	for _, w := range words[1:] {
		name, is := strings.CutPrefix(strings.ToLower(w.Text), "env:")
		switch name = strings.TrimLeft(name, `/\`); {
		case !is:
		case name == "" || strings.ContainsAny(name, "*?"):
			s.effect(KindSecret, "env:*", true)
		case isSecretVariable(strings.ToUpper(name)):
			s.effect(KindSecret, "env:"+strings.ToUpper(name), true)
		}
	}
}

func (s *powershell) nestedScript(text string) {
	sh := *s.sh
	if sh.depth++; sh.depth > maxDepth {
		s.doubt(DoubtLimits, "PowerShell has too many scripts within scripts")
		return
	}
	inner := *s.finder
	inner.sh = &sh
	(&powershell{&inner}).follow(text)
}

func joinWordsText(words []Word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	return strings.Join(texts, " ")
}

// decodePowershell decodes the value of -EncodedCommand: base64 of UTF-16, with blanks, as .NET takes it. Words of a
// script that could be base64 decode to hardly any letters of ASCII.
func decodePowershell(text string) (string, bool) {
	given := strings.Join(strings.Fields(text), "")
	if len(given) < 16 || strings.ContainsAny(given, "-;|\"'$(") {
		return "", false
	}
	b, err := base64.StdEncoding.DecodeString(given)
	if err != nil || len(b)%2 != 0 {
		return "", false
	}
	units, plain := make([]uint16, len(b)/2), 0
	for i := range units {
		if units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8; units[i] < utf8.RuneSelf {
			plain++
		}
	}
	return string(utf16.Decode(units)), len(given) == len(strings.TrimSpace(text)) || 2*plain > len(units)
}

// powershellReader splits a script into commands of words.
type powershellReader struct {
	text     string
	at       int
	words    []Word
	commands [][]Word
	inputs   map[int]string // of commands, by their place: the text that a pipe gives them
	quoted   bool           // the first word begins with a quote
	vars     map[string]Word
	given    int      // bytes of the words that variables have made longer
	copied   int      // bytes of words that their parts have copied
	odd      string   // the first part that is not understood
	shown    []string // secret variables that it uses
}

// powershellKeywords begin statements whose blocks are read like the script.
var powershellKeywords = wordLists["powershellKeywords"]

func (p *powershellReader) script() {
	for p.at < len(p.text) {
		p.token()
	}
	p.end()
}

// end ends a command.
func (p *powershellReader) end() {
	words := p.words
	p.words = nil
	if len(words) == 0 {
		return
	}
	if name, is := strings.CutPrefix(words[0].Text, "$"); is && len(words) > 1 && words[1].Text == "=" {
		if len(words) == 3 && words[2].Kind == Literal {
			p.vars[strings.ToLower(name)] = words[2]
			return
		}
		p.vars[strings.ToLower(name)] = darkValue.word
		if words = words[2:]; len(words) == 0 {
			return
		}
		if words[0].Kind == Unknown {
			return
		}
	}
	if powershellKeywords[strings.ToLower(words[0].Text)] && words[0].Kind == Literal {
		if words = words[1:]; len(words) == 0 || len(words) == 1 && words[0].Text == unknownPart {
			return
		}
	}
	for len(words) > 0 && (words[0].Text == "&" || words[0].Text == ".") && len(words) > 1 {
		words = words[1:]
	}
	if strings.HasPrefix(words[0].Text, "$") {
		words[0].Kind = Unknown
	}
	p.commands = append(p.commands, words)
}

// feeds gives the next command the text that the words read so far print, as far as that is known. more is how many
// commands come before the next one.
func (p *powershellReader) feeds(more int) {
	words := p.words
	if p.quoted && len(words) == 1 { // it is no command
		p.words, more = nil, 0
	}
	if len(words) > 1 && slices.Contains([]string{"echo", "write-output"}, strings.ToLower(words[0].Text)) {
		words = words[1:]
	} else if !p.quoted {
		return
	}
	if len(words) == 1 && words[0].Kind == Literal {
		p.inputs[len(p.commands)+more] = strings.TrimPrefix(words[0].Text, "$null")
	}
}

func (p *powershellReader) token() {
	c := p.text[p.at]
	rest := p.text[p.at:]
	switch {
	case c == '`' && len(rest) > 1 && rest[1] == '\n':
		p.at += 2
	case strings.HasPrefix(rest, "<#"):
		if i := strings.Index(rest, "#>"); i >= 0 {
			p.at += i + 2
		} else {
			p.at = len(p.text)
		}
	case c == '#':
		if i := strings.IndexByte(rest, '\n'); i >= 0 {
			p.at += i
		} else {
			p.at = len(p.text)
		}
	case strings.HasPrefix(rest, "&&") || strings.HasPrefix(rest, "||"):
		p.at += 2
		p.end()
	case c == ';' || c == '\n' || c == '|' || c == '{' || c == '}' || c == '(' || c == ')':
		p.at++
		if c == '|' {
			p.feeds(1)
		}
		if c == '(' && len(p.words) > 0 {
			p.words = append(p.words, darkValue.word) // the value of the commands in ( )
		}
		if c == '{' && len(p.words) == 0 || c != '{' {
			p.end()
			return
		}
		p.end()
	case c == ' ' || c == '\t' || c == '\r' || c == ',':
		p.at++
	case c == '>':
		for p.at < len(p.text) && (p.text[p.at] == '>' || p.text[p.at] == '&' || p.text[p.at] == '1') {
			p.at++
		}
		p.redirect()
	default:
		p.word()
	}
}

// redirect reads the file behind > as that of Out-File.
func (p *powershellReader) redirect() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	outer := p.words
	p.words = nil
	if p.at < len(p.text) {
		p.word()
	}
	if len(p.words) > 0 && !strings.EqualFold(p.words[0].Text, "$null") {
		file := p.words[0]
		p.words = outer
		p.feeds(0)
		p.commands = append(p.commands, []Word{{Text: "Out-File", Kind: Literal}, file})
	}
	p.words = outer
}

// word reads a word with its quotes and variables.
func (p *powershellReader) word() {
	w := Word{Kind: Literal}
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '\'' || strings.HasPrefix(p.text[p.at:], "\u2018"):
			p.single(&w)
		case c == '"':
			p.double(&w)
		case c == '`' && p.at+1 < len(p.text):
			p.grow(&w, p.text[p.at+1:p.at+2])
			p.at += 2
		case c == '$':
			p.variable(&w)
		case strings.IndexByte(" \t\r\n;|{}(),>", c) >= 0 || c == '&' && p.at > start:
			p.add(w, start)
			return
		case (c == '*' || c == '?') && w.Kind == Literal:
			w.Kind = Pattern
			p.plain(&w, powershellMarks)
		default:
			p.plain(&w, powershellMarks)
		}
	}
	p.add(w, start)
}

// grow adds a part to a word. Each part copies the word, so a word of too many parts is not known.
func (p *powershellReader) grow(w *Word, part string) {
	if part == unknownPart {
		w.Kind = Unknown
	}
	if p.copied += len(w.Text); p.copied > 16*maxExpanded {
		if part = unknownPart; strings.HasSuffix(w.Text, part) {
			part = ""
		}
		w.Kind = Unknown
	}
	if part != "" {
		w.Text += part
	}
}

// powershellMarks end a part of a word that means itself.
const powershellMarks = "'\"`$ \t\r\n;|{}(),>&*?\u2018"

// plain takes one character, and those behind it up to one of marks.
func (p *powershellReader) plain(w *Word, marks string) {
	_, size := utf8.DecodeRuneInString(p.text[p.at:])
	end := strings.IndexAny(p.text[p.at+size:], marks)
	if end < 0 {
		end = len(p.text) - p.at - size
	}
	p.grow(w, p.text[p.at:p.at+size+end])
	p.at += size + end
}

func (p *powershellReader) add(w Word, start int) {
	if p.at == start {
		p.at++
		return
	}
	if len(p.words) == 0 {
		p.quoted = strings.IndexByte(`'"`, p.text[start]) >= 0 || w.Text == "$null"
	}
	if strings.HasPrefix(w.Text, "[") || strings.Contains(w.Text, "]::") {
		p.note(w.Text)
	}
	if w.Text == "$"+strings.TrimPrefix(p.text[start:p.at], "$") && w.Kind == Unknown && len(p.words) == 0 {
		w.Text = p.text[start:p.at] // a name that may be assigned to
	}
	w.Text = strings.ReplaceAll(w.Text, `\`, "/") // either one separates folders
	p.words = append(p.words, w)
}

func (p *powershellReader) note(text string) {
	if p.odd == "" {
		p.odd = text
	}
}

func (p *powershellReader) single(w *Word) {
	for p.at++; p.at < len(p.text); {
		if p.text[p.at] == '\'' {
			if p.at++; p.at == len(p.text) || p.text[p.at] != '\'' {
				return
			}
		}
		p.plain(w, "'")
	}
}

func (p *powershellReader) double(w *Word) {
	p.at++
	for p.at < len(p.text) && p.text[p.at] != '"' {
		switch c := p.text[p.at]; {
		case c == '`' && p.at+1 < len(p.text):
			p.grow(w, p.text[p.at+1:p.at+2])
			p.at += 2
		case c == '$':
			p.variable(w)
		default:
			p.plain(w, "\"`$")
		}
	}
	p.at++
	p.at = min(p.at, len(p.text))
}

// powershellHome are variables of which the value is known.
var powershellHome = []string{"home", "env:home", "env:userprofile"}

// variable reads $name, ${name}, $env:NAME and $( … ).
func (p *powershellReader) variable(w *Word) {
	start := p.at
	p.at++
	if p.at < len(p.text) && p.text[p.at] == '(' {
		p.grow(w, unknownPart)
		return // its content is read as commands
	}
	braced := p.at < len(p.text) && p.text[p.at] == '{'
	if braced {
		p.at++
	}
	from := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if c == '_' || c == ':' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			p.at++
			continue
		}
		break
	}
	name := strings.ToLower(strings.TrimSuffix(p.text[from:p.at], ":"))
	if braced && p.at < len(p.text) {
		p.at++
	}
	v, known := p.vars[name]
	switch {
	case slices.Contains(powershellHome, name):
		p.grow(w, "~")
	case strings.HasPrefix(name, "env:") && isSecretVariable(strings.ToUpper(name[4:])):
		p.shown = append(p.shown, strings.ToUpper(name[4:]))
		p.grow(w, unknownPart)
	case name == "pwd":
		p.grow(w, ".")
	case name == "null" || name == "true" || name == "false":
		p.grow(w, p.text[start:p.at])
	case known && v.Kind == Literal && p.given+len(w.Text)+len(v.Text) <= maxExpanded:
		p.grow(w, v.Text)
		p.given += len(w.Text)
	case len(p.words) == 0 && w.Text == "" && w.Kind == Literal: // it may be assigned to
		w.Text, w.Kind = p.text[start:p.at], Unknown
	default:
		p.grow(w, unknownPart)
	}
}
