package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/system"
	"github.com/hookd/hookd/internal/contract/dialect"
	"github.com/hookd/hookd/internal/run/box"
	"github.com/hookd/hookd/internal/run/proxy"
	"github.com/hookd/hookd/wire"
)

// exitNoBox is the exit code of a box that could not be made: nothing has run.
const exitNoBox = 125

// boxTime is how long a box waits for hookd: it contains without an answer, too.
const boxTime = time.Second

// Box runs `box --profile P --call ID -- PROGRAM ARGUMENT…`, the arguments behind the word box, and
// returns the exit code. Without an answer of hookd the box is the built-in one of that name.
func Box(args []string) int {
	exit, err := runBox(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "hookd-bridge box: nothing was run: %v\n", err)
	}
	return exit
}

func runBox(args []string) (exit int, err error) {
	name, call, level, argv, err := boxArgs(args)
	if err != nil {
		return exitNoBox, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return exitNoBox, fmt.Errorf("find the working directory: %w", err)
	}
	hookd, begun := beginBox(call, wire.BoxStart{Profile: name, Line: argv[len(argv)-1], Cwd: cwd})
	profile := box.Alone(name)
	if call != "" && !begun.Approved { // hookd is not there, or has been away for long
		fmt.Fprintf(os.Stderr, "hookd: this call is not known any more, so it runs in the strict box %q\n", profile.Name)
	}
	if begun.Approved {
		if err := json.Unmarshal(begun.Profile, &profile); err != nil {
			return exitNoBox, fmt.Errorf("read the profile: %w", err)
		}
	}
	spec, err := box.Resolve(profile, box.Place{
		Cwd: cwd, Homes: homes(), Own: append(begun.Hide, ownPaths()...),
		Private: dialect.Private(), Later: dialect.InProject(),
	})
	if err != nil {
		return exitNoBox, err
	}
	spec.Argv, spec.Env, spec.Level = argv, os.Environ(), level
	way := &proxy.Proxy{Hosts: profile.Hosts}
	if profile.Base == box.ProjectNet {
		spec.Proxy = way.ServeFile
	}
	end, err := box.Run(spec)
	var no *box.CannotError
	if errors.As(err, &no) {
		return exitNoBox, err
	}
	for _, path := range end.Kept {
		fmt.Fprintf(os.Stderr, "hookd: the box made a file that would run later; it is now %s\n", path)
	}
	if hookd != nil {
		ctx, cancel := context.WithTimeout(context.Background(), boxTime)
		defer cancel()
		tell, _ := hookd.EndBox(ctx, call, wire.BoxEnd{
			Level: string(end.Level), Exit: end.Exit, Kept: end.Kept, Refused: way.Refused(),
		})
		if tell != "" {
			fmt.Fprintf(os.Stderr, "%s\n", tell)
		}
	}
	return end.Exit, err
}

// boxArgs reads the arguments. They are few, and package flag would be a part of the start.
func boxArgs(args []string) (profile, call string, level box.Level, argv []string, err error) {
	profile = box.Project
	for len(args) > 0 {
		switch {
		case args[0] == "--" && len(args) > 1:
			return profile, call, level, args[1:], nil
		case args[0] == "--profile" && len(args) > 1:
			profile = args[1]
		case args[0] == "--call" && len(args) > 1:
			call = args[1]
		case args[0] == "--level" && len(args) > 1:
			level = box.Level(args[1])
		default:
			return "", "", "", nil, errors.New("type hookd-bridge box [--profile NAME] -- PROGRAM [ARGUMENT…]")
		}
		args = args[2:]
	}
	return "", "", "", nil, errors.New("it needs a program: type hookd-bridge box [--profile NAME] -- PROGRAM [ARGUMENT…]")
}

// beginBox claims the ticket of a call. The hookd that has it is nil where none has.
func beginBox(call string, b wire.BoxStart) (*client.Client, wire.BoxBegun) {
	if call == "" {
		return nil, wire.BoxBegun{}
	}
	sockets := []string{""}
	if place := system.Here(); present(place) {
		sockets = append(sockets, place.Socket)
	}
	for _, socket := range sockets {
		ctx, cancel := context.WithTimeout(context.Background(), boxTime)
		c := client.New(client.Options{Socket: socket})
		begun, err := c.BeginBox(ctx, call, b)
		cancel()
		if err == nil && begun.Approved {
			return c, begun
		}
	}
	return nil, wire.BoxBegun{}
}

func present(p system.Place) bool {
	is, _ := p.Look()
	return is
}

// homes are the user's home as the environment says it and as the system does: a line may have set
// another before.
func homes() (list []string) {
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		list = append(list, home)
	}
	text, _ := box.Contents("/etc/passwd") // without it, the environment alone counts
	uid := strconv.Itoa(os.Getuid())
	for line := range bytes.Lines(text) {
		fields := strings.Split(string(line), ":")
		if len(fields) > 5 && fields[2] == uid && filepath.IsAbs(fields[5]) && fields[5] != "/" {
			list = append(list, fields[5])
			break
		}
	}
	return list
}

// ownPaths are hookd's own, as far as the bridge knows them.
func ownPaths() []string {
	socket := client.DefaultSocket()
	place := system.Here()
	return []string{socket, filepath.Join(filepath.Dir(socket), "hookd.yaml"), place.Folder, place.Socket, place.State}
}
