package client

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strconv"

	"github.com/hookd/hookd/wire"
)

// ErrRecent comes with a list from memory: the daemon cannot read its history, which may have more.
var ErrRecent = errors.New("the history cannot be read now: these are its newest records, from memory")

// Runs lists at most q.Limit finished runs, newest first; a limit of 0 is 50.
// A long history is searched in parts, for as long as ctx lets it. With ErrRecent the list counts, too.
func (c *Client) Runs(ctx context.Context, q RunQuery) ([]Run, error) {
	return listed(q.Limit, func(limit int) (list []Run, recent bool, next uint64, err error) {
		q.Limit = limit
		page, err := get[wire.Runs](ctx, c, withQuery(wire.PathRuns, q.Values()))
		q.Before = page.Next
		return page.Runs, page.Recent, page.Next, err
	})
}

// listed reads pages until there are so many entries, 50 where that is 0, or no more.
func listed[T any](want int, read func(limit int) (list []T, recent bool, next uint64, err error)) ([]T, error) {
	want = cmp.Or(want, 50)
	all := []T{}
	for {
		list, recent, next, err := read(min(want-len(all), wire.MaxRuns))
		all = append(all, list...)
		switch {
		case err != nil:
			return all, err
		case recent:
			return all, ErrRecent
		case next == 0 || len(all) >= want:
			return all, nil
		}
	}
}

// Run returns the run with this id, or the only one whose id begins or ends so, with
// the part of its output that was kept.
func (c *Client) Run(ctx context.Context, id string) (Run, error) {
	return get[Run](ctx, c, wire.PathRuns+"/"+escape(id))
}

// Decisions lists at most q.Limit decisions, newest first; a limit of 0 is 50. A long history is
// searched in parts, for as long as ctx lets it. With ErrRecent the list counts, too.
func (c *Client) Decisions(ctx context.Context, q DecisionQuery) ([]Decision, error) {
	return listed(q.Limit, func(limit int) (list []Decision, recent bool, next uint64, err error) {
		q.Limit = limit
		page, err := get[wire.Decisions](ctx, c, withQuery(wire.PathDecisions, q.Values()))
		q.Before = page.Next
		return page.Decisions, page.Recent, page.Next, err
	})
}

// Sessions lists sessions of agents, the session with the newest event first.
func (c *Client) Sessions(ctx context.Context, q SessionQuery) ([]Session, error) {
	page, err := get[wire.Sessions](ctx, c, withQuery(wire.PathSessions, q.Values()))
	return page.Sessions, err
}

// Counts counts the decisions that Decisions would list. A long history is counted in
// parts, newest first: the parts of Counts.Next are not in the answer.
func (c *Client) Counts(ctx context.Context, q CountQuery) (Counts, error) {
	return get[Counts](ctx, c, withQuery(wire.PathCounts, q.Values()))
}

// Accepted lists accepted events, newest first, as Runs lists runs.
func (c *Client) Accepted(ctx context.Context, q EventQuery) ([]AcceptedEvent, error) {
	return listed(q.Limit, func(limit int) (list []AcceptedEvent, recent bool, next uint64, err error) {
		q.Limit = limit
		page, err := get[wire.Accepted](ctx, c, withQuery(wire.PathAccepted, q.Values()))
		q.Before = page.Next
		return page.Events, false, page.Next, err
	})
}

// Past calls each with events whose senders waited for a decision, newest first, and with
// their decisions. A limit of q.Limit events ends it, 0 = all, and so does an error of each.
func (c *Client) Past(ctx context.Context, q EventQuery, each func(StoredEvent) error) error {
	left := q.Limit
	for {
		if q.Limit = wire.MaxPast; left > 0 {
			q.Limit = min(left, q.Limit)
		}
		page, err := get[wire.Past](ctx, c, withQuery(wire.PathPast, q.Values()))
		if err != nil {
			return err
		}
		for _, e := range page.Events {
			if err := each(e); err != nil {
				return err
			}
		}
		if left -= len(page.Events); page.Next == 0 || left == 0 {
			return nil
		}
		q.Before = page.Next
	}
}

// Raw sends a request as it is and returns the answer's status and body, for a
// program that hands answers on. The path has its query; body is JSON, or nil. The
// error is that of a request without an answer: a refusal is an answer.
func (c *Client) Raw(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	r, err := c.request(ctx, method, path, body)
	return r.status, r.body, err
}

// Running lists the runs that have begun and not ended, the oldest first.
func (c *Client) Running(ctx context.Context) ([]RunUnderWay, error) {
	page, err := get[wire.Running](ctx, c, wire.PathRunning)
	return page.Runs, err
}

// Kill ends a run under way, named by its id or by an end of its id that no other run
// has, and returns the run as it was. The run is recorded as failed.
func (c *Client) Kill(ctx context.Context, id string) (RunUnderWay, error) {
	return post[RunUnderWay](ctx, c, wire.PathRuns+"/"+escape(id)+"/kill", nil)
}

// Event returns an accepted event as the history keeps it.
func (c *Client) Event(ctx context.Context, id string) (StoredEvent, error) {
	return get[StoredEvent](ctx, c, wire.PathEvents+"/"+escape(id))
}

// Last returns the newest event of an agent that the history keeps, but no event of the
// session except. The error has CodeNotFound where there is none.
func (c *Client) Last(ctx context.Context, agent, except string) (StoredEvent, error) {
	path := wire.PathAgents + "/" + escape(agent) + "/last"
	return get[StoredEvent](ctx, c, withQuery(path, url.Values{"except": {except}}))
}

// Replay has an event of the history accepted again, under a new id, for all
// hooks that match it today or only for hook; its hooks observe. With dryRun it
// only returns which would run.
func (c *Client) Replay(ctx context.Context, id, hook string, dryRun bool) (Replayed, error) {
	return post[Replayed](ctx, c, wire.PathEvents+"/"+escape(id)+"/replay", wire.Replay{Hook: hook, DryRun: dryRun})
}

// Stats counts the runs of each hook, in the order of their names.
func (c *Client) Stats(ctx context.Context, q StatsQuery) ([]HookStats, error) {
	stats, err := get[wire.Stats](ctx, c, withQuery(wire.PathStats, q.Values()))
	return stats.Hooks, err
}

// StatsBy counts by the property that q.By names: agent, tool or day, in the order of
// their names.
func (c *Client) StatsBy(ctx context.Context, q StatsQuery) ([]GroupStats, error) {
	stats, err := get[wire.Stats](ctx, c, withQuery(wire.PathStats, q.Values()))
	return stats.Groups, err
}

// DeadLetters lists runs that were given up, newest first: of hook, or of all
// when that is ""; limit at most, 50 when that is 0.
func (c *Client) DeadLetters(ctx context.Context, hook string, limit int) ([]DeadLetter, error) {
	return c.deadLetters(ctx, wire.PathDead, hook, limit)
}

func (c *Client) deadLetters(ctx context.Context, path, hook string, limit int) ([]DeadLetter, error) {
	values := url.Values{}
	if hook != "" {
		values.Set("hook", hook)
	}
	if limit > 0 {
		values.Set("limit", strconv.Itoa(limit))
	}
	dead, err := get[wire.DeadLetters](ctx, c, withQuery(path, values))
	return dead.Dead, err
}

// DeadLetter returns one of them, with the data that its hook was to be given.
func (c *Client) DeadLetter(ctx context.Context, id int64) (DeadLetter, error) {
	return get[DeadLetter](ctx, c, deadPath(wire.PathDead, id))
}

// RetryDeadLetter has it tried again, now and with today's hook.
func (c *Client) RetryDeadLetter(ctx context.Context, id int64) (DeadLetter, error) {
	return post[DeadLetter](ctx, c, deadPath(wire.PathDead, id)+"/retry", nil)
}

// Recover runs the events that were set aside because a disk could not be read. It takes back each loss
// whose files can be read now, and each loss without files.
func (c *Client) Recover(ctx context.Context) (Recovered, error) {
	return post[Recovered](ctx, c, wire.PathRecover, nil)
}

// DropDeadLetter deletes it.
func (c *Client) DropDeadLetter(ctx context.Context, id int64) (DeadLetter, error) {
	return c.dropDeadLetter(ctx, deadPath(wire.PathDead, id))
}

func (c *Client) dropDeadLetter(ctx context.Context, path string) (DeadLetter, error) {
	reply, err := c.request(ctx, "DELETE", path, nil)
	if err != nil {
		return DeadLetter{}, err
	}
	return decode[DeadLetter](reply)
}

func deadPath(path string, id int64) string { return path + "/" + strconv.FormatInt(id, 10) }

func withQuery(path string, values url.Values) string {
	if query := values.Encode(); query != "" {
		return path + "?" + query
	}
	return path
}
