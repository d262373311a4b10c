// Command hookd-fleet speaks to the NATS servers of a fleet for hookd. hookd starts it where
// fleet: is set, gives it the messages to send, and asks it which messages have come. hookd itself
// links no NATS. The program has no settings and keeps nothing. hookd tells it which servers there are,
// and all waiting messages are in hookd's store. It ends with hookd.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/hookd/hookd/internal/fleet/engine"
	"github.com/hookd/hookd/internal/fleet/jetstream"
	"github.com/hookd/hookd/internal/fleet/link"
	"github.com/hookd/hookd/internal/fleet/machinekey"
)

// version is set by the linker.
var version = "dev"

func main() {
	socket := flag.String("socket", "", "hookd's socket; without it hookd is at stdin and stdout")
	keygen := flag.String("keygen", "", "make the key of a machine in `FILE`, print its public half, and end")
	check := flag.String("check", "", "end with 0 if `KEY` is the public key of a machine")
	show := flag.Bool("version", false, "print the version")
	flag.Parse()
	err := errors.New("hookd-fleet takes no arguments: hookd starts it")
	switch {
	case *show:
		fmt.Println("hookd-fleet", version)
		return
	case flag.NArg() > 0:
	case *keygen != "":
		err = makeKey(*keygen)
	case *check != "":
		err = machinekey.Check(*check)
	default:
		err = run(*socket)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hookd-fleet:", err)
		os.Exit(1)
	}
}

func makeKey(file string) error {
	if err := machinekey.New(file); err != nil {
		if public, bad := machinekey.Public(file); bad == nil {
			err = fmt.Errorf("%s exists: the public half of its key is %s", file, public)
		}
		return err
	}
	public, err := machinekey.Public(file)
	if err == nil {
		fmt.Println(public)
	}
	return err
}

// run serves hookd until its connection ends, or a signal comes.
func run(socket string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	hookd := link.Conn(os.Stdin, os.Stdout, os.Stdin.Close)
	if socket != "" {
		var err error
		if hookd, err = attach(socket); err != nil {
			return err
		}
	}
	go func() {
		<-ctx.Done()
		os.Exit(0) // it keeps nothing
	}()
	log := logger()
	err := link.Serve(hookd, func(o engine.Options) (link.Engine, error) {
		broker, err := jetstream.Connect(o, log)
		if err != nil {
			return nil, err
		}
		go func() {
			<-broker.Rekeyed()
			os.Exit(0) // hookd starts it again
		}()
		return broker, nil
	})
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// logger writes to stderr, which is in hookd's log.
func logger() *zap.Logger {
	encoder := zapcore.NewConsoleEncoder(zapcore.EncoderConfig{
		MessageKey: "m", LevelKey: "l", EncodeLevel: zapcore.LowercaseLevelEncoder,
	})
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(os.Stderr), zapcore.InfoLevel))
}

// attach opens a connection to hookd on which hookd asks.
func attach(socket string) (net.Conn, error) {
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	out, in := io.Pipe()
	r, err := http.NewRequest(http.MethodPost, "http://hookd/v1/fleet/link", out)
	if err != nil {
		return nil, err
	}
	got, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("connect to hookd: %w", err)
	}
	if got.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(got.Body, 4<<10)) // part of a message, as far as it came
		return nil, fmt.Errorf("hookd does not take the connection: %s: %s", got.Status, text)
	}
	return link.Conn(got.Body, in, func() error { return errors.Join(in.Close(), got.Body.Close()) }), nil
}
