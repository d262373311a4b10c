// Package shadow keeps snapshots of a git working tree in a repository of its
// own, below hookd's data directory. It is made with the git
// program; the source's .git is only asked, never written: objects,
// index, refs and configuration stay as they are, byte for byte.
//
// The shadow holds tree objects and refs to them, no commits. A checkpoint is
// a pair of trees, before and after; the list of them is a JSON file. Runs on
// one source take turns by a lock file, and wait as long as their context lets
// them. A run that is killed leaves the last written list in force.
//
// The content of a snapshot: files and symbolic links, byte for byte (no filter, no
// conversion of line ends), with the executable bit, that git would not ignore
// in the source: .gitignore, info/exclude and core.excludesFile count, and a
// file the source tracks is never ignored. Left out are: a file over 2 MiB that
// the source does not track, as long as it exists, even if it shrinks, so undo
// never takes it for new; files that cannot be read; other repositories inside
// the source, submodules too; empty directories; hookd's data directory.
//
// Reset works on the files of the checkpoints and leaves all others
// alone. It checks first and does all or nothing: a file that is in no state
// that the checkpoints recorded has been changed since, and is refused with a
// ConflictError; nothing is merged. Force overwrites such files.
// An added file that the restored rules ignore is not deleted: with the rules
// before the checkpoint it was invisible, so it may have been there. The state
// before the latest Reset stays in the shadow as refs/hookd/undone. A
// file that exists keeps its permissions except for the executable bit; a file that
// comes back gets the process's usual ones.
package shadow
