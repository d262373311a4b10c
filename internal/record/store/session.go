package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/wire"
)

// SessionKey tells sessions apart.
type SessionKey struct {
	ID      string
	Dialect events.Dialect
}

// sessionCache has the sessions of now, as the transaction under way sees them.
type sessionCache struct{ sessions map[SessionKey]*sessionRow }

type sessionRow struct {
	wire.Session
	dirty bool
}

func newSessionCache() *sessionCache { return &sessionCache{sessions: map[SessionKey]*sessionRow{}} }

// forget drops everything: the notes did not get to the disk.
func (c *sessionCache) forget() { clear(c.sessions) }

// get returns the row of a session to be changed, from the disk if it is there.
func (c *sessionCache) get(db *database, key SessionKey) (*sessionRow, error) {
	row := c.sessions[key]
	if row == nil {
		found, err := scanSession(db.row(`SELECT `+sessionColumns("state")+` FROM sessions
			WHERE session_id = ? AND dialect = ?`, key.ID, string(key.Dialect)))
		if errors.Is(err, sql.ErrNoRows) {
			found, err = wire.Session{SessionID: key.ID, Dialect: key.Dialect, State: wire.SessionIdle}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read session: %w", err)
		}
		row = &sessionRow{Session: found}
		c.sessions[key] = row
	}
	row.dirty = true
	return row, nil
}

// event notes an event that was accepted.
func (c *sessionCache) event(db *database, e *events.Event) error {
	if e.SessionID == "" || e.Tried || e.ReplayOf != "" {
		return nil
	}
	row, err := c.get(db, SessionKey{e.SessionID, e.Dialect})
	if err != nil {
		return err
	}
	if row.First.IsZero() || e.Time.Before(row.First) {
		row.First = e.Time
	}
	// Events that no hook waits for are written after others; any that is much earlier is of a clock that was set back.
	newest := !e.Time.Before(row.Last) || row.Last.Sub(e.Time) > clockSlack
	if newest {
		row.Last = e.Time
	}
	row.AgentID, row.AgentName = cmp.Or(e.AgentID, row.AgentID), cmp.Or(e.AgentName, row.AgentName)
	row.Cwd = cmp.Or(e.Cwd, row.Cwd)
	row.Events++
	if e.Subject != "" && (newest || row.Subject == "") {
		row.Tool, row.Subject = e.Tool, e.Subject
	}
	if e.Contract == nil {
		return nil
	}
	if e.Contract.Kind == events.KindToolBefore {
		row.Tools++
	}
	if newest {
		row.State = stateAfter(row.State, e.Contract.Kind)
	}
	return nil
}

// stateAfter is the state of a session after an event of a kind.
func stateAfter(state string, k events.Kind) string {
	switch k {
	case events.KindSessionEnd:
		return wire.SessionEnded
	case events.KindPermissionRequest:
		return wire.SessionWaiting
	case events.KindTurnStop, events.KindTurnInterrupt, events.KindSessionStart, events.KindSessionReset:
		return wire.SessionIdle
	case events.KindNotification, events.KindFileChanged, events.KindError:
		return state
	}
	return wire.SessionWorking
}

// decided notes a decision.
func (c *sessionCache) decided(db *database, d *wire.Decision) error {
	granted := d.Kind == events.KindPermissionRequest && d.Decision == wire.OutcomeAllow
	stood := d.Decision == wire.OutcomeDeny || d.Decision == wire.OutcomeAsk || d.Answered != nil
	unasked := d.Guarded == wire.GuardedNotAsked // no event before the call has counted it
	if d.SessionID == "" || !stood && !granted && !unasked {
		return nil
	}
	row, err := c.get(db, SessionKey{d.SessionID, d.Dialect})
	if err != nil {
		return err
	}
	if row.First.IsZero() { // the event itself was left out
		row.First, row.Last = d.Time, d.Time
		row.AgentID, row.AgentName, row.Cwd, row.Tool, row.Subject = d.AgentID, d.AgentName, d.Cwd, d.Tool, d.Subject
	}
	if unasked {
		row.Tools++
	}
	if d.Decision == wire.OutcomeDeny {
		row.Denials++
	}
	if d.Decision == wire.OutcomeAsk || d.Answered != nil {
		row.Asks++
	}
	switch {
	case unasked, d.Time.Before(row.Last):
	case d.Decision == wire.OutcomeAsk && (d.Told == nil || d.Told.Decision == wire.OutcomeAsk):
		row.State = wire.SessionWaiting // the agent asks
	case row.State == wire.SessionWaiting:
		row.State = wire.SessionWorking
	}
	return nil
}

// maxCached is how many sessions are kept at hand between commits.
const maxCached = 1024

// flush writes the changed sessions.
func (c *sessionCache) flush(db *database) error {
	for _, row := range c.sessions {
		if !row.dirty {
			continue
		}
		_, err := db.exec(`INSERT OR REPLACE INTO sessions (session_id, dialect, agent_id, agent_name, cwd,
				first, last, state, events, tools, denials, asks, tool, subject)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			row.SessionID, string(row.Dialect), row.AgentID, row.AgentName, row.Cwd, nanos(row.First), nanos(row.Last),
			row.State, row.Events, row.Tools, row.Denials, row.Asks, row.Tool, row.Subject)
		if err != nil {
			return fmt.Errorf("write session: %w", err)
		}
		row.dirty = false
	}
	if len(c.sessions) > maxCached {
		c.forget()
	}
	return nil
}

// sessionColumns are the columns that scanSession reads; state is an expression.
func sessionColumns(state string) string {
	return `session_id, dialect, agent_id, agent_name, cwd, first, last,
		` + state + `, events, tools, denials, asks, tool, subject`
}

func scanSession(row scanner) (s wire.Session, err error) {
	var first, last int64
	err = row.Scan(&s.SessionID, &s.Dialect, &s.AgentID, &s.AgentName, &s.Cwd, &first, &last,
		&s.State, &s.Events, &s.Tools, &s.Denials, &s.Asks, &s.Tool, &s.Subject)
	s.First, s.Last = moment(first), moment(last)
	return s, err
}

// SessionID returns the id of the only session whose id begins or ends with part; part
// itself where that is the id of one, or of none. It fails with ErrAmbiguous.
func (s *archive) SessionID(ctx context.Context, part string) (id string, err error) {
	err = s.read(func(db *sql.DB) error {
		ids, err := list(ctx, db, scanID, `SELECT session_id FROM sessions WHERE session_id = ? LIMIT 1`, part)
		if err == nil && len(ids) == 0 && len(part) >= shortestEnd {
			ids, err = list(ctx, db, scanID, `SELECT DISTINCT session_id FROM sessions
				WHERE substr(session_id, -?1) = ?2 OR substr(session_id, 1, ?1) = ?2 LIMIT 2`,
				utf8.RuneCountInString(part), part)
		}
		switch {
		case err != nil:
			return err
		case len(ids) > 1:
			return ErrAmbiguous
		case len(ids) == 0:
			ids = []string{part}
		}
		id = ids[0]
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("session %s: %w", part, err)
	}
	return id, nil
}

// Began returns when the first event of a session came, as far as the history goes; the zero time of a
// session that it does not know.
func (s *archive) Began(ctx context.Context, key SessionKey) (first time.Time, err error) {
	err = s.read(func(db *sql.DB) error {
		var at int64
		row := db.QueryRowContext(ctx, `SELECT first FROM sessions WHERE session_id = ? AND dialect = ?`,
			key.ID, string(key.Dialect))
		err := row.Scan(&at)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		first = moment(at)
		return err
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("read session: %w", err)
	}
	return first, nil
}

// Sessions returns the sessions that fit, the one with the newest event first. Sessions with a key in held wait for a
// person now, whatever their events tell.
func (s *archive) Sessions(
	ctx context.Context, q wire.SessionQuery, held []SessionKey,
) (all []wire.Session, err error) {
	if q.Limit <= 0 {
		q.Limit = 50
	}
	keys := make([][2]string, len(held))
	for i, key := range held {
		keys[i] = [2]string{key.ID, string(key.Dialect)}
	}
	heldJSON, err := json.Marshal(keys)
	if err != nil {
		return nil, fmt.Errorf("query sessions: %w", err)
	}
	state := `CASE WHEN (session_id, dialect) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?)) THEN 'waiting'
		WHEN state IN ('working', 'waiting') AND last NOT BETWEEN ? AND ? THEN 'idle'
		WHEN state = 'working' AND last < ? THEN 'quiet' ELSE state END` // as wire.Aged
	now := time.Now() // a session of a later time is of a clock that was set back
	stateArgs := []any{
		string(heldJSON), now.Add(-wire.IdleAfter).UnixNano(), now.Add(wire.ClockSlack).UnixNano(),
		now.Add(-wire.QuietAfter).UnixNano(),
	}
	c := conditions{}
	c.add("last >= 0")
	if q.Agent != "" {
		c.in([]string{q.Agent}, "agent_id", "agent_name", "dialect")
	}
	if q.Session != "" {
		c.add("session_id = ?", q.Session)
	}
	c.folders("cwd", wire.List(q.Cwd))
	if q.State != "" {
		c.add(state+" = ?", append(slices.Clone(stateArgs), q.State)...)
	}
	c.span("last", q.Since, q.Until)
	err = s.read(func(db *sql.DB) error {
		all, err = list(ctx, db, scanSession,
			`SELECT `+sessionColumns(state)+` FROM sessions WHERE `+c.text()+` ORDER BY last DESC LIMIT ?`,
			slices.Concat(stateArgs, c.args, []any{q.Limit})...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("query sessions: %w", err)
	}
	return all, nil
}
