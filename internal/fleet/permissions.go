package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookd/hookd/internal/base/lazyregexp"
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
// name alone, reads the messages of all machines, and receives nothing that is not for it. None
// but an operator makes a consumer: a consumer can have the server publish to any subject of the
// streams' account. inbox is the prefix of the subjects for its answers.
func (n Names) Permissions(r Role, inbox string) Permission {
	p := Permission{Subscribe: []string{inbox + ".>"}}
	if r == RoleOperator {
		p.Publish = []string{
			"hookd." + n.Tenant + ".>", "$O." + n.bundles() + ".>", "$JS.API.>", "$JS.ACK.>",
			"$JS.SNAPSHOT.>", // backups are written and read back
			"$SYS.REQ.USER.INFO",
		}
		return p
	}
	p.Subscribe = append(p.Subscribe, n.news(), n.all(areaNews, areaEvery), n.all(areaNews, areaAnswer, n.Machine))
	p.Publish = []string{
		"$JS.API.INFO", "$SYS.REQ.USER.INFO", // what it may do: it asks for no more
		n.subject(areaLog, "decision"), n.subject(areaWork, "*"), n.subject(areaEvery), n.subject(areaAnswer),
		n.subject(areaNews, areaEvery), n.subject(areaNews, areaAnswer, "*"),
	}
	for _, of := range []string{nowMachine, nowSessions, nowAsks} {
		p.Publish = append(p.Publish, n.subject(areaNow, of))
	}
	info := func(stream string) { p.Publish = append(p.Publish, "$JS.API.STREAM.INFO."+stream) }
	read := func(stream string) { p.Publish = append(p.Publish, "$JS.API.DIRECT.GET."+stream) }
	for _, area := range []string{areaLog, areaNow, areaEvery, areaAnswer, areaDirective} {
		info(n.stream(area))
		read(n.stream(area))
	}
	info("OBJ_" + n.bundles())
	read("OBJ_" + n.bundles())
	for _, area := range []string{areaWork, areaDead} {
		info(n.stream(area))
		if r == RoleWorker {
			s := n.stream(area)
			read(s)
			p.Publish = append(p.Publish, "$JS.API.CONSUMER.INFO."+s+".*", "$JS.API.CONSUMER.MSG.NEXT."+s+".*", "$JS.ACK."+s+".*.>")
		}
	}
	if r == RoleWorker {
		p.Publish = append(p.Publish, n.subject(areaDead, "*"),
			"$JS.API.STREAM.MSG.DELETE."+n.stream(areaDead), "$JS.API.STREAM.MSG.DELETE."+n.stream(areaWork))
	}
	return p
}

// Queues returns the consumers from which workers take the events for hooks of scope fleet, by
// the names of the hooks, and the consumer of the dead letters. An operator makes them.
func (n Names) Queues(hooks ...string) []engine.Spec {
	list := []engine.Spec{n.deadLetters()}
	for _, hook := range hooks {
		list = append(list, n.work(hook))
	}
	return list
}

// MakeQueues makes or renews the consumers of Queues. From then on the servers take work for hooks
// with a queue alone.
func (n Names) MakeQueues(ctx context.Context, p engine.Press, hooks ...string) error {
	if err := p.MakeConsumers(ctx, n.Queues(hooks...)); err != nil {
		return err
	}
	return n.boundWork(ctx, p)
}

// RemoveQueues deletes the consumers of hooks. Their events stay until they are too old.
func (n Names) RemoveQueues(ctx context.Context, p engine.Press, hooks ...string) error {
	if err := p.DeleteConsumers(ctx, n.Queues(hooks...)[1:]); err != nil {
		return err
	}
	return n.boundWork(ctx, p)
}

func (n Names) boundWork(ctx context.Context, p engine.Press) error {
	for _, s := range n.Layout() {
		if s.Queue {
			return p.BoundQueue(ctx, s)
		}
	}
	return nil
}

// work is the consumer of the events for a hook of scope fleet.
func (n Names) work(hook string) engine.Spec {
	name := token(hook)
	return engine.Spec{
		Stream: n.stream(areaWork), Name: workConsumer + name, Subject: n.all(areaWork, name),
		Missing: "an operator has to type hookd fleet queue " + hook,
	}
}

// Subjects returns the patterns of all messages of this machine that streams hold, by stream: an
// operator deletes them when the machine does not come back.
func (n Names) Subjects() map[string]string {
	return map[string]string{
		n.stream(areaNow): n.subject(areaNow, "*"), n.stream(areaAnswer): n.subject(areaAnswer),
		n.stream(areaWork): n.subject(areaWork, ">"), n.stream(areaEvery): n.subject(areaEvery),
	}
}

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
	for _, news := range []string{n.all(areaNews), n.all(areaNews, ">")} {
		fmt.Fprintf(&exports, "\n      { stream: %q, accounts: [%s] }", news, members)
		fmt.Fprintf(&imports, "\n      { stream: { account: %s, subject: %q } }", streams, news)
	}
	return fmt.Sprintf("  %s: {\n    jetstream: enabled\n    include %s\n    exports: [%s\n    ]\n  }\n"+
		"  %s: {\n    include %s\n    imports: [%s\n    ]\n  }\n",
		streams, operators, exports.String(), members, machines, imports.String())
}

// untilWord stands before the last day of a key in the first line of its entry.
const untilWord = ", until "

// The parts of an entry that User made.
var (
	entryAbout = lazyregexp.New(`^\{ # ([^,\n]+), ([a-z]+)(?:` + untilWord + `(\S+))?\n`)
	entryKey   = lazyregexp.New(`\n +nkey: (U[A-Z2-7]{55})\n`)
	entryInbox = lazyregexp.New(`"(_INBOX\.[^.">*]+)\.>"`)
	entryOf    = lazyregexp.New(`"hookd\.([^.">*]+)\.`)
)

// Renew makes an entry that User made again, with the permissions that this version gives its role.
// Any other text is returned as it is.
func Renew(entry string) string {
	about, key := entryAbout.FindStringSubmatch(entry), entryKey.FindStringSubmatch(entry)
	inbox, of := entryInbox.FindStringSubmatch(entry), entryOf.FindStringSubmatch(entry)
	if about == nil || key == nil || inbox == nil || of == nil || !slices.Contains(Roles(), Role(about[2])) {
		return entry
	}
	return Names{Tenant: of[1], Machine: about[1]}.User(Role(about[2]), inbox[1], key[1], about[3])
}

// EntryKey returns the public key of an entry that User made; "" = it is another text.
func EntryKey(entry string) string {
	if found := entryKey.FindStringSubmatch(entry); found != nil {
		return found[1]
	}
	return ""
}

// entryWords are the parts of a server's configuration that are no brackets: comments and quoted texts.
var entryWords = lazyregexp.New(`(?m)#.*$|//.*$|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'`)

// CheckEntry is an error for a text that is not one value in brackets. Servers that find such a text in
// their list refuse all of the list, and the keys that were revoked stay in force.
func CheckEntry(entry string) error {
	text := strings.TrimSpace(entryWords.ReplaceAllString(entry, ""))
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return errors.New("it is no entry of a user: want { … }")
	}
	var open []rune
	for i, r := range text {
		switch r {
		case '{', '[':
			open = append(open, r+2) // the bracket that ends it
		case '}', ']':
			if len(open) == 0 || open[len(open)-1] != r || len(open) == 1 && i < len(text)-1 {
				return fmt.Errorf("it is no entry of a user: a %c is not where it has to be", r)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("it is no entry of a user: a %c is missing", open[len(open)-1])
	}
	return nil
}

// Expired reports whether the last day of an entry that User made is over; last "" = it has none.
func Expired(entry string, now time.Time) (last string, over bool, err error) {
	first, _, _ := strings.Cut(entry, "\n")
	if _, last, _ = strings.Cut(first, untilWord); last == "" {
		return "", false, nil
	}
	day, err := time.Parse(time.DateOnly, last)
	return last, !now.UTC().Before(day.AddDate(0, 0, 1)), err
}

// User returns the lines of a server's configuration that let the holder of a key in. The entry
// says the last day of the key, as in 2027-11-30; "" = it has none. Servers do not look at it:
// what makes their list leaves the entry out after that day.
func (n Names) User(r Role, inbox, key, until string) string {
	p := n.Permissions(r, inbox)
	quoted := func(list []string) string {
		var b strings.Builder
		for _, s := range list {
			fmt.Fprintf(&b, "\n        %q", s)
		}
		return b.String()
	}
	about := n.Machine + ", " + string(r)
	if until != "" {
		about += untilWord + until
	}
	return fmt.Sprintf("{ # %s\n    nkey: %s\n    permissions: {\n      publish: [%s\n      ]\n      subscribe: [%s\n      ]\n    }\n  }",
		about, key, quoted(p.Publish), quoted(p.Subscribe))
}
