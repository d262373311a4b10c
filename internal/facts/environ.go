package facts

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookd/hookd/internal/base/lazyregexp"
)

// databaseAddress finds variables that hold the address of a database.
var databaseAddress = lazyregexp.New(`_(?:URL|URI|DSN)$`)

// secretVariable adds that a line shows the value of a secret variable, which it has not set
// to a text of its own.
func (sh *shell) secretVariable(p *syntax.ParamExp, name string, w Word, known bool) {
	if sh.tests || sh.client && !p.Excl && databaseAddress.MatchString(name) {
		return
	}
	show := func(name string) {
		c := &finder{sh: sh, index: -1, span: sh.span(p), text: "$" + name}
		c.effect(KindSecret, "env:"+name, true)
	}
	if p.Excl { // ${!name}: the variable that the value names
		switch {
		case !known || w.Kind != Literal:
			show("*")
		case isSecretVariable(w.Text):
			show(w.Text)
		}
		return
	}
	if known && w.Kind == Literal || len(name) < 4 || name != strings.ToUpper(name) {
		return // the names of secret variables are in capital letters
	}
	if isSecretVariable(name) {
		show(name)
	}
}

// environment finds the variables that code of another language reads: `os.environ`, with the
// name that follows.
var environment = lazyregexp.New(`(?:\benvironb?\b|\bprocess(?:\.env\b|\[["']env["']\])|\bENVIRON\b|[%$]ENV\b|\bENV\b|\bgetenv\b` +
	`|\bDeno\.env\b|\$_ENV\b|\$_SERVER\b)(?:\.(?:get|fetch|pop|setdefault)\b)?[\[({.]*["']?([A-Za-z_][A-Za-z0-9_]*)?`)

// environ adds the secret variables that code shows.
func (f *codeFollower) environ(text string) {
	if !strings.Contains(text, "env") && !strings.Contains(text, "ENV") {
		return
	}
	for _, found := range environment.FindAllStringSubmatch(text, 20) {
		switch name := found[1]; {
		case name == "" || name == "items" || name == "keys" || name == "values" || name == "copy" ||
			name == "toObject" || name == "to_h" || name == "each" || name == "map":
			if !strings.Contains(found[0], "getenv") {
				f.effect(KindSecret, "env:*", false)
			}
		case isSecretVariable(name):
			f.effect(KindSecret, "env:"+name, true)
		}
	}
}
