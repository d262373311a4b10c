package secrets

import (
	_ "embed"
	"slices"
	"strings"
)

// class is the hint of a name about its value.
type class uint8

const (
	public   class = iota
	token          // made by a program: access_token, client_secret
	vague          // may be one: token, secret
	password       // made by a person: any few characters
)

// form is how a value is given to its name.
type form uint8

const (
	given   form = iota // nothing but a value can stand there: a JSON string, a query, a flag, an environment variable
	quotes              // between quotes, as in program text
	bareSet             // name=value, as in an INI file or a call
	loose               // name: value, name = value: as well a line of a program or of prose
)

// endings of names whose value is made by a program, without - and _.
var tokenNames = []string{
	"accesstoken", "refreshtoken", "idtoken", "authtoken", "bearertoken", "apitoken", "bottoken", "oauthtoken",
	"sessiontoken",
	"privatetoken", "deploytoken", "usertoken", "servicetoken", "vaulttoken", "clientsecret", "apisecret", "appsecret",
	"applicationsecret", "consumersecret", "webhooksecret", "signingsecret", "sessionsecret", "jwtsecret", "oauthsecret",
	"tokensecret", "secretaccesskey", "accesskeysecret",
}

var passwordNames = []string{
	"password", "passwd", "passphrase", "passcode", "dbpass", "userpass", "storepass", "keypass",
}

// A path is in PWD and OLDPWD.
var pwd = []string{"pwd"}

// vagueNames count alone, or at the end of an environment variable's name:
// pageToken is no secret.
var vagueNames = []string{"token", "secret", "accesskey", "privatekey"}

var keyNames = []string{"apikey", "secretkey"}

// classify reads a name: DB_PASSWORD, clientSecret, --access-token, user.password.
func classify(name string) class {
	last := strings.TrimLeft(name, "-")
	last = last[strings.LastIndexByte(last, '.')+1:]
	last = strings.TrimRight(last, "0123456789_-")
	if len(last) < 3 || len(last) > maxName {
		return public
	}
	var buf [maxName]byte
	plain := buf[:0]
	for i := range len(last) {
		if last[i] != '-' && last[i] != '_' {
			plain = append(plain, last[i]|0x20)
		}
	}
	switch {
	case endsIn(plain, passwordNames), string(plain) == "pass":
		return password
	case endsIn(plain, pwd) && last != "PWD" && string(plain) != "oldpwd":
		return password
	case endsIn(plain, tokenNames):
		return token
	case endsIn(plain, vagueNames) && (len(plain) <= len("secret") || isUpper(last)), endsIn(plain, keyNames):
		return vague
	}
	return public
}

func endsIn(plain []byte, endings []string) bool {
	for _, e := range endings {
		if n := len(plain) - len(e); n >= 0 && string(plain[n:]) == e {
			return true
		}
	}
	return false
}

func isUpper(s string) bool { return strings.ToUpper(s) == s }

// maxAssigned is the longest value of a name.
const maxAssigned = 4096

// assigned finds the value that is given to the name which has a key word at
// s[at], if it may be a secret.
func assigned(s string, at int) (start, end int, ok bool) {
	if s[at] == '"' {
		at++ // the key "pass"
	}
	to := at
	for to < len(s) && to-at < maxName && isName(s[to]) {
		to++
	}
	if to == len(s) || strings.IndexByte("=: \t\"'`]>", s[to]) < 0 {
		return 0, 0, false // most key words end here: tokens, password_file
	}
	from := at
	for from > 0 && at-from < maxName && isName(s[from-1]) {
		from--
	}
	from += colour(s, from)
	if from >= to {
		return 0, 0, false
	}
	start, how, ok := sign(s, from, to)
	if !ok {
		return 0, 0, false
	}
	c := classify(s[from:to])
	if c == public {
		return 0, 0, false
	}
	if start < len(s) && isQuote(s[start]) {
		if end = closing(s, start); end < 0 {
			return 0, 0, false
		}
		if how != given {
			how = quotes
		}
		v := s[start+1 : end]
		return start + 1, end, plausible(v, c, how) && !strings.EqualFold(v, s[from:to])
	}
	end = bareEnd(s, start)
	return start, end, plausible(s[start:end], c, how) && !isCode(s[start:end], s[end:], how)
}

// colour returns how long the rest of a terminal's colour code is that a name
// at s[at] begins with: the 31m of ESC[1;31mtoken.
func colour(s string, at int) int {
	if at == 0 || s[at-1] != '[' && s[at-1] != ';' {
		return 0
	}
	digits := s[at:min(len(s), at+4)]
	n := len(digits) - len(strings.TrimLeft(digits, "0123456789"))
	if strings.HasPrefix(s[at+n:], "m") {
		return n + 1
	}
	return 0
}

// sign reads the text between the name s[from:to] and its value, and says
// where the value begins.
func sign(s string, from, to int) (start int, how form, ok bool) {
	name, i := s[from:to], to
	flag, quoted := name[0] == '-', isQuote(s[i])
	if quoted {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	before := byte(' ')
	if from > 0 {
		before = s[from-1]
	}
	next := pastBlanks(s, i)
	rest := s[next:]
	switch {
	case strings.HasPrefix(s[i:], ">") && before == '<':
		return i + 1, given, strings.HasPrefix(s[bareEnd(s, i+1):], "</")
	case strings.HasPrefix(rest, ","): // ["--password", "…"]
		next = pastBlanks(s, next+1)
		return next, given, flag && quoted && next < len(s) && isQuote(s[next])
	case strings.HasPrefix(rest, ":="), strings.HasPrefix(rest, "=>"), strings.HasPrefix(rest, "=="):
		next, how = next+2, loose
	case strings.HasPrefix(rest, "="):
		next, how = next+1, bareSet
		switch {
		case next-1 > i || next < len(s) && isBlank(s[next]):
			how = loose
		case flag || isUpper(name) || before == '?' || before == '&':
			how = given
		}
	case strings.HasPrefix(rest, "::"), strings.HasPrefix(rest, ":/"), before == '/' && rest != "" && rest[0] == ':':
		return 0, 0, false // the user of a URL has a rule of its own
	case strings.HasPrefix(rest, ":"):
		next, how = next+1, loose
		if after := pastBlanks(s, next); quoted && after < len(s) && isQuote(s[after]) {
			how = given // JSON
		}
	case next == i || quoted:
		return 0, 0, false
	case flag && strings.HasPrefix(rest, "-"), strings.HasPrefix(name, "--no-"), strings.HasPrefix(name, "--ask-"):
		return 0, 0, false
	case flag && next > i+1: // the help of a command has its text in a column
		return next, loose, true
	case flag:
		return pastBlanks(s, next+len(rest)-len(strings.TrimPrefix(rest, "\\\n"))), given, true
	default: // ALTER USER x PASSWORD '…'
		return next, quotes, name == "PASSWORD" && next < len(s) && isQuote(s[next])
	}
	next = pastBlanks(s, next)
	if next+1 < len(s) && isAlnum(s[next]) && isQuote(s[next+1]) {
		next++ // b"…"
	}
	return next, how, true
}

// closing returns where the quote at s[at] is closed, -1 if it is not on its
// line. Text that is cut off may lack it.
func closing(s string, at int) int {
	for i := at + 1; i < len(s) && i-at <= maxAssigned; i++ {
		switch s[i] {
		case '\\':
			i++
		case '\n':
			return -1
		case s[at]:
			return i
		}
	}
	if len(s)-at <= maxAssigned {
		return len(s)
	}
	return -1
}

// maxBare is the longest value without quotes, maxInner how far it goes on
// after a = or : in the value: later text may be the next name's value.
const maxBare, maxInner = 1024, 64

// bareEnd returns where a value without quotes ends.
func bareEnd(s string, at int) int {
	end, limit := at, min(len(s), at+maxBare)
	for end < limit && s[end] > ' ' && strings.IndexByte("\"'`\\;&|<>(){}[]", s[end]) < 0 && !endsItem(s, end) {
		if s[end] == '=' || s[end] == ':' {
			limit = min(limit, end+maxInner)
		}
		end++
	}
	return at + len(strings.TrimRight(s[at:end], ".,:"))
}

// endsItem reports whether the comma at s[at] ends an item of a list.
func endsItem(s string, at int) bool {
	if s[at] != ',' {
		return false
	}
	i := at + 1
	for i < min(len(s), at+maxName) && isName(s[i]) {
		i++
	}
	return i == len(s) || s[i] == '=' || i == at+1 && isBlank(s[i])
}

// isCode reports whether v, which rest follows, is rather part of a program: a
// call, a member, a variable.
func isCode(v, rest string, how form) bool {
	if rest != "" && strings.IndexByte("([{", rest[0]) >= 0 {
		return true
	}
	if how == given {
		return false
	}
	if strings.Contains(v, ".") && strings.Trim(v, wordBytes+".") == "" && !isDigit(v[0]) {
		return true
	}
	inList := rest != "" && strings.IndexByte("),;", rest[0]) >= 0
	if how == loose || inList {
		return strings.Trim(v, wordBytes) == "" && (!mixed(v) || saysName(v))
	}
	return false
}

const wordBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

var variables = []string{"pass", "pwd", "token", "secret", "key", "arg", "param", "value"}

// saysName reports whether v tells its own meaning: password2, authToken1.
func saysName(v string) bool {
	lower := strings.ToLower(v)
	return slices.ContainsFunc(variables, func(name string) bool { return strings.Contains(lower, name) })
}

// plausible reports whether v may be a secret of class c that is given so.
func plausible(v string, c class, how form) bool {
	if len(v) < 4 || len(v) > maxAssigned || how != given && strings.IndexByte(" \t,;)", v[0]) >= 0 {
		return false
	}
	fits := false
	switch c {
	case password:
		fits = how == given || how == quotes ||
			how == bareSet && (len(v) >= 8 || strings.Trim(v, letters) != "") ||
			how == loose && len(v) >= 6 && mixed(v)
	case token:
		number := strings.Trim(v, "0123456789.,-+") == ""
		fits = len(v) >= 8 && !number && (how == given || how == quotes && len(v) >= 16 || mixed(v))
	case vague:
		fits = (how == given && len(v) >= 12 || how == quotes && len(v) >= 16) &&
			mixed(v) && turns(v) >= 2 && strings.IndexByte(v, ' ') < 0
	}
	return fits && !isPlaceholder(v)
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// turns counts how often letters and digits take turns in v.
func turns(v string) (n int) {
	for i := 1; i < len(v); i++ {
		if isAlnum(v[i-1]) && isAlnum(v[i]) && isDigit(v[i-1]) != isDigit(v[i]) {
			n++
		}
	}
	return n
}

// isPlaceholder reports whether v stands for a secret or tells about one:
// a variable, a template, a mask, a path, a word, a sentence.
func isPlaceholder(v string) bool {
	switch {
	case strings.IndexByte("$<{*!#", v[0]) >= 0, v[0] == '%' && !isHex(v[1]):
		return true
	case strings.Trim(v, v[:1]) == "", strings.Trim(v, " .*-_") == "":
		return true
	case v[0] == '/' && strings.Count(v, "/") > 1,
		strings.HasPrefix(v, "~/"), strings.HasPrefix(v, "./"), strings.HasPrefix(v, "../"):
		return strings.Trim(v, wordBytes+"/.-~") == "" || isTemplate(v)
	}
	return isTemplate(v) || isWords(v)
}

func isTemplate(v string) bool {
	return slices.ContainsFunc(templates, func(part string) bool { return strings.Contains(v, part) })
}

var templates = []string{
	"${", "{{", "$(", "#{", "%(", "<%", "***", "...", "…", "xxxx", "XXXX", "://", "process.env", "environ[",
	"getenv", "Getenv", "secrets.",
}

// isWords reports whether v consists of words that name or describe a secret,
// or is a sentence with one.
func isWords(v string) bool {
	words := strings.FieldsFunc(v, func(r rune) bool { return r < 0x80 && !isAlnum(byte(r)) || r == '’' })
	if strings.ContainsRune(v, ' ') {
		return len(words) > 1 && slices.ContainsFunc(words, func(w string) bool { return sayings[strings.ToLower(w)] })
	}
	if len(v) > maxInner {
		return false
	}
	for _, w := range words {
		for _, part := range humps(w) {
			if !sayings[strings.ToLower(part)] {
				return false
			}
		}
	}
	return true
}

// humps splits camelCase.
func humps(w string) (parts []string) {
	if sayings[strings.ToLower(w)] {
		return []string{w}
	}
	start := 0
	for i := 1; i < len(w); i++ {
		if isUpper(w[i:i+1]) && isAlnum(w[i]) && !isDigit(w[i]) && !isUpper(w[i-1:i]) {
			parts, start = append(parts, w[start:i]), i
		}
	}
	return append(parts, w[start:])
}

//go:embed sayings.txt
var sayingsText string

// sayings are the words that are no secrets.
var sayings = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(sayingsText) {
		m[w] = true
	}
	return m
}()

func pastBlanks(s string, at int) int {
	for n := 0; n < 8 && at < len(s) && isBlank(s[at]); n++ {
		at++
	}
	return at
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }

func isName(b byte) bool { return isAlnum(b) || b == '_' || b == '-' || b == '.' }
