package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/people/hookfiles"
	"github.com/hookd/hookd/internal/people/ui"
)

func uiCommand(a *app) *cobra.Command {
	var opt ui.Options
	var open bool
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Open the page in a browser: what agents do, and which calls were denied and why",
		Long: `ui serves a page on a loopback address for as long as it runs, and prints a link
that works once, in one browser; Enter prints another. The page shows what agents
do as it happens, finds what was decided, and says why. It only shows; with --act
it also answers asks, and tries, tests, switches, allows and replays hooks, and asks
one what it would have decided of past calls.

It is no part of the daemon: it asks over the socket, as every command does, and
goes on when the daemon starts again.`,
		Example: `  hookd ui --open
  hookd ui --act
  hookd ui --listen 127.0.0.1:7777 --idle 1h`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveUI(a, cmd, opt, open) },
	}
	flags := cmd.Flags()
	flags.StringVar(&opt.Listen, "listen", "127.0.0.1:0", "loopback address and port; port 0 is a free one")
	flags.BoolVar(&open, "open", false, "open the page in the browser")
	flags.BoolVar(&opt.Act, "act", false, "the page may also change things")
	opt.Idle = 12 * time.Hour
	flags.Var((*duration.Value)(&opt.Idle), "idle", "end when no page was open for so long")
	settingFlags(cmd, "hooks_dir")
	return cmd
}

func serveUI(a *app, cmd *cobra.Command, opt ui.Options, open bool) error {
	if _, err := loadConfig(cmd); err != nil {
		return err
	}
	opt.Client = client.New(client.Options{Socket: socketOf(cmd), Door: hookfiles.Door})
	opt.Version = build().Version
	opt.Hooks = hookfiles.Files{Load: func() (config.Config, error) { return loadConfig(cmd) }, Client: opt.Client}
	opt.Calls = pageCalls{a, cmd}
	opt.Home, _ = os.UserHomeDir() // without it, folders are shown whole
	if u, err := user.Current(); err == nil {
		opt.User = u.Username
	}
	s, err := ui.Open(opt)
	if err != nil {
		return fail(exitUsage, "type `hookd ui --listen 127.0.0.1:0`", "%w", err)
	}
	p := a.printer(a.out)
	link := s.Link()
	if a.format == "json" {
		if err := a.print(map[string]string{"link": link}, nil); err != nil {
			return err
		}
	} else {
		p.line(link)
		p.line("The link works once. Press Enter for another one, Ctrl-C to end.")
	}
	if open {
		if err := browse(link); err != nil {
			p.linef("no browser was opened (%v): open the link yourself", err)
		}
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if isTerminal(a.in) {
		go moreLinks(ctx, a, p, s)
	}
	switch err := s.Run(ctx); {
	case errors.Is(err, ui.ErrIdle):
		p.linef("ended: no page was open for %s", opt.Idle)
		return nil
	case err != nil:
		return fail(exitFailed, "start it again with `hookd ui`", "%w", err)
	}
	return nil
}

// pageCalls tells calls on the page as `hookd why` and `hookd guard test` do.
type pageCalls struct {
	app *app
	cmd *cobra.Command
}

func (p pageCalls) Story(ctx context.Context, id string) (any, error) {
	return newTeller(p.app, p.cmd).Call(ctx, id)
}

func (p pageCalls) Session(ctx context.Context, id, agent string) (any, error) {
	s, err := newTeller(p.app, p.cmd).Session(ctx, id, agent)
	if s == nil {
		return nil, err // no pointer in it
	}
	return s, err
}

func (p pageCalls) FalseAlarm(ctx context.Context, id, expect string) (any, error) {
	return makeTest(ctx, p.app, p.cmd, id, expect)
}

// moreLinks prints a link for each line that is typed.
func moreLinks(ctx context.Context, a *app, p *printer, s *ui.Server) {
	for in := bufio.NewScanner(a.in); in.Scan() && ctx.Err() == nil; { // without a terminal there are no more
		p.line(s.Link())
	}
}

// browse opens a link with the program that the system has for that. The program
// sees the link in its arguments; it works once.
func browse(link string) error {
	name := "xdg-open"
	if runtime.GOOS == "darwin" {
		name = "open"
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	c := exec.Command(program, link)
	if err := c.Start(); err != nil {
		return err
	}
	go c.Wait() // it may go on for as long as the browser does
	return nil
}
