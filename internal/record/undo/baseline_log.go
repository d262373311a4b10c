package undo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"github.com/hookd/hookd/internal/base/replacefile"
)

// baselineLog has the changes of a baseline in a file: a kill loses none that a call was told of. A line has a
// path, or the call whose snapshot the lines before it are.
type baselineLog struct {
	mu      sync.Mutex // file
	file    *os.File
	lines   int
	pending bytes.Buffer // not written yet
}

// baselineLogFile is its name in the folder of the copies.
const baselineLogFile = "journal"

// baseLine is one line of a baselineLog. The last line of a path counts.
type baseLine struct {
	Path Path       `json:"p,omitempty"`
	Base *baseState `json:"b,omitempty"` // of kind gone: the path is in no snapshot any more
	Call string     `json:"c,omitempty"`
}

func (j *baselineLog) open(dir string) (err error) {
	path := filepath.Join(dir, baselineLogFile)
	j.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	return err
}

// note writes a change with the next mark.
func (j *baselineLog) note(path string, b baseState) { j.add(baseLine{Path: Path(path), Base: &b}) }

func (j *baselineLog) add(l baseLine) {
	text, err := json.Marshal(l)
	if err != nil {
		return // not so: it has texts and numbers alone
	}
	j.pending.Write(append(text, '\n'))
	j.lines++
}

// mark writes the changes so far, and that they are the snapshot of a call; "" = of none.
func (j *baselineLog) mark(call string) error {
	if call != "" {
		j.add(baseLine{Call: call})
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.Write(j.pending.Bytes()); err != nil { // the next mark writes it again
		again := append([]byte("\n"), j.pending.Bytes()...)
		j.pending.Reset()
		j.pending.Write(again)
		return err
	}
	j.pending.Reset()
	return nil
}

// markOnly writes that the last snapshot is that of a call, while a look is under way elsewhere.
func (j *baselineLog) markOnly(call string) error {
	text, err := json.Marshal(baseLine{Call: call})
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, err = j.file.Write(append(text, '\n'))
	return err
}

// read returns the files at the last mark of a call, or at the end for "". A line that a kill has cut off is
// left out.
func (j *baselineLog) read(call string) (map[string]baseState, error) {
	f, err := os.Open(j.file.Name())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var at map[string]baseState
	files, r := map[string]baseState{}, bufio.NewReaderSize(f, 64<<10)
	for {
		text, err := readLine(r)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return nil, err
			}
			break
		}
		var l baseLine
		if json.Unmarshal(text, &l) != nil {
			continue
		}
		switch {
		case l.Base == nil:
			if call != "" && l.Call == call {
				at = maps.Clone(files)
			}
		case l.Base.Was.Kind == kindGone:
			delete(files, string(l.Path))
		default:
			files[string(l.Path)] = *l.Base
		}
	}
	if call != "" {
		return at, nil
	}
	return files, nil
}

// rewrite leaves one line for each path, and the marks of calls whose snapshot this is.
func (j *baselineLog) rewrite(files map[string]baseState, calls []string) error {
	j.pending.Reset()
	j.lines = 0
	for path, b := range files {
		j.note(path, b)
	}
	for _, call := range calls {
		j.add(baseLine{Call: call})
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	path := j.file.Name()
	err := replacefile.Write(path, j.pending.Bytes())
	j.pending.Reset()
	if err != nil {
		return err
	}
	return errors.Join(j.file.Close(), j.open(filepath.Dir(path)))
}
