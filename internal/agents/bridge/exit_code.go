package bridge

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/hookd/hookd/internal/base/rawjson"
)

// Bounds of the search for an exit code.
const (
	firstTail = 64 << 10 // of the file: its last bytes
	mostTail  = 4 << 20
	looks     = 3 // the agent's writer may be late
	lookEach  = 5 * time.Millisecond
)

// addExitCode adds the exit code of a command to the payload of an agent that tells it in a file alone. A
// file without it is left alone: then it is not known how the command ended.
func (c *call) addExitCode() {
	if c.agent.Noted == nil {
		return
	}
	file, read := c.agent.Noted(c.event, c.payload)
	for i := 0; file != "" && i < looks; i++ {
		if i > 0 {
			time.Sleep(lookEach)
		}
		if code := lastNoted(file, read); code != nil {
			c.payload = rawjson.With(c.payload, rawjson.Member{Key: "exit_code", Value: code})
			return
		}
	}
}

// lastNoted is the value that read finds in the last lines of a file; nil = none.
func lastNoted(file string, read func(line []byte) json.RawMessage) json.RawMessage {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	for n := min(info.Size(), firstTail); ; n = min(info.Size(), 8*n, mostTail) {
		tail, err := io.ReadAll(io.NewSectionReader(f, info.Size()-n, n))
		if err != nil {
			return nil
		}
		for rest := tail; len(rest) > 0; {
			at := bytes.LastIndexByte(bytes.TrimSuffix(rest, []byte{'\n'}), '\n') + 1
			if value := read(rest[at:]); value != nil {
				return value
			}
			rest = rest[:at]
		}
		if n == info.Size() || n == mostTail {
			return nil
		}
	}
}
