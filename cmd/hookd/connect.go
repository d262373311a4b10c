package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/agents/roster"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/door/loopback"
)

func connectCommand(a *app) *cobra.Command {
	var f connectFlags
	cmd := &cobra.Command{
		Use:   "connect [AGENT]",
		Short: "Register hookd's bridge in an agent's own settings",
		Long: `connect registers hookd in the settings of one of ` + strings.Join(connect.Names(), ", ") + `.

It writes ` + "`hookd-bridge AGENT`" + ` there, so that the agent calls hookd for its events.
Everything else in the file stays byte for byte; the file as it was stays beside it, with
the ending ` + connect.BackupSuffix + `. A file that cannot be parsed is left alone. Without AGENT it
lists the agents on this machine; --all connects each of them.

The call names hookd's socket, so it finds hookd whatever the agent's environment
says. While hookd does not run, the agent works unguarded; with --fail-closed its
tool calls are denied then. The flag stays until --fail-closed=false.

A docker-agent file that hookd.yaml has under sources is refused: docker-agent
would run its hooks, and hookd would run them again. With --move the file is
taken off sources, so docker-agent alone runs the hooks that stand in it.`,
		Example: `  hookd connect
  hookd connect claude-code --dry-run
  hookd connect --all --fail-closed
  hookd connect codex --project .
  hookd connect docker-agent --file agent.yaml`,
		Args:              atMostOne,
		ValidArgsFunction: words(connect.Names()...),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.found && len(args) == 0:
				return connectFound(a, cmd, f)
			case f.found:
				return fail(exitUsage, "type `hookd connect --all` or `hookd connect "+args[0]+"`",
					"--all connects every agent: name none")
			case len(args) == 0:
				return listAgents(a, cmd, f)
			}
			answer, err := connectAgent(a, cmd, f.options(cmd, args[0]), f)
			if err != nil {
				return err
			}
			return a.print(answer, answer.print)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.found, "all", false, "every agent that is found on this machine, in your own settings")
	cmd.Flags().BoolVar(&f.closed, "fail-closed", false, "deny tool calls where hookd does not answer")
	cmd.Flags().BoolVar(&f.all, "all-events", false, "also events that come many times in a turn, such as each piece of an answer")
	cmd.Flags().BoolVar(&f.move, "move", false, "take the file off sources in hookd.yaml")
	cmd.Flags().BoolVar(&f.http, "http", false, "let the agent call hookd over HTTP, without a process (claude-code; needs http.listen in hookd.yaml)")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask before --move")
	return cmd
}

func disconnectCommand(a *app) *cobra.Command {
	var f connectFlags
	cmd := &cobra.Command{
		Use:   "disconnect [AGENT]",
		Short: "Remove hookd's bridge from an agent's settings",
		Long: `disconnect takes out what ` + "`hookd connect`" + ` put in, also under an older path of
hookd-bridge, and nothing else: a file that has not changed since is byte for
byte what it was before. It asks on a terminal and refuses without one unless
--yes: an agent that is not connected has no guards. Without AGENT it lists what
is connected.`,
		Example: `  hookd disconnect claude-code
  hookd disconnect codex --project . --yes`,
		Args:              atMostOne,
		ValidArgsFunction: words(connect.Names()...),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listAgents(a, cmd, f)
			}
			answer, err := disconnectAgent(a, f.options(cmd, args[0]), f)
			if err != nil {
				return err
			}
			return a.print(answer, answer.print)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return cmd
}

// connectFlags are the flags of both commands.
type connectFlags struct {
	project, file                            string
	dry, all, found, closed, move, http, yes bool
	managed                                  bool
}

func (f *connectFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.project, "project", "", "the settings of the project in this folder, not the user's own")
	cmd.Flags().StringVar(&f.file, "file", "", "the agent's file (docker-agent)")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVar(&f.managed, "managed", false, "the agent's settings for all users of the machine (behind sudo; see docs/reference/system.md)")
	cmd.MarkFlagsMutuallyExclusive("managed", "project", "file")
	_ = cmd.MarkFlagDirname("project")
	_ = cmd.MarkFlagFilename("file")
}

func (f connectFlags) options(cmd *cobra.Command, agent string) connect.Options {
	o := connect.Options{
		Agent: connect.Meant(agent), Project: f.project, File: f.file, Managed: f.managed, AllEvents: f.all,
	}
	if f.managed {
		return o // each user's own socket, and the system daemon's
	}
	if path, err := filepath.Abs(socketOf(cmd)); err == nil {
		o.Socket = path
	}
	if c, err := loadConfig(cmd); err == nil {
		o.AskTimeout = c.AskTimeout
	}
	if given := cmd.Flags().Lookup("fail-closed"); given != nil && given.Changed {
		o.FailClosed = &f.closed
	}
	return o
}

// again is the command line with which to try once more.
func (f connectFlags) again(command, agent string) string {
	words := []string{"hookd", command, agent}
	for _, v := range []struct{ flag, value string }{{"--project", f.project}, {"--file", f.file}} {
		if v.value != "" {
			words = append(words, v.flag, v.value)
		}
	}
	if f.managed {
		words = append([]string{"sudo"}, append(words, "--managed")...)
	}
	if f.http {
		words = append(words, "--http")
	}
	return strings.Join(words, " ")
}

// postOf is where an agent can post its events, with the token, which is made
// on first use, but not by a dry run.
func postOf(cmd *cobra.Command, agent string, dry bool) (*connect.Post, error) {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return nil, err
	}
	if cfg.HTTPListen == "" {
		return nil, fail(exitRejected, "add `http: {listen: \"127.0.0.1:7780\"}` to "+filepath.Join(cfg.Home,
			"hookd.yaml")+", start hookd again, then type the command again", "hookd does not listen for HTTP")
	}
	post := &connect.Post{URL: loopback.URL(cfg.HTTPListen, agent), Token: "TOKEN"}
	if _, err := os.Stat(cfg.TokenFile()); dry && err != nil {
		return post, nil
	}
	if post.Token, err = loopback.Token(cfg.TokenFile()); err != nil {
		return nil, fail(exitFailed, "see above, then type the command again", "%w", err)
	}
	return post, nil
}

// connected is the answer of both commands.
type connected struct {
	Agent   string   `json:"agent"`
	File    string   `json:"file"`
	Changed bool     `json:"changed"`
	Closed  bool     `json:"fail_closed"` // denied where hookd does not answer
	Daemon  bool     `json:"daemon_runs"`
	DryRun  bool     `json:"dry_run,omitempty"`
	Diff    string   `json:"diff,omitempty"` // of a dry run
	Events  []string `json:"events,omitempty"`
	Left    []string `json:"left_out,omitempty"`
	Backups []string `json:"backups,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	Did     []string `json:"did,omitempty"` // by a disconnect, for people
	See     string   `json:"see,omitempty"` // the command that shows whether the agent's events arrive
	word    string
	posts   bool // over HTTP, which cannot fail closed
	managed bool // the settings are those of all users
}

func connectAgent(a *app, cmd *cobra.Command, o connect.Options, f connectFlags) (answer connected, err error) {
	if !slices.Contains(connect.Names(), o.Agent) { // a name that is not known says more than a missing bridge
		return answer, connectFailure(&connect.UnknownError{Agent: o.Agent}, "")
	}
	if o.Bridge, err = bridgePath(); err != nil {
		return answer, err
	}
	if err := f.checkManaged(o); err != nil {
		return answer, err
	}
	if f.http {
		if o.Post, err = postOf(cmd, o.Agent, f.dry); err != nil {
			return answer, err
		}
	}
	p, err := connect.Connect(o)
	if err != nil {
		return answer, connectFailure(err, f.again("connect", o.Agent))
	}
	if err := moveSource(a, cmd, &p, f); err != nil {
		return answer, err
	}
	if answer, err = carryOut(p, f, "connected"); err != nil {
		return answer, err
	}
	answer.Daemon, answer.posts, answer.managed = runsAlready(a, cmd) > 0, f.http, f.managed
	if !f.dry {
		answer.Closed = connect.Inspect(o).FailClosed
		if err := roster.Note(hookdHome(), o); err != nil {
			answer.Notes = append(answer.Notes, "hookd does not watch its settings: "+err.Error())
		}
	}
	return answer, nil
}

// checkManaged refuses a bridge that other users could replace: it would run as each user.
func (f connectFlags) checkManaged(o connect.Options) error {
	if !f.managed {
		return nil
	}
	again := f.again("connect", o.Agent)
	if f.http {
		return fail(exitUsage, "type `"+f.again("connect", o.Agent)+"` without --http", "--managed is for all users, and a token is one user's")
	}
	var bad *trust.Refusal
	if err := trust.Of(0).Check(o.Bridge); errors.As(err, &bad) {
		return fail(exitRejected, "install hookd for all users, as with `sudo make install PREFIX=/usr/local`, then type `"+again+"`",
			"users could replace the program that all of them run: %s %s", bad.Path, bad.Fact)
	}
	return nil
}

func disconnectAgent(a *app, o connect.Options, f connectFlags) (answer connected, err error) {
	p, err := connect.Disconnect(o)
	if err != nil {
		return answer, connectFailure(err, f.again("disconnect", o.Agent))
	}
	if len(p.Changes) > 0 && !f.dry {
		question := fmt.Sprintf("Disconnect %s? Then its events reach no hook.", o.Agent)
		if err := a.confirm(f.yes, question, f.again("disconnect", o.Agent)+" --yes"); err != nil {
			return answer, err
		}
	}
	if answer, err = carryOut(p, f, "not connected"); err == nil && !f.dry {
		err = roster.Forget(hookdHome(), o)
	}
	if err == nil && answer.Changed && !f.dry {
		answer.word, answer.Did = "disconnected", undone(p.Changes)
		answer.Did = append(answer.Did, "to connect it again, type: "+f.again("connect", o.Agent))
	}
	return answer, err
}

// hookdHome is where it is remembered which agents are connected.
func hookdHome() string {
	home, _ := config.Home() // an error leaves a path that cannot be written, which is said
	return home
}

// undone tells how a disconnect has changed each file.
func undone(changes []connect.Change) (did []string) {
	for _, c := range changes {
		switch {
		case c.Remove:
			did = append(did, "removed "+c.Path+": it had nothing else")
		case c.DropBackup != "":
			did = append(did, c.Path+" is again as it was before `hookd connect`; removed "+c.DropBackup)
		default:
			did = append(did, "took hookd's hooks out of "+c.Path)
		}
	}
	return did
}

// carryOut applies a plan, or returns the changes that it would make.
func carryOut(p connect.Plan, f connectFlags, word string) (connected, error) {
	see := ""
	switch {
	case word == "connected" && f.managed:
		see = "sudo hookd --system decisions"
	case word == "connected":
		asked := f
		asked.http = false // doctor sees how the agent calls
		see = asked.again("doctor", p.Agent)
	}
	answer := connected{See: see, Agent: p.Agent, File: p.File, Changed: len(p.Changes) > 0, DryRun: f.dry,
		Events: p.Events, Left: p.Left, Notes: p.Notes, word: word}
	if f.dry {
		answer.Diff = string(p.Diff())
		return answer, nil
	}
	for _, c := range p.Changes {
		if c.Backup != "" {
			answer.Backups = append(answer.Backups, c.Backup)
		}
	}
	if err := p.Apply(); err != nil {
		hint := "see which user owns the file and its folder, then type the command again"
		if errors.Is(err, connect.ErrChanged) {
			hint = "type the command again"
		}
		return answer, fail(exitFailed, hint, "%w", err)
	}
	return answer, nil
}

// print shows the changes that were made, or would be.
func (c connected) print(p *printer) {
	if c.DryRun {
		c.dry(p)
		return
	}
	c.done(p)
}

func (c connected) dry(p *printer) {
	if !c.Changed {
		p.linef("%s is %s: nothing would change", c.Agent, c.already())
		return
	}
	for line := range strings.Lines(c.Diff) {
		text, paint := strings.TrimSuffix(line, "\n"), plain
		switch {
		case strings.HasPrefix(text, "+"):
			paint = green
		case strings.HasPrefix(text, "-"):
			paint = red
		}
		p.line(p.paint(paint, escape(text, keepTabs)))
	}
	c.notes(p)
}

func (c connected) notes(p *printer) {
	for _, n := range c.Notes {
		p.linef("note: %s", n)
	}
}

// already is how things stood before.
func (c connected) already() string {
	if c.word == "connected" {
		return "already connected"
	}
	return c.word
}

func (c connected) done(p *printer) {
	switch {
	case c.Changed:
		p.linef("%s is %s: %s", c.Agent, c.word, c.File)
	case c.word == "connected":
		p.linef("%s is %s: %s", c.Agent, c.already(), c.File)
	default:
		p.linef("%s is %s, nothing was changed: %s", c.Agent, c.already(), c.File)
	}
	for _, did := range c.Did {
		p.line(did)
	}
	for _, b := range c.Backups {
		p.linef("the file as it was is in %s", b)
	}
	if len(c.Left) > 0 && c.Changed {
		p.linef("left out, as they come very often: %s (--all-events adds them)", strings.Join(c.Left, ", "))
	}
	c.notes(p)
	if c.word == "connected" {
		c.without(p)
	}
	if c.See != "" {
		p.linef("to see that its events arrive, let %s call a tool, then type: %s", c.Agent, c.See)
	}
}

// without tells how the agent's calls end where hookd does not run.
func (c connected) without(p *printer) {
	switch {
	case c.managed:
		p.linef("every user's %s calls hookd now; what the system daemon denies, no user can allow: see docs/reference/system.md", c.Agent)
	case c.Daemon && c.Closed:
		p.linef("while hookd does not run, %s's tool calls are denied", c.Agent)
	case c.Daemon && c.posts:
		p.linef("while hookd does not run, %s works unguarded", c.Agent)
	case c.Daemon:
		p.linef("while hookd does not run, %s works unguarded; --fail-closed denies its tool calls then", c.Agent)
	case c.Closed:
		p.line(p.paint(yellow, "hookd does not run"), ": until it does, "+c.Agent+"'s tool calls are denied; start it with: hookd install")
	default:
		p.line(p.paint(yellow, "hookd does not run"), ": until it does, "+c.Agent+" works unguarded; start it with: hookd install")
	}
}

// connectFailure gives errors of a plan their exit code and the command to type next.
func connectFailure(err error, again string) error {
	var unknown *connect.UnknownError
	var manual *connect.ManualError
	var file *connect.FileError
	switch {
	case errors.As(err, &unknown):
		return fail(exitUsage, meant(unknown.Agent, connect.Names())+
			"type one of "+strings.Join(connect.Names(), ", ")+"; `hookd connect` lists them",
			"%w", err)
	case errors.As(err, &manual):
		return fail(exitFailed, manual.Do+"; see `hookd connect` for the others", "%w", err)
	case errors.As(err, &file):
		return fail(exitRejected, "correct the file, then type `"+again+"`; nothing was changed", "%w", err)
	}
	return fail(exitUsage, "see `hookd connect --help`", "%w", err)
}
