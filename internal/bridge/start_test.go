package bridge_test

import (
	"testing"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/bridge"
	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/daemon"
	"github.com/hookd/hookd/internal/hooktest"
)

func init() { bridge.StartDaemon = startDaemon }

func startDaemon(t *testing.T, home string) (socket string, stop func()) {
	t.Helper()
	c, err := config.Load(home, map[string]string{"fire_startup": "false"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := daemon.New(daemon.Options{Config: c, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	stop = hooktest.Run(t, d.Run)
	cl := client.New(client.Options{Socket: c.Socket})
	hooktest.Until(t, "the daemon is ready", func() bool { return cl.Ready(t.Context()) == nil })
	return c.Socket, stop
}
