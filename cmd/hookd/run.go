package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/client"
	"github.com/hookd/hookd/internal/agents/oneshot"
	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/hooks/policy"
	"github.com/hookd/hookd/internal/people/card"
)

// runFlags are the flags of `hookd run`.
type runFlags struct {
	policy, policyName, key, hooks, summary, failOn string
	failClosed                                      bool
}

func runCommand(a *app) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run -- COMMAND",
		Short: "Run one command with hooks, for CI and containers",
		Long: `run starts a daemon for one command, connects the agents that are found on this
machine for as long as the command runs, and takes everything back when it ends:
agents' settings are byte for byte as before, and no process or file is left.

Hooks are those of the policy that --policy names, of the policy that is set, and
of --hooks, by default your hooks_dir; of packs and repositories there are none.
They are read once, so the agent cannot change them.

Signals are passed on, and the exit code is the command's. With --fail-on deny it
is 1 where the command ended well and a call was denied.`,
		Example: `  hookd run --hooks ./hooks -- claude -p 'fix the tests'
  hookd run --policy https://example.org/acme.bundle --key acme.pub \
    --fail-closed -- codex exec 'fix the tests'
  hookd run --hooks ./hooks --summary summary.md --fail-on deny -- ./agent.sh`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("run wants a COMMAND behind --, none is given")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.failOn != "" && f.failOn != "deny" && f.failOn != "ask":
				return fail(exitUsage, "write --fail-on deny, or --fail-on ask", "--fail-on %q is not known", f.failOn)
			case f.policy != "" && f.key == "":
				return fail(exitUsage, "name its public key with --key", "without a key nothing says who made the policy")
			}
			return runOne(a, cmd, args, f)
		},
	}
	cmd.Flags().StringVar(&f.policy, "policy", "", "signed bundle of hooks: a URL, a file or a folder")
	cmd.Flags().StringVar(&f.policyName, "policy-name", "", "name that the policy must have (default: any that the key has signed)")
	cmd.Flags().StringVar(&f.key, "key", "", "public key of the policy: its file or its text")
	cmd.Flags().StringVar(&f.hooks, "hooks", "", "folder of hook folders (default: your hooks_dir)")
	cmd.Flags().BoolVar(&f.failClosed, "fail-closed", false,
		"run nothing without an agent to guard and a guard that is in force, and deny where hookd does not answer")
	cmd.Flags().StringVar(&f.summary, "summary", "", "file for what was decided: JSON if it ends with .json, else Markdown")
	cmd.Flags().StringVar(&f.failOn, "fail-on", "", "deny: exit 1 when a call was denied; ask: also when a hook has asked")
	_ = cmd.MarkFlagDirname("hooks")
	return cmd
}

// runStart is how long the daemon and the policy may take.
const runStart = 2 * time.Minute

func runOne(a *app, cmd *cobra.Command, argv []string, f runFlags) (err error) {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return fail(127, "see PATH, or name the program with its folder", "%w", err)
	}
	r, err := oneshot.Begin()
	if err != nil {
		return fail(exitFailed, permissionsHint+os.TempDir(), "make a scratch home: %w", err)
	}
	ended := false
	end := func() error {
		if ended {
			return nil
		}
		ended = true
		if err := r.End(); err != nil {
			return fail(exitFailed, "the next `hookd run` tries again", "take everything back: %w", err)
		}
		return nil
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := prepareRun(a, cmd, cfg, r, f); err != nil {
		return err
	}
	exit, err := r.Command(argv, f.failClosed, isTerminal(a.in))
	if err != nil {
		return fail(exitFailed, "see whether it can be started without hookd", "%w", err)
	}
	s, err := summarize(cmd.Context(), r, exit, argv)
	if err == nil && f.summary != "" {
		err = s.write(f.summary)
	}
	if err != nil {
		return fail(exitFailed, "name a file in a folder that you can write to", "summary: %w", err)
	}
	sayRun(a, s)
	if err := end(); err != nil {
		return err
	}
	if code := s.code(f); code != 0 {
		return said(code)
	}
	return nil
}

// prepareRun puts hooks into the scratch home, starts the daemon and connects agents.
func prepareRun(a *app, cmd *cobra.Command, cfg config.Config, r *oneshot.Command, f runFlags) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), runStart)
	defer cancel()
	scratch := config.Default(r.Home)
	if f.policy != "" {
		if _, err := catalog.SetPolicy(ctx, scratch, f.policy, f.key, f.policyName); err != nil {
			return fail(exitFailed, "correct the source or the key; the command was not run", "%w", err)
		}
	} else if err := policy.NewHome(cfg.PolicyDir()).Copy(policy.NewHome(scratch.PolicyDir())); err != nil {
		return fail(exitFailed, "hookd policy show; the command was not run", "copy the policy: %w", err)
	}
	allowed := cfg.AllowedDir()
	if _, err := os.Stat(allowed); err == nil {
		if err := os.CopyFS(scratch.AllowedDir(), os.DirFS(allowed)); err != nil {
			return fail(exitFailed, permissionsHint+allowed, "%w", err)
		}
	}
	program, err := ownPath()
	if err != nil {
		return fail(exitFailed, "call hookd by its path", "%w", err)
	}
	if err := r.Start(ctx, program, serveFlags(cfg, r, f)); err != nil {
		return fail(exitFailed, "correct that; the command was not run", "%w:\n%s", err, r.Log())
	}
	if err := checkRun(ctx, a, r, f); err != nil {
		return err
	}
	bridge, err := bridgePath()
	if err != nil {
		return err
	}
	names, err := r.Connect(bridge, f.failClosed)
	switch {
	case errors.Is(err, oneshot.ErrBusy):
		return fail(exitFailed, "wait until it has ended, or give each run a HOME of its own", "%w", err)
	case f.failClosed && (err != nil || len(names) == 0):
		if err == nil {
			err = errors.New("no agent was found to connect")
		}
		return fail(exitFailed, "see `hookd connect`; the command was not run", "%w", err)
	case err != nil:
		fmt.Fprintln(a.errOut, "warning: not every agent is connected:", escape(err.Error(), keepNothing))
	case len(names) == 0:
		fmt.Fprintln(a.errOut, "warning: no agent was found to connect: see `hookd connect`")
	}
	return nil
}

// ownPath is hookd as it was called, else the program that runs.
func ownPath() (string, error) {
	if path, err := exec.LookPath(os.Args[0]); err == nil {
		return filepath.Abs(path)
	}
	return os.Executable()
}

// serveFlags has the daemon use the hooks of the user's settings, and nothing of their home.
func serveFlags(cfg config.Config, r *oneshot.Command, f runFlags) []string {
	hooks := cfg.HooksDir
	if f.hooks != "" {
		hooks = f.hooks
		if abs, err := filepath.Abs(hooks); err == nil {
			hooks = abs
		}
	}
	mode := "manual" // read once: what the agent changes there is not run
	if cfg.ReloadMode == "ask" {
		mode = "ask"
	}
	flags := []string{
		"--socket", r.Socket, "--hooks-dir", hooks, "--reload-mode", mode, "--store-durable", "os",
		"--store-path", filepath.Join(r.Home, "hookd.db"), "--log-format", "console", "--path", cfg.Path,
	}
	type source struct {
		Type string `json:"type"`
		Path string `json:"path"`
	}
	var sources []source
	for _, s := range cfg.Sources {
		sources = append(sources, source{s.Type, s.Path})
	}
	if text, err := json.Marshal(sources); err == nil && len(sources) > 0 {
		flags = append(flags, "--sources", string(text))
	}
	if text, err := json.Marshal(cfg.Env); err == nil && len(cfg.Env) > 0 {
		flags = append(flags, "--env", string(text))
	}
	return flags
}

// checkRun tells the problems of the hooks. With --fail-closed nothing runs unless a hook
// guards and none is broken.
func checkRun(ctx context.Context, a *app, r *oneshot.Command, f runFlags) error {
	list, err := r.Client().Hooks(ctx)
	if err != nil {
		return err
	}
	guards, bad := 0, ""
	for _, h := range list.Hooks {
		if h.State == "active" && h.Decides {
			guards++
		}
		if h.State != "active" && h.State != "disabled" {
			bad = h.Name + " is " + h.State
			for _, p := range h.Problems {
				fmt.Fprintln(a.errOut, "warning: hook", escape(h.Name+": "+p.Message, keepNothing))
			}
		}
	}
	switch {
	case f.failClosed && bad != "":
		return fail(exitRejected, "correct the hook; the command was not run", "hook %s", bad)
	case f.failClosed && guards == 0:
		return fail(exitRejected, "name hooks with --hooks or --policy; the command was not run", "no hook guards")
	case guards == 0:
		fmt.Fprintln(a.errOut, "warning: no hook guards: name some with --hooks or --policy")
	}
	return nil
}

// runSummary has the decisions that were made while the command ran.
type runSummary struct {
	Command   []string          `json:"command"`
	Exit      int               `json:"exit_code"`
	Orphan    bool              `json:"daemon_ended_first"`
	Events    uint64            `json:"events"`
	Counts    map[string]int64  `json:"decisions"`        // by their words
	Decisions []client.Decision `json:"denied_and_asked"` // oldest first
	More      bool              `json:"more,omitempty"`   // there were more than are listed
}

// maxSummed is how many decisions a summary lists.
const maxSummed = 500

func summarize(ctx context.Context, r *oneshot.Command, exit oneshot.Exit, argv []string) (s runSummary, err error) {
	s = runSummary{
		Command: argv, Exit: exit.Code, Orphan: exit.Orphan, Counts: map[string]int64{}, Decisions: []client.Decision{},
	}
	if exit.Orphan {
		return s, nil // what it decided is lost with it
	}
	ctx, cancel := context.WithTimeout(ctx, runStart)
	defer cancel()
	st, err := r.Client().Status(ctx)
	if err != nil {
		return s, err
	}
	s.Events = st.Events
	if _, _, s.Counts, err = countAll(ctx, r.Client(), client.DecisionQuery{}); err != nil {
		return s, err
	}
	s.Decisions, err = r.Client().Decisions(ctx, client.DecisionQuery{Decision: "deny,ask", Limit: maxSummed})
	s.More = len(s.Decisions) == maxSummed
	s.Decisions = slices.DeleteFunc(s.Decisions, func(d client.Decision) bool { return d.Tried })
	slices.Reverse(s.Decisions)
	return s, err
}

// code is the exit code: the command's own, unless hookd has something to say.
func (s runSummary) code(f runFlags) int {
	failed := s.Orphan || f.failOn != "" && s.Counts["deny"] > 0 || f.failOn == "ask" && s.Counts["ask"] > 0
	if s.Exit == 0 && failed {
		return exitFailed
	}
	return s.Exit
}

func (s runSummary) write(file string) error {
	text := []byte(s.markdown())
	if strings.EqualFold(filepath.Ext(file), ".json") {
		var err error
		if text, err = json.MarshalIndent(s, "", "  "); err != nil {
			return err
		}
		text = append(text, '\n')
	}
	return os.WriteFile(file, text, 0o644)
}

// line says all in one line.
func (s runSummary) line() string {
	if s.Orphan {
		return "hookd ended before the command: what was decided is not known"
	}
	words := append([]string{card.Plural(int(s.Events), "event")}, countWords(s.Counts)...)
	passed := s.Counts["allow"] + s.Counts["none"] + s.Counts["context"]
	return strings.Join(append(words, card.Thousands(int(passed))+" allowed"), ", ")
}

func (s runSummary) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## hookd\n\n%s; the command ended with %d.\n", s.line(), s.Exit)
	if s.Events == 0 {
		b.WriteString("\nNo event arrived: the command was no agent that is connected, or it ignores its settings.\n")
	}
	if len(s.Decisions) == 0 {
		return b.String()
	}
	b.WriteString("\n| decision | hook | tool | what | why |\n| --- | --- | --- | --- | --- |\n")
	for _, d := range s.Decisions {
		cells := []string{string(d.Decision), strings.Join(d.DecidedBy, ", "), d.Tool, d.Subject, d.Reason}
		for i, c := range cells {
			cells[i] = cell80(c)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	if s.More {
		fmt.Fprintf(&b, "\nThese are the last %d.\n", maxSummed)
	}
	return b.String()
}

// cell80 is text for a cell of a Markdown table: nothing in it is markup, or ends the row.
func cell80(text string) string {
	text = escape(text, keepNothing)
	if runes := []rune(text); len(runes) > 160 {
		text = string(runes[:159]) + "…"
	}
	return markdown.Replace(text)
}

var markdown = strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "[", "\\[", "]", "\\]",
	"*", "\\*", "_", "\\_", "!", "\\!", "\\", "\\\\", "\n", " ", "\r", " ", "@", "&#64;", "~", "\\~", "#", "\\#")

// sayRun prints on stderr, as stdout is the command's.
func sayRun(a *app, s runSummary) {
	fmt.Fprintln(a.errOut, "hookd:", s.line())
	if s.Events == 0 && !s.Orphan {
		fmt.Fprintln(a.errOut, "hookd: no event arrived: the command was no agent that is connected, or it ignores its settings")
	}
}
