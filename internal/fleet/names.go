package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Names makes the subjects and streams of one tenant, as one of its machines uses them, and
// reads messages, whose content must fit their subject.
// Each message stands under the name of the machine that sends it,
// hookd.TENANT.MACHINE.…, so that a server can let a machine publish as itself alone.
type Names struct{ Tenant, Machine string }

// Check is an error for names that cannot be parts of a subject.
func (n Names) Check() error {
	const plain = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	for _, name := range []string{n.Tenant, n.Machine} {
		if name == "" || len(name) > maxName || strings.Trim(name, plain) != "" {
			return fmt.Errorf("the name %q: want up to %d of a-z, 0-9, - and _", name, maxName)
		}
	}
	return nil
}

const maxName = 64

// The areas of a machine's messages: the word after its name.
const (
	areaLog    = "log"    // decisions, in the order in which they were made
	areaNow    = "now"    // the state of the machine: the newest of each subject counts
	areaWork   = "work"   // events for hooks of scope fleet
	areaEvery  = "every"  // events for hooks of scope every
	areaAnswer = "answer" // to asks of other machines
	areaDead   = "dead"   // what no machine could take
	areaNews   = "news"   // that there is something to read; no stream has it
)

// The areas of operators' messages for all machines.
const (
	areaDirective = "directive" // the newest counts
	areaBundles   = "bundles"   // a bucket of JetStream's object store
)

// subject is a subject that this machine may publish to.
func (n Names) subject(area string, rest ...string) string {
	return strings.Join(append([]string{"hookd", n.Tenant, n.Machine, area}, rest...), ".")
}

// all is a pattern of the same subjects of all machines.
func (n Names) all(area string, rest ...string) string {
	n.Machine = "*"
	return n.subject(area, rest...)
}

// sender returns the machine in a subject of this tenant, and the parts behind the
// area; ok is false for any other subject.
func (n Names) sender(subject, area string) (machine string, rest []string, ok bool) {
	parts := strings.Split(subject, ".")
	if len(parts) < 4 || parts[0] != "hookd" || parts[1] != n.Tenant || parts[3] != area || parts[2] == "" {
		return "", nil, false
	}
	return parts[2], parts[4:], true
}

// stream is the name of the stream of an area.
func (n Names) stream(area string) string { return "HOOKD_" + n.Tenant + "_" + strings.ToUpper(area) }

// maxToken is the longest text that stands in a subject as it is.
const maxToken = 48

// token makes one part of a subject of a text: the text itself if it has nothing but
// letters, digits, - and _, else a digest of the text.
func token(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	if text != "" && len(text) <= maxToken && strings.Trim(text, plain) == "" {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "x_" + hex.EncodeToString(sum[:12])
}

// The consumers: one for each hook of scope fleet, by the token of its name, and one for the
// dead letters. An operator makes them. All else is read without one, see follow.
const (
	workConsumer = "work_"
	deadConsumer = "dead"
)
