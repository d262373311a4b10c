// Command hookd-fleet-server is a NATS server with JetStream for a fleet on one site: hookd
// starts it with fleet.embedded, and it ends with hookd. It is a program of its own
// because the server's library is larger than hookd's other parts together.
//
// It lets in one user, the holder of the key that it makes at its first start, who may do
// everything. A fleet of many people has servers of its own: see docs/reference/fleet.md.
package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hookd/hookd/internal/fleet/machinekey"
)

// version is set by the linker.
var version = "dev"

func main() {
	listen := flag.String("listen", "127.0.0.1:4222", "address to listen at")
	store := flag.String("store", "", "folder of the streams (required)")
	key := flag.String("key", "", "file of the key that machines connect with; made if it is not there (required)")
	show := flag.Bool("version", false, "print the version")
	flag.Parse()
	if *show {
		fmt.Println("hookd-fleet-server", version, "nats-server", server.VERSION)
		return
	}
	if *store == "" || *key == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*listen, *store, *key); err != nil {
		fmt.Fprintln(os.Stderr, "hookd-fleet-server:", err)
		os.Exit(1)
	}
}

// startTime is how long the server may take to recover its streams.
const startTime = 2 * time.Minute

// maxStore is the room that all streams may reserve, also on a small disk. A tenant's
// streams reserve 7 GiB and take only the room that their messages need.
const maxStore = 64 << 30

// run serves until a signal, or until stdin ends: its other end is hookd's, however that
// ends.
func run(listen, store, key string) error {
	if err := machinekey.Make(key); err != nil {
		return fmt.Errorf("make the key of the fleet: %w", err)
	}
	public, err := machinekey.Public(key)
	if err != nil {
		return fmt.Errorf("%s holds no nkey seed: %w", key, err)
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return fmt.Errorf("--listen %s: want HOST:PORT", listen)
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "hookd-fleet", Host: host, Port: int(number), JetStream: true, StoreDir: store,
		SyncInterval: time.Second, MaxPayload: 8 << 20, NoSigs: true, JetStreamMaxStore: maxStore,
		Nkeys: []*server.NkeyUser{{Nkey: public}},
	})
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	orphan := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(orphan)
	}()
	s.Start()
	if !s.ReadyForConnections(startTime) {
		return fmt.Errorf("cannot serve at %s: is the address in use?", listen)
	}
	fmt.Println("ready", s.ClientURL())
	select {
	case <-signals:
	case <-orphan:
	}
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}
