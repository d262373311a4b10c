package hookdir

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// checks look at a draft whose fields are all read.
type checks struct{ *draft }

// finish completes the hook, and makes the checks that need more than one field.
func (c checks) finish(root *yaml.Node) {
	c.finishRules()
	for _, f := range c.schema {
		switch {
		case f.Key == "events" && c.hook.Type == hook.Rules:
		case f.Required && f.usedBy(c.hook.Type) && c.given[f.Key] == nil:
			c.required(root, f.Field)
		case !f.usedBy(c.hook.Type) && c.given[f.Key] != nil:
			c.ignored(c.keys[f.Key], fmt.Sprintf("`%s` is not used by type %s", f.Key, c.hook.Type), "")
		}
	}
	c.identify()
	if c.hook.Timeout == 0 {
		c.hook.Timeout = c.opt.timeout(c.hook.Type)
	}
	if at := c.given["term_before"]; at != nil && c.hook.TermBefore >= c.hook.Timeout {
		c.reject(at, "", "term_before %s must be shorter than the timeout %s", c.hook.TermBefore, c.hook.Timeout)
	}
	c.hook.Persistent = c.hook.Persistent && (c.hook.Type == hook.Command || c.hook.Type == hook.Script)
	if at := c.keys["term_before"]; at != nil && c.hook.Persistent {
		c.ignored(at, "`term_before` is not used by mode persistent: one answer too late, and it is killed", "")
	}
	c.warnUnused()
	c.checkScope()
	c.checkTools()
	switch c.hook.Type {
	case hook.Command:
		if at := c.given["command"]; at != nil && c.hook.Command != "" {
			c.findCommand(at)
		}
	case hook.Script:
		c.hook.Shell = c.opt.Shell
	case hook.Builtin:
		c.hook.Args = c.args
		c.checkBuiltin(c.given["command"])
		c.checkGuard(c.given["events"])
	case hook.Model:
		c.checkModel(root)
	}
	c.checkWildcard()
}

// identify gives the hook the name that it has among all others. Names of shared
// hooks are plain, so that none can look like another's.
func (c checks) identify() {
	name := c.hook.Name
	if c.opt.Layer.Sealed() && strings.Trim(name, plainName) != "" {
		c.reject(c.given["name"], "write letters, digits, dots, - and _", "%q is no name of a shared hook", name)
	}
	c.hook.Name = c.opt.Prefix + name
	c.hook.ID = c.hook.Name
	if c.hook.Project == "" {
		return
	}
	c.hook.ID += "@" + c.hook.Project
	if c.hook.Lane == events.LanePreempt {
		c.warn(c.given["lane"], "", "lane preempt is for the user's own hooks: it runs after them")
		c.hook.Lane = events.LaneDefault
	}
}

const plainName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// checkBuiltin warns of a built-in that does not exist, as docker-agent loads
// such hooks too: each of their runs fails.
func (c checks) checkBuiltin(at *yaml.Node) {
	name := c.hook.Command
	if at == nil || name == "" || c.opt.Builtins == nil || slices.Contains(c.opt.Builtins, name) {
		return
	}
	hint := "there are " + strings.Join(c.opt.Builtins, ", ")
	if near := spell.Near(name, c.opt.Builtins); near != "" {
		hint = fmt.Sprintf("did you mean `%s`?", near)
	}
	c.warn(at, hint, "no built-in is called `%s`", name)
}

// checkGuard warns of events on which a guard would see calls go by and have no
// say, or would not be called at all.
func (c checks) checkGuard(at *yaml.Node) {
	if at == nil || c.opt.CheckGuard == nil || c.rejected() {
		return
	}
	for _, p := range c.hook.Patterns {
		if why := c.opt.CheckGuard(c.hook, p); why != "" {
			c.warn(at, "hookd events", "`%s` does nothing on `%s`: %s", c.hook.Command, p.Text, why)
		}
	}
}

func (c checks) checkModel(root *yaml.Node) {
	if c.opt.CheckModel == nil || c.rejected() {
		return
	}
	if err := c.opt.CheckModel(c.hook); err != nil {
		at := root
		if c.given["prompt"] != nil {
			at = c.given["prompt"]
		}
		c.reject(at, "", "%v", err)
	}
}

func (c checks) required(root *yaml.Node, f Field) {
	at, hint := root, ""
	if key := c.keys[f.Key]; key != nil {
		at = key
	}
	if f.Key == "command" && c.given["script"] != nil {
		hint = "add `type: script`"
	}
	c.reject(at, hint, "missing required field `%s`", f.Key)
}

// warnUnused warns of settings that do nothing for the hook.
func (c checks) warnUnused() {
	if at := c.keys["warm"]; at != nil && !c.hook.Persistent {
		c.ignored(at, "`warm` is for mode persistent: other hooks start with each event", "add `mode: persistent`")
	}
	if c.rejected() || !c.hook.WouldGuard() {
		return
	}
	for _, key := range []string{"debounce", "throttle"} {
		if at := c.keys[key]; at != nil {
			c.warn(at, "with `blocking: false` it observes", "`%s` is for observers: a run that decides is never left out", key)
		}
	}
}
