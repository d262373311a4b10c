package undo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/escape"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/wire"
)

// Dumps are files that hooks put into the vault for a call: of a database, a volume, a cluster. They lie apart
// from the call's own folder, since a hook may be earlier than keeping.
type Dumps struct {
	dir      string
	settings *atomic.Pointer[Settings]

	mu  sync.Mutex
	ids map[string]bool // that have a folder in dir: each call asks, and few have a dump
}

func openDumps(dir string, settings *atomic.Pointer[Settings]) *Dumps {
	d := &Dumps{dir: dir, settings: settings, ids: map[string]bool{}}
	ids, _ := namesIn(dir)
	for _, id := range ids {
		d.ids[id] = true
	}
	return d
}

// dumpsFile lists the dumps of a call, one on a line.
const dumpsFile = "dumps.jsonl"

// mostDumps bounds the dumps of one call.
const mostDumps = 20

// idLetters are those of ids of calls.
const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// Add puts a copy of a file into the vault for a call, whose id is hookd's or its agent's. Restore is the
// command that brings it back: {} stands for the copy. hookd shows the command and never runs it.
func (d *Dumps) Add(id string, r wire.DumpRequest) (wire.Dump, *wire.Error) {
	bad := func(message string) *wire.Error {
		return &wire.Error{
			Code: wire.CodeBadRequest, Message: "put a dump into the vault: " + message, Hint: "see `hookd vault add --help`",
		}
	}
	list := d.of(id)
	switch {
	case len(id) < 6 || len(id) > 200 || strings.Trim(id, idLetters) != "":
		return wire.Dump{}, bad(fmt.Sprintf("%q is no id of a call", id))
	case !filepath.IsAbs(r.Path):
		return wire.Dump{}, bad("the path must begin with /")
	case strings.ContainsAny(r.Restore, "\n\r\x1b") || len(r.Restore) > 1000:
		return wire.Dump{}, bad("the command must be one line of at most 1000 bytes")
	case len(list) >= mostDumps:
		return wire.Dump{}, bad(fmt.Sprintf("the call has %d dumps", len(list)))
	}
	dump := wire.Dump{Name: filepath.Base(r.Path), Restore: r.Restore, Time: time.Now().UTC()}
	if err := d.copy(id, r.Path, len(list)+1, &dump); err != nil {
		return wire.Dump{}, bad(reason(err))
	}
	return dump, nil
}

func (d *Dumps) copy(id, path string, n int, dump *wire.Dump) error {
	from, err := openToRead(unix.AT_FDCWD, path)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is no file")
	}
	folder := filepath.Join(d.dir, id)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	d.mu.Lock()
	d.ids[id] = true
	d.mu.Unlock()
	fd, err := openFolder(unix.AT_FDCWD, folder)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	kept := fmt.Sprintf("%d", n)
	if clone(int(from.Fd()), fd, kept) != nil {
		if info.Size() > d.settings.Load().FileMax {
			return errLarge
		}
		if err := copyFile(from, info.Size(), fd, kept, nil); err != nil {
			return err
		}
	}
	dump.Size, dump.Path = info.Size(), filepath.Join(folder, kept)
	dump.Restore = strings.ReplaceAll(dump.Restore, "{}", escape.Quote(dump.Path))
	text, err := json.Marshal(dump)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(folder, dumpsFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// ofCall returns the dumps of a call.
func (d *Dumps) ofCall(c *KeptCall) []wire.Dump { return append(d.of(c.ID), d.of(c.CallID)...) }

func (d *Dumps) of(id string) (list []wire.Dump) {
	d.mu.Lock()
	has := d.ids[id]
	d.mu.Unlock()
	if !has {
		return nil
	}
	text, err := readfile.Read(filepath.Join(d.dir, id, dumpsFile), readfile.Limit)
	if errors.Is(err, fs.ErrNotExist) || len(text) == 0 {
		return nil
	}
	for line := range bytes.Lines(text) {
		var one wire.Dump
		if json.Unmarshal(line, &one) == nil {
			list = append(list, one)
		}
	}
	return list
}

func (d *Dumps) remove(c *KeptCall) {
	for _, id := range []string{c.ID, c.CallID} {
		if id != "" && strings.Trim(id, idLetters) == "" {
			_ = os.RemoveAll(filepath.Join(d.dir, id))
			d.mu.Lock()
			delete(d.ids, id)
			d.mu.Unlock()
		}
	}
}

// sweep removes the dumps of calls that never ran, and returns the bytes of the others.
func (d *Dumps) sweep(known func(id string) bool) (used int64) {
	ids, _ := namesIn(d.dir)
	for _, id := range ids {
		is, err := look(filepath.Join(d.dir, id))
		if err == nil && !known(id) && time.Since(time.Unix(0, is.MTime)) > leastTime {
			d.remove(&KeptCall{ID: id})
			continue
		}
		for _, one := range d.of(id) {
			used += one.Size
		}
	}
	return used
}
