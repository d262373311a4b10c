package loopback

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/zap"
)

// While the token cannot be changed it does not listen.
func TestLeakedTokenOpensNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file") // where there should be a folder
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := &Door{
		options: DoorOptions{Options: Options{Listen: "127.0.0.1:0", TokenFile: filepath.Join(file, "token")}},
		leaked:  true,
		log:     zap.NewNop(),
	}
	if open, err := d.newServer(); open != nil || err == nil || !d.leaked {
		t.Errorf("got %v, %v", open, err)
	}
}
