package verdict

import (
	"regexp"
	"strings"
	"sync"
)

// WeakeningCommands are the commands of hookd by which a guard may become weaker, or a call is
// let through: no model is told one.
var WeakeningCommands = []string{
	"init", "edit", "allow", "guard", "disable", "rm", "grants", "dlq", "dead", "add", "update", "remove", "trust", "policy", "fleet",
	"connect", "disconnect", "token", "stop", "restart", "reload", "install", "uninstall", "allow-ask", "deny-ask", "asks",
	"snooze", "permit", "config", "run", "kill", "ask", "notify", "revoke", "learn",
}

// groups are the words that these commands stand behind.
const groups = `(?:(?:guard|hook|agent|team|daemon|dev)\s+)?`

// weakening finds such a command in a text, with the words that lead to the command.
var weakening = sync.OnceValue(func() *regexp.Regexp {
	const lead = `(?:[;,.:]? ?\(?(?:or |and |then )*(?:to switch it off|type|allow (?:it|them) with|look at (?:it|each) with)[: ]+)?`
	const flags = "(?:\\s+-[-\\w]+(?:=[^\\s`]+)?)*"
	return regexp.MustCompile("(" + lead + ")`?\\bhookd" + flags +
		`\s+` + groups + `(?:` + strings.Join(WeakeningCommands, "|") + ")(?:\\s[^`\\n;)]*|$|[`;).,\\n])`?")
})

// forAPerson stands in place of a command that leads nowhere else.
const forAPerson = "(a command for a person)"

// WithoutWeakening returns a text without commands of hookd that weaken guards: for a model,
// which might type them. Records keep the whole text, for a person.
func WithoutWeakening(text string) string {
	if !strings.Contains(text, "hookd") {
		return text
	}
	return weakening().ReplaceAllStringFunc(text, func(found string) string {
		rest := ""
		if end := found[len(found)-1]; strings.IndexByte(";).,\n", end) >= 0 {
			rest = found[len(found)-1:]
		}
		if strings.HasPrefix(strings.TrimLeft(found, "`"), "hookd") {
			return forAPerson + rest
		}
		return rest
	})
}

// ForModel returns v without commands that weaken guards in the words that an agent hands to
// its model; v itself where it has none. Nil has none.
func ForModel(v *Verdict) *Verdict {
	if v == nil {
		return nil
	}
	told := *v
	changed := false
	for _, text := range []*string{
		&told.Message, &told.DecisionReason, &told.SystemMessage, &told.StopReason, &told.Stderr,
	} {
		if less := WithoutWeakening(*text); less != *text {
			*text, changed = less, true
		}
	}
	if !changed {
		return v
	}
	return &told
}
