package builtin

import (
	"context"
	"errors"

	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/builtin/shadow"
)

var snapshot = Builtin{
	Name: "snapshot", Events: []string{"session_start", "turn_start", "turn_end", "pre_tool_use", "post_tool_use", "session_end"},
	Doc: "keeps snapshots of a git working tree in a repository of hookd's own, for hookd snapshots; it never answers",
	Run: takeSnapshot,
}

// turnMark is the key of a turn's mark; a tool's is "tool:" and the call's id.
const turnMark = "turn"

// takeSnapshot remembers the tree where work begins and records a checkpoint
// where it ends and files changed. A snapshot that fails stops no agent: errors are
// logged only.
func takeSnapshot(ctx context.Context, c *Call) ([]byte, error) {
	if c.Cwd == "" || c.SessionID == "" || c.DataDir == "" {
		return nil, nil
	}
	step := stepOf(c.Row)
	if step == nil {
		return nil, nil
	}
	repo, err := shadow.Open(ctx, c.DataDir, c.Cwd, c.Environ)
	if err == nil {
		err = step(ctx, c, repo)
	}
	if err != nil && !errors.Is(err, shadow.ErrNotRepository) {
		c.log("snapshot on "+c.Event, err)
	}
	return nil, nil
}

type snapshotStep func(ctx context.Context, c *Call, repo *shadow.Repo) error

// stepOf finds the meaning of an event for snapshots: docker-agent's turns by name,
// the rest by kind, which serves other agents' names of the same moments.
func stepOf(row *events.Contract) snapshotStep {
	switch row.Name {
	case "turn_start":
		return beginTurn
	case "turn_end":
		return endTurn
	}
	switch row.Kind {
	case events.KindSessionStart, events.KindPromptSubmit:
		return beginTurn
	case events.KindTurnStop:
		return endTurn
	case events.KindToolBefore:
		return beginTool
	case events.KindToolAfter:
		return endTool
	case events.KindSessionEnd:
		return endSession
	}
	return nil
}

func beginTurn(ctx context.Context, c *Call, repo *shadow.Repo) error {
	return repo.Mark(ctx, c.SessionID, turnMark)
}

// endTurn leaves the mark, at the end of the turn: without a turn_start hook
// the next turn is measured from there.
func endTurn(ctx context.Context, c *Call, repo *shadow.Repo) error {
	_, _, err := repo.Since(ctx, c.SessionID, turnMark, "turn", true)
	return err
}

// snapshotPayload is the part of a tool's event that snapshots read.
type snapshotPayload struct {
	ToolName  string `json:"tool_name"`
	ToolUseID string `json:"tool_use_id"`
}

func (p snapshotPayload) mark() string { return "tool:" + p.ToolUseID }

func beginTool(ctx context.Context, c *Call, repo *shadow.Repo) error {
	var p snapshotPayload
	if err := c.read(&p); err != nil {
		return err
	}
	return repo.Mark(ctx, c.SessionID, p.mark())
}

func endTool(ctx context.Context, c *Call, repo *shadow.Repo) error {
	var p snapshotPayload
	if err := c.read(&p); err != nil {
		return err
	}
	_, _, err := repo.Since(ctx, c.SessionID, p.mark(), p.ToolName, false)
	return err
}

// endSession forgets the marks of the session and keeps its checkpoints.
func endSession(ctx context.Context, c *Call, repo *shadow.Repo) error {
	return errors.Join(repo.Forget(ctx, c.SessionID), repo.Prune(ctx))
}
