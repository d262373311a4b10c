package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// After an upgrade the running daemon is restarted, before a removal it is stopped, and nothing else
// happens.
func TestPackageScripts(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		args         []string
		root         string
		want         []string // in what systemctl was told; none = it was told nothing of hookd
	}{
		{name: "first install of a deb", script: "after-install.sh", args: []string{"configure", ""}},
		{name: "upgrade of a deb", script: "after-install.sh", args: []string{"configure", "0.1.0"},
			want: []string{"try-restart hookd.service", "--user --machine=root@ try-restart hookd.service"}},
		{name: "first install of an rpm", script: "after-install.sh", args: []string{"1"}},
		{name: "upgrade of an rpm", script: "after-install.sh", args: []string{"2"},
			want: []string{"try-restart hookd.service", "--user --machine=root@ try-restart hookd.service"}},
		{name: "into another root", script: "after-install.sh", args: []string{"configure", "0.1.0"}, root: "/mnt"},
		{name: "removal of a deb", script: "before-remove.sh", args: []string{"remove"},
			want: []string{"disable --now hookd.service hookd.socket", "--user --machine=root@ disable --now"}},
		{name: "removal before an upgrade", script: "before-remove.sh", args: []string{"upgrade", "0.2.0"}},
		{name: "removal of an rpm", script: "before-remove.sh", args: []string{"0"},
			want: []string{"disable --now hookd.service hookd.socket"}},
		{name: "removal of a fleet's deb", script: "before-remove-fleet.sh", args: []string{"remove"},
			want: []string{"disable --now hookd-fleet-users.timer"}},
		{name: "removal of a fleet's rpm before an upgrade", script: "before-remove-fleet.sh", args: []string{"1"}},
		{name: "after the removal of a fleet's rpm", script: "after-remove-fleet.sh", args: []string{"0"},
			want: []string{"try-restart hookd.service", "--user --machine=root@ try-restart hookd.service"}},
		{name: "after the upgrade of a fleet's deb", script: "after-remove-fleet.sh", args: []string{"upgrade", "0.2.0"}},
		{name: "removal of an older rpm", script: "before-remove.sh", args: []string{"1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			told := filepath.Join(dir, "told")
			for _, folder := range []string{"run/systemd/system", "run/user/0/systemd/private", "bin"} {
				if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			standIn := "#!/bin/sh\necho \"$*\" >>'" + told + "'\nexit 1\n" // it fails, and the package is installed all the same
			if err := os.WriteFile(filepath.Join(dir, "bin/systemctl"), []byte(standIn), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("sh", append([]string{filepath.Join("scripts", tt.script)}, tt.args...)...)
			cmd.Env = []string{"PATH=" + dir + "/bin:/usr/bin:/bin", "HOOKD_RUN=" + dir + "/run", "DPKG_ROOT=" + tt.root}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			text, _ := os.ReadFile(told) // none where it was told nothing
			if len(tt.want) == 0 && strings.Contains(string(text), "hookd") {
				t.Errorf("systemctl was told\n%s", text)
			}
			for _, want := range tt.want {
				if !strings.Contains(string(text), want) {
					t.Errorf("systemctl was not told %q, but\n%s", want, text)
				}
			}
		})
	}
}
