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
	"github.com/hookd/hookd/internal/fleet"
)

// revokedEnd ends the name of the file of a key that was revoked.
const revokedEnd = ".revoked"

// userEntry is one file of a folder of entries.
type userEntry struct {
	Machine string `json:"machine"`
	Why     string `json:"why,omitempty"` // it is left out: revoked or expired; "" = it is in force
	text    string
}

func fleetUsersCommand(a *app) *cobra.Command {
	var revoke []string
	cmd := &cobra.Command{
		Use:   "users FOLDER",
		Short: "Print the list of users for a NATS server's configuration, without keys that are over",
		Long: `users makes one list of the entries in FOLDER, a file for each as ` + "`hookd fleet user`" + ` prints
them. A role has the permissions that this version of hookd gives it. Left out are keys that are
revoked, and keys after the last day of their --until. Have a timer on the servers type it each
night, with a reload of the servers after it: that ends the connections of keys that are not in the
list any more. With --revoke it renames a file to NAME.revoked first.`,
		Example: "  hookd fleet users machines >machines.conf\n" +
			"  hookd fleet users machines --revoke laptop-7 >machines.conf",
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
			return a.print(map[string]any{"users": text, "entries": entries}, func(p *printer) { p.line(text) })
		},
	}
	cmd.Flags().StringSliceVar(&revoke, "revoke", nil, "machine whose key is worth nothing from now on")
	return cmd
}

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
			Machine: strings.TrimSuffix(file.Name(), revokedEnd), text: fleet.Renew(strings.TrimSpace(string(text))),
		}
		last, over, err := fleet.Expired(e.text, now)
		switch {
		case strings.HasSuffix(file.Name(), revokedEnd):
			e.Why = "revoked"
		case err != nil:
			return nil, fail(exitFailed, "make it again with `hookd fleet user`", "%s: the last day: %w", file.Name(), err)
		case over:
			e.Why = "expired on " + last
		}
		list = append(list, e)
	}
	return list, nil
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
			lines = append(lines, "  # "+e.Machine+": "+e.Why)
		}
	}
	return strings.Join(append(lines, "]"), "\n")
}
