package builtin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/rules"
)

var saferShell = Builtin{
	Name: "safer_shell", Events: []string{"pre_tool_use"},
	Doc: "asks before a shell command that destroys, or changes what is outside of the project, runs one in a box that " +
		"cannot be read beforehand, and says how far its harm may reach",
	Run: askAboutShell,
	Needs: func(row *events.Contract) bool {
		coversShell := row.Tools == "" || slices.Contains(strings.Fields(row.Tools), neutral.Shell)
		return row.Decision == events.DecisionVerdict && coversShell
	},
}

// guards are the hooks of the gallery whose rules choose the calls that safer_shell asks about.
var guards = []string{"command-guard", "secret-guard", "self-guard"}

// askAboutShell judges a shell call by the rules of guards: it asks where they deny or ask, and
// contains where they contain. Where the system documents that all but reading asks, it asks about that.
// The possible harm is in the metadata, which the agent shows beside its question.
func askAboutShell(_ context.Context, c *Invocation) ([]byte, error) {
	if c.Row.Decision != events.DecisionVerdict || c.Tool.Tool != neutral.Shell || c.Subject == nil {
		return nil, nil
	}
	subject := c.Subject()
	set, err := guardRules(subject.Home)
	if err != nil {
		return nil, err
	}
	harm, reason, says := harmUnknown, "", "ask"
	v := set.Judge(subject)
	if v.Rule != nil {
		harm, reason = harmOf(v, subject.Facts), reasonOf(v)
	} else if c.Row.OnlyReading {
		reason = notReading(subject.Facts)
	}
	if v.Action == rules.Contain && !c.Row.OnlyReading { // neither known good nor known bad
		says = string(rules.Contain)
	}
	if reason == "" {
		return nil, nil
	}
	return answer{Specific: &specific{
		PermissionDecision: says,
		PermissionReason:   reason,
		Metadata:           map[string]string{"blast_radius": harm.radius, "category": harm.category, "reason": reason},
	}}.encode()
}

var compiled sync.Map // of a home to the *rules.Set of guards

// guardRules returns the rules of guards for a user's home.
func guardRules(home string) (*rules.Set, error) {
	if set, ok := compiled.Load(home); ok {
		return set.(*rules.Set), nil
	}
	set, err := rules.Gallery(home, guards...)
	if err != nil {
		return nil, err
	}
	compiled.Store(home, set)
	return set, nil
}

func reasonOf(v rules.Opinion) string {
	why := v.Rule.Why
	if v.Perhaps {
		why = "perhaps " + why
	}
	if v.What == "" {
		return why
	}
	return v.What + ": " + why
}

// notReading says why a call is not known to only read, where no rule is about the call; "" =
// it only reads.
func notReading(f *facts.Facts) string {
	for _, e := range f.Effects {
		if e.Kind != facts.KindRead {
			return fmt.Sprintf("%s: %s is not reading", cmp.Or(e.Why, e.Target), e.Kind)
		}
	}
	for _, d := range f.Doubts {
		return d.Text
	}
	return ""
}

// harm is the reach and the sort of a call's possible harm, in docker-agent's words and
// a few more.
type harm struct{ radius, category string }

var harmUnknown = harm{"unknown", "unknown"}

// harms are those of effects. The first row that fits counts: one of the kinds, the beginning
// of the target, and one of the programs; "" = any.
var harms = []struct {
	kinds, target, programs string
	harm
}{
	{"write delete move", "/dev/", "", harm{"high", "block-device"}},
	{"delete", "/", "shred srm wipe", harm{"high", "fs-secure-delete"}},
	{"write delete move", "/", "git", harm{"medium", "git-discard"}},
	{"delete", "/", "", harm{"medium", "fs-delete"}},
	{"write", "/", "", harm{"unknown", "fs-modify"}}, // whether a file was there is not known
	{"move", "/", "", harm{"medium", "fs-modify"}},
	{"configure", "/", "", harm{"medium", "fs-modify"}},
	{"delete", "volume:", "", harm{"high", "dk-volume-del"}},
	{"delete", "container:", "", harm{"medium", "dk-container-del"}},
	{"delete", "image:cache", "", harm{"medium", "dk-build-cache"}},
	{"delete", "image:", "", harm{"medium", "dk-image-del"}},
	{"delete", "network:", "docker podman nerdctl", harm{"medium", "dk-network-del"}},
	{"delete", "docker:", "", harm{"medium", "dk-multi-del"}},
	{"kill", "container:", "", harm{"low", "dk-runtime"}},
	{"escalate", "", "docker podman nerdctl", harm{"high", "dk-bind-mount"}},
	{"delete", "database:", "redis-cli valkey-cli etcdctl consul", harm{"high", "kv-flush"}},
	{"delete", "database:", "rails rake npx prisma sequelize artisan manage.py django-admin bench", harm{"high", "app-reset"}},
	{"delete", "database:", "", harm{"high", "sql-drop"}},
	{"delete", "table:", "", harm{"high", "sql-drop"}},
	{"history", "package:", "", harm{"medium", "publish"}},
	{"history", "worktree", "", harm{"high", "git-discard"}},
	{"history", "index", "", harm{"high", "git-discard"}},
	{"history", "stash", "", harm{"high", "git-discard"}},
	{"history", "", "", harm{"medium", "git-history"}},
	{"delete", "package:", "", harm{"medium", "pkg-remove"}},
	{"delete write kill", "cluster:", "", harm{"high", "k8s-delete"}},
	{"kill", "process:", "", harm{"medium", "proc-signal"}},
	{"kill", "machine:", "", harm{"high", "sys-power"}},
	{"kill", "unit:", "", harm{"medium", "sys-service"}},
	{"delete configure", "network:", "", harm{"high", "sys-network"}},
	{"configure", "", "", harm{"medium", "sys-service"}},
	{"escalate", "rights:", "", harm{"medium", "fs-permissions"}},
	{"escalate", "", "", harm{"unknown", "sys-account"}},
	{"delete write kill", "", "", harm{"high", "infra-delete"}},
	{"publish", "", "", harm{"high", "publish"}},
	{"send", "", "", harm{"unknown", "send"}},
	{"secret", "", "", harm{"medium", "secret"}},
	{"guard", "", "", harm{"high", "guard"}},
}

// statements name an effect on a table, by the first word of its SQL.
var statements = map[string]string{"truncate": "sql-truncate", "delete": "sql-delete"}

// harmOf is the harm of the effect that a rule fitted.
func harmOf(v rules.Opinion, f *facts.Facts) harm {
	e := v.Effect
	if e == nil {
		return harmUnknown
	}
	program := ""
	if e.Command >= 0 && e.Command < len(f.Commands) {
		program, _ = f.Commands[e.Command].Program()
	}
	found := harmUnknown
	for _, h := range harms {
		if slices.Contains(strings.Fields(h.kinds), string(e.Kind)) && strings.HasPrefix(e.Target, h.target) &&
			(h.programs == "" || slices.Contains(strings.Fields(h.programs), program)) {
			found = h.harm
			break
		}
	}
	statement, _, _ := strings.Cut(strings.ToLower(e.Why), " ")
	switch {
	case found.category == "sql-drop" && statements[statement] != "":
		found.category = statements[statement]
	case found.category == "fs-delete" && slices.ContainsFunc(f.Effects, func(o facts.Effect) bool {
		return o.Kind == facts.KindWrite && o.Target == e.Target
	}):
		found.category = "fs-overwrite"
	}
	if v.Action == rules.Deny && found.radius != "unknown" {
		found.radius = "high"
	}
	return found
}
