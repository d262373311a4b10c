package packaging

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// anyOf skips a test where none of the programs is installed.
func anyOf(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err == nil {
			return
		}
	}
	t.Skipf("SKIP-TOOL %s: not installed", strings.Join(tools, ", "))
}

// runs fails the test unless a program of 1.2.3 is at path, and answers.
func runs(t *testing.T, path string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return // the packages of the test are for Linux
	}
	out, err := exec.Command(path, "version").CombinedOutput()
	if err != nil || !strings.Contains(string(out), " 1.2.3 ") {
		t.Errorf("%s version said %q, %v", path, out, err)
	}
}

// checkInstaller runs install.sh against a server that has the release, and against
// ones that have something else.
func checkInstaller(t *testing.T, dist string) {
	anyOf(t, "curl", "wget")
	if runtime.GOOS != "linux" {
		t.Skip("the packages of the test are for Linux")
	}
	archive := "hookd-1.2.3-linux-" + runtime.GOARCH + ".tar.gz"
	good, err := os.ReadFile(filepath.Join(dist, archive))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	changed := append([]byte{}, good...)
	changed[len(changed)/2]++
	for _, c := range []struct {
		name, sums string
		archive    []byte
		args       []string
		says       string // "" = it is installed
	}{
		{name: "latest", sums: string(sums), archive: good},
		{name: "a version", sums: string(sums), archive: good, args: []string{"--version", "v1.2.3"}},
		{name: "another version", sums: string(sums), archive: good, args: []string{"--version", "2.0.0"}, says: "not version 2.0.0"},
		{name: "a changed archive", sums: string(sums), archive: changed, says: "nothing was installed"},
		{name: "half an archive", sums: string(sums), archive: good[:len(good)/2], says: "nothing was installed"},
		{name: "no archive", sums: string(sums), says: "cannot fetch"},
		{name: "no sum", sums: strings.ReplaceAll(string(sums), archive, "other.tar.gz"), archive: good, says: "has no archive for linux-"},
		{name: "two sums", sums: string(sums) + string(sums), archive: good, says: "has several archives"},
		{name: "a name that leads elsewhere", sums: strings.Replace(string(sums), "  "+archive, "  hookd-../../x-linux-"+runtime.GOARCH+".tar.gz", 1), archive: good,
			says: "has no archive"},
		{name: "no release", says: "cannot fetch"},
		{name: "a relative prefix", sums: string(sums), archive: good, args: []string{"--prefix", "here"}, says: "no absolute path"},
		{name: "an unknown option", sums: string(sums), archive: good, args: []string{"--now"}, says: "unknown option --now"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch name := filepath.Base(r.URL.Path); {
				case name == "SHA256SUMS" && c.sums != "":
					w.Write([]byte(c.sums))
				case name == archive && c.archive != nil:
					w.Write(c.archive)
				default:
					http.NotFound(w, r)
				}
			}))
			defer server.Close()
			home := t.TempDir()
			cmd := exec.Command("sh", append([]string{filepath.Join(dist, "install.sh")}, c.args...)...)
			cmd.Dir = home
			cmd.Env = append(os.Environ(), "HOME="+home, "HOOKD_RELEASES="+server.URL)
			out, err := cmd.CombinedOutput()
			if c.says == "" {
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				runs(t, filepath.Join(home, ".local/bin/hookd"))
				return
			}
			if err == nil || !strings.Contains(string(out), c.says) {
				t.Errorf("%v, want %q:\n%s", err, c.says, out)
			}
			if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
				t.Errorf("%v was left, %v", left, err)
			}
		})
	}
	t.Run("a script that came in part", func(t *testing.T) {
		text, err := os.ReadFile(filepath.Join(dist, "install.sh"))
		if err != nil {
			t.Fatal(err)
		}
		home := t.TempDir()
		part, _, _ := strings.Cut(string(text), `main "$@" #`)
		cmd := exec.Command("sh", "-c", part)
		cmd.Env = append(os.Environ(), "HOME="+home, "HOOKD_RELEASES=http://127.0.0.1:1")
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// checkTree installs the files of an archive, as `make install` does, and takes them
// out.
func checkTree(t *testing.T, folder string) {
	prefix := filepath.Join(t.TempDir(), "a prefix")
	tree := func(args ...string) {
		t.Helper()
		out, err := exec.Command("sh", append([]string{"install-tree.sh"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	tree(folder, prefix)
	tree(folder, prefix) // over itself
	runs(t, filepath.Join(prefix, "bin/hookd"))
	for _, name := range []string{
		"bin/hookd-bridge", "share/man/man1/hookd-init.1.gz", "share/bash-completion/completions/hookd",
		"share/zsh/site-functions/_hookd", "share/fish/vendor_completions.d/hookd.fish",
	} {
		if info, err := os.Stat(filepath.Join(prefix, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, or empty", name, err)
		}
	}
	mine := filepath.Join(prefix, "bin/mine")
	if err := os.WriteFile(mine, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	tree("--remove", prefix)
	filepath.WalkDir(prefix, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() && path != mine {
			t.Errorf("%s is left, %v", path, err)
		}
		return nil
	})
}

// checkNPM installs the npm packages from their files, without a network.
func checkNPM(t *testing.T, dist string) {
	anyOf(t, "npm")
	anyOf(t, "node")
	dir := t.TempDir()
	cmd := exec.Command("npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", dir,
		filepath.Join(dist, "hookd-npm-1.2.3.tgz"), one(t, dist, "hookd-npm-linux-*-1.2.3.tgz"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "npm_config_cache="+filepath.Join(dir, "cache"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	bin := filepath.Join(dir, "node_modules", ".bin")
	runs(t, filepath.Join(bin, "hookd"))
	runs(t, filepath.Join(bin, "hookd-bridge"))
	if runtime.GOOS != "linux" {
		return
	}
	// Exit codes and streams are the program's own.
	out, err := exec.Command(filepath.Join(bin, "hookd"), "no-such-command").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "no-such-command") {
		t.Errorf("got %v\n%s", err, out)
	}
	if err := os.RemoveAll(filepath.Join(dir, "node_modules", "@hookd")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(filepath.Join(bin, "hookd"), "version").CombinedOutput(); err == nil || !strings.Contains(string(out), "there is no package @hookd/") {
		t.Errorf("without binaries: got %v\n%s", err, out)
	}
}

// checkWheel installs the wheel from its file, without a network.
func checkWheel(t *testing.T, dist string) {
	anyOf(t, "python3")
	if err := exec.Command("python3", "-m", "pip", "--version").Run(); err != nil {
		t.Skipf("SKIP-TOOL pip: %v", err)
	}
	if runtime.GOOS != "linux" {
		t.Skip("the packages of the test are for Linux")
	}
	dir := t.TempDir()
	cmd := exec.Command("python3", "-m", "pip", "install", "--no-index", "--no-deps", "--no-cache-dir", "--disable-pip-version-check",
		"--ignore-installed", "--prefix", dir, one(t, dist, "*.whl"))
	cmd.Env = append(os.Environ(), "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// Debian's pip puts the files that it installs below local/.
	bin := filepath.Join(dir, "bin")
	if _, err := os.Stat(bin); err != nil {
		bin = filepath.Join(dir, "local", "bin")
	}
	runs(t, filepath.Join(bin, "hookd"))
	runs(t, filepath.Join(bin, "hookd-bridge"))
}
