package hookdir

import (
	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/hooks/hook"
)

func (d *draft) setScope(n *yaml.Node) {
	word(&d.valueReader, n, scopes, &d.hook.Scope)
	if d.hook.Scope == hook.Scope(hook.ScopeLocal.Text()) {
		d.hook.Scope = hook.ScopeLocal
	}
}

// checkScope refuses a scope where a verdict waits for the hook, or would: it must not wait
// for another machine. A repository is in another place on each of them.
func (c checks) checkScope() {
	at := c.given["scope"]
	switch {
	case at == nil || c.hook.Scope == hook.ScopeLocal || c.rejected():
	case c.hook.WouldGuard():
		c.reject(at, "add `blocking: false` if it only observes, else remove `scope`",
			"scope %s is for hooks that observe: this one takes part in verdicts, which never wait for other machines",
			c.hook.Scope)
	case c.hook.Project != "":
		c.reject(at, "remove `scope`", "scope %s is not for hooks of a repository, which run in it", c.hook.Scope)
	}
}
