package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/pack"
	"github.com/hookd/hookd/internal/hooks/starter"
	"github.com/hookd/hookd/internal/people/doctor"
)

// The steps of init, as --skip names them.
const (
	stepAgents  = "agents"
	stepHooks   = "hooks"
	stepService = "service"
	stepCheck   = "check"
)

var initSteps = []string{stepAgents, stepHooks, stepService, stepCheck}

// initFlags are the flags of init.
type initFlags struct {
	connect        connectFlags
	agents, skip   []string
	yes, dry, undo bool
}

func initCommand(a *app) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set hookd up: agents, first hooks, a service, and a try",
		Long: `init guards the agents on this machine: it connects them, adds first hooks, runs hookd as
a service and tries it. It asks before each thing that it does. init --undo takes all of that
back, and leaves your own hooks and the record.

  agents   connects the agents that it finds on this machine
  hooks    adds hooks of the gallery: command-guard, secret-guard, self-guard
  service  runs hookd as a service of your user; where there is no service manager
           it starts hookd in the background, and says how to keep it running
  check    sends one tool call of each agent through hookd, and shows what is wrong

What is there already is left as it is, so typing it again is harmless. --undo takes
back what init can do: it disconnects agents, removes those hooks unless you have
changed them, and stops hookd.`,
		Example: `  hookd init
  hookd init --yes --agent claude-code
  hookd init --skip service,check
  hookd init --undo`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return initialize(a, cmd, f) },
	}
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask: all steps, all agents that are found")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "show what would be done, and change nothing")
	cmd.Flags().BoolVar(&f.undo, "undo", false, "take back what init can do")
	cmd.Flags().StringSliceVar(&f.agents, "agent", nil, "this agent, found or not; repeatable")
	cmd.Flags().StringSliceVar(&f.skip, "skip", nil, "leave out these steps: "+strings.Join(initSteps, ", "))
	cmd.Flags().BoolVar(&f.connect.closed, "fail-closed", false, "deny tool calls where hookd does not answer")
	_ = cmd.RegisterFlagCompletionFunc("agent", words(connect.Names()...))
	_ = cmd.RegisterFlagCompletionFunc("skip", words(initSteps...))
	return cmd
}

// initAnswer is the outcome of init, for programs.
type initAnswer struct {
	Agents []initItem  `json:"agents"`
	Hooks  []initItem  `json:"hooks"`
	Daemon *initDaemon `json:"daemon,omitempty"`
	Checks []initItem  `json:"checks"`
	Try    []string    `json:"try,omitempty"` // commands
}

// initItem is an agent, a hook or a check, with its outcome.
type initItem struct {
	Name  string `json:"name"`
	State string `json:"state"`
	About string `json:"about,omitempty"` // a path, or what is wrong
}

type initDaemon struct {
	State string `json:"state"` // service, background, running, not running
	PID   int    `json:"pid,omitempty"`
	Log   string `json:"log,omitempty"`
}

// initRun is one run of init.
type initRun struct {
	app    *app
	cmd    *cobra.Command
	cfg    config.Config
	flags  initFlags
	in     *bufio.Reader
	p      *printer
	answer initAnswer
	failed bool // something that was to be done could not be
}

func initialize(a *app, cmd *cobra.Command, f initFlags) error {
	for _, name := range f.skip {
		if !slices.Contains(initSteps, name) {
			return fail(exitUsage, "type e.g. `hookd init --skip service`", "there is no step %q; there are %s", name,
				strings.Join(initSteps, ", "))
		}
	}
	for _, name := range f.agents {
		if !slices.Contains(connect.Names(), name) {
			return connectFailure(&connect.UnknownError{Agent: name}, "")
		}
	}
	if f.undo && cmd.Flags().Changed("fail-closed") {
		return fail(exitUsage, "type `hookd init --undo`", "--undo and --fail-closed are one at a time")
	}
	if !f.yes && !f.dry && !isTerminal(a.in) {
		return fail(exitUsage, "type `"+cmd.CommandPath()+" --yes`, or see what it would do with --dry-run",
			"cannot ask: stdin is no terminal")
	}
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	if !f.undo && !f.dry && !slices.Contains(f.skip, stepAgents) {
		if _, err := bridgePath(); err != nil { // hooks that no agent asks would only look like guards
			return err
		}
	}
	w := &initRun{app: a, cmd: cmd, cfg: cfg, flags: f, in: bufio.NewReader(a.in), p: a.printer(a.out)}
	w.answer.Agents, w.answer.Hooks, w.answer.Checks = []initItem{}, []initItem{}, []initItem{}
	if a.format == "json" {
		w.p.w = io.Discard
	}
	steps := map[string]func(){
		stepAgents: w.connectAgents, stepHooks: w.addHooks, stepService: w.startDaemon, stepCheck: w.check,
	}
	if f.undo {
		steps = map[string]func(){stepAgents: w.disconnectAgent, stepHooks: w.removeHooks, stepService: w.stopDaemon}
	}
	for _, name := range initSteps {
		if step := steps[name]; step != nil && !slices.Contains(f.skip, name) {
			step()
		}
	}
	if !f.undo && !f.dry {
		w.try()
	}
	if a.format == "json" {
		if err := writeJSON(a.out, w.answer, "  "); err != nil {
			return err
		}
	}
	return errors.Join(w.p.err, exitOf(!w.failed))
}

// title begins a step.
func (w *initRun) title(text string) { w.p.line(w.p.paint(bold, text)) }

// The column in which texts begin, and the last one.
const (
	initIndent = 16
	initWidth  = 79
)

// say prints an outcome: a state and the thing in that state, in lines that fit.
func (w *initRun) say(c colour, state, format string, args ...any) {
	for i, line := range wrapped(fmt.Sprintf(format, args...), initWidth-initIndent) {
		if i == 0 {
			w.p.line("  ", w.p.paint(c, fmt.Sprintf("%-13s", state)), " ", line)
			continue
		}
		w.p.line(strings.Repeat(" ", initIndent), line)
	}
}

// more prints text below such a thing. A text that begins with a blank is a
// command to copy, and stays whole.
func (w *initRun) more(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.HasPrefix(text, " ") {
		w.p.line("  ", escape(text, keepNothing))
		return
	}
	for _, line := range wrapped(text, initWidth-initIndent) {
		w.p.line(strings.Repeat(" ", initIndent), line)
	}
}

// wrapped breaks a text into lines of at most width columns. It is escaped.
func wrapped(text string, width int) []string {
	words := strings.Join(strings.Fields(escape(text, keepNothing)), " ")
	return strings.Split(fillLines(words, width), "\n")
}

// wrong prints an error and the command to type; init goes on.
func (w *initRun) wrong(name string, err error) string {
	e := explain(err)
	w.failed = true
	w.say(red, "failed", "%s: %v", name, e)
	w.more("%s", e.hint)
	return e.Error()
}

// ask asks a question whose answer is yes unless it begins with n. The end of the
// input is no.
func (w *initRun) ask(format string, args ...any) bool {
	if w.flags.dry {
		return false
	}
	if w.flags.yes {
		return true
	}
	fmt.Fprintf(w.app.errOut, "  %s [Y/n] ", escape(fmt.Sprintf(format, args...), keepNothing))
	line, err := w.in.ReadString('\n')
	if err != nil {
		fmt.Fprintln(w.app.errOut)
		return false
	}
	return !strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "n")
}

// skipped is the state of a step that was not done: on purpose, or by a dry run.
func (w *initRun) skipped(would string) string {
	if w.flags.dry {
		return would
	}
	return "skipped"
}

// found are the agents to be looked at, each with the sign that was found.
func (w *initRun) found() []connect.Found {
	list := connect.FindAgents(connect.Options{})
	if len(w.flags.agents) == 0 {
		return list
	}
	var named []connect.Found
	for _, name := range w.flags.agents {
		i := slices.IndexFunc(list, func(f connect.Found) bool { return f.Agent == name })
		if i < 0 {
			named = append(named, connect.Found{Agent: name})
			continue
		}
		named = append(named, list[i])
	}
	return named
}

func (w *initRun) connectAgents() {
	w.title("Agents")
	list := w.found()
	if len(list) == 0 {
		w.say(yellow, "none found", "no agent's program is on PATH, and none has a folder of settings")
		w.more("connect one later: hookd connect")
	}
	for _, agent := range list {
		item := initItem{Name: agent.Agent}
		o := w.flags.connect.options(w.cmd, agent.Agent)
		s, why := connect.Inspect(o), tilde(agent.By)
		if s.State == connect.Partly {
			why = cmp.Or(s.Unasked(), why)
		}
		switch {
		case s.State == connect.Connected && (o.FailClosed == nil || *o.FailClosed == s.FailClosed):
			item.State, item.About = "connected", s.File
			w.say(green, "connected", "%s, already", agent.Agent)
		case !w.ask("Connect %s (%s)?", agent.Agent, why):
			item.State, item.About = w.skipped("would connect"), s.File
			w.say(dim, item.State, "%s", agent.Agent)
		default:
			w.connectAgent(&item, o)
		}
		w.answer.Agents = append(w.answer.Agents, item)
	}
}

func (w *initRun) connectAgent(item *initItem, o connect.Options) {
	answer, err := connectAgent(w.app, w.cmd, o, w.flags.connect)
	if err != nil {
		item.State, item.About = "failed", w.wrong(item.Name, err)
		return
	}
	item.State, item.About = "connected", answer.File
	w.say(green, "connected", "%s: %s", item.Name, tilde(answer.File))
	for _, note := range answer.Notes {
		w.more("note: %s", note)
	}
	if answer.Closed {
		w.more("while hookd does not run, its tool calls are denied")
	} else {
		w.more("while hookd does not run, it works unguarded (--fail-closed denies then)")
	}
}

func (w *initRun) addHooks() {
	w.title("Hooks")
	list, err := starter.Hooks(w.cfg.HooksDir, w.hooksPath())
	if err != nil {
		w.wrong("the gallery", err)
		return
	}
	for _, h := range list {
		item := initItem{Name: h.Name, About: h.Dir}
		_, noPack := os.Stat(pack.NewHome(w.cfg.Home).Dir("gallery/" + h.Name))
		switch {
		case h.State == starter.Absent && noPack == nil:
			item.State = string(starter.There)
			w.say(green, "there", "%s, as the pack gallery/%s", h.Name, h.Name)
		case h.State != starter.Absent:
			item.State = string(h.State)
			w.say(green, "there", "%s, already", h.Name)
		case len(h.Lacks) > 0:
			item.State, item.About = "lacks a program", strings.Join(h.Lacks, ", ")
			w.say(yellow, "left out", "%s needs %s, which is not on PATH", h.Name, item.About)
		case !w.askHook(h):
			item.State = w.skipped("would add")
			w.say(dim, item.State, "%s", h.Name)
		default:
			if err := starter.Add(w.cfg.HooksDir, h.Name); err != nil {
				item.State, item.About = "failed", w.wrong(h.Name, err)
				break
			}
			item.State = "added"
			w.say(green, "added", "%s: %s", h.Name, tilde(h.Dir))
		}
		w.answer.Hooks = append(w.answer.Hooks, item)
	}
}

// askHook asks whether to add a hook, and tells its purpose.
func (w *initRun) askHook(h starter.Offer) bool {
	if !w.flags.yes && !w.flags.dry {
		w.say(plain, h.Name, "%s.", h.About)
	}
	return w.ask("Add %s?", h.Name)
}

// hooksPath is the PATH that hooks will have.
func (w *initRun) hooksPath() string {
	if w.cfg.Path != "" {
		return w.cfg.Path
	}
	return os.Getenv("PATH")
}

// check sends a tool call of each agent through hookd, and prints the problems.
func (w *initRun) check() {
	if w.flags.dry {
		return
	}
	w.title("Check")
	if d := w.answer.Daemon; d != nil && d.State == "not running" {
		w.say(yellow, "skipped", "hookd does not run; later: hookd doctor")
		return
	}
	w.takeUp()
	broken := 0
	note := func(name string, f doctor.Finding) {
		w.answer.Checks = append(w.answer.Checks, initItem{name, string(f.Level), f.Found})
		w.say(levels[f.Level], string(f.Level), "%s: %s", name, shorten(f.Found, maxCell))
		if f.Level == doctor.Problem {
			broken++
			w.more("type: %s", f.Do)
		}
	}
	o, found := doctorOptions(w.app, w.cmd)
	for _, f := range append(found, doctor.Look(w.cmd.Context(), o)...) {
		if f.Level == doctor.Problem {
			note(f.Check, f)
		}
	}
	machine := broken // what is wrong there need not keep hookd from working
	for _, agent := range w.connected() {
		for _, f := range examineAgent(w.app, w.cmd, agent, w.flags.connect, false).Findings {
			if f.Level == doctor.Problem || f.Check == "probe" {
				note(agent, f)
			}
		}
	}
	w.failed = w.failed || broken > machine
	if broken == 0 {
		w.say(green, "ok", "nothing is broken")
	}
}

// takeUp makes a daemon that runs look at its hooks, and prints which of them wait
// to be allowed.
func (w *initRun) takeUp() {
	ctx, cancel := w.app.answer(w.cmd)
	defer cancel()
	_, _ = w.app.dial(w.cmd).Reload(ctx) // what is wrong is found by the checks
	if w.cfg.ReloadMode != "ask" {
		return
	}
	for _, p := range catalog.Waiting(w.cfg) {
		if slices.Contains(starter.Offered, p.Name) {
			w.say(yellow, "waits", "%s; put it into force: hookd allow %s", p.Name, p.Name)
		}
	}
}

// connected are the agents of this run that call hookd.
func (w *initRun) connected() (names []string) {
	for _, agent := range w.found() {
		o := w.flags.connect.options(w.cmd, agent.Agent)
		o.FailClosed = nil
		if connect.Inspect(o).State == connect.Connected {
			names = append(names, agent.Agent)
		}
	}
	return names
}

// try ends with the commands to type.
func (w *initRun) try() {
	var rows [][2]string
	agents := w.connected()
	guard, err := os.Stat(filepath.Join(w.cfg.HooksDir, "command-guard", "HOOK.yaml"))
	guarded := err == nil && guard.Mode().IsRegular()
	w.title("Try it")
	switch {
	case guarded && len(agents) > 0:
		w.p.linef("  Let %s run `mkfs /dev/sdzz`: command-guard denies it.", agents[0])
	case guarded:
		rows = append(rows, [2]string{`hookd emit PreToolUse --wait --data '{"tool_name":"Bash","tool_input":{"command":"mkfs /dev/sdzz"}}'`, ""})
	}
	if dir, ok := w.offPath(); ok {
		rows = append(rows, [2]string{`export PATH="` + dir + `:$PATH"`, "hookd is not on this shell's PATH"})
	}
	rows = append(rows, [2]string{"hookd log -f", "each call, as it comes"}, [2]string{"hookd", "how you are, and what to type next"},
		[2]string{"hookd new my-guard --event PreToolUse", "a guard of your own"},
		[2]string{"hookd add gallery/contain", "run in a box what is not known"},
		[2]string{"hookd init --undo", "take all of this back"})
	for _, row := range rows {
		w.answer.Try = append(w.answer.Try, row[0])
		w.p.line(strings.TrimRight(fmt.Sprintf("  %-38s %s", row[0], row[1]), " "))
	}
}

// offPath is the folder of this program where PATH does not lead to it.
func (w *initRun) offPath() (dir string, off bool) {
	self, err := os.Executable()
	if err != nil {
		return "", false
	}
	found, err := exec.LookPath("hookd")
	if err != nil {
		return filepath.Dir(self), true
	}
	a, errA := os.Stat(found)
	b, errB := os.Stat(self)
	return filepath.Dir(self), errA == nil && errB == nil && !os.SameFile(a, b)
}

// tilde writes a path below the user's home with ~.
func tilde(path string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, home+"/"); err == nil && ok {
		return "~/" + rest
	}
	return path
}
