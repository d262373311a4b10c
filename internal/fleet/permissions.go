package fleet

import (
	"fmt"
	"strings"
)

// Role is what a machine of a fleet may do.
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

// Permissions returns what a server is to let a machine do: publish under its own name
// alone, ask its own consumers, read what all machines publish, and receive nothing that is
// not for it. inbox is the prefix of the subjects that answers to it come on.
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
	own := func(area, consumer string) {
		s := n.stream(area)
		p.Publish = append(p.Publish, "$JS.API.STREAM.INFO."+s, "$JS.API.CONSUMER.INFO."+s+"."+consumer,
			"$JS.API.CONSUMER.CREATE."+s+"."+consumer+".>", "$JS.API.CONSUMER.MSG.NEXT."+s+"."+consumer,
			"$JS.ACK."+s+"."+consumer+".>")
	}
	own(areaEvery, everyConsumer+n.Machine)
	own(areaAnswer, answerConsumer+n.Machine)
	if r == RoleWorker {
		own(areaWork, "*")
		own(areaDead, "*")
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
