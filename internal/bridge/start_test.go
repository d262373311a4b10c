package bridge_test

import (
	"context"
	"testing"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/bridge"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/daemon"
)

func init() { bridge.StartDaemon = startDaemon }

func startDaemon(t *testing.T, home string) (socket string) {
	t.Helper()
	c, err := config.Load(home, map[string]string{"fire_startup": "false"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := daemon.New(daemon.Options{Config: c, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	ready, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for cl := client.New(client.Options{Socket: c.Socket}); cl.Ready(ready) != nil; <-tick.C {
		if ready.Err() != nil {
			t.Fatal("waited in vain until the daemon is ready")
		}
	}
	return c.Socket
}
