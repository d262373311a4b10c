package fleet

import (
	"fmt"
	"strings"

	"github.com/hookd/hookd/internal/fleet/engine"
)

// Role says how far a machine of a fleet is trusted.
type Role string

const (
	RoleMachine  Role = "machine"  // sends, and takes what is for each machine
	RoleWorker   Role = "worker"   // takes work of hooks of scope fleet, too
	RoleOperator Role = "operator" // everything of the tenant, and makes its streams
)

// Roles returns all roles.
func Roles() []Role { return []Role{RoleMachine, RoleWorker, RoleOperator} }

// Permission is one list of a NATS user's permissions.
type Permission struct{ Publish, Subscribe []string }

// Permissions returns the permissions of a user on the servers. A machine publishes under its own
// name alone, asks its own consumers, reads the messages of all machines, and receives nothing
// that is not for it. It makes no consumer of its own: a consumer can have the server publish to
// any subject of the streams' account. inbox is the prefix of the subjects for its answers.
func (n Names) Permissions(r Role, inbox string) Permission {
	p := Permission{Subscribe: []string{inbox + ".>"}}
	if r == RoleOperator {
		p.Publish = []string{"hookd." + n.Tenant + ".>", "$O." + n.bundles() + ".>", "$JS.API.>", "$JS.ACK.>"}
		return p
	}
	p.Subscribe = append(p.Subscribe, n.news())
	p.Publish = []string{"$JS.API.INFO", n.subject(areaEvery)}
	for _, area := range []string{areaLog, areaNow, areaWork, areaAnswer} {
		p.Publish = append(p.Publish, n.subject(area, ">"))
	}
	read := []string{n.stream(areaLog), n.stream(areaNow), n.stream(areaDirective), "OBJ_" + n.bundles()}
	for _, stream := range read {
		p.Publish = append(p.Publish, "$JS.API.STREAM.INFO."+stream, "$JS.API.DIRECT.GET."+stream)
	}
	ask := func(area, consumer string) {
		s := n.stream(area)
		p.Publish = append(p.Publish, "$JS.API.STREAM.INFO."+s, "$JS.API.CONSUMER.INFO."+s+"."+consumer,
			"$JS.API.CONSUMER.MSG.NEXT."+s+"."+consumer, "$JS.ACK."+s+"."+consumer+".>")
	}
	ask(areaEvery, everyConsumer+n.Machine)
	ask(areaAnswer, answerConsumer+n.Machine)
	if r == RoleWorker {
		for _, area := range []string{areaWork, areaDead} {
			ask(area, "*")
			p.Publish = append(p.Publish, "$JS.API.CONSUMER.CREATE."+n.stream(area)+".>")
		}
		const get = "$JS.API.DIRECT.GET."
		p.Publish = append(p.Publish, get+n.stream(areaWork), get+n.stream(areaDead))
		p.Publish = append(p.Publish, n.subject(areaDead, ">"), "$JS.API.STREAM.MSG.DELETE."+n.stream(areaDead))
		return p
	}
	for _, area := range []string{areaWork, areaDead} {
		p.Publish = append(p.Publish, "$JS.API.STREAM.INFO."+n.stream(area))
	}
	return p
}

// Consumers returns the consumers of this machine alone, which an operator makes for it.
func (n Names) Consumers() []engine.Spec { return []engine.Spec{n.everyEvent(), n.answers()} }

// Accounts returns the accounts of a tenant in a server's configuration. The streams and the
// operators are in one; the machines are in another, which imports services of the first. An
// answer of the server to a subject that a machine names stays in the account of the machines:
// no member can have the server store it. The files operators and machines have the users.
func (n Names) Accounts(operators, machines string) string {
	var exports, imports strings.Builder
	streams := "hookd_" + n.Tenant
	members := streams + "_members"
	service := func(subject string) {
		fmt.Fprintf(&exports, "\n      { service: %q, response_type: stream, accounts: [%s] }", subject, members)
		fmt.Fprintf(&imports, "\n      { service: { account: %s, subject: %q } }", streams, subject)
	}
	for _, area := range []string{areaLog, areaNow, areaWork, areaEvery, areaAnswer, areaDead} {
		service("hookd." + n.Tenant + ".*." + area)
		service("hookd." + n.Tenant + ".*." + area + ".>")
	}
	service("$JS.API.>")
	service("$JS.ACK.>")
	fmt.Fprintf(&exports, "\n      { stream: %q, accounts: [%s] }", n.news(), members)
	fmt.Fprintf(&imports, "\n      { stream: { account: %s, subject: %q } }", streams, n.news())
	return fmt.Sprintf("  %s: {\n    jetstream: enabled\n    include %s\n    exports: [%s\n    ]\n  }\n"+
		"  %s: {\n    include %s\n    imports: [%s\n    ]\n  }\n",
		streams, operators, exports.String(), members, machines, imports.String())
}

// User returns the lines of a server's configuration that let the holder of a key in.
func (n Names) User(r Role, inbox, key string) string {
	p := n.Permissions(r, inbox)
	quoted := func(list []string) string {
		var b strings.Builder
		for _, s := range list {
			fmt.Fprintf(&b, "\n        %q", s)
		}
		return b.String()
	}
	return fmt.Sprintf("{ # %s, %s\n    nkey: %s\n    permissions: {\n      publish: [%s\n      ]\n      subscribe: [%s\n      ]\n    }\n  }",
		n.Machine, r, key, quoted(p.Publish), quoted(p.Subscribe))
}
