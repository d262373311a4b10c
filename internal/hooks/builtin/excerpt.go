package builtin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd/hookd/internal/base/escape"
)

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// tailOf returns notice and the last lines of text, together at most
// maxResultBytes. A background job's header, which has its exit code, stays.
func tailOf(category, text, notice string) string {
	if category == "background_jobs" {
		if header, _, ok := strings.Cut(text, "--- Output ---\n"); ok {
			notice += escape.Head(header, maxResultBytes/4) + "\n"
		}
	}
	notice += fmt.Sprintf("Showing the last %d lines (up to %d bytes, including this notice):\n\n", maxResultLines, maxResultBytes)
	return notice + escape.Tail(lastLines(text, maxResultLines), maxResultBytes-len(notice))
}

// headOf returns notice and the first lines of a file that read_file returned,
// and says how to read on: line and limit are that tool's arguments.
func headOf(input json.RawMessage, text, notice string) string {
	excerpt := firstLines(text, maxResultLines)
	for {
		advice := continueAdvice(input, excerpt)
		over := len(notice) + len(advice) + len(excerpt) - maxResultBytes
		if over <= 0 || excerpt == "" {
			return notice + advice + excerpt
		}
		excerpt = escape.Head(excerpt, max(0, len(excerpt)-over))
	}
}

func continueAdvice(input json.RawMessage, excerpt string) string {
	whole := strings.Count(excerpt, "\n")
	if whole == 0 {
		return fmt.Sprintf("Showing the first %d bytes. The first line alone is larger than the excerpt, so read_file's \"line\" and \"limit\" cannot advance within it: "+
			"use a command that reads ranges of bytes on that file:\n\n", len(excerpt))
	}
	return fmt.Sprintf("Showing the first %d lines (up to %d bytes). To continue, call read_file again with the same path plus \"line\": %d (1-based start line) and a \"limit\" (number of lines):\n\n",
		countLines(excerpt), len(excerpt), startLine(input)+whole)
}

// startLine is where the truncated read_file began: its argument line, from 1.
func startLine(input json.RawMessage) int {
	var args struct {
		Line float64 `json:"line"`
	}
	if json.Unmarshal(input, &args) == nil && args.Line >= 1 && args.Line < 1e12 {
		return int(args.Line)
	}
	return 1
}

func firstLines(text string, n int) string {
	end := 0
	for range n {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	return text[:end]
}

func lastLines(text string, n int) string {
	start := len(strings.TrimSuffix(text, "\n"))
	for range n {
		i := strings.LastIndexByte(text[:start], '\n')
		if i < 0 {
			return text
		}
		start = i
	}
	return text[start+1:]
}

// digest names text in a few characters.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// privateDir makes dir and the missing folders above it, for the user alone. It
// refuses a directory that another user prepared.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, d := range []string{filepath.Dir(dir), dir} {
		info, err := os.Lstat(d)
		if err != nil {
			return err
		}
		if !info.IsDir() || !ownedByUs(info) || info.Mode().Perm()&0o022 != 0 {
			return fmt.Errorf("use %s: it is not a directory of this user alone", d)
		}
	}
	return nil
}
