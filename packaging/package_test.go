package packaging

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// Every package has these files.
var packaged = []string{
	"usr/bin/hookd", "usr/bin/hookd-bridge",
	"usr/lib/systemd/user/hookd.service", "usr/lib/systemd/user/hookd.socket",
	"usr/lib/systemd/system/hookd.service", "usr/lib/systemd/system/hookd.socket", "usr/lib/sysusers.d/hookd.conf",
	"usr/share/bash-completion/completions/hookd", "usr/share/fish/vendor_completions.d/hookd.fish",
	"usr/share/man/man1/hookd.1.gz", "usr/share/man/man1/hookd-dev-emit.1.gz",
	"usr/share/doc/hookd/README.md", "usr/share/doc/hookd/THIRD_PARTY", "usr/share/doc/hookd/docs/reference/operations.md", "usr/share/doc/hookd/docs/reference/openapi.yaml",
	"usr/share/doc/hookd/docs/gallery/command-guard/HOOK.yaml", "usr/share/doc/hookd/docs/gallery/ask-slack/ask.py",
	"usr/share/doc/hookd/packaging/systemd/hardened.conf", "usr/share/doc/hookd/packaging/prometheus/alerts.yaml", "usr/share/doc/hookd/packaging/grafana/hookd.json",
}

// `make package` makes packages that hold the right files, can be installed, and work
// from where they install to.
func TestPackages(t *testing.T) {
	if !hooktest.All() {
		t.Skip("builds hookd twice")
	}
	dist := buildPackages(t)
	t.Run("deb", func(t *testing.T) {
		root := t.TempDir()
		installDeb(t, one(t, dist, "hookd_*.deb"), root)
		checkRoot(t, root, "usr/share/zsh/vendor-completions/_hookd", "usr/share/doc/hookd/copyright")
		removeDeb(t, root)
	})
	t.Run("rpm", func(t *testing.T) {
		root := t.TempDir()
		unpackRPM(t, one(t, dist, "hookd-1*.rpm"), root)
		checkRoot(t, root, "usr/share/zsh/site-functions/_hookd",
			"usr/share/licenses/hookd/LICENSE", "usr/share/licenses/hookd/THIRD_PARTY")
	})
	t.Run("sbom", func(t *testing.T) {
		var b struct {
			Format     string `json:"bomFormat"`
			Components []struct{ Name string }
		}
		text, err := os.ReadFile(one(t, dist, "hookd-1.2.3-linux-"+runtime.GOARCH+".cdx.json"))
		if err == nil {
			err = json.Unmarshal(text, &b)
		}
		for _, name := range []string{"modernc.org/sqlite", "preact"} {
			if err != nil || b.Format != "CycloneDX" || !strings.Contains(fmt.Sprint(b.Components), name) {
				t.Errorf("the SBOM of the programs has no %s, only %v, %v", name, b.Components, err)
			}
		}
	})
	t.Run("fleet", func(t *testing.T) {
		checkAlone(t, dist, "hookd-fleet", "hookd", "github.com/nats-io/nats.go",
			"usr/lib/systemd/system/hookd-fleet-users.service", "usr/lib/systemd/system/hookd-fleet-users.timer")
	})
	t.Run("fleet server", func(t *testing.T) {
		checkAlone(t, dist, "hookd-fleet-server", "hookd, hookd-fleet", "github.com/nats-io/nats-server/v2")
	})
	t.Run("archive", func(t *testing.T) { checkArchive(t, dist) })
	t.Run("sums", func(t *testing.T) { checkSums(t, dist) })
	t.Run("formula", func(t *testing.T) { checkFormula(t, dist) })
	t.Run("install.sh", func(t *testing.T) { checkInstaller(t, dist) })
	t.Run("npm", func(t *testing.T) { checkNPM(t, dist) })
	t.Run("wheel", func(t *testing.T) { checkWheel(t, dist) })
}

func buildPackages(t *testing.T) (dist string) {
	t.Helper()
	for _, tool := range []string{"git", "gzip", "sed", "tar"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIP-TOOL %s: packaging/package.sh needs it", tool)
		}
	}
	tool := exec.Command("go", "tool", "-modfile=packaging/tools/go.mod", "nfpm", "--version")
	tool.Dir = ".."
	if out, err := tool.CombinedOutput(); err != nil {
		t.Skipf("SKIP-TOOL nfpm: its module cannot be had: %v\n%s", err, out)
	}
	dist = t.TempDir()
	cmd := exec.Command("sh", "packaging/package.sh")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "DIST="+dist, "SYSTEMS=linux", "ARCHS="+runtime.GOARCH, "VERSION=v1.2.3", "GOTOOLCHAIN=local")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("package.sh: %v\n%s", err, out)
	}
	return dist
}

// checkAlone looks for a program in an archive, a .deb and a .rpm of its own, and tries it.
func checkAlone(t *testing.T, dist, program, needs, module string, more ...string) {
	name := program + "-1.2.3-linux-" + runtime.GOARCH
	archive, deb, rpm := t.TempDir(), t.TempDir(), t.TempDir()
	if out, err := exec.Command("tar", "-xzf", filepath.Join(dist, name+".tar.gz"), "-C", archive).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	unpackRPM(t, one(t, dist, program+"-1*.rpm"), rpm)
	found := []string{
		filepath.Join(archive, name, program), filepath.Join(archive, name, "LICENSE"),
		filepath.Join(rpm, "usr/bin", program), filepath.Join(rpm, "usr/share/licenses", program, "THIRD_PARTY"),
	}
	for _, file := range more {
		found = append(found, filepath.Join(rpm, file))
	}
	if _, err := exec.LookPath("dpkg-deb"); err == nil {
		file := one(t, dist, program+"_*.deb")
		if out, err := exec.Command("dpkg-deb", "-x", file, deb).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := exec.Command("dpkg-deb", "-f", file, "Depends").CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != needs {
			t.Errorf("the .deb depends on %q, %v", out, err)
		}
		found = append(found, filepath.Join(deb, "usr/bin", program),
			filepath.Join(deb, "usr/share/doc", program, "copyright"))
	}
	for _, file := range found {
		info, err := os.Stat(file)
		if err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, or empty", file, err)
			continue
		}
		if filepath.Base(file) != program {
			continue
		}
		out, err := exec.Command(file, "--version").CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), program+" 1.2.3") {
			t.Errorf("%s --version said %q, %v", file, out, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dist, name+".cdx.json"))
	if err != nil || !strings.Contains(string(text), module) {
		t.Errorf("the SBOM of %s has no %s, %v", program, module, err)
	}
}

// checkArchive unpacks the archive of this machine and tries the program in it.
func checkArchive(t *testing.T, dist string) {
	name := "hookd-1.2.3-linux-" + runtime.GOARCH
	root := t.TempDir()
	if out, err := exec.Command("tar", "-xzf", filepath.Join(dist, name+".tar.gz"), "-C", root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, file := range []string{
		"hookd", "hookd-bridge", "LICENSE", "README.md", "THIRD_PARTY", "man/hookd.1.gz",
		"completions/hookd.bash", "completions/hookd.zsh", "completions/hookd.fish",
	} {
		if info, err := os.Stat(filepath.Join(root, name, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, or empty", file, err)
		}
	}
	checkTree(t, filepath.Join(root, name))
	notices, err := os.ReadFile(filepath.Join(root, name, "THIRD_PARTY"))
	if err != nil || !strings.Contains(string(notices), "\ngithub.com/spf13/cobra v") || !strings.Contains(string(notices), "The Go Authors") {
		t.Errorf("THIRD_PARTY has %d bytes without Go or cobra, %v", len(notices), err)
	}
	if runtime.GOOS == "linux" {
		out, err := exec.Command(filepath.Join(root, name, "hookd"), "version").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "1.2.3") {
			t.Errorf("version: %v\n%s", err, out)
		}
	}
}

// checkSums compares SHA256SUMS with everything else in dist.
func checkSums(t *testing.T, dist string) {
	want := ""
	files, err := os.ReadDir(dist)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name() == "SHA256SUMS" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dist, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		want += fmt.Sprintf("%x  %s\n", sha256.Sum256(data), f.Name())
	}
	if got, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS")); err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("got %q, %v, want one %s", found, err, pattern)
	}
	return found[0]
}

// installDeb lets dpkg install into a root of its own, or unpack where only
// root may install.
func installDeb(t *testing.T, deb, root string) {
	t.Helper()
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("SKIP-TOOL dpkg-deb: nothing else is sure to read a .deb as Debian does")
	}
	cmd := exec.Command("dpkg-deb", "-x", deb, root)
	if dpkg, err := exec.LookPath("dpkg"); err == nil && os.Geteuid() == 0 {
		for _, dir := range []string{"updates", "info"} {
			if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd = exec.Command(dpkg, "--root="+root, "--log="+filepath.Join(root, "log"),
			"--force-script-chrootless", "-i", deb) // its scripts see DPKG_ROOT, and leave this machine alone
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// removeDeb removes the package again: no part stays. A user who is not root has only unpacked it.
func removeDeb(t *testing.T, root string) {
	t.Helper()
	if _, err := exec.LookPath("dpkg"); err != nil || os.Geteuid() != 0 {
		return
	}
	cmd := exec.Command("dpkg", "--root="+root, "--log="+filepath.Join(root, "log"), "--force-script-chrootless", "-r", "hookd")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	if _, err := os.Stat(filepath.Join(root, "usr/bin")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("programs stay after the removal: %v", err)
	}
}

// checkRoot looks at the installed files, and tries them.
func checkRoot(t *testing.T, root string, more ...string) {
	t.Helper()
	for _, name := range append(more, packaged...) {
		info, err := os.Lstat(filepath.Join(root, name))
		if err != nil {
			t.Error(err)
			continue
		}
		want := os.FileMode(0o644)
		if strings.HasPrefix(name, "usr/bin/") || strings.HasSuffix(name, ".py") { // a hook to copy
			want = 0o755
		}
		if info.Mode() != want || info.Size() == 0 {
			t.Errorf("%s has mode %o and %d bytes, want mode %o", name, info.Mode(), info.Size(), want)
		}
	}
	filepath.WalkDir(filepath.Join(root, "usr"), func(path string, d fs.DirEntry, err error) error {
		if info, statErr := os.Stat(path); err != nil || statErr != nil || d.IsDir() && info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v, %v, or not a folder for all", path, err, statErr)
		}
		return nil
	})
	checkLinks(t, filepath.Join(root, "usr/share/doc/hookd"))
	unit, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/user/hookd.service"))
	if err != nil || strings.Join(settings(t, string(unit))["Service.ExecStart"], "|") != "/usr/bin/hookd serve" {
		t.Errorf("the unit starts something else: %v\n%s", err, unit)
	}
	if runtime.GOOS != "linux" {
		return
	}
	out, err := exec.Command(filepath.Join(root, "usr/bin/hookd"), "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "hookd 1.2.3 ") {
		t.Errorf("hookd version said %q, %v", out, err)
	}
	bridge := exec.Command(filepath.Join(root, "usr/bin/hookd-bridge"), "no-such-agent")
	if out, err := bridge.CombinedOutput(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Errorf("hookd-bridge did not run: %v\n%s", err, out)
	}
}

// checkLinks follows each link from a document to a file.
func checkLinks(t *testing.T, dir string) {
	t.Helper()
	link, links := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`), 0
	filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), string(m[1]))); err != nil {
				t.Errorf("%s links to nothing: %v", path, err)
			}
		}
		return nil
	})
	if links == 0 {
		t.Errorf("no document in %s has a link", dir)
	}
}

// unpackRPM reads a package as rpm(8) lays it out: a lead of 96 bytes, a
// header of signatures padded to 8 bytes, the header, a compressed archive.
func unpackRPM(t *testing.T, path, root string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := 96
	if !bytes.HasPrefix(data, []byte{0xed, 0xab, 0xee, 0xdb}) {
		t.Fatalf("%s is no rpm", path)
	}
	for range 2 {
		if at = (at + 7) &^ 7; !bytes.HasPrefix(data[at:], []byte{0x8e, 0xad, 0xe8, 0x01}) {
			t.Fatalf("no header at %d", at)
		}
		entries, size := binary.BigEndian.Uint32(data[at+8:]), binary.BigEndian.Uint32(data[at+12:])
		at += 16 + 16*int(entries) + int(size)
	}
	payload, err := gzip.NewReader(bytes.NewReader(data[at:]))
	if err != nil {
		t.Fatal(err)
	}
	archive, err := io.ReadAll(payload)
	if err != nil {
		t.Fatal(err)
	}
	unpackCPIO(t, archive, root)
}

// unpackCPIO reads the "newc" format: numbers of 8 hexadecimal digits, name and
// content padded to 4 bytes (cpio(5)).
func unpackCPIO(t *testing.T, archive []byte, root string) {
	t.Helper()
	field := func(at, n int) int {
		v, err := strconv.ParseUint(string(archive[at+6+8*n:at+14+8*n]), 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		return int(v)
	}
	for at := 0; ; {
		mode, size, nameSize := field(at, 1), field(at, 6), field(at, 11)
		name := string(archive[at+110 : at+110+nameSize-1])
		if name == "TRAILER!!!" {
			return
		}
		content := (at + 110 + nameSize + 3) &^ 3
		at = (content + size + 3) &^ 3
		file := filepath.Join(root, name)
		if mode&0o170000 == 0o040000 {
			if mode&0o7777 != 0o755 {
				t.Errorf("folder %s has mode %o", name, mode&0o7777)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, archive[content:content+size], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, os.FileMode(mode&0o7777)); err != nil {
			t.Fatal(err)
		}
	}
}

// checkFormula holds the formula to the archive that it names.
func checkFormula(t *testing.T, dist string) {
	text, err := os.ReadFile(filepath.Join(dist, "hookd.rb"))
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(filepath.Join(dist, "hookd-1.2.3.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(archive)
	for _, want := range []string{fmt.Sprintf("sha256 %q", hex.EncodeToString(sum[:])), `/v1.2.3/hookd-1.2.3.tar.gz"`, `run [opt_bin/"hookd", "serve"]`} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if left := regexp.MustCompile(`@[A-Z0-9]+@`).Find(text); left != nil {
		t.Errorf("%s was not filled in", left)
	}
	ruby, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("SKIP-TOOL ruby: the formula's syntax is not checked")
	}
	if out, err := exec.Command(ruby, "-c", filepath.Join(dist, "hookd.rb")).CombinedOutput(); err != nil {
		t.Errorf("ruby -c: %v\n%s", err, out)
	}
}
