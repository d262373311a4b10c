package shellsafe

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var (
	harmlessTarget = regexp.MustCompile(`^/dev/(?:null|tty|full)$`)
	ownTarget      = regexp.MustCompile(`^/dev/(?:stdout|stderr|fd/[12])$`)
	descriptor     = regexp.MustCompile(`^(?:[0-9]+-?|-)$`)
	deviceTarget   = regexp.MustCompile(`^/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|r?disk|loop|md|dm-|mapper/|mem|kmem|port)`)
	systemTarget   = regexp.MustCompile(`^(?:/(?:etc|boot|bin|sbin|lib|usr|proc|sys|System|Library)/|(?:~|\$HOME|/root|/home/[^/]+|/Users/[^/]+)/\.(?:ssh|gnupg|aws|kube|docker|config|bashrc|zshrc|zshenv|profile|bash_profile|gitconfig|netrc|npmrc))`)
	networkTarget  = regexp.MustCompile(`^/dev/(?:tcp|udp)/`)
)

// redirect looks at one redirection. ok says that it gives the command its
// standard input.
func (s *scan) redirect(r *syntax.Redirect) (in input, ok bool) {
	if r.N != nil && !isNumber(r.N.Value) {
		s.unknown(s.text(r), "names its descriptor by a variable")
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return s.document(r), true
	case syntax.WordHdoc:
		a := s.word(r.Word)
		return input{text: a.text, known: !a.dynamic}, true
	case syntax.RdrIn, syntax.DplIn:
		a := s.word(r.Word)
		if networkTarget.MatchString(a.text) || networkTarget.MatchString(a.guess) {
			s.unknown(s.text(r), "opens a connection")
		}
		if r.Op == syntax.DplIn && !descriptor.MatchString(r.Word.Lit()) {
			s.unknown(s.text(r), "names its descriptor by a variable")
		}
		return input{piped: true}, true
	case syntax.RdrInOut:
		s.unknown(s.text(r), "opens a file for writing")
	case syntax.AppOut, syntax.AppAll, syntax.AppAllClob:
		s.writes(r, ">>", Low, "fs-modify", "appends to a file")
	default:
		s.writes(r, ">", Medium, "fs-overwrite", "overwrites a file")
	}
	return input{}, false
}

// writes looks at where a redirection writes to.
func (s *scan) writes(r *syntax.Redirect, op string, radius Radius, category, reason string) {
	a := s.word(r.Word)
	target := a.text
	switch {
	case intoProcess(r.Word):
		return // what runs there is looked at by itself
	case !a.dynamic && harmlessTarget.MatchString(target),
		r.Op == syntax.DplOut && descriptor.MatchString(r.Word.Lit()):
		return
	case !a.dynamic && ownTarget.MatchString(target) && !s.reopened:
		return
	case deviceTarget.MatchString(target):
		radius, category, reason = High, "block-device", "overwrites a device"
	case networkTarget.MatchString(target):
		s.unknown(s.text(r), "opens a connection")
		return
	case systemTarget.MatchString(target),
		strings.HasPrefix(source(r.Word), "$HOME/."), strings.HasPrefix(source(r.Word), "${HOME}/."):
		radius, reason = High, reason+" of the system or of your settings"
	}
	s.add(finding{radius, category, op + " " + source(r.Word), reason})
}

// document is what a here-document gives to a command. A shell keeps some
// backslashes and drops others: such a text is not known, unless it is quoted.
func (s *scan) document(r *syntax.Redirect) input {
	if r.Hdoc == nil { // it is empty, or the line ends before it
		return input{}
	}
	a := s.quotedWord(r.Hdoc)
	in := input{text: a.text, known: !a.dynamic}
	raw := s.text(r.Hdoc)
	switch {
	case !strings.Contains(raw, `\`):
	case strings.ContainsAny(source(r.Word), `\'"`):
		in.text = raw
	default:
		in.known = false
	}
	return in
}

// reopens reports whether a line moves descriptors about: /dev/stdout may then
// be a file that was opened for reading.
func reopens(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(node syntax.Node) bool {
		r, ok := node.(*syntax.Redirect)
		if !ok {
			return true
		}
		to := r.Word.Lit()
		switch r.Op {
		case syntax.RdrIn, syntax.RdrInOut, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			found = found || r.N != nil && r.N.Value != "0"
		case syntax.DplIn, syntax.DplOut:
			found = found || to != "1" && to != "2" && to != "-"
		}
		return true
	})
	return found
}

func intoProcess(w *syntax.Word) bool {
	if w == nil || len(w.Parts) != 1 {
		return false
	}
	_, ok := w.Parts[0].(*syntax.ProcSubst)
	return ok
}

// source is how a word is written, for messages.
func source(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, w); err != nil {
		return ""
	}
	return b.String()
}
