package undo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/rawjson"
	"github.com/hookd/hookd/internal/base/replacefile"
)

// entry is one path of a call.
type entry struct {
	Path   Path   `json:"path"` // absolute; its folders are no links
	Effect string `json:"effect"`
	By     string `json:"by"`
	At     Path   `json:"at,omitempty"`    // the kept file
	Dest   Path   `json:"dest,omitempty"`  // where a move leads
	Why    string `json:"why,omitempty"`   // of byNone
	Soft   bool   `json:"soft,omitempty"`  // a change since is no conflict: git's own files
	Maybe  string `json:"maybe,omitempty"` // why it may be the work of another; "" = it is of the call

	Was   state             `json:"was"`
	Xattr map[string][]byte `json:"xattr,omitempty"`

	After *state `json:"after,omitempty"` // when the call was closed; nil = it is open
	Left  Path   `json:"left,omitempty"`  // a copy of the text that the call left, to merge with
	Index string `json:"index,omitempty"` // a digest of git's index as the call left it, see indexOf
}

// summary ends a manifest.
type summary struct {
	Word      string    `json:"word"`
	Files     int       `json:"files"`
	Bytes     int64     `json:"bytes"`
	Lost      []Lost    `json:"lost,omitempty"`
	Late      bool      `json:"late,omitempty"`
	TookUS    int64     `json:"took_us"`
	Elsewhere bool      `json:"elsewhere,omitempty"` // it destroys something that is no file of this machine
	Closed    time.Time `json:"settled,omitzero"`
	End       string    `json:"outcome,omitempty"` // ran, never_seen or interrupted; "" = the call is open
}

// Ends of a call, by the words on disk.
const (
	endRan      = "ran"
	endUnseen   = "never_seen"  // its result did not come
	Interrupted = "interrupted" // an undo that did not come to its end
)

// undone says how a call was taken back.
type undone struct {
	By   string    `json:"by"` // id of the undo
	Word string    `json:"word"`
	Time time.Time `json:"time"`
}

// The files of a call's folder.
const (
	manifestFile = "manifest.jsonl"
	undoneFile   = "undone.json"
	keptFolder   = "f"
)

// line is one line of a manifest: the first has Call, the last Seal.
type line struct {
	V     int       `json:"v,omitempty"`
	Call  *KeptCall `json:"call,omitempty"`
	Entry *entry    `json:"entry,omitempty"`
	Seal  *summary  `json:"sealed,omitempty"`
}

// manifest is all that is known of one call.
type manifest struct {
	call    KeptCall
	entries []entry
	summary *summary // nil = hookd was killed while it kept
	undone  *undone
	dir     string
}

// maxLine bounds one line of a manifest: a path, its extended attributes.
const maxLine = 1 << 20

// readManifest reads a call's folder. A last line that is cut off is left out.
func readManifest(dir string) (*manifest, error) {
	f, err := os.Open(filepath.Join(dir, manifestFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &manifest{dir: dir}
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		text, err := readLine(r)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		var l line
		if json.Unmarshal(text, &l) != nil {
			break // cut off by a kill
		}
		switch {
		case l.Call != nil:
			m.call = *l.Call
		case l.Entry != nil:
			m.entries = append(m.entries, *l.Entry)
		case l.Seal != nil:
			m.summary = l.Seal
		}
	}
	if m.call.ID == "" {
		return nil, fmt.Errorf("read %s: it names no call", f.Name())
	}
	if text, err := os.ReadFile(filepath.Join(dir, undoneFile)); err == nil {
		var u undone
		if json.Unmarshal(text, &u) == nil {
			m.undone = &u
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return m, nil
}

func readLine(r *bufio.Reader) (text []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if text = append(text, part...); err != bufio.ErrBufferFull {
			if err == nil || len(text) > 0 && err == io.EOF {
				return text, nil
			}
			return nil, err
		}
		if len(text) > maxLine {
			return nil, errors.New("a line is too long")
		}
	}
}

// write replaces the manifest file, whole or not at all.
func (m *manifest) write() error {
	var b bytes.Buffer
	lines := make([]line, 0, len(m.entries)+2)
	lines = append(lines, line{V: 1, Call: &m.call})
	for i := range m.entries {
		lines = append(lines, line{Entry: &m.entries[i]})
	}
	if m.summary != nil {
		lines = append(lines, line{Seal: m.summary})
	}
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, l := range lines {
		if err := e.Encode(l); err != nil {
			return err
		}
	}
	return replacefile.Write(filepath.Join(m.dir, manifestFile), b.Bytes())
}

// writer writes a manifest while its call is kept.
type writer struct {
	f *os.File
	b *bufio.Writer
	e *json.Encoder

	text []byte // of the last entry
}

func newWriter(dir string, c *KeptCall) (*writer, error) {
	f, err := os.OpenFile(filepath.Join(dir, manifestFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	w := &writer{f: f, b: bufio.NewWriterSize(f, 16<<10)}
	w.e = json.NewEncoder(w.b)
	w.e.SetEscapeHTML(false)
	return w, w.e.Encode(line{V: 1, Call: c})
}

// add writes an entry. Folders and files that are kept by a link are many, and in a hurry: theirs is written by hand.
func (w *writer) add(e *entry) error {
	if e.By != byLink && e.Was.Kind != kindDir || e.Soft || e.Why != "" || e.Maybe != "" || e.Dest != "" ||
		e.Xattr != nil || e.Was.Target != "" ||
		!utf8.ValidString(string(e.Path)) || !utf8.ValidString(string(e.At)) {
		return w.e.Encode(line{Entry: e})
	}
	b := rawjson.AppendText(append(w.text[:0], `{"entry":{`...), "path", string(e.Path))
	b = rawjson.AppendText(rawjson.AppendText(b, "effect", e.Effect), "by", e.By)
	b = append(rawjson.AppendText(b, "at", string(e.At)), `,"was":{`...)
	b = rawjson.AppendText(b, "kind", e.Was.Kind)
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"dev", int64(e.Was.Dev)}, {"ino", int64(e.Was.Ino)}, {"names", int64(e.Was.Names)}, {"size", e.Was.Size},
		{"room", e.Was.Room},
		{"atime", e.Was.ATime}, {"mtime", e.Was.MTime}, {"ctime", e.Was.CTime}, {"mode", int64(e.Was.Mode)},
		{"uid", int64(e.Was.UID)}, {"gid", int64(e.Was.GID)},
	} {
		b = rawjson.AppendInt(b, f.name, f.value)
	}
	w.text = append(b, "}}}\n"...)
	_, err := w.b.Write(w.text)
	return err
}

// close seals the manifest.
func (w *writer) close(s *summary) error {
	return errors.Join(w.e.Encode(line{Seal: s}), w.b.Flush(), w.f.Close())
}
