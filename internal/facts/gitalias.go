package facts

import (
	"cmp"
	"path"
	"strings"
)

// mostAbove is how many folders above the working one are looked at for a repository.
const mostAbove = 24

// aliased follows a subcommand of git that a person has made in the settings of git, or that the line itself
// makes. ok is false where there is none, or the settings cannot be read.
func (p *applier) aliased() (out output, ok bool) {
	env := &p.sh.r.env
	if p.sh.depth >= maxDepth {
		return output{}, false
	}
	name, value := p.a.operands[0].Text, ""
	if env.Text != nil && p.sh.where == "" {
		for _, file := range p.gitSettings() {
			if text, read := env.Text(file); read {
				value = cmp.Or(gitAlias(text, name), value)
			}
		}
	}
	for _, g := range p.options { // git -c alias.NAME=LINE
		if g.value == nil {
			continue
		}
		key, line, _ := strings.Cut(g.value.Text, "=")
		if strings.EqualFold(key, "alias."+name) {
			value = line
		}
	}
	if value == "" {
		return output{}, false
	}
	line, isShell := strings.CutPrefix(value, "!")
	if !isShell {
		line = "git " + value
	}
	whole := Word{Text: line, Kind: Literal}
	for _, w := range p.a.operands[1:] {
		whole.Text += " " + quote(w)
		if w.Kind == Unknown {
			whole.Kind = Unknown
		}
	}
	return p.shellText(p.nested("git "+name), whole), true
}

// gitSettings are the files with settings of git for the folder of the command, the strongest last.
func (p *applier) gitSettings() []string {
	env, files := &p.sh.r.env, []string{"/etc/gitconfig"}
	if env.Home != "" {
		files = append(files, env.Home+"/.config/git/config", env.Home+"/.gitconfig")
	}
	for dir, n := p.dir(), 0; dir != "" && n < mostAbove; dir, n = path.Dir(dir), n+1 {
		if text, ok := env.Text(dir + "/.git"); ok { // of a worktree: gitdir: REPOSITORY/.git/worktrees/NAME
			if own, is := strings.CutPrefix(strings.TrimSpace(text), "gitdir: "); is {
				return append(files, path.Join(own, "../../config"))
			}
		}
		if _, ok := env.Text(dir + "/.git/HEAD"); ok {
			return append(files, dir+"/.git/config")
		}
		if dir == "/" {
			break
		}
	}
	return files
}

// gitAlias returns the value of an alias in a file of settings; "" = it has none of that name.
func gitAlias(text, name string) (value string) {
	inside := false
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			head, rest, _ := strings.Cut(line[1:], "]")
			inside, line = strings.EqualFold(strings.TrimSpace(head), "alias"), strings.TrimSpace(rest)
		}
		key, after, has := strings.Cut(line, "=")
		if inside && has && strings.EqualFold(strings.TrimSpace(key), name) {
			value = unquoteGit(strings.TrimSpace(after))
		}
	}
	return value
}

// unquoteGit reads a value as git does: quotes go, backslashes keep the next sign, # and ; begin a comment.
func unquoteGit(text string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == '"':
			quoted = !quoted
		case ch == '\\' && i+1 < len(text):
			i++
			switch text[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(text[i])
			}
		case (ch == '#' || ch == ';') && !quoted:
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(ch)
		}
	}
	return b.String()
}
