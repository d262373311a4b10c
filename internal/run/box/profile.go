package box

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/readfile"
)

// The built-in profiles, the strictest first.
const (
	Read       = "read"
	Project    = "project"
	ProjectNet = "project-net"
)

// Profile has the grants of a profile beyond reading.
type Profile struct {
	Name    string   `json:"name"`
	Base    string   `json:"base"`               // the built-in profile that it is like
	Hosts   []string `json:"hosts,omitempty"`    // that are reached, as patterns with *; only of ProjectNet
	Write   []string `json:"write,omitempty"`    // beside the project and the caches
	Hide    []string `json:"hide,omitempty"`     // beside what each profile hides
	Show    []string `json:"show,omitempty"`     // of what each profile hides
	NoCache bool     `json:"no_cache,omitempty"` // caches of package managers can only be read
	Cwd     string   `json:"cwd,omitempty"`      // where links led when the box was approved; "" = anywhere
}

// Alone is the profile of a box that no ticket approves: the built-in one of that name, without a
// network, else the strictest.
func Alone(name string) Profile {
	switch name {
	case Project, ProjectNet:
		return Profile{Name: Project, Base: Project}
	}
	return Profile{Name: Read, Base: Read}
}

// Surroundings is where a box runs.
type Surroundings struct {
	Cwd     string
	Homes   []string // of the user; the first counts for caches
	Own     []string // hookd's folders and sockets
	Private []string // names below a home that are hidden: agents' credentials
	Later   []string // names in a project that may only be read: they steer agents
}

// Resolve turns a profile into paths. It reads folders' names and a few files of git.
func Resolve(p Profile, at Surroundings) (*Spec, error) {
	cwd, err := filepath.EvalSymlinks(at.Cwd)
	if err != nil {
		return nil, cannot("the working directory %s cannot be used: %v", at.Cwd, readfile.Cause(err))
	}
	if p.Cwd != "" && p.Cwd != cwd {
		const why = "the call was looked at in %s, and a link leads to %s now; type `ls -ld %s`"
		return nil, cannot(why, p.Cwd, cwd, escape.Quote(p.Cwd))
	}
	s := &Spec{Profile: p.Name, Cwd: cwd}
	homes := resolvedAll(at.Homes)
	p.Hide = append(p.Hide, envFiles(p, cwd)...)
	tree, err := projectAt(cwd, homes, at.Later)
	s.Sockets = append([]string{cwd}, homes...)
	if err == nil {
		s.Sockets = append(s.Sockets, tree.write...)
	}
	l := lister{}
	s.Hide = l.hidden(homes, p, at)
	if p.Base == Read {
		if s.Show = []string{cwd}; err == nil {
			s.Show = tree.write
		}
		return s, s.check()
	}
	if err != nil {
		return nil, err
	}
	s.Write = append(s.Write, tree.write...)
	if !p.NoCache {
		s.Write = append(s.Write, l.existing(homes, caches)...)
		s.Set, s.CacheHome = l.ownCaches(homes), cacheFolder
		s.Overlay, s.Links = l.otherCaches(homes)
	}
	for _, path := range p.Write {
		if path, err := filepath.EvalSymlinks(path); err == nil {
			s.Write = append(s.Write, path)
		}
	}
	s.Write = clean(s.Write)
	for _, path := range append(tree.later, l.programsIn(homes)...) {
		if l.there(path) {
			s.Protect = append(s.Protect, path)
		} else {
			s.Watch = append(s.Watch, path)
		}
	}
	s.Protect = clean(s.Protect)
	return s, s.check()
}

// cacheFolder is for caches in a box: there new ones can be made.
const cacheFolder = "/tmp/cache"

// otherCaches is a home's .cache. Shells, editors and downloaders of programs keep files there that run later, so that
// only the caches of package managers can be written. links has each of its folders in the box's own.
func (l lister) otherCaches(homes []string) (folder string, links [][2]string) {
	if len(homes) == 0 {
		return "", nil
	}
	if folder = l.find(homes[0], ".cache"); folder == "" {
		return "", nil
	}
	names, _ := listed(folder, maxNames) // it may not be readable
	for _, name := range names {
		links = append(links, [2]string{cacheFolder + "/" + name, folder + "/" + name})
	}
	if privateOf(folder) != "" || strings.ContainsAny(folder, `,:\`) {
		folder = "" // no name for an overlay
	}
	return folder, links
}

// envFiles lists the files with secrets of the folders from cwd to the top of its repository. A box without a
// network shows them to tests; one that only reads, or reaches hosts, has no need of them.
func envFiles(p Profile, cwd string) (list []string) {
	if p.Base == Project {
		return nil
	}
	for dir := cwd; ; dir = filepath.Dir(dir) {
		found, _ := filepath.Glob(filepath.Join(escaped(dir), ".env*")) // the pattern is right
		for _, path := range found {
			switch name := filepath.Base(path); strings.TrimPrefix(name, ".env.") {
			case ".envrc", "example", "sample", "template", "dist", "test", "default", "defaults":
			default:
				list = append(list, path)
			}
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return list
		}
	}
}

// escaped is a folder's name as a part of a pattern.
func escaped(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// WayOut returns the path that has to be written so that a program may write at path, which the box
// keeps: path, or the folder that it would be made in. "" = the box does not keep it, or never gives it away.
func (s *Spec) WayOut(path, home string) string {
	path = filepath.Clean(path)
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			path = real
			break
		}
		if path == filepath.Dir(path) {
			return ""
		}
		path = filepath.Dir(path)
	}
	if coveredBy(path, s.Write) || privateOf(path) != "" || unfit(path, resolvedAll([]string{home})) != "" {
		return ""
	}
	for _, hide := range s.Hide {
		if within(path, hide) || within(hide, path) {
			return ""
		}
	}
	return path
}

// check reports a contradiction: a folder that is hidden has the working directory or the project.
func (s *Spec) check() error {
	for _, hide := range s.Hide {
		for _, path := range append([]string{s.Cwd}, s.Write...) {
			if within(path, hide) {
				return cannot("%s lies in %s, which boxes hide", path, hide)
			}
		}
	}
	return nil
}

// tree is a project's folders.
type tree struct {
	write []string
	later []string // what runs later, or guards: it may only be read
}

// noProject are folders that are never a project, with those below the second list.
var (
	noProject      = []string{"/", "/home", "/tmp", "/var", "/var/tmp", "/opt", "/mnt", "/media", "/srv", "/Users"}
	noProjectBelow = []string{
		"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/dev", "/proc", "/sys", "/run",
		"/var/lib", "/var/run", "/var/log", "/var/cache", "/var/spool", "/System", "/Library", "/private/etc",
	}
)

// runsLater are files and folders of a project that run later, or steer editors.
var runsLater = []string{
	".hookd", ".vscode", ".idea", ".devcontainer", ".envrc", ".mise.toml", "mise.toml", ".pre-commit-config.yaml",
	".github/workflows", ".gitmodules", ".husky", ".zed", ".pre-commit-config.yml", "lefthook.yml", ".lefthook.yml",
}

// ofGit are those of a git folder.
var ofGit = []string{"hooks", "config", "config.worktree", "info/attributes", "commondir"}

// projectAt finds the project that cwd is in: the working tree of a repository, else cwd.
func projectAt(cwd string, homes, later []string) (*tree, error) {
	root, git, err := repository(cwd)
	if err != nil {
		return nil, err
	}
	if root == "" {
		root = cwd
	}
	if why := unfit(root, homes); why != "" {
		return nil, cannot("%s is no project: %s", root, why)
	}
	t := &tree{write: []string{root}}
	bases := nested(root)
	for _, dir := range bases {
		if git := filepath.Join(dir, ".git"); there(filepath.Join(git, "HEAD")) {
			t.later = append(t.later, gitLater(git, dir, homes)...)
		} else {
			t.later = append(t.later, git) // the file that leads to the git folder
		}
	}
	for base := cwd; ; base = filepath.Dir(base) {
		if bases = append(bases, base); base == root {
			break
		}
	}
	for _, base := range bases {
		for _, name := range append(later[:len(later):len(later)], runsLater...) {
			t.later = append(t.later, filepath.Join(base, name))
		}
	}
	if len(git) == 0 && isBare(root) {
		git = []string{root}
	} else {
		t.later = append(t.later, filepath.Join(root, "HEAD")) // git would take the folder for a repository
	}
	for _, dir := range git {
		if !within(dir, root) {
			t.write = append(t.write, dir)
		}
		t.later = append(t.later, gitLater(dir, root, homes)...)
	}
	if len(git) > 0 {
		for _, home := range homes {
			t.later = append(t.later, ledTo(filepath.Join(home, ".gitconfig"), root, homes, 0)...)
			t.later = append(t.later, ledTo(filepath.Join(home, ".config/git/config"), root, homes, 0)...)
		}
	}
	if len(git) > 0 && git[0] != filepath.Join(root, ".git") {
		t.later = append(t.later, filepath.Join(root, ".git")) // the file that leads to the git folder
	}
	return t, nil
}

// nested lists the repositories in a folder, and in the folders there, as far as these have few names: submodules too.
func nested(root string) (list []string) {
	folders := []string{root}
	for range 2 {
		var below []string
		for _, folder := range folders {
			names, _ := listed(folder, mostNested-len(below)) // it is a file, or cannot be read
			for _, name := range names {
				if name == ".git" || name == "node_modules" {
					continue
				}
				dir := filepath.Join(folder, name)
				if below = append(below, dir); there(filepath.Join(dir, ".git")) {
					list = append(list, dir)
				}
			}
		}
		folders = below
	}
	return list
}

// isBare reports whether a folder is a git folder itself.
func isBare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// unfit says why a folder is no project; "" = it may be one.
func unfit(root string, homes []string) string {
	if slices.Contains(noProject, root) {
		return "it has far more than one"
	}
	for _, dir := range noProjectBelow {
		if within(root, dir) {
			return "it is a folder of the system"
		}
	}
	for _, home := range homes {
		if within(home, root) {
			return "it is, or has, a home folder"
		}
	}
	return ""
}

// gitLater lists the files that run later in a git folder, of the working tree root, and in those of its submodules.
func gitLater(dir, root string, homes []string) (list []string) {
	for _, name := range ofGit {
		list = append(list, filepath.Join(dir, name))
	}
	for _, name := range []string{"config", "config.worktree"} {
		list = append(list, ledTo(filepath.Join(dir, name), root, homes, 0)...)
	}
	modules := filepath.Join(dir, "modules")
	names, err := listed(modules, maxNames) // most have none
	if _, noList := os.Lstat(filepath.Join(filepath.Dir(dir), ".gitmodules")); err != nil && noList != nil {
		list = append(list, modules)
	}
	for _, name := range names {
		list = append(list, gitLater(filepath.Join(modules, name), modules, homes)...)
	}
	return list
}

// ledTo lists where a git configuration leads: to its hooks, and to files that it includes, with where these lead.
func ledTo(file, root string, homes []string, depth int) (list []string) {
	const deepest = 10 // of git
	text, _ := readSmall(file)
	section := ""
	for line := range strings.Lines(string(text)) {
		if head, rest, ok := strings.Cut(strings.TrimSpace(line), "]"); ok && strings.HasPrefix(head, "[") {
			section, line = strings.ToLower(head[1:]), rest
		}
		key, value, _ := strings.Cut(line, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch key = strings.ToLower(strings.TrimSpace(key)); {
		case value == "":
		case key == "hookspath":
			list = append(list, pathIn(root, value, homes))
		case key == "path" && strings.HasPrefix(section, "include") && depth < deepest:
			path := pathIn(filepath.Dir(file), value, homes)
			list = append(append(list, path), ledTo(path, root, homes, depth+1)...)
		}
	}
	return list
}

// pathIn is a path of a git configuration, which may be relative to a folder or to the home.
func pathIn(folder, path string, homes []string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && len(homes) > 0 {
		folder, path = homes[0], rest
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}

// repository returns the working tree that dir is in and its git folders, the tree's own first; ""
// = it is in none. It follows a .git file only where the other end agrees.
func repository(dir string) (root string, git []string, err error) {
	for root = dir; ; root = filepath.Dir(root) {
		info, err := os.Lstat(filepath.Join(root, ".git"))
		switch {
		case err != nil:
		case info.IsDir():
			return root, []string{filepath.Join(root, ".git")}, nil
		case info.Mode().IsRegular():
			git, err := linked(root)
			return root, git, err
		default:
			return "", nil, cannot("%s is neither a folder nor a file", filepath.Join(root, ".git"))
		}
		if root == filepath.Dir(root) {
			return "", nil, nil
		}
	}
}

// linked follows a .git file: of a linked working tree to its folder and the common one, of a
// submodule to its folder.
func linked(root string) ([]string, error) {
	own, err := pointer(filepath.Join(root, ".git"), "gitdir:", root)
	if err != nil {
		return nil, err
	}
	if common, err := pointer(filepath.Join(own, "commondir"), "", own); err == nil {
		back, err := pointer(filepath.Join(own, "gitdir"), "", own)
		if err != nil || back != filepath.Join(root, ".git") || filepath.Dir(filepath.Dir(own)) != common {
			return nil, cannot("%s leads to %s, which does not lead back", filepath.Join(root, ".git"), own)
		}
		return []string{own, common}, nil
	}
	text, _ := readSmall(filepath.Join(own, "config")) // a submodule's says where its working tree is
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, "=")
		if strings.EqualFold(strings.TrimSpace(key), "worktree") &&
			filepath.Join(own, strings.TrimSpace(value)) == root {
			return []string{own}, nil
		}
	}
	return nil, cannot("%s leads to %s, which does not lead back", filepath.Join(root, ".git"), own)
}

// pointer reads a file that has one path, relative to base, and returns where it leads.
func pointer(file, prefix, base string) (string, error) {
	text, err := readSmall(file)
	if err != nil {
		return "", cannot("%s cannot be read: %v", file, readfile.Cause(err))
	}
	path, ok := strings.CutPrefix(strings.TrimSpace(string(text)), prefix)
	if !ok {
		return "", cannot("%s has no %q", file, prefix)
	}
	if path = strings.TrimSpace(path); !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", cannot("%s leads nowhere: %v", file, readfile.Cause(err))
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// readSmall reads a regular file of at most 64 KiB.
func readSmall(file string) ([]byte, error) {
	fd, err := syscall.Open(file, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return nil, os.ErrInvalid
	}
	buf := make([]byte, min(st.Size+1, 64<<10))
	n, err := syscall.Read(fd, buf)
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// Contents reads a whole file by the system's calls: package os would make a poller, and start threads.
func Contents(file string) (text []byte, err error) {
	fd, err := syscall.Open(file, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	for text = make([]byte, 0, 16<<10); ; {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := syscall.Read(fd, text[len(text):cap(text)])
		if n <= 0 {
			return text, err
		}
		text = text[:len(text)+n]
	}
}

// caches of package managers, below a home: builds write them.
var caches = []string{
	"Library/Caches", ".npm", ".local/share/pnpm/store", ".pnpm-store", ".yarn/berry", ".yarn/cache",
	".bun/install/cache", ".cargo/registry", ".cargo/git", "go/pkg", ".gradle/caches", ".m2/repository",
	".nuget/packages", ".ccache", ".cpan/build", ".gem/specs",
	".cache/go-build", ".cache/golangci-lint", ".cache/staticcheck", ".cache/gopls", ".cache/goimports", ".cache/pip",
	".cache/uv", ".cache/pypoetry/cache", ".cache/pypoetry/artifacts", ".cache/pdm", ".cache/pip-tools", ".cache/mypy",
	".cache/ruff", ".cache/black", ".cache/pylint", ".cache/yarn", ".cache/pnpm", ".cache/deno", ".cache/node-gyp",
	".cache/turbo", ".cache/nx", ".cache/ccache", ".cache/sccache", ".cache/bazel", ".cache/zig", ".cache/coursier",
	".cache/sbt", ".cache/cabal", ".cache/dune", ".cache/hex", ".cache/rebar3", ".cache/composer", ".cache/conan",
	".cache/vcpkg", ".cache/meson", ".cache/clangd", ".cache/fontconfig", ".cache/matplotlib", ".cache/mesa_shader_cache",
	".cache/nix", ".cache/helm", ".cache/trivy", ".cache/semgrep", ".cache/hatch",
}

// programsIn lists the programs that caches of package managers have: they run later.
func (l lister) programsIn(homes []string) (list []string) {
	for _, p := range [][2]string{{"go/pkg/mod/golang.org", "toolchain@"}, {".npm/_npx", ""}, {".cache/pnpm", "dlx"}} {
		for _, folder := range l.existing(homes, p[:1]) {
			names, _ := listed(folder, maxNames) // it cannot be written either
			for _, name := range names {
				if strings.HasPrefix(name, p[1]) {
					list = append(list, folder+"/"+name)
				}
			}
		}
	}
	return list
}

// ownCaches has tools whose cache is not there use one of the box: nothing is made in a home.
func (l lister) ownCaches(homes []string) (set [][2]string) {
	for _, c := range [][3]string{
		{".cache/go-build", "GOCACHE", "/tmp/cache/go-build"}, {".npm", "npm_config_cache", "/tmp/cache/npm"},
		{"go/pkg", "GOMODCACHE", "/tmp/cache/go"}, {".cargo/registry", "CARGO_HOME", "/tmp/cache/cargo"},
		{".m2/repository", "MAVEN_ARGS", "-Dmaven.repo.local=/tmp/cache/m2"}, {".gradle/caches", "GRADLE_USER_HOME", "/tmp/cache/gradle"},
		{".nuget/packages", "NUGET_PACKAGES", "/tmp/cache/nuget"},
	} {
		if len(l.existing(homes[:min(1, len(homes))], c[:1])) == 0 { // tools look for none below another home
			set = append(set, [2]string{c[1], c[2]})
		}
	}
	return set
}

// secrets, below a home: keys, tokens, browsers and shell histories.
var secrets = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".oci", ".minikube", ".config/gcloud", ".config/gh",
	".config/op", ".config/hub", ".config/rclone", ".config/doctl", ".config/containers", ".config/gopass", ".config/age",
	".config/sops", ".config/configstore", ".config/stripe", ".config/heroku", ".fly",
	".git-credentials", ".config/git/credentials", ".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc",
	".config/pip", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml",
	".gradle/gradle.properties", ".nuget/NuGet", ".terraform.d", ".terraformrc", ".vault-token", ".password-store",
	".local/share/keyrings", ".1password", ".pgpass", ".my.cnf", ".s3cfg", ".boto", ".databrickscfg", ".snowflake",
	".local/share/gopass", ".config/keepassxc", ".electrum", ".bitcoin", ".ethereum", ".solana",
	".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge",
	".thunderbird", ".config/Slack", ".config/discord", ".config/Signal", ".cache/mozilla", ".cache/google-chrome",
	".cache/chromium", ".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history",
	".mysql_history", ".local/share/fish/fish_history", ".histfile", ".lesshst",
	"Library/Keychains", "Library/Mail", "Library/Messages", "Library/Cookies", "Library/Safari",
	"Library/Application Support/Google/Chrome", "Library/Application Support/Firefox",
	"Library/Application Support/BraveSoftware", "Library/Application Support/1Password",
}

// ofMachine are folders and sockets of the machine that lead out of a box.
var ofMachine = []string{
	"/run/docker.sock", "/run/podman", "/run/containerd", "/run/crio", "/run/snapd.socket", "/run/snapd-snap.socket",
	"/run/dbus/system_bus_socket", "/run/systemd/private", "/run/systemd/io.systemd.Manager", "/run/user", "/run/screen",
	"/run/WSL", "/run/initctl", "/run/secrets", "/run/credentials", "/nix/var/nix/daemon-socket", "/var/lib/docker",
	"/var/run/secrets", "/var/spool/cron", "/etc/hookd", "/var/lib/hookd", "/run/hookd", "/root/.hookd",
}

// hidden lists the paths that a profile hides and that are there.
func (l lister) hidden(homes []string, p Profile, at Surroundings) []string {
	list := l.existing(homes, append(secrets[:len(secrets):len(secrets)], at.Private...))
	list = append(list, resolvedAll(ofMachine)...)
	list = append(list, resolvedAll(at.Own)...)
	list = append(list, resolvedAll(p.Hide)...)
	list = append(list, otherHomes(homes)...)
	show := resolvedAll(p.Show)
	kept := list[:0]
	for _, path := range list {
		if !slices.Contains(show, path) {
			kept = append(kept, path)
		}
	}
	return outermost(clean(kept))
}

// outermost drops the paths that lie below another of the list, which is sorted.
func outermost(list []string) []string {
	kept := list[:0]
	for _, path := range list {
		inside := false
		for _, k := range kept {
			inside = inside || within(path, k)
		}
		if !inside {
			kept = append(kept, path)
		}
	}
	return kept
}

// lister knows the names in folders that it has looked into.
type lister map[string]map[string]bool

// existing returns the names below folders that are there, with links followed: both ends of a link
// lead to the same place. Folders have no links in their own paths. Most names are not there, so it lists a
// folder once, and asks for the rest.
func (l lister) existing(folders, names []string) (list []string) {
	for _, dir := range folders {
		for _, name := range names {
			if path := l.find(dir, name); path != "" {
				list = append(list, path)
			}
		}
	}
	return list
}

// find returns where a name below dir leads; "" = it is not there.
func (l lister) find(dir, name string) string {
	at := dir
	for rest, more := name, true; more; at += "/" + name {
		name, rest, more = strings.Cut(rest, "/")
		if names := l.names(at); names != nil && !names[strings.ToLower(name)] {
			return ""
		}
	}
	for part := at; len(part) > len(dir); part = part[:strings.LastIndexByte(part, '/')] {
		var st syscall.Stat_t
		if syscall.Lstat(part, &st) != nil {
			return ""
		}
		if st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
			at, _ = filepath.EvalSymlinks(at) // "" where it leads nowhere
			return at
		}
	}
	return at
}

// there reports whether a path is there, a link that leads nowhere included.
func (l lister) there(path string) bool {
	at := strings.LastIndexByte(path, '/')
	if names := l.names(path[:at]); names != nil && !names[strings.ToLower(path[at+1:])] {
		return false
	}
	return there(path)
}

// names lists a folder; nil = it cannot be listed, or has so many names that a look for each is faster.
func (l lister) names(dir string) map[string]bool {
	if names, known := l[dir]; known {
		return names
	}
	l[dir] = nil
	const many = 500
	list, err := listed(dir, many)
	if err != nil || len(list) > many {
		return nil
	}
	names := make(map[string]bool, len(list))
	for _, name := range list {
		names[strings.ToLower(name)] = true // file systems of macOS take either case
	}
	l[dir] = names
	return names
}

const (
	maxNames   = 1 << 20 // in a folder that is listed whole
	mostNested = 500     // names in a project, and in all its folders, of which some may be repositories
)

// listed returns the names in a folder, and stops reading after most. Package os would make a poller, and start
// threads.
func listed(dir string, most int) (list []string, err error) {
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	for buf := make([]byte, 8<<10); len(list) <= most; {
		n, err := syscall.ReadDirent(fd, buf)
		if n <= 0 {
			return list, err
		}
		_, _, list = syscall.ParseDirent(buf[:n], -1, list)
	}
	return list, nil
}

// there reports whether a path is there, a link that leads nowhere included.
func there(path string) bool {
	var st syscall.Stat_t
	return syscall.Lstat(path, &st) == nil
}

// resolvedAll follows links of paths, and drops missing and repeated ones.
func resolvedAll(paths []string) (list []string) {
	for _, path := range paths {
		if !there(path) {
			continue // as most
		}
		if path, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	return list
}

// otherHomes lists the homes of other users that are there.
func otherHomes(homes []string) (list []string) {
	names, _ := listed("/home", maxNames) // there may be none
	for _, name := range names {
		path := filepath.Join("/home", name)
		mine := false
		for _, home := range homes {
			mine = mine || within(home, path) || within(path, home)
		}
		var st syscall.Stat_t
		if !mine && syscall.Lstat(path, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
			list = append(list, path)
		}
	}
	return list
}
