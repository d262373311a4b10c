package facts

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf16"
)

// powershell follows a PowerShell script: its commands are run by the tables, as far as they
// are words, strings and pipes. What else it has is doubt.
func (c *call) powershell(text string) {
	if decoded, ok := decodePowershell(text); ok {
		text = decoded
	}
	p := &powershellReader{text: text, vars: map[string]Word{}}
	p.script()
	if p.odd != "" {
		c.doubt(DoubtCode, "PowerShell is not read in full: "+short(p.odd))
	}
	for _, words := range p.commands {
		sh := c.nested("powershell")
		k := &call{text: short(joinWordsText(words)), span: c.span, env: c.env}
		switch first := strings.ToLower(words[0].Text); {
		case words[0].Kind == Unknown && !strings.Contains(words[0].Text, "="):
			c.doubt(DoubtWord, "which command PowerShell runs is only known when it runs")
			if len(words) > 1 {
				c.guesses(words[1:])
			}
		case first == "iex" || first == "invoke-expression":
			if len(words) > 1 && words[len(words)-1].Kind == Literal {
				c.powershellNested(words[len(words)-1].Text)
			} else {
				c.doubt(DoubtEval, "PowerShell runs text that is made when it runs")
			}
		default:
			sh.run(words, k)
		}
	}
}

func (c *call) powershellNested(text string) {
	sh := *c.sh
	if sh.depth++; sh.depth > maxDepth {
		c.doubt(DoubtLimits, "PowerShell has too many scripts within scripts")
		return
	}
	inner := *c
	inner.sh = &sh
	inner.powershell(text)
}

func joinWordsText(words []Word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	return strings.Join(texts, " ")
}

// decodePowershell decodes what -EncodedCommand takes: base64 of UTF-16.
func decodePowershell(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if len(text) < 16 || strings.ContainsAny(text, " -;|\"'$(") {
		return "", false
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b)%2 != 0 {
		return "", false
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
	}
	return string(utf16.Decode(units)), true
}

// powershellReader splits a script into commands of words.
type powershellReader struct {
	text     string
	at       int
	words    []Word
	commands [][]Word
	vars     map[string]Word
	odd      string // the first part that is not understood
}

// powershellKeywords begin statements whose blocks are read like the script.
var powershellKeywords = set(`if else elseif foreach for while do try catch finally switch function filter
	param begin process end return until in trap`)

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
		if words = words[1:]; len(words) == 0 {
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
		if c == '(' && len(p.words) > 0 {
			p.words = append(p.words, darkValue.word) // the value of what stands in ( )
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
		p.commands = append(p.commands, []Word{{Text: "Out-File", Kind: Literal}, p.words[0]})
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
			w.Text += p.text[p.at+1 : p.at+2]
			p.at += 2
		case c == '$':
			p.variable(&w)
		case strings.IndexByte(" \t\r\n;|{}(),>", c) >= 0 || c == '&' && p.at > start:
			p.add(w, start)
			return
		case (c == '*' || c == '?') && w.Kind == Literal:
			w.Kind = Pattern
			w.Text += string(c)
			p.at++
		default:
			w.Text += string(c)
			p.at++
		}
	}
	p.add(w, start)
}

func (p *powershellReader) add(w Word, start int) {
	if p.at == start {
		p.at++
		return
	}
	if strings.HasPrefix(w.Text, "[") || strings.Contains(w.Text, "]::") {
		p.note(w.Text)
	}
	if w.Text == "$"+strings.TrimPrefix(p.text[start:p.at], "$") && w.Kind == Unknown && len(p.words) == 0 {
		w.Text = p.text[start:p.at] // a name that may be assigned to
	}
	p.words = append(p.words, w)
}

func (p *powershellReader) note(text string) {
	if p.odd == "" {
		p.odd = text
	}
}

func (p *powershellReader) single(w *Word) {
	for p.at++; p.at < len(p.text); p.at++ {
		if p.text[p.at] == '\'' {
			if p.at+1 < len(p.text) && p.text[p.at+1] == '\'' {
				p.at++
			} else {
				p.at++
				return
			}
		}
		w.Text += p.text[p.at : p.at+1]
	}
}

func (p *powershellReader) double(w *Word) {
	p.at++
	for p.at < len(p.text) && p.text[p.at] != '"' {
		switch c := p.text[p.at]; {
		case c == '`' && p.at+1 < len(p.text):
			w.Text += p.text[p.at+1 : p.at+2]
			p.at += 2
		case c == '$':
			p.variable(w)
		default:
			w.Text += string(c)
			p.at++
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
		w.Text, w.Kind = w.Text+unknownPart, Unknown
		return // what stands in it is read as commands
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
		w.Text += "~"
	case name == "pwd":
		w.Text += "."
	case name == "null" || name == "true" || name == "false":
		w.Text += p.text[start:p.at]
	case known && v.Kind == Literal:
		w.Text += v.Text
	case len(p.words) == 0 && w.Text == "" && w.Kind == Literal: // it may be assigned to
		w.Text, w.Kind = p.text[start:p.at], Unknown
	default:
		w.Text, w.Kind = w.Text+unknownPart, Unknown
	}
}
