package trust

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
)

// groups decides which groups are private to one user. The rule is that of umask
// 002 on systems with a group per user (pam_umask, usergroups): the group is the
// user's primary one and has the user's name, and no other user is in it, neither
// by /etc/group nor by the primary group in /etc/passwd. Root's group is private to
// each user if only root and that user are in it. A group that is not in the two
// files is not private. An unreadable file leaves no group private.
type groups struct {
	passwd, group string

	mu     sync.Mutex
	seen   [2]fact // the two files as they were read
	users  []account
	byGID  map[uint32]groupLine
	loaded bool
}

type account struct {
	name     string
	uid, gid uint32
}

type groupLine struct {
	name    string
	members []string
}

// private reports whether only the user uid and root are in the group gid.
func (g *groups) private(uid, gid uint32) bool {
	if administrators[gid] {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.load()
	line, known := g.byGID[gid]
	if !known {
		return false
	}
	own := gid == 0
	names := map[string]bool{"root": true}
	for _, a := range g.users {
		if a.uid == uid {
			names[a.name] = true
			own = own || a.gid == gid && a.name == line.name
		} else if a.gid == gid && a.uid != 0 {
			return false
		}
	}
	for _, member := range line.members {
		if !names[member] {
			return false
		}
	}
	return own
}

// load reads both files if they have changed.
func (g *groups) load() {
	var now [2]fact
	for i, path := range []string{g.passwd, g.group} {
		now[i] = lstat(path)
	}
	if g.loaded && now[0] == g.seen[0] && now[1] == g.seen[1] {
		return
	}
	g.seen, g.users, g.byGID = now, nil, map[uint32]groupLine{}
	users, usersErr := fields(g.passwd, 4)
	names, namesErr := fields(g.group, 4)
	if g.loaded = usersErr == nil && namesErr == nil; !g.loaded {
		return
	}
	for _, f := range users {
		uid, uidErr := parseID(f[2])
		gid, gidErr := parseID(f[3])
		if uidErr == nil && gidErr == nil {
			g.users = append(g.users, account{f[0], uid, gid})
		}
	}
	for _, f := range names {
		gid, err := parseID(f[2])
		if err != nil {
			continue
		}
		line := g.byGID[gid] // two names of one group are one group
		line.name = f[0]
		members := strings.FieldsFunc(f[3], func(r rune) bool { return r == ',' || r == ' ' })
		line.members = append(line.members, members...)
		g.byGID[gid] = line
	}
}

func parseID(s string) (uint32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	return uint32(n), err
}

// fields splits the lines of a file at colons, and skips lines with fewer than least
// fields. A file that is not there has none.
func fields(path string, least int) (list [][]string, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if f := strings.Split(lines.Text(), ":"); len(f) >= least && !strings.HasPrefix(f[0], "#") {
			list = append(list, f)
		}
	}
	return list, lines.Err()
}
