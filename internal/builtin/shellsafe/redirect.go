package shellsafe

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var (
	harmlessTarget = regexp.MustCompile(`^(?:/dev/(?:null|stdout|stderr|tty|full|fd/[0-9]+)|[0-9]+-?|-)$`)
	deviceTarget   = regexp.MustCompile(`^/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|r?disk|loop|md|dm-|mapper/|mem|kmem|port)`)
	systemTarget   = regexp.MustCompile(`^(?:/(?:etc|boot|bin|sbin|lib|usr|proc|sys|System|Library)/|(?:~|\$HOME|/root|/home/[^/]+|/Users/[^/]+)/\.(?:ssh|gnupg|aws|kube|docker|config|bashrc|zshrc|zshenv|profile|bash_profile|gitconfig|netrc|npmrc))`)
	networkTarget  = regexp.MustCompile(`^/dev/(?:tcp|udp)/`)
)

// redirect looks at one redirection. ok says that it gives the command its
// standard input.
func (s *scan) redirect(r *syntax.Redirect) (in input, ok bool) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		a := s.word(r.Hdoc)
		return input{text: a.text, known: !a.dynamic}, true
	case syntax.WordHdoc:
		a := s.word(r.Word)
		return input{text: a.text, known: !a.dynamic}, true
	case syntax.RdrIn, syntax.DplIn:
		if networkTarget.MatchString(s.word(r.Word).text) {
			s.unknown("<"+s.word(r.Word).text, "opens a connection")
		}
		return input{piped: true}, true
	case syntax.RdrInOut:
		s.unknown("<>"+s.word(r.Word).text, "opens a file for writing")
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
	case !a.dynamic && harmlessTarget.MatchString(target) && !(r.Op == syntax.RdrOut && strings.Trim(target, "0123456789-") == ""):
		return
	case deviceTarget.MatchString(target):
		radius, category, reason = High, "block-device", "overwrites a device"
	case networkTarget.MatchString(target):
		s.unknown(op+target, "opens a connection")
		return
	case systemTarget.MatchString(target) || strings.HasPrefix(source(r.Word), "$HOME/.") || strings.HasPrefix(source(r.Word), "${HOME}/."):
		radius, reason = High, reason+" of the system or of your settings"
	}
	s.add(finding{radius, category, op + " " + source(r.Word), reason})
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
