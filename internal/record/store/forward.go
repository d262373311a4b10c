package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/hookd/hookd/internal/record/audit"
	"github.com/hookd/hookd/wire"
)

// The store keeps for each target of `forward` a place: up to which number decisions were
// handed on to it. A place outlives the settings that name its target by the age of the
// history, so a target that is put back goes on from there.

// targetPlaces has the numbers of all targets in memory: they must outlive the file.
type targetPlaces struct {
	mu      sync.Mutex
	targets []string // in force
	through map[string]uint64
}

func (p *targetPlaces) all() map[string]uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.through)
}

func (p *targetPlaces) set(target string, through uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.through == nil {
		p.through = map[string]uint64{}
	}
	p.through[target] = max(through, p.through[target])
}

func (p *targetPlaces) inForce() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.targets
}

// forwarding knows how far each target has got.
type forwarding struct {
	*core
	places targetPlaces
	memory *unwritten
}

// Targets says which targets are in force, later and without waiting. The place of a new
// target is behind the newest decision. With Options.Memory the names outlive a kill from when Targets has
// returned, as the decisions after it do. The place is then behind the newest decision in the database, so the
// target also gets the unwritten decisions of the moment before.
func (s *forwarding) Targets(names []string) {
	s.places.mu.Lock()
	s.places.targets = names
	s.places.mu.Unlock()
	exec := func(db *database) error {
		through, err := beginPlaces(db, names)
		for name, n := range through {
			s.places.set(name, n)
		}
		return err
	}
	s.queue.add(&op{exec: exec, lean: exec, after: s.memory.addTargets(names), size: opCost})
}

// beginPlaces makes the places of new targets, and returns those of all.
func beginPlaces(db *database, names []string) (through map[string]uint64, err error) {
	through = map[string]uint64{}
	for _, name := range names {
		_, err := db.exec(`INSERT INTO forward (target, through, missed, told, at)
			VALUES (?, ifnull((SELECT max(seq) FROM decisions), 0), 0, 0, ?) ON CONFLICT DO NOTHING`,
			name, nanos(time.Now()))
		var n uint64
		if err == nil {
			err = db.row(`SELECT through FROM forward WHERE target = ?`, name).Scan(&n)
		}
		if err != nil {
			return nil, fmt.Errorf("keep the place of %s: %w", name, err)
		}
		through[name] = n
	}
	return through, nil
}

// carryPlaces writes the places to a new file.
func (s *forwarding) carryPlaces(db *database) error {
	for name, through := range s.places.all() {
		_, err := db.exec(`INSERT INTO forward (target, through, missed, told, at) VALUES (?, ?, 0, 0, ?)
			ON CONFLICT DO NOTHING`, name, int64(through), nanos(time.Now()))
		if err != nil {
			return fmt.Errorf("keep the place of %s: %w", name, err)
		}
	}
	return nil
}

// Ahead has the decisions behind the place of a target.
type Ahead struct {
	Decisions []wire.Decision // in the order of their numbers
	Missed    int64           // pruned before they were handed on, and not reported to the target yet
	Head      audit.Head      // of the audit chain
}

// Ahead returns the first decisions behind the place of a target up to a number, limit at most.
// All decisions up to that number must have been handed over. Else a place moves past a decision
// that another goroutine is about to hand over. A caller that wants the records it handed over a
// moment ago calls Flush first.
func (s *forwarding) Ahead(ctx context.Context, target string, upto uint64, limit int) (a Ahead, err error) {
	err = s.readTx(ctx, func(db querier) error {
		var through int64
		row := db.QueryRowContext(ctx, `SELECT through, missed - told FROM forward WHERE target = ?`, target)
		if err := row.Scan(&through, &a.Missed); err != nil {
			return err
		}
		a.Head, err = readHead(db.QueryRowContext(ctx, `SELECT n, hash FROM audit_head`))
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		a.Decisions, err = list(ctx, db, scanDecision,
			`SELECT `+decisionColumns+` FROM decisions d WHERE d.seq > ? AND d.seq <= ? ORDER BY d.seq LIMIT ?`,
			through, int64(upto), limit)
		return err
	})
	if err != nil {
		return a, fmt.Errorf("read the decisions for %s: %w", target, err)
	}
	return a, nil
}

// Forwarded moves the place of a target behind the decision with this number, later and
// without waiting, and notes that so many were reported to it as missed.
func (s *forwarding) Forwarded(target string, through uint64, told int64) {
	s.places.set(target, through)
	s.later(opCost, func(db *database) error {
		_, err := db.exec(`UPDATE forward SET through = max(through, ?), told = told + ?, at = ? WHERE target = ?`,
			int64(through), told, nanos(time.Now()), target)
		if err != nil {
			return fmt.Errorf("move the place of %s: %w", target, err)
		}
		return nil
	})
}

// ForwardState is how far one target is behind.
type ForwardState struct {
	Waiting int       // decisions behind the place, 10,000 at most
	Oldest  time.Time // of them; zero = there is none
	Missed  int64     // pruned before they were handed on, since the target was set
}

// Place returns the place of a target.
func (s *forwarding) Place(ctx context.Context, target string) (p ForwardState, err error) {
	err = s.read(func(db *sql.DB) error {
		var oldest int64
		row := db.QueryRowContext(ctx, `SELECT missed,
				(SELECT count(*) FROM (SELECT 1 FROM decisions WHERE seq > through LIMIT ?)),
				ifnull((SELECT at FROM decisions WHERE seq > through ORDER BY seq LIMIT 1), 0)
			FROM forward WHERE target = ?`, wire.MostWaiting, target)
		if err := row.Scan(&p.Missed, &p.Waiting, &oldest); err != nil {
			return err
		}
		if oldest != 0 {
			p.Oldest = moment(oldest)
		}
		return nil
	})
	if err != nil {
		return p, fmt.Errorf("read the place of %s: %w", target, err)
	}
	return p, nil
}

// missForward counts the decisions that a condition selects, and that are deleted now, for
// the targets that they were not handed on to.
func missForward(db *database, which string, arg any) error {
	_, err := db.exec(`UPDATE forward SET missed = missed +
		(SELECT count(*) FROM decisions WHERE `+which+` AND seq > forward.through)`, arg)
	return err
}

// places deletes those of targets that have not been in force for as long as history is
// kept.
func (p *pruning) places(db *database) (more bool, err error) {
	inForce, err := json.Marshal(p.store.forwarding.places.inForce())
	if err != nil {
		return false, err
	}
	_, err = db.exec(`DELETE FROM forward WHERE at < ? AND target NOT IN (SELECT value FROM json_each(?))`,
		nanos(p.now.Add(-p.limits.MaxAge)), string(inForce))
	return false, err
}
