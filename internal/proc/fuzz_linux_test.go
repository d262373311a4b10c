package proc

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// FuzzStat: a program may have any name, its row of the process table is read all the
// same; and no text panics.
func FuzzStat(f *testing.F) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(stat, "a) S 1 2 3", 5, uint64(7))
	f.Add([]byte("1 (x"), ")))", -1, uint64(0))
	f.Add([]byte(") "), "\n \x00", 1<<30, uint64(1)<<63)
	f.Fuzz(func(t *testing.T, stat []byte, name string, number int, start uint64) {
		parseRow(1, stat)
		rest := strings.Repeat(" 0", 14)
		text := fmt.Sprintf("7 (%s) T %d 3 %d 5%s %d 8 9\n", name, number, number, rest, start)
		r, ok := parseRow(7, []byte(text))
		if want := (row{pid: 7, ppid: number, sid: number, start: start, stopped: true, tty: number != 0}); !ok || r != want {
			t.Fatalf("%q: got %+v %v, want %+v", text, r, ok, want)
		}
	})
}
