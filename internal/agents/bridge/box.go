package bridge

import (
	"bytes"
	"cmp"
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
	"github.com/hookd/hookd/internal/agents/early"
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

// Box runs `box --profile P --call ID --socket S -- PROGRAM ARGUMENT…`, the arguments behind the word box, and
// returns the exit code. Without an answer of hookd the box is that of box.Alone.
func Box(args []string) int {
	exit, err := runBox(args)
	var ran *box.RanError
	switch {
	case errors.As(err, &ran):
		fmt.Fprintf(os.Stderr, "hookd-bridge box: %v\n", err)
	case err != nil:
		fmt.Fprintf(os.Stderr, "hookd-bridge box: nothing was run: %v\n", err)
	}
	return exit
}

func runBox(args []string) (exit int, err error) {
	a, err := boxArgs(args)
	if err != nil {
		return exitNoBox, err
	}
	if rest, begun, ok := early.Box(); ok {
		return a.finish(rest, begun)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return exitNoBox, fmt.Errorf("find the working directory: %w", err)
	}
	hookd, begun := a.begin(cwd)
	if a.call != "" && !begun.Approved { // hookd is not there, or has been away for long
		fmt.Fprintf(os.Stderr, "hookd: this call is not known any more, so it runs in the strict box %q\n",
			box.Alone(a.profile).Name)
	}
	own := append(begun.Hide, ownPaths(cmp.Or(a.socket, client.DefaultSocket()))...)
	spec, hosts, err := a.spec(begun, surroundings{cwd: cwd, env: os.Environ(), own: own})
	if err != nil {
		return exitNoBox, err
	}
	way := &proxy.Proxy{Hosts: hosts}
	if hosts != nil {
		spec.Proxy = way.ServeFile
	}
	end, err := box.Run(spec)
	return a.ended(hookd, end, err, way)
}

// surroundings are the facts of a process that its box depends on.
type surroundings struct {
	cwd string
	env []string
	own []string // hookd's files
}

// spec returns the box of a call, and the hosts that its network reaches; nil = it has no network.
func (a boxCall) spec(begun wire.BoxBegun, at surroundings) (s *box.Spec, hosts []string, err error) {
	profile := box.Alone(a.profile)
	if begun.Approved {
		if err := json.Unmarshal(begun.Profile, &profile); err != nil {
			return nil, nil, fmt.Errorf("read the profile: %w", err)
		}
	}
	s, err = box.Resolve(profile, box.Surroundings{
		Cwd: at.cwd, Homes: homes(variable(at.env)("HOME")), Own: at.own,
		Private: dialect.Private(), Later: dialect.InProject(),
	})
	if err != nil {
		return nil, nil, err
	}
	s.Argv, s.Env, s.Level = a.argv, at.env, a.level
	if profile.Base == box.ProjectNet {
		hosts = append([]string{}, profile.Hosts...)
	}
	return s, hosts, nil
}

// ended tells the agent and hookd, nil = none has the ticket, how a box ended, and returns its exit code.
func (a boxCall) ended(hookd *client.Client, end box.Ended, err error, way *proxy.Proxy) (int, error) {
	var ran *box.RanError
	if err != nil && !errors.As(err, &ran) {
		return exitNoBox, err
	}
	for _, path := range end.Kept {
		fmt.Fprintf(os.Stderr, "hookd: the box made a file that would run later; it is now %s\n", path)
	}
	if hookd != nil {
		ctx, cancel := context.WithTimeout(context.Background(), boxTime)
		defer cancel()
		tell, _ := hookd.EndBox(ctx, a.call, wire.BoxEnd{
			Level: string(end.Level), Exit: end.Exit, Kept: end.Kept, Refused: way.Refused(),
		})
		if tell != "" {
			fmt.Fprintf(os.Stderr, "%s\n", tell)
		}
	}
	return end.Exit, err
}

// BoxKeeper is hookd as a planner of boxes sees it.
type BoxKeeper struct {
	Look  func(id string, b wire.BoxStart) wire.BoxBegun // answers as Begin would
	Begin func(id string, b wire.BoxStart) wire.BoxBegun // claims the ticket of a call
	Weak  func() bool                                    // this machine makes no box by namespaces
	Own   []string                                       // hookd's files
}

// boxCall has the arguments of a box.
type boxCall struct {
	profile, call, socket string
	level                 box.Level
	argv                  []string
}

// boxArgs reads the arguments. They are few, and package flag would be a part of the start.
func boxArgs(args []string) (a boxCall, err error) {
	a.profile = box.Project
	for len(args) > 0 {
		switch {
		case args[0] == "--" && len(args) > 1:
			a.argv = args[1:]
			return a, nil
		case args[0] == "--profile" && len(args) > 1:
			a.profile = args[1]
		case args[0] == "--call" && len(args) > 1:
			a.call = args[1]
		case args[0] == "--socket" && len(args) > 1:
			a.socket = args[1]
		case args[0] == "--level" && len(args) > 1:
			a.level = box.Level(args[1])
		default:
			return a, errors.New("type hookd-bridge box [--profile NAME] -- PROGRAM [ARGUMENT…]")
		}
		args = args[2:]
	}
	return a, errors.New("it needs a program: type hookd-bridge box [--profile NAME] -- PROGRAM [ARGUMENT…]")
}

// begin claims the ticket of the call. The hookd that has it is nil where none has.
func (a boxCall) begin(cwd string) (*client.Client, wire.BoxBegun) {
	if a.call == "" {
		return nil, wire.BoxBegun{}
	}
	sockets := []string{a.socket}
	if place := system.Here(); present(place) {
		sockets = append(sockets, place.Socket)
	}
	for _, socket := range sockets {
		ctx, cancel := context.WithTimeout(context.Background(), boxTime)
		c := client.New(client.Options{Socket: socket})
		begun, err := c.BeginBox(ctx, a.call, a.start(cwd))
		cancel()
		if err == nil && begun.Approved {
			return c, begun
		}
	}
	return nil, wire.BoxBegun{}
}

// start tells hookd of the box.
func (a boxCall) start(cwd string) wire.BoxStart {
	return wire.BoxStart{Profile: a.profile, Line: a.argv[len(a.argv)-1], Cwd: cwd}
}

func present(p system.Place) bool {
	is, _ := p.Look()
	return is
}

// homes are the user's home as the environment says it and as the system does: a line may have set
// another before.
func homes(home string) (list []string) {
	if filepath.IsAbs(home) {
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

// ownPaths lists hookd's own files, as far as its socket tells them; "" = the socket is not known.
func ownPaths(socket string) []string {
	place := system.Here()
	list := []string{place.Folder, place.Socket, place.State}
	if socket == "" {
		return list
	}
	return append(list, socket, filepath.Join(filepath.Dir(socket), "hookd.yaml"))
}
