package undo

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// mounted returns file systems with shared blocks, in a loop device: root alone can mount them.
func mounted(t *testing.T) (list []volume) {
	if os.Geteuid() != 0 {
		t.Log("btrfs and xfs are not tried: only root can mount them")
		return nil
	}
	for _, fs := range []string{"btrfs", "xfs"} {
		dir := t.TempDir()
		image, at := filepath.Join(dir, "image"), filepath.Join(dir, "at")
		mount := "truncate -s 600M " + image + " && mkfs." + fs + " -q " + image + " && mkdir " + at +
			" && mount -o loop " + image + " " + at
		if out, err := exec.Command("sh", "-c", mount).CombinedOutput(); err != nil {
			t.Logf("%s is not tried: %v: %s", fs, err, out)
			continue
		}
		t.Cleanup(func() { _ = exec.Command("umount", "-l", at).Run() })
		list = append(list, volume{fs, at, at, true}, volume{"the vault elsewhere than " + fs, "", at, true})
	}
	return list
}
