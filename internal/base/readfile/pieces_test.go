package readfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A text shorter than the overlap is whole in a piece, wherever it stands.
func TestPieces(t *testing.T) {
	dir := t.TempDir()
	for length := range 40 {
		text := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[:length]
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := Pieces(path, 8, 3, func(p []byte) { got = append(got, string(p)) }); err != nil {
			t.Fatal(err)
		}
		for i := 0; i+3 <= length; i++ {
			if want := text[i : i+3]; !strings.Contains(strings.Join(got, "\n"), want) {
				t.Errorf("%q is in none of %q", want, got)
			}
		}
		if (length == 0) != (len(got) == 0) {
			t.Errorf("%d bytes: got %q", length, got)
		}
	}
	if err := Pieces(dir, 8, 3, nil); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder: %v", err)
	}
}
