package hangfs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestMount(t *testing.T) {
	m := New(t, map[string]string{"run": "#!/bin/sh\necho runs\n"})
	path := filepath.Join(m.Dir, "run")
	if out, err := exec.Command(path).Output(); string(out) != "runs\n" {
		t.Fatalf("got %q, %v", out, err)
	}
	m.Hang(GetAttr, Lookup)
	looked := make(chan error, 1)
	go func() { _, err := os.Lstat(path); looked <- err }()
	m.Held()
	select {
	case err := <-looked:
		t.Fatalf("answered, %v", err)
	default:
	}
	m.Answer()
	if err := <-looked; err != nil {
		t.Fatal(err)
	}
}
