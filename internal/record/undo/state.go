package undo

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// The kinds of a path.
const (
	kindGone   = "gone"
	kindFile   = "file"
	kindDir    = "dir"
	kindLink   = "symlink"
	kindFIFO   = "fifo"
	kindSocket = "socket"
	kindDevice = "device"
)

// state describes a path at one moment.
type state struct {
	Kind   string `json:"kind"`
	Dev    uint64 `json:"dev,omitempty"`
	Ino    uint64 `json:"ino,omitempty"`
	Names  uint64 `json:"names,omitempty"` // hard links
	Size   int64  `json:"size,omitempty"`
	Room   int64  `json:"room,omitempty"`  // of a disk that a copy takes: holes take none
	ATime  int64  `json:"atime,omitempty"` // ns
	MTime  int64  `json:"mtime,omitempty"` // ns
	CTime  int64  `json:"ctime,omitempty"` // ns
	Mode   uint32 `json:"mode,omitempty"`  // permissions with setuid, setgid and sticky
	UID    uint32 `json:"uid"`
	GID    uint32 `json:"gid"`
	Target Path   `json:"target,omitempty"` // of a link
}

// gone is nothing.
var gone = state{Kind: kindGone}

func stateOf(s *unix.Stat_t) state {
	kind := kindDevice
	switch uint32(s.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
		kind = kindFile
	case unix.S_IFDIR:
		kind = kindDir
	case unix.S_IFLNK:
		kind = kindLink
	case unix.S_IFIFO:
		kind = kindFIFO
	case unix.S_IFSOCK:
		kind = kindSocket
	}
	return state{
		Kind: kind, Dev: uint64(s.Dev), Ino: s.Ino, Names: uint64(s.Nlink), Size: s.Size,
		Room: min(s.Size, int64(s.Blocks)*512), ATime: s.Atim.Nano(), MTime: s.Mtim.Nano(), CTime: s.Ctim.Nano(),
		Mode: uint32(s.Mode) &^ unix.S_IFMT, UID: s.Uid, GID: s.Gid,
	}
}

// look returns the state of a path; a link is not followed.
func look(path string) (state, error) { return lookAt(unix.AT_FDCWD, path) }

// lookAt is look below a folder that is open.
func lookAt(dir int, name string) (state, error) {
	var s unix.Stat_t
	err := uninterrupted(func() error { return unix.Fstatat(dir, name, &s, unix.AT_SYMLINK_NOFOLLOW) })
	if err == unix.ENOENT || err == unix.ENOTDIR {
		return gone, nil
	}
	if err != nil {
		return state{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	is := stateOf(&s)
	if is.Kind == kindLink {
		is.Target, err = readLinkAt(dir, name)
	}
	return is, err
}

func readLinkAt(dir int, name string) (Path, error) {
	for size := 256; ; size *= 4 {
		text := make([]byte, size)
		n, err := unix.Readlinkat(dir, name, text)
		if err != nil {
			return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
		}
		if n < size {
			return Path(text[:n]), nil
		}
	}
}

// uninterrupted repeats a call that a signal has ended early.
func uninterrupted(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// sameFile reports whether two states are of one inode.
func (s state) sameFile(o state) bool { return s.Kind == o.Kind && s.Dev == o.Dev && s.Ino == o.Ino }

// sameAttributes compares owner and permissions; links have none that count.
func (s state) sameAttributes(o state) bool {
	return s.UID == o.UID && s.GID == o.GID && (s.Mode == o.Mode || s.Kind == kindLink)
}

func (s state) inode() [2]uint64 { return [2]uint64{s.Dev, s.Ino} }

// content is the part of a state that tells the bytes of one inode at one moment.
func (s state) content() state {
	return state{Kind: s.Kind, Dev: s.Dev, Ino: s.Ino, Size: s.Size, MTime: s.MTime}
}

// untouched reports whether nothing has happened to a path since it was s. A hard link that
// hookd or a program makes is nothing.
func (s state) untouched(now state) bool {
	switch {
	case s.Kind != now.Kind || !s.sameAttributes(now):
		return false
	case s.Kind == kindGone:
		return true
	case s.Kind == kindLink:
		return s.Target == now.Target
	case s.Kind == kindDir:
		return s.sameFile(now)
	}
	return s.sameFile(now) && s.Size == now.Size && s.MTime == now.MTime
}
