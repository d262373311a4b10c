package daemon

import (
	"os"
	"os/user"
	"time"

	"github.com/hookd/hookd/internal/config"
	"github.com/hookd/hookd/internal/discovery"
	"github.com/hookd/hookd/internal/hook"
	"github.com/hookd/hookd/internal/trust"
)

// Pending is a hook that waits to be allowed, as it was when it was looked at.
type Pending struct {
	Hook    string   `json:"hook"` // its ID
	Name    string   `json:"name"`
	File    string   `json:"file"`
	New     bool     `json:"new"` // nothing of it was ever allowed
	Digest  string   `json:"digest"`
	Changes []string `json:"changes"`           // since it was allowed, for people
	Refused string   `json:"refused,omitempty"` // why it will not run all the same
	Diffs   []Text   `json:"-"`

	approval discovery.Approval
}

// Text is one file of a hook, as allowed ("" = it was not there) and as it is.
type Text struct{ Path, Old, New string }

// Waiting lists the hooks that wait under settings c, or would with
// reload.mode: ask, in registration order. It needs no daemon.
func Waiting(c config.Config) (list []Pending) {
	c.ReloadMode = "ask"
	get := approved(c)
	for _, e := range Scan(c).Entries {
		if e.Waits != nil {
			old, known := get(e.Waits.ID)
			list = append(list, pending(e.Waits, old, known))
		}
	}
	return list
}

func pending(h *hook.Hook, old discovery.Approval, known bool) Pending {
	p := Pending{Hook: h.ID, Name: h.Name, File: h.File, New: !known, approval: discovery.Approve(h), Changes: []string{}}
	p.Digest = p.approval.Digest
	if known {
		p.Changes = old.Changes(h)
	}
	if bad := h.Seal.Refusals(); len(bad) > 0 {
		p.Refused = bad[0].Error()
	}
	for _, path := range append([]string{h.File}, h.Seal.Own()...) {
		before, after := string(old.Texts[path]), string(p.approval.Texts[path])
		if before != after {
			p.Diffs = append(p.Diffs, Text{path, before, after})
		}
	}
	return p
}

// Allow puts p into force: a daemon that reads hooks again will run it, as long
// as it is what it was when p was made.
func Allow(c config.Config, p Pending) error {
	p.approval.At, p.approval.By = time.Now().UTC(), person()
	return discovery.NewApprovals(c.AllowedDir()).Put(p.approval)
}

// person is who types commands, also through sudo.
func person() string {
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if behind := os.Getenv("SUDO_USER"); behind != "" {
		name += " (sudo by " + behind + ")"
	}
	return name
}

// Quoted makes text safe to paste into a shell.
func Quoted(text string) string { return trust.Quote(text) }
