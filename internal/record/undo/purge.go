package undo

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookd/hookd/wire"
)

// Calls that a full vault keeps in any case.
const (
	leastCalls = 20
	leastTime  = time.Hour
)

// Expire drops the calls that are older than their term, then the oldest while there is too much. It returns
// how many calls went.
func (k *Keeper) Expire(now time.Time) (dropped int) {
	k.undoing.Lock()
	defer k.undoing.Unlock()
	list, used := k.all(), int64(0)
	k.sweep(list)
	most := k.settings.Load().Max
	used += k.bases.sweep(k.settings.Load().MaxAge, most/2, k.openAt)
	for _, m := range list {
		if m.summary != nil {
			used += m.summary.Bytes
		}
	}
	known := func(id string) bool {
		is := func(m *manifest) bool { return m.call.ID == id || m.call.CallID == id }
		return k.isOpen(id) || slices.ContainsFunc(list, is)
	}
	used += k.Dumps.sweep(known)
	k.used.Store(used)
	for i, m := range list {
		age := now.Sub(m.call.Time)
		old := age > k.term(m)
		much := used > most && age > leastTime && len(list)-i > leastCalls
		if !old && !much || k.isOpen(m.call.ID) {
			continue
		}
		if m.summary != nil {
			used -= m.summary.Bytes
		}
		k.remove(m)
		k.Dumps.remove(&m.call)
		dropped++
	}
	return dropped
}

func (k *Keeper) isOpen(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.open[id] != nil
}

// sweep removes folders of other vaults that no call names any more.
func (k *Keeper) sweep(list []*manifest) {
	for _, vault := range k.vaults.all()[1:] {
		names, folders := namesIn(vault)
		for _, name := range names {
			known := k.isOpen(name) || slices.ContainsFunc(list, func(m *manifest) bool { return m.call.ID == name })
			is, err := look(filepath.Join(vault, name))
			if known || !slices.Contains(folders, name) || err != nil {
				continue
			}
			if time.Since(time.Unix(0, is.MTime)) > k.settings.Load().MaxAge { // else it may be another hookd's
				_ = os.RemoveAll(filepath.Join(vault, name))
			}
		}
	}
}

// Purge deletes the files kept for a call, or for all calls where id is "all". The bytes may still be
// in snapshots and backups of the disk. Purge returns how many calls went.
func (k *Keeper) Purge(id string) (dropped int, bad *wire.Error) {
	k.undoing.Lock()
	defer k.undoing.Unlock()
	list := k.all()
	if id != purgeAll {
		m, bad := find(list, id)
		if bad != nil {
			return 0, bad
		}
		list = []*manifest{m}
	}
	for _, m := range list {
		k.closeCall(m.call.ID, endUnseen, true)
		if now, err := readManifest(m.dir); err == nil {
			k.remove(now)
			k.Dumps.remove(&now.call)
		}
		dropped++
	}
	if id == purgeAll {
		if err := k.bases.forget(); err != nil {
			return dropped, &wire.Error{Code: wire.CodeInternal, Message: "purge: " + err.Error(), Hint: "see `hookd doctor`"}
		}
	}
	return dropped, nil
}

const purgeAll = "all"
