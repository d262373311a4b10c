package undo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/internal/facts"
)

// repository returns a repository that git can be asked about; each is opened once for a call.
func (b *budget) repository(dir string) (*git.Repo, error) {
	if r := b.repos[dir]; r != nil {
		return r, nil
	}
	r, err := git.Open(context.Background(), dir, nil)
	if err != nil {
		return nil, err
	}
	if b.repos == nil {
		b.repos = map[string]*git.Repo{}
	}
	b.repos[dir] = r
	return r, nil
}

// gitOptions are options of git itself that have a word of their own behind them.
var gitOptions = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}

// gitWords returns the subcommand of a git command, its words, and the folder it works in.
func gitWords(c *facts.Command) (verb string, args []string, dir string) {
	dir = c.Dir
	words := c.Words[1:]
	for len(words) > 0 && strings.HasPrefix(words[0].Text, "-") {
		if words[0].Text == "-C" && len(words) > 1 {
			if filepath.IsAbs(words[1].Text) {
				dir = words[1].Text
			} else {
				dir = filepath.Join(dir, words[1].Text)
			}
		}
		if slices.Contains(gitOptions, words[0].Text) && len(words) > 1 {
			words = words[1:]
		}
		words = words[1:]
	}
	for i, w := range words {
		if i == 0 {
			verb = w.Text
		} else {
			args = append(args, w.Text)
		}
	}
	return verb, args, dir
}

func gitVerb(c *facts.Command) string {
	verb, _, _ := gitWords(c)
	return verb
}

// git adds the files that a git command changes in a working tree: git is asked, and starts
// nothing of the repository's.
func (a *aimer) git(c *facts.Command) {
	if program, _ := c.Program(); program != "git" {
		return
	}
	verb, args, dir := gitWords(c)
	if verb == "" || dir == "" || slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		return
	}
	if slices.Contains(c.Via, "git submodule foreach") {
		for _, below := range a.submodules(dir) {
			a.gitIn(c, verb, args, below)
		}
		return
	}
	a.gitIn(c, verb, args, dir)
}

// gitIn adds the files that a git command changes in the working tree of a folder.
func (a *aimer) gitIn(c *facts.Command, verb string, args []string, dir string) {
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(w string) bool { return slices.Contains(names, w) })
	}
	first := ""
	if len(args) > 0 {
		first = args[0]
	}
	if verb == "submodule" && has("update") || has("--recurse-submodules") {
		for _, below := range a.submodules(dir) {
			a.dirty(below)
		}
	}
	switch verb {
	case "clean":
		if !has("-n", "--dry-run") && !letter(args, 'n') {
			a.untracked(dir, args)
		}
	case "checkout", "switch", "restore", "merge", "rebase", "pull", "cherry-pick", "revert", "am", "apply", "read-tree",
		"checkout-index", "sparse-checkout":
		a.dirty(dir)
		a.added(dir, args)
		if has("-B", "-C", "--force-create") {
			a.refs(dir, "refs/heads/", args)
		}
	case "reset":
		if has("--hard", "--merge", "--keep") {
			a.dirty(dir)
		} else {
			a.own(dir, "index")
		}
		a.head(dir, args)
	case "worktree":
		if first == "remove" {
			a.worktree(dir, args[1:])
		}
	case "rm", "mv":
		a.own(dir, "index")
		if modules := filepath.Join(dir, ".gitmodules"); exists(modules) {
			a.add(target{path: modules, effect: effectReplace, soft: true})
		}
	case "remote":
		if first == "remove" || first == "rm" {
			a.own(dir, "config", "packed-refs")
			for _, path := range a.listed(dir, "rev-parse", "--git-path", "refs/remotes/"+args[len(args)-1]) {
				path = filepath.Join(dir, strings.TrimSuffix(path, "\n"))
				a.add(target{path: path, effect: effectDelete, soft: true, tree: true})
			}
		}
	case "stash":
		switch first {
		case "drop", "clear", "pop":
			a.own(dir, "refs/stash", "logs/refs/stash")
			if first == "pop" {
				a.dirty(dir)
			}
		case "list", "show":
		default:
			a.dirty(dir)
			if letter(args, 'u') || letter(args, 'a') || has("--include-untracked", "--all") {
				a.untracked(dir, []string{"-d", "-x"})
			}
		}
	case "branch":
		if slices.ContainsFunc([]byte("dDfmMcC"), func(l byte) bool { return letter(args, l) }) ||
			has("--delete", "--force", "--move", "--copy") {
			a.refs(dir, "refs/heads/", args)
		}
	case "tag":
		if letter(args, 'd') || letter(args, 'f') || has("--delete", "--force") {
			a.refs(dir, "refs/tags/", args)
		}
	case "update-ref":
		if letter(args, 'd') {
			a.refs(dir, "", args)
		}
	case "push":
		forced := func(w string) bool {
			return strings.HasPrefix(w, "+") || strings.HasPrefix(w, ":") || strings.HasPrefix(w, "--force")
		}
		if has("-f", "--delete", "-d", "--mirror", "--prune") || slices.ContainsFunc(args, forced) {
			a.lost = append(a.lost, Lost{What: c.Text, Why: "the branch is on another machine"})
		}
	case "gc", "prune", "reflog", "filter-branch", "filter-repo", "repack":
		if verb != "reflog" || first == "expire" || first == "delete" {
			a.lost = append(a.lost, Lost{What: c.Text, Why: "commits that no branch names are not kept"})
		}
	}
}

// letter reports whether one of the joined short options is a letter.
func letter(args []string, l byte) bool {
	return slices.ContainsFunc(args, func(w string) bool {
		return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.IndexByte(w, l) > 0
	})
}

// listed asks git for paths below its folder.
func (a *aimer) listed(dir string, args ...string) (paths []string) {
	r, err := a.limits.repository(dir)
	if err != nil {
		return nil
	}
	out, err := r.Output(context.Background(), 256<<20, args...)
	if err != nil {
		a.doubt("git does not say what it changes: " + err.Error())
	}
	for _, name := range strings.Split(string(out), "\x00") {
		if name != "" {
			paths = append(paths, name)
		}
	}
	return paths
}

// dirty adds the tracked files that differ, or may differ, from the index or from HEAD, and the index.
func (a *aimer) dirty(dir string) {
	r, err := a.limits.repository(dir)
	if err != nil {
		return
	}
	for _, entry := range a.listed(dir, "ls-files", "-z", "-v", "-c", "-m", "--", ":/") {
		// H is a file that git looks at: C stands for it once more where it differs. Each file that a person told git
		// not to look at, in small letters or S, counts.
		tag, name, _ := strings.Cut(entry, " ")
		if path := filepath.Join(dir, name); tag == "C" || tag != "H" && exists(path) {
			a.add(target{path: blocked(r.Top, path), effect: effectReplace})
		}
	}
	a.underWay(dir, r.Top)
	staged := a.listed(dir, "diff", "--cached", "--name-only", "-z", "--no-renames")
	for _, name := range staged {
		a.add(target{path: filepath.Join(r.Top, name), effect: effectReplace})
	}
	if len(staged) > 0 { // else the index says nothing that HEAD does not
		a.own(dir, "index")
	}
}

// blocked returns the first part of a path below a folder that is no folder itself: git puts one in its place.
func blocked(top, path string) string {
	for at := len(top); at < len(path); at++ {
		if path[at] != '/' || at == len(top) {
			continue
		}
		if is, err := look(path[:at]); err != nil || is.Kind != kindDir {
			return path[:at]
		}
	}
	return path
}

// ofUnderWay are git's files about a merge, a rebase or the like that has not ended; what ends it deletes them.
var ofUnderWay = []string{
	"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "SQUASH_MSG",
	"rebase-merge", "rebase-apply", "sequencer",
}

func (a *aimer) underWay(dir, top string) {
	own, found := filepath.Join(top, ".git"), false
	if !isFolder(own) { // a linked working tree or a submodule
		for _, path := range a.listed(dir, "rev-parse", "--absolute-git-dir") {
			own = strings.TrimSuffix(path, "\n")
		}
	}
	for _, name := range ofUnderWay {
		if path := filepath.Join(own, name); exists(path) {
			a.add(target{path: path, effect: effectReplace, soft: true, tree: true})
			found = true
		}
	}
	if found {
		a.own(dir, "HEAD", "index")
	}
}

// added adds files that another commit has and HEAD has not: git puts them over ignored ones, and with -f over all.
func (a *aimer) added(dir string, args []string) {
	r, err := a.limits.repository(dir)
	if err != nil {
		return
	}
	for _, w := range args {
		_, value, _ := strings.Cut(w, "=") // of --source=main
		if w == "--" {
			return
		} else if w = cmp.Or(value, w); w == "-" {
			w = "@{-1}"
		} else if strings.HasPrefix(w, "-") {
			continue
		}
		// An error: the word is a path, or a new branch.
		out, err := r.Output(context.Background(), 4<<20,
			"diff", "--name-only", "-z", "--no-renames", "--diff-filter=A", "HEAD", w, "--")
		if err != nil {
			continue
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			if path := blocked(r.Top, filepath.Join(r.Top, name)); name != "" && exists(path) {
				a.add(target{path: path, effect: effectReplace})
			}
		}
		return
	}
}

// submodules returns the working trees of the submodules of a repository.
func (a *aimer) submodules(dir string) (list []string) {
	r, err := a.limits.repository(dir)
	if err != nil || !exists(filepath.Join(r.Top, ".gitmodules")) {
		return nil
	}
	for _, entry := range a.listed(dir, "config", "-z", "-f", filepath.Join(r.Top, ".gitmodules"), "--get-regexp", `\.path$`) {
		if _, path, _ := strings.Cut(entry, "\n"); filepath.IsLocal(path) {
			list = append(list, filepath.Join(r.Top, path))
		}
	}
	for _, below := range list {
		if git.Top(below) == below {
			list = append(list, a.submodules(below)...)
		}
	}
	return list
}

// untracked adds the files that git clean deletes.
func (a *aimer) untracked(dir string, args []string) {
	list := []string{"ls-files", "-z", "--others", "--directory"}
	switch {
	case letter(args, 'X'):
		list = append(list, "--ignored", "--exclude-standard")
	case !letter(args, 'x'):
		list = append(list, "--exclude-standard")
	}
	folders := letter(args, 'd')
	for _, name := range a.listed(dir, list...) {
		folder := strings.HasSuffix(name, "/")
		if !folder || folders {
			a.add(target{path: filepath.Join(dir, name), effect: effectDelete, tree: true})
		}
	}
}

// own adds files of git's own, which later commands of git change too.
func (a *aimer) own(dir string, names ...string) {
	// Git is not asked about bare repositories.
	bare := isFolder(filepath.Join(dir, "objects")) && isFolder(filepath.Join(dir, "refs"))
	for _, name := range names {
		if bare {
			a.add(target{path: filepath.Join(dir, name), effect: effectReplace, soft: true})
			continue
		}
		for _, path := range a.listed(dir, "rev-parse", "--path-format=absolute", "--git-path", name) {
			path = strings.TrimSuffix(path, "\n")
			a.add(target{path: path, effect: effectReplace, soft: true})
		}
	}
}

// indexOf returns a digest of the entries of a git index. git status writes the file again with the same entries.
// "" = it is no index, or git does not read it.
func indexOf(path string) string {
	dir, name := filepath.Split(path)
	if name != "index" {
		return ""
	}
	r, err := git.Open(context.Background(), filepath.Clean(dir), nil) // else a refreshed index counts as changed
	if err != nil {
		return ""
	}
	r.Dir = r.Top
	out, err := r.Output(context.Background(), 256<<20, "--git-dir="+dir, "ls-files", "--stage", "-v", "-z")
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(out))
}

// head adds the files that git rewrites when it takes the branch that is checked out to another commit.
func (a *aimer) head(dir string, args []string) {
	r, err := a.limits.repository(dir)
	if err != nil {
		return
	}
	ask := func(args ...string) string { // no answer: there is no commit, or a word is a path
		out, _ := r.Output(context.Background(), 4<<20, args...)
		return string(out)
	}
	to := slices.IndexFunc(args, func(w string) bool { return !strings.HasPrefix(w, "-") })
	ref := strings.TrimSpace(ask("rev-parse", "--symbolic-full-name", "HEAD"))
	if ref == "" || to < 0 {
		return
	}
	a.own(dir, ref, "index")
	names := ask("diff", "--name-only", "-z", "--no-renames", "HEAD", args[to], "--")
	for name := range strings.SplitSeq(names, "\x00") {
		if name != "" {
			a.add(target{path: filepath.Join(r.Top, name), effect: effectReplace, made: true})
		}
	}
}

// worktree adds a linked working tree that git removes, and git's own files about it.
func (a *aimer) worktree(dir string, args []string) {
	for _, w := range args {
		if strings.HasPrefix(w, "-") {
			continue
		}
		if !filepath.IsAbs(w) {
			w = filepath.Join(dir, w)
		}
		a.add(target{path: w, effect: effectDelete, tree: true})
		for _, own := range a.listed(w, "rev-parse", "--absolute-git-dir") {
			a.add(target{path: strings.TrimSuffix(own, "\n"), effect: effectDelete, tree: true})
		}
	}
}

// refs adds the files of references.
func (a *aimer) refs(dir, prefix string, args []string) {
	names := []string{"packed-refs", "config"}
	for _, w := range args {
		if !strings.HasPrefix(w, "-") {
			names = append(names, prefix+w, "logs/"+prefix+w)
		}
	}
	a.own(dir, names...)
}
