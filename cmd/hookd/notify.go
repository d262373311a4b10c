package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/base/trust"
	"github.com/hookd/hookd/internal/discovery/catalog"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/source/hookdir"
	"github.com/hookd/hookd/wire"
)

// ntfyServer is the public server of ntfy.
const ntfyServer = "https://ntfy.sh/"

func notifyCommand(a *app) *cobra.Command {
	n := notifier{a: a}
	cmd := &cobra.Command{
		Use:   "notify slack URL | ntfy TOPIC | desktop",
		Short: "Get told of denials: by Slack, on a phone, on the desktop",
		Long: `notify writes a hook notify-slack, notify-ntfy or notify-desktop, which tells you in a
line what was denied, and the command that says why. It needs no other program, but
notify-send on a Linux desktop. With --on ask,deny it tells asks, too. URL is an incoming
webhook of Slack. For a phone, install its app ntfy and subscribe to TOPIC, a topic of
ntfy.sh or the URL of one elsewhere. Both are secrets: they are in a file that only you
can read.`,
		Example: `  hookd notify desktop
  hookd notify slack https://hooks.slack.com/services/T0/B0/xyz
  hookd notify ntfy my-long-random-topic --on deny,ask`,
		Args: n.check,
		RunE: n.run,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return []string{"slack", "ntfy", "desktop"}, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().StringSliceVar(&n.on, "on", []string{"deny"}, "decisions that are told: deny, ask, allow; several by comma")
	cmd.Flags().BoolVar(&n.off, "off", false, "take it away again")
	settingFlags(cmd, "hooks_dir")
	return cmd
}

// notifier is one call of notify.
type notifier struct {
	a   *app
	on  []string
	off bool
}

func (n *notifier) check(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("say how: hookd notify desktop, hookd notify slack URL or hookd notify ntfy TOPIC")
	}
	wanted := map[string]int{"slack": 2, "ntfy": 2, "desktop": 1}[args[0]]
	switch {
	case wanted == 0:
		ways := []string{"slack", "ntfy", "desktop"}
		return fmt.Errorf("%sthere are slack, ntfy and desktop, not %q", meant(args[0], ways), args[0])
	case n.off && len(args) == 1, len(args) == wanted:
	case len(args) < wanted:
		return fmt.Errorf("notify %s wants an address", args[0])
	default:
		return fmt.Errorf("notify %s: %q is too much", args[0], args[wanted])
	}
	for _, word := range n.on {
		switch wire.Outcome(word) {
		case wire.OutcomeDeny, wire.OutcomeAsk, wire.OutcomeAllow:
		default:
			return fmt.Errorf("--on %q: there are deny, ask and allow", word)
		}
	}
	return nil
}

// notified is the answer of notify.
type notified struct {
	Hook     string   `json:"hook"`
	File     string   `json:"file"`
	On       []string `json:"on"`
	Removed  bool     `json:"removed,omitempty"`
	Reloaded bool     `json:"reloaded"`
}

func (n *notifier) run(cmd *cobra.Command, args []string) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	name := "notify-" + args[0]
	dir := filepath.Join(cfg.HooksDir, name)
	done := notified{Hook: name, File: filepath.Join(dir, hookdir.FileName), On: n.on, Removed: n.off}
	if n.off {
		err = os.RemoveAll(dir)
	} else {
		err = n.write(cfg, done, args)
	}
	var f *failure
	switch {
	case errors.As(err, &f):
		return err
	case err != nil:
		return fail(exitFailed, permissionsHint+cfg.HooksDir, "%w", err)
	}
	if done.Reloaded, err = n.a.reloadDaemon(cmd); err != nil {
		return err
	}
	return n.a.print(done, func(p *printer) {
		if done.Removed {
			p.linef("%s is removed.", name)
			return
		}
		p.linef("%s tells you what agents are told: %s.", name, strings.Join(done.On, ", "))
		p.linef("It is in %s; take it away with `hookd notify %s --off`.", tilde(done.File), args[0])
	})
}

// write writes the hook.
func (n *notifier) write(cfg config.Config, done notified, args []string) error {
	root := mapping("name", done.Hook, "description", "Tells you what was decided. Written by `hookd notify`.",
		"events", events.EventDecided, "type", "builtin", "command", "notify", "timeout", "15s", "on_error", "ignore",
		"throttle", "20/1m")
	list(root, "args", args[0])
	when := mapping()
	list(when, "data.decision", n.on...)
	appendTo(root, "when", when)
	if len(args) > 1 {
		address, err := addressOf(args[0], args[1])
		if err != nil {
			return err
		}
		appendTo(root, "env", mapping("NOTIFY_URL", address))
	}
	text, err := encodeYAML(root)
	if err != nil {
		return err
	}
	dir := filepath.Dir(done.File)
	if h, problems := hookdir.ReadText(dir, text, hookdir.Options{}); h == nil {
		return fmt.Errorf("the hook cannot be read: %s", problems[0].Message)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := replacefile.Write(done.File, text); err != nil {
		return err
	}
	return errors.Join(os.Chmod(done.File, 0o600), allowOwn(cfg, done.Hook, dir, text))
}

// addressOf is where notifications are sent to.
func addressOf(way, text string) (string, error) {
	if way == "ntfy" && !strings.Contains(text, "/") {
		text = ntfyServer + url.PathEscape(text)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", fail(exitUsage, "see `hookd notify --help`", "%q is no http or https address", text)
	}
	return u.String(), nil
}

// allowOwn allows a hook that this command has just written for a person, as it was written.
func allowOwn(cfg config.Config, name, dir string, text []byte) error {
	for _, w := range catalog.Waiting(cfg) {
		if w.Name == name && !w.Gone && w.Is(dir, map[string]string{hookdir.FileName: trust.Sum(text)}) {
			return catalog.Allow(cfg, w)
		}
	}
	return nil
}
