package catalog

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/hookd/hookd/internal/base/config"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// runAs returns the function that finds the users of `run_as`; nil except for
// the system daemon.
func runAs(c config.Config) func(string) (*hook.Account, error) {
	if !c.System {
		return nil
	}
	return account
}

// account returns a user of the machine, if hooks of this process can run as it.
func account(name string) (*hook.Account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
	gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
	if errUID != nil || errGID != nil {
		return nil, fmt.Errorf("user %s has the ids %q and %q, which are no numbers", name, u.Uid, u.Gid)
	}
	if own := os.Geteuid(); own != 0 && uint64(own) != uid {
		return nil, fmt.Errorf("only a daemon that root starts can run a hook as %s: see docs/reference/system.md", name)
	}
	a := &hook.Account{Name: u.Username, Home: u.HomeDir, UID: uint32(uid), GID: uint32(gid)}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("find the groups of %s: %w", name, err)
	}
	for _, text := range groups {
		if id, err := strconv.ParseUint(text, 10, 32); err == nil {
			a.Groups = append(a.Groups, uint32(id))
		}
	}
	return a, nil
}
