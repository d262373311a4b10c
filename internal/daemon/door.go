package daemon

import (
	"context"

	"go.uber.org/zap"

	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/loopback"
)

// openDoor listens for agents that call hooks over HTTP; nil if none shall.
func openDoor(c config.Config, log *zap.Logger) (*loopback.Door, error) {
	if c.HTTPListen == "" {
		return nil, nil
	}
	token, err := loopback.Token(c.TokenFile())
	if err != nil {
		return nil, err
	}
	return loopback.Open(loopback.Options{Listen: c.HTTPListen, Token: token, Socket: c.Socket, MaxBytes: c.MaxEventBytes, Log: log})
}

// serveDoor answers them until ctx ends.
func (d *Daemon) serveDoor(ctx context.Context) {
	if d.door == nil {
		return
	}
	d.log.Info("agents may call hooks over HTTP", zap.String("address", d.door.Addr()))
	if err := d.door.Serve(ctx); err != nil {
		d.log.Error("agents can no longer call hooks over HTTP: restart hookd", zap.Error(err))
	}
}
