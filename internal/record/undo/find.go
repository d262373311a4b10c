package undo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/git"
	"github.com/hookd/hookd/wire"
)

// Find lists where old bytes of a file still are, without a vault or with one: the best first. It
// changes nothing. vault "" = none; transcripts are files of agents, the newest first.
func Find(path, vault string, f Folders, transcripts []string) (found []wire.UndoFound) {
	path = withoutLinks(path)
	if vault != "" {
		found = append(found, inVault(path, vault)...)
	}
	found = append(found, inGit(path)...)
	found = append(found, openFiles(path)...)
	found = append(found, agentsCopies(path, f)...)
	found = append(found, beside(path)...)
	found = append(found, inTranscripts(path, transcripts)...)
	found = append(found, inTrash(path, f.Home)...)
	return append(found, inSnapshots(path)...)
}

// Folders are where a user's programs keep their files.
type Folders struct {
	Home   string                       // of the user
	Env    func(variable string) string // value of a variable of the environment
	Copies []Copies                     // of agents
}

// Copies are where a program keeps copies of files: Glob is below Folder, {name} stands for the name of a file, and
// {sum} for the first 16 digits of the SHA-256 of its path.
type Copies struct{ Where, Folder, Glob string }

// in returns the folder that a variable names, else the folder of the home.
func (f Folders) in(variable, folder string) string {
	if dir := f.Env(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(f.Home, folder)
}

// inVault lists calls that kept the path.
func inVault(path, vault string) (found []wire.UndoFound) {
	names, _ := namesIn(filepath.Join(vault, "calls"))
	slices.Reverse(names)
	for _, name := range names {
		m, err := readManifest(filepath.Join(vault, "calls", name))
		if err != nil {
			continue
		}
		for _, e := range m.entries {
			if inside(string(e.Path), path) && e.At != "" && exists(string(e.At)) {
				found = append(found, wire.UndoFound{
					Where: "kept for a call", Time: m.call.Time, Size: e.Was.Size, Whole: true,
					Type: "hookd undo " + m.call.ID + " --path " + escape.Quote(string(e.Path)),
				})
				break
			}
		}
	}
	return found
}

// mostFound bounds the finds listed of one source.
const mostFound = 5

// inGit lists the versions in the index, in commits, in stashes, and in commits that no branch names.
func inGit(path string) (found []wire.UndoFound) {
	ctx, cancel := context.WithTimeout(context.Background(), git.Limit)
	defer cancel()
	r, err := git.Open(ctx, filepath.Dir(existing(path)), nil)
	if err != nil { // it is in no repository
		return nil
	}
	rel, err := filepath.Rel(r.Top, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		return nil
	}
	add := func(where, object string, at time.Time) {
		size, err := r.Output(ctx, 64, "cat-file", "-s", object)
		if n, bad := strconv.ParseInt(strings.TrimSpace(string(size)), 10, 64); err == nil && bad == nil {
			found = append(found, wire.UndoFound{
				Where: where, Time: at, Size: n, Whole: true,
				Type: fmt.Sprintf("git -C %s show %s > %s", escape.Quote(r.Top), escape.Quote(object),
					escape.Quote(filepath.Base(path)+".found")),
			})
		}
	}
	add("the index of git", ":"+rel, time.Time{})
	for _, source := range []struct {
		where string
		args  []string
	}{
		{"a commit", []string{"log", "-5", "--format=%H %ct", "--", rel}},
		{"a stash", []string{"log", "-5", "-g", "--format=%H %ct", "refs/stash"}},
	} {
		out, _ := r.Output(ctx, 64<<10, source.args...) // it has no such commits
		for line := range strings.Lines(string(out)) {
			hash, at, _ := strings.Cut(strings.TrimSpace(line), " ")
			seconds, err := strconv.ParseInt(at, 10, 64)
			if err == nil {
				add(source.where+" "+hash[:min(len(hash), 8)], hash+":"+rel, time.Unix(seconds, 0))
			}
		}
	}
	out, _ := r.Output(ctx, 1<<20, "fsck", "--no-reflogs", "--unreachable", "--no-progress") // nothing is lost
	n := 0
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) == 3 && f[1] == "commit" && n < 50 {
			n++
			add("a commit that no branch names, "+f[2][:8], f[2]+":"+rel, time.Time{})
		}
	}
	return found[:min(len(found), 4*mostFound)]
}

// existing is the nearest existing path at or above a path.
func existing(path string) string {
	for !exists(path) && path != "/" {
		path = filepath.Dir(path)
	}
	if path == "/" {
		return "/x"
	}
	return filepath.Join(path, "x")
}

// agentsCopies lists copies that agents and editors keep of files, by the path in their index or
// the bytes of a copy with the same name.
func agentsCopies(path string, f Folders) (found []wire.UndoFound) {
	config := f.in("XDG_CONFIG_HOME", ".config")
	sum := sha256.Sum256([]byte(path))
	named := func(mark string) string { return "*" + literal(strings.ReplaceAll(path, "/", mark)) + "*" }
	filled := strings.NewReplacer("{name}", literal(filepath.Base(path)), "{sum}", hex.EncodeToString(sum[:8]))
	for _, copies := range append(f.Copies[:len(f.Copies):len(f.Copies)], []Copies{
		{"the history of VS Code", config, "Code/User/History/*/entries.json"},
		{"the history of VS Code", f.Home, "Library/Application Support/Code/User/History/*/entries.json"},
		{"the history of Cursor", config, "Cursor/User/History/*/entries.json"},
		{"the undo of vim", f.in("XDG_STATE_HOME", ".local/state"), "nvim/swap/" + named("%")},
		{"the backup of emacs", f.Home, ".emacs.d/backups/" + named("!")},
		{"the local history of Zed", f.in("XDG_DATA_HOME", ".local/share"), "zed/history/*{name}"},
	}...) {
		paths, err := filepath.Glob(filepath.Join(literal(copies.Folder), filled.Replace(copies.Glob)))
		if err != nil { // the glob is a fixed one
			panic(err)
		}
		for _, copied := range paths[:min(len(paths), 500)] {
			if filepath.Base(copied) == "entries.json" {
				if !mentions(copied, path) {
					continue
				}
				copied = filepath.Dir(copied)
			}
			found = append(found, foundFile(copies.Where, copied))
		}
	}
	slices.SortFunc(found, func(a, b wire.UndoFound) int { return b.Time.Compare(a.Time) })
	return found
}

// literal is a glob that fits the text alone.
func literal(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(text)
}

// mentions reports whether a regular file has a path in it. It waits for no writer, and holds little of the file.
func mentions(file, path string) bool {
	f, err := openToRead(unix.AT_FDCWD, file)
	if err != nil {
		return false
	}
	defer f.Close()
	// An open file that has no type is none to read.
	if is, err := f.Stat(); err != nil || !is.Mode().IsRegular() {
		return false
	}
	wanted := []byte(path)
	if text, err := json.Marshal(path); err == nil { // as JSON has it
		wanted = text[1 : len(text)-1]
	}
	buffer, have := make([]byte, 256<<10), 0
	for {
		n, err := f.Read(buffer[have:])
		have += n
		if bytes.Contains(buffer[:have], wanted) {
			return true
		}
		if err != nil {
			return false
		}
		rest := min(have, len(wanted))
		copy(buffer, buffer[have-rest:have])
		have = rest
	}
}

// beside lists swap files and backups in the folder of the path.
func beside(path string) (found []wire.UndoFound) {
	dir, base := filepath.Dir(path), filepath.Base(path)
	names, _ := namesIn(dir)
	for _, name := range names {
		for _, other := range []string{".%s.swp", ".%s.swo", "%s~", "#%s#", "%s.bak", "%s.orig"} {
			if name == fmt.Sprintf(other, base) || strings.HasPrefix(name, base+".before-") {
				found = append(found, foundFile("a file beside it", filepath.Join(dir, name)))
				break
			}
		}
	}
	return found
}

func foundFile(where, path string) wire.UndoFound {
	f := wire.UndoFound{Where: where, Type: path, Whole: true}
	// It is shown without a time where it has just gone.
	if info, err := os.Stat(path); err == nil {
		f.Time, f.Size = info.ModTime(), info.Size()
	}
	return f
}

// transcriptTime bounds how long transcripts are searched.
const transcriptTime = 5 * time.Second

// inTranscripts lists transcripts that name the path: the text read from it, or written to it, may be in one.
func inTranscripts(path string, transcripts []string) (found []wire.UndoFound) {
	until := time.Now().Add(transcriptTime)
	for _, file := range transcripts {
		if len(found) == mostFound || time.Now().After(until) {
			break
		}
		if mentions(file, path) {
			f := foundFile("a transcript names it", file)
			f.Size, f.Whole = 0, false
			found = append(found, f)
		}
	}
	return found
}

// inTrash lists the file in the trash of the desktop.
func inTrash(path, home string) (found []wire.UndoFound) {
	for _, dir := range []string{filepath.Join(home, ".local/share/Trash/files"), filepath.Join(home, ".Trash")} {
		if file := filepath.Join(dir, filepath.Base(path)); exists(file) {
			found = append(found, foundFile("the trash", file))
		}
	}
	return found
}

// inSnapshots lists snapshots of file systems that are mounted where programs put them.
func inSnapshots(path string) (found []wire.UndoFound) {
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		for where, glob := range map[string]string{
			"a snapshot of snapper": ".snapshots/*/snapshot", "a snapshot of zfs": ".zfs/snapshot/*",
		} {
			roots, err := filepath.Glob(filepath.Join(literal(dir), glob))
			if err != nil { // the glob is a fixed one
				panic(err)
			}
			for _, root := range roots {
				rel, _ := filepath.Rel(dir, path) // dir is above it
				if file := filepath.Join(root, rel); exists(file) {
					found = append(found, foundFile(where, file))
				}
			}
		}
	}
	return found
}
