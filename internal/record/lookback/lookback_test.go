package lookback

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func linesOf(t *testing.T, l *Log) (lines []string) {
	t.Helper()
	if err := l.Read(func(line []byte) { lines = append(lines, string(line)) }); err != nil {
		t.Fatal(err)
	}
	return lines
}

func add(l *Log, line string) { l.Add(len(line), func() []byte { return []byte(line) }) }

// TestLinesOutliveTheProcess adds lines, some after a reopening and a torn one.
func TestLinesOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "past")
	l := Open(path, nil)
	add(l, "one")
	add(l, "two")
	l.Close()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "0000 torn") // a process that was killed
	f.Close()
	l = Open(path, nil)
	defer l.Close()
	add(l, "three")
	if got, want := linesOf(t, l), []string{"one", "two", "three"}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
	l.Clear()
	add(l, "four")
	if got, want := linesOf(t, l), []string{"four"}; !slices.Equal(got, want) {
		t.Errorf("after Clear read %q, want %q", got, want)
	}
}

// TestOldLinesMakeRoom adds more than the files take: the newest stay, in their order.
func TestOldLinesMakeRoom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "past")
	l := Open(path, nil)
	defer l.Close()
	const lines = 3 * mostBytes / (64 << 10)
	for i := range lines {
		line := make([]byte, 64<<10)
		for j := range line {
			line[j] = '.'
		}
		copy(line, fmt.Sprintf("%06d", i))
		add(l, string(line))
		l.Flush()
	}
	got := linesOf(t, l)
	for i, line := range got {
		if want := fmt.Sprintf("%06d", lines-len(got)+i); line[:6] != want {
			t.Fatalf("line %d of %d begins with %s, want %s", i, len(got), line[:6], want)
		}
	}
	for _, name := range []string{path, path + ".1"} {
		if info, err := os.Stat(name); err != nil || info.Size() > mostBytes+mostLine {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
