package doctor

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/hangfs"
)

// A folder of PATH and a database on a file system that hangs cost one line each, and
// the rest is examined.
func TestLookAtFilesThatHang(t *testing.T) {
	t.Parallel()
	m := hangfs.New(t, map[string]string{"run": "#!/bin/sh\n"})
	c := config.Default(t.TempDir())
	c.StorePath = filepath.Join(m.Dir, "hookd.db")
	socket := client.New(client.Options{Socket: filepath.Join(c.Home, "hookd.sock")})
	m.Hang()
	t.Cleanup(m.Answer)
	looked := make(chan []Finding, 1)
	go func() {
		looked <- Look(context.Background(), Options{Config: c, Client: socket, UserPath: "/usr/bin:" + m.Dir})
	}()
	var found []Finding
	select {
	case found = <-looked:
	case <-time.After(5 * time.Minute):
		t.Fatal("it waits for a file system that hangs")
	}
	said := map[string]int{}
	for _, f := range found {
		if strings.Contains(f.Found, "does not answer") && f.Do != "" {
			said[f.Check]++
		}
	}
	for _, check := range []string{"home", "disk", "path"} {
		if said[check] != 1 {
			t.Errorf("%s: reported %d times in %+v", check, said[check], found)
		}
	}
	if found[len(found)-1].Check != "history" {
		t.Errorf("the rest is not examined: %+v", found)
	}
}
