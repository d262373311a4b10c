package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
	"github.com/hookd/hookd/internal/fleet"
)

// revokedEnd ends the name of the file of a key that was revoked.
const revokedEnd = ".revoked"

// userEntry is one file of a folder of entries.
type userEntry struct {
	Machine string `json:"machine"`
	Why     string `json:"why,omitempty"`  // it is left out: revoked or expired; "" = it is in force
	Ends    string `json:"ends,omitempty"` // the last day of the key, while that is soon; "" = it is not
	file    string // its name in the folder
	text    string
}

// endsSoon is how long before the last day of a key people are told.
const endsSoon = 14 * 24 * time.Hour

func fleetUsersCommand(a *app) *cobra.Command {
	var revoke []string
	var to string
	cmd := &cobra.Command{
		Use:   "users FOLDER",
		Short: "Print the list of users for a NATS server's configuration, without expired keys",
		Long: `users makes one list of the entries in FOLDER, a file for each as ` + "`hookd fleet user`" + ` prints
them. A role has the permissions that this version of hookd gives it. Left out are keys that are
revoked, and keys after the last day of their --until, in UTC. With --to it replaces FILE in one step,
and says which keys are over and which soon will be. The servers read FILE again with nats-server
--signal reload, which ends the connections of keys that are not in it. The package hookd-fleet has
a timer that does both each night: systemctl enable --now hookd-fleet-users.timer.
With --revoke it renames a file to NAME.revoked first.`,
		Example: "  hookd fleet users machines --to machines.conf\n" +
			"  hookd fleet users machines --revoke laptop-7 --to machines.conf",
		Args: one("FOLDER"),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, name := range revoke {
				if err := revokeUser(args[0], name); err != nil {
					return fail(exitFailed, "see `ls "+args[0]+"`", "revoke %s: %w", name, err)
				}
			}
			entries, err := userEntries(args[0], time.Now())
			if err != nil {
				return fail(exitFailed, "name a folder with a file for each machine", "%w", err)
			}
			text := usersText(entries)
			if to != "" {
				return replaceUsers(a, to, text, entries)
			}
			return a.print(map[string]any{"users": text, "entries": entries}, func(p *printer) { p.line(text) })
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "write the list to `FILE`, and say what changes")
	_ = cmd.MarkFlagFilename("to")
	cmd.Flags().StringSliceVar(&revoke, "revoke", nil, "machine whose key is worth nothing from now on")
	return cmd
}

// replaceUsers writes the list to a file, and tells which keys are over that the file still had.
func replaceUsers(a *app, path, text string, entries []userEntry) error {
	old, err := readfile.Read(path, 1<<30)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(exitFailed, "", "read the list: %w", err)
	}
	changed := string(old) != text+"\n"
	if changed {
		err := replacefile.Write(path, []byte(text+"\n"))
		if err == nil { // the servers are another user, and nothing in it is secret
			err = os.Chmod(path, 0o644)
		}
		if err != nil {
			return fail(exitFailed, "", "replace the list: %w", err)
		}
	}
	over := []userEntry{}
	for _, e := range entries {
		if e.Why != "" && !strings.Contains(string(old), e.leftOut()) {
			over = append(over, e)
		}
	}
	return a.print(map[string]any{"changed": changed, "over": over, "entries": entries}, func(p *printer) {
		for _, e := range over {
			p.line(e.Machine, ": its key is over: ", e.Why)
		}
		for _, e := range entries {
			if e.Ends != "" {
				p.line(e.Machine, ": its key ends on ", e.Ends)
			}
		}
		if changed {
			p.line(path, " is new: the servers read it with nats-server --signal reload")
		} else {
			p.line(path, " has not changed")
		}
	})
}

// leftOut is the line of the list for a key that is not in it.
func (e userEntry) leftOut() string { return "  # " + e.Machine + ": " + e.Why }

func revokeUser(folder, name string) error {
	if name != filepath.Base(name) {
		return errors.New("want the name of a file in the folder")
	}
	from, to := filepath.Join(folder, name), filepath.Join(folder, name+revokedEnd)
	if _, err := os.Lstat(to); err == nil {
		if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
			return nil // it was revoked before
		}
	}
	return os.Rename(from, to)
}

// userEntries reads the entries of a folder, in the order of their names.
func userEntries(folder string, now time.Time) ([]userEntry, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	list := []userEntry{}
	for _, file := range files {
		if strings.HasPrefix(file.Name(), ".") {
			continue
		}
		text, err := readfile.Read(filepath.Join(folder, file.Name()), 1<<20)
		if err != nil {
			return nil, err
		}
		e := userEntry{
			Machine: strings.TrimSuffix(file.Name(), revokedEnd), file: file.Name(),
			text: fleet.Renew(strings.TrimSpace(string(text))),
		}
		revoked := strings.HasSuffix(file.Name(), revokedEnd)
		if err := fleet.CheckEntry(string(text)); err != nil && !revoked {
			return nil, fail(exitFailed, "make it again with `hookd fleet user`, or remove it: no list is written",
				"%s: %w", filepath.Join(folder, file.Name()), err)
		}
		last, over, err := fleet.Expired(e.text, now)
		switch {
		case revoked:
			e.Why = "revoked"
		case err != nil:
			return nil, fail(exitFailed, "make it again with `hookd fleet user`", "%s: its last day is no date: %w", file.Name(), err)
		case over:
			e.Why = "expired on " + last
		default:
			if _, soon, _ := fleet.Expired(e.text, now.Add(endsSoon)); soon {
				e.Ends = last
			}
		}
		list = append(list, e)
	}
	return list, oneKeyEach(folder, list)
}

// oneKeyEach is an error where an entry in force has the key of another entry, whose key may be revoked:
// servers refuse such a list as a whole, and go on with the one before.
func oneKeyEach(folder string, entries []userEntry) error {
	of := map[string]userEntry{}
	for _, e := range entries {
		key := fleet.EntryKey(e.text)
		other, taken := of[key]
		if key != "" && taken && (e.Why == "" || other.Why == "") {
			return fail(exitFailed, "remove one; another machine has a key of its own: `hookd fleet keygen`. No list is written",
				"%s and %s have the same key", filepath.Join(folder, other.file), filepath.Join(folder, e.file))
		}
		if !taken || e.Why == "" {
			of[key] = e
		}
	}
	return nil
}

// usersText is the list for the servers. Comments name the keys that are left out.
func usersText(entries []userEntry) string {
	lines := []string{"users: ["}
	for _, e := range slices.SortedStableFunc(slices.Values(entries), func(a, b userEntry) int {
		return strings.Compare(a.Why, b.Why)
	}) {
		if e.Why == "" {
			lines = append(lines, "  "+e.text)
		} else {
			lines = append(lines, e.leftOut())
		}
	}
	return strings.Join(append(lines, "]"), "\n")
}
