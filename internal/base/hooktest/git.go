package hooktest

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Git runs git in dir, with nothing of the user's configuration, and returns its
// output.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	NeedTool(t, "git")
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), gitEnviron...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

var gitEnviron = []string{
	"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
	"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
}

// GitCommit writes files into a repository, which it makes first where there is
// none, commits everything there and returns the commit. A text that begins with
// #! becomes a program.
func GitCommit(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	Must(t, os.MkdirAll(dir, 0o755))
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		Git(t, dir, "init", "-q", "-b", "main")
	}
	for name, text := range files {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		Write(t, filepath.Join(dir, name), text, mode)
	}
	Git(t, dir, "add", "-A")
	Git(t, dir, "commit", "-q", "--allow-empty", "-m", "change")
	return Git(t, dir, "rev-parse", "HEAD")
}

// GitServer serves the repositories below root over HTTP, as git's own server
// does, until the test ends or stop is called.
func GitServer(t testing.TB, root string) (url string, stop func()) {
	t.Helper()
	NeedTool(t, "git")
	handler, err := GitHandler(root)
	if err != nil {
		t.Skipf("SKIP-TOOL git-http-backend: %v", err)
	}
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL, s.Close
}

// GitHandler is the handler of GitServer. The error says that git's server is not
// installed.
func GitHandler(root string) (http.Handler, error) {
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return nil, err
	}
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		return nil, err
	}
	return &cgi.Handler{
		Path: backend, Root: "/",
		Env: append([]string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"}, gitEnviron...),
	}, nil
}
