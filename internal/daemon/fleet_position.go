package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/replacefile"
)

// positions keeps how far this machine has read the fleet's streams, in a file for each. It fits
// fleet.Position.
type positions struct{ dir string }

// position is the text of a file.
type position struct {
	Begun   time.Time `json:"begun"` // of the stream; another one of its name begins again
	Through uint64    `json:"through"`
}

func (p positions) file(stream string) string { return filepath.Join(p.dir, stream+".json") }

// ReadThrough fits fleet.Position.
func (p positions) ReadThrough(stream string, begun time.Time) (seq uint64, known bool, err error) {
	text, err := readfile.Read(p.file(stream), 4<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	var at position
	if err == nil {
		err = json.Unmarshal(text, &at)
	}
	if err != nil {
		return 0, false, fmt.Errorf("%s: %w; without the file this machine takes only what is sent from then on",
			p.file(stream), err)
	}
	if !at.Begun.Equal(begun) {
		return 0, true, nil
	}
	return at.Through, true, nil
}

// SetReadThrough fits fleet.Position.
func (p positions) SetReadThrough(stream string, begun time.Time, seq uint64) error {
	text, err := json.Marshal(position{begun, seq})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	return replacefile.Write(p.file(stream), text)
}
