package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/events"
)

// Bounds of a tool result and of the excerpt that replaces it, as in
// docker-agent. The excerpt's counts the notice.
const (
	maxResultBytes = 51200
	maxResultLines = 2000
)

var limitLargeToolResults = Builtin{
	Name: "limit_large_tool_results", Events: []string{"tool_response_transform", "session_end"},
	Doc: "writes a tool result over 50 KiB or 2,000 lines to a file, and leaves the model an excerpt and the file's name; session_end removes the files",
	Run: limitResult,
	Needs: func(row *events.Contract) bool {
		return row.Rewrite == events.RewriteResponse || row.Kind == events.KindSessionEnd
	},
}

// limitedCategories are docker-agent's tools whose results can be large; all
// other tools bound their results themselves. Other agents tell no category: all of
// their results are looked at.
var limitedCategories = []string{"filesystem", "shell", "background_jobs", "mcp", "a2a"}

// resultPayload is the part of the event that the limiter reads.
type resultPayload struct {
	ToolName     string          `json:"tool_name"`
	ToolCategory string          `json:"tool_category"`
	ToolInput    json.RawMessage `json:"tool_input"`
}

func limitResult(_ context.Context, c *Invocation) ([]byte, error) {
	if c.Row.Kind == events.KindSessionEnd {
		if err := os.RemoveAll(c.resultDir()); err != nil {
			c.log("remove large tool results", err)
		}
		return nil, nil
	}
	var p resultPayload
	if err := c.read(&p); err != nil {
		return nil, err
	}
	hasCategory := rawjson.Get(c.Data, "tool_category") != nil
	if c.Row.Rewrite != events.RewriteResponse || hasCategory && !slices.Contains(limitedCategories, p.ToolCategory) {
		return nil, nil
	}
	text := neutral.ResultText(rawjson.Get(c.Data, c.Row.Target))
	if len(text) <= maxResultBytes && countLines(text) <= maxResultLines {
		return nil, nil
	}
	return c.answerResult(c.excerpt(p, text))
}

// excerpt writes text to a file and returns the text's replacement. A file that
// cannot be written does not widen the part that the model gets.
func (c *Invocation) excerpt(p resultPayload, text string) string {
	notice := tooLarge(text)
	path, err := c.writeResult(text)
	if err != nil {
		c.log("write large tool result", err)
		return tailOf(p.ToolCategory, text, notice+" The full result could not be saved; narrow the tool call to get the part you need.\n\n")
	}
	notice += " The full result is available in a file: " + path + "\n\n"
	if c.Tool.Own == "read_file" && p.ToolCategory == "filesystem" && p.ToolName == "read_file" {
		return headOf(p.ToolInput, text, notice)
	}
	return tailOf(p.ToolCategory, text, notice)
}

func tooLarge(text string) string {
	if len(text) > maxResultBytes {
		return fmt.Sprintf("Tool call result was too large (%d bytes; limit %d bytes).", len(text), maxResultBytes)
	}
	return fmt.Sprintf("Tool call result was too large (%d lines; limit %d lines).", countLines(text), maxResultLines)
}

// resultDir is the session's directory of results: below the data directory,
// which only the user can write to, else in the temporary one. The session's
// name is escaped whole, dots too, so it cannot lead anywhere else.
func (c *Invocation) resultDir() string {
	root := filepath.Join(os.TempDir(), fmt.Sprintf("hookd-tool-results-%d", os.Getuid()))
	if c.DataDir != "" {
		root = filepath.Join(c.DataDir, "tool-results")
	}
	return filepath.Join(root, fileName(cmp.Or(c.SessionID, "unknown")))
}

// fileName writes text as a name for a file: letters, digits, - and _ stand
// for themselves, any other byte is = and two digits. A long text is cut and
// told from others by its hash.
func fileName(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch ch := text[i]; {
		case 'a' <= ch && ch <= 'z', 'A' <= ch && ch <= 'Z', '0' <= ch && ch <= '9', ch == '-', ch == '_':
			b.WriteByte(ch)
		default:
			fmt.Fprintf(&b, "=%02X", ch)
		}
	}
	if name := b.String(); len(name) <= 120 {
		return name
	}
	return b.String()[:80] + "==" + digest(text)
}

func (c *Invocation) writeResult(text string) (string, error) {
	dir := c.resultDir()
	if err := privateDir(dir); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, "tool-result-*.txt")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = cmp.Or(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}
