package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/agents/connect"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/system"
	"github.com/hookd/hookd/internal/people/card"
	"github.com/hookd/hookd/internal/people/doctor"
)

func doctorCommand(a *app) *cobra.Command {
	var f connectFlags
	var noProbe, attack bool
	cmd := &cobra.Command{
		Use:   "doctor [AGENT]",
		Short: "Find what is wrong, and say what to type",
		Long: `doctor looks at all that hookd needs: home, socket, lock and their permissions, the
daemon, the disk, the clock, inotify watches, PATH, every hook with its program and
interpreter, what did not start lately, and the service. It changes nothing and
needs no daemon. Below each finding stands the command that mends it.

With AGENT it follows the way from that agent to its hooks: is the bridge
registered, can it be started, is it hookd's version, does it find the daemon.
Then it sends one event through the bridge, as the agent would before it runs
` + "`true`" + ` in a shell, in the session ` + doctor.Session + `, and shows what the agent would be
told. It does the same for each other kind of call that the agent makes: writes, reads,
the web, MCP, subagents, and lists which of them reach hookd, when the agent itself last
made one, and which hooks match. Hooks that match such calls run for them; --no-probe
leaves that out.

With --attack it tries, as the user that agents run as, what an agent could do to its
guards: delete and change hooks and settings, move the environment, kill the daemon, run
a copy that allows everything. Your own guards are copied for that, and the system's are
only touched: nothing changes. See docs/reference/security.md.

The exit code is 1 when something needs you; a note does not.`,
		Example: `  hookd doctor
  hookd doctor claude-code
  hookd doctor codex --project . --no-probe
  hookd doctor --attack`,
		Args:              atMostOne,
		ValidArgsFunction: words(connect.Names()...),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case attack && len(args) > 0:
				return fail(exitUsage, "type `hookd doctor --attack`", "--attack takes no agent")
			case attack:
				return runAttacks(a, cmd)
			case len(args) == 0:
				return runDoctor(a, cmd)
			}
			return doctorAgent(a, cmd, args[0], f, noProbe)
		},
	}
	cmd.Flags().StringVar(&f.project, "project", "", "with AGENT: the settings of the project in this folder, not the user's own")
	cmd.Flags().StringVar(&f.file, "file", "", "with AGENT: the agent's file (docker-agent)")
	cmd.Flags().BoolVar(&attack, "attack", false, "try what an agent could do to its guards, and print what worked")
	cmd.Flags().BoolVar(&noProbe, "no-probe", false, "with AGENT: send no event")
	_ = cmd.MarkFlagDirname("project")
	_ = cmd.MarkFlagFilename("file")
	return cmd
}

// serviceFindings returns the state of the service.
func serviceFindings(a *app, cmd *cobra.Command) []doctor.Finding {
	m, err := machineOf(cmd)
	if err != nil {
		return nil // no home directory, or not root: doctor has said so
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), min(a.patience, 10*time.Second))
	defer cancel()
	return m.Look(ctx)
}

// examination is the command's answer without an agent.
type examination struct {
	OK       bool             `json:"ok"` // nothing needs the user
	Findings []doctor.Finding `json:"findings"`
}

func runDoctor(a *app, cmd *cobra.Command) error {
	if ofSystem(cmd) && !system.Here().Shown(os.Geteuid()) {
		return fail(exitUsage, "type `sudo hookd --system doctor`", "the files and the state of the system daemon are not this user's")
	}
	o, found := doctorOptions(a, cmd)
	found = append(found, doctor.Look(cmd.Context(), o)...)
	found = append(found, serviceFindings(a, cmd)...)
	x := examination{doctor.Worst(found) != doctor.Problem, found}
	if err := a.print(x, func(p *printer) { printFindings(p, found); printFindingCounts(p, found) }); err != nil {
		return err
	}
	return exitOf(x.OK)
}

func doctorAgent(a *app, cmd *cobra.Command, agent string, f connectFlags, noProbe bool) error {
	if agent = connect.Meant(agent); !slices.Contains(connect.Names(), agent) {
		return connectFailure(&connect.UnknownError{Agent: agent}, "")
	}
	r := examineAgent(a, cmd, agent, f, noProbe)
	if err := a.print(r, func(p *printer) { printAgentReport(p, r) }); err != nil {
		return err
	}
	return exitOf(doctor.Worst(r.Findings) != doctor.Problem)
}

// examineAgent follows the way from an agent to its hooks.
func examineAgent(a *app, cmd *cobra.Command, agent string, f connectFlags, noProbe bool) doctor.AgentReport {
	options, found := doctorOptions(a, cmd)
	bridge, err := bridgePath()
	if err != nil {
		bridge = "" // a missing one is found below
	}
	cwd, _ := os.Getwd() // "" where the folder is gone
	r := doctor.LookAgent(cmd.Context(), doctor.AgentOptions{
		Options: options, Connect: f.options(cmd, agent), Again: f.again("connect", agent), Bridge: bridge,
		Commit: build().Commit, Cwd: cwd, NoProbe: noProbe,
	})
	r.Findings = append(found, r.Findings...)
	return r
}

func exitOf(ok bool) error {
	if ok {
		return nil
	}
	return said(exitFailed)
}

// doctorOptions names the installation that doctor looks at. Settings that cannot be read are a finding,
// and the rest is looked at with the defaults.
func doctorOptions(a *app, cmd *cobra.Command) (doctor.Options, []doctor.Finding) {
	var found []doctor.Finding
	cfg, err := loadConfig(cmd)
	if err != nil {
		mend := "hookd validate"
		home, none := config.Home() // an error leaves nothing to look at, and is reported here
		if none != nil {
			mend = "export LIBREFANG_HOME=/some/folder"
		}
		found = append(found, doctor.Finding{Check: "settings", Level: doctor.Problem, Found: err.Error() +
			": what follows is of the default settings", Do: mend})
		cfg = config.Default(home)
	}
	return doctor.Options{Config: cfg, Client: a.dial(cmd), Patience: min(a.patience, 10*time.Second),
		Version: build().Version, UserPath: os.Getenv("PATH")}, found
}

var levels = map[doctor.Level]colour{doctor.OK: green, doctor.Note: yellow, doctor.Problem: red}

// printFindings prints one line each, and below it the command to type.
func printFindings(p *printer, list []doctor.Finding) {
	width := 0
	for _, f := range list {
		width = max(width, len(escape(shorten(f.Check, maxCell), keepNothing)))
	}
	for _, f := range list {
		check := escape(shorten(f.Check, maxCell), keepNothing)
		p.hung(9+width+2, p.paint(levels[f.Level], fmt.Sprintf("%-7s", f.Level)), "  ", check,
			strings.Repeat(" ", width-len(check)+2), escape(shorten(f.Found, maxValue), keepNothing))
		if f.Do != "" {
			p.line(strings.Repeat(" ", 9+width+2), "type: ", p.paint(bold, escape(f.Do, keepNothing)))
		}
	}
}

// printFindingCounts counts the problems and notes.
func printFindingCounts(p *printer, list []doctor.Finding) {
	count := map[doctor.Level]int{}
	for _, f := range list {
		count[f.Level]++
	}
	switch problems, notes := count[doctor.Problem], count[doctor.Note]; {
	case problems == 1:
		p.linef("1 problem needs you, %s", card.Plural(notes, "note"))
	case problems > 1:
		p.linef("%d problems need you, %s", problems, card.Plural(notes, "note"))
	case notes > 0:
		p.linef("nothing is broken, %s", card.Plural(notes, "note"))
	default:
		p.line("all is well")
	}
}

func printAgentReport(p *printer, r doctor.AgentReport) {
	printFindings(p, r.Findings)
	if r.Probe != nil {
		printProbe(p, r.Agent, r.Probe)
	}
	printCallKinds(p, r.Calls)
	ways(p, r.Ways)
	if len(r.Cannot) > 0 {
		p.line(p.paint(bold, "hooks cannot make it"), " (its protocol has no word for it)")
		for _, l := range r.Cannot {
			p.linef("  %s: %s", l.Ability, l.Else)
		}
	}
	printFindingCounts(p, r.Findings)
}

// ways shows on which ways of the agent hookd was seen to be asked.
func ways(p *printer, list []doctor.Way) {
	if len(list) == 0 {
		return
	}
	rows := make([][]cell, len(list))
	for i, w := range list {
		seen, c := "not seen", yellow
		if w.Seen != nil {
			seen, c = w.Seen.Local().Format("2006-01-02 15:04"), plain
		}
		note := text(w.Try)
		if w.Cannot != "" {
			seen, c, note = "-", plain, text(w.Cannot)
		}
		if w.Bad != "" {
			seen, c, note = "DISOBEYED", red, cell{w.Bad, red}
		}
		rows[i] = []cell{text(w.Way), {seen, c}, note}
	}
	p.table([]column{{title: "IT ASKED HOOKD"}, {title: "LAST SEEN"}, textColumn("NOTE")}, rows)
}

// printCallKinds shows which kinds of call reach hookd.
func printCallKinds(p *printer, list []doctor.CallKind) {
	if len(list) == 0 {
		return
	}
	rows := make([][]cell, len(list))
	for i, c := range list {
		reaches, seen := "yes", c.Seen
		switch {
		case c.Unknown:
			reaches = "not known"
		case !c.Reaches:
			reaches = "no"
		}
		if at, err := time.Parse(time.RFC3339, c.Seen); err == nil {
			seen = at.Local().Format("2006-01-02 15:04")
		}
		rows[i] = []cell{
			text(c.Kind), text(c.Tool), text(c.Event), text(reaches), text(seen), text(strings.Join(c.Hooks, ", ")),
		}
	}
	p.table([]column{
		{title: "CALL"}, nameColumn("TOOL"), spareColumn("EVENT"), {title: "REACHES HOOKD"}, {title: "LAST REAL ONE"},
		textColumn("HOOKS"),
	}, rows)
}

// printProbe shows the text that the agent would have read, byte for byte.
func printProbe(p *printer, agent string, x *doctor.Probe) {
	p.linef("probe: %s of %s, session %s", x.Event, agent, doctor.Session)
	hooks := make([]string, len(x.Hooks))
	for i, h := range x.Hooks {
		hooks[i] = h.String()
	}
	told := func(s string) string {
		if s = strings.TrimSuffix(s, "\n"); s == "" {
			return "nothing"
		}
		return s
	}
	code := fmt.Sprint(x.ExitCode)
	if x.Command == nil {
		code = ""
	}
	p.pairs(
		kv("  ran", strings.Join(x.Command, " ")),
		kv("  with", string(x.Payload)),
		kv("  hooks", told(strings.Join(hooks, "\n"))),
		kv("  stdout", told(x.Stdout)),
		kv("  stderr", told(x.Stderr)),
		kv("  exit code", code),
		kv("  took", millis(x.TookMS)),
	)
}
