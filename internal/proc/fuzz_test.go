package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzJournal: whatever the journal has, no line names a process that may not be
// signalled, and the lines that are whole are read as written.
func FuzzJournal(f *testing.F) {
	o := owner{Boot: "b", PID: 7, Cgroup: "/c", Inode: 3}
	e := entry{PID: 9, Start: span{5, 6}, Cgroup: "r", Links: []string{"pipe:[1]"}}
	whole := append(padded(o, ownerSize), padded(e, slotSize)...)
	f.Add(whole, 0)
	f.Add(append(bytes.Clone(whole), blank[:]...), slotSize)
	f.Add(whole[:len(whole)-1], 1)
	f.Add([]byte("{}"), 0)
	f.Add(append(padded(o, ownerSize), `{"pid":1,"start":[1,1]}`...), 3)
	f.Add(append(padded(o, ownerSize), `{"pid":-9,"start":[18446744073709551615,0]}`...), slotSize)
	file := filepath.Join(f.TempDir(), "runs")
	f.Fuzz(func(t *testing.T, text []byte, pad int) {
		if pad > 0 {
			text = append(text, bytes.Repeat([]byte(" "), pad%(2*slotSize))...)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		o, list := readJournal(file)
		if len(text) < ownerSize && (o != owner{} || list != nil) {
			t.Fatalf("%q is a record: %+v, %+v", text, o, list)
		}
		if most := max(0, len(text)-ownerSize) / slotSize; len(list) > most {
			t.Fatalf("%d runs in %d slots", len(list), most)
		}
		for _, e := range list {
			if e.PID <= 1 || e.Start[0] == 0 {
				t.Fatalf("accepted %+v", e)
			}
		}
		checkRewritten(t, file, o, list)
	})
}

func checkRewritten(t *testing.T, file string, o owner, list []entry) {
	text := padded(o, ownerSize)
	for _, e := range list {
		line := padded(e, slotSize)
		if line == nil {
			return // JSON takes less room than it was written with
		}
		text = append(text, line...)
	}
	if text == nil {
		return
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	again, runs := readJournal(file)
	if again != o || len(runs) != len(list) {
		t.Fatalf("wrote %+v and %+v, read %+v and %+v", o, list, again, runs)
	}
	for i := range runs {
		if runs[i].PID != list[i].PID || runs[i].Start != list[i].Start || runs[i].Cgroup != list[i].Cgroup || strings.Join(runs[i].Links, "\n") != strings.Join(list[i].Links, "\n") {
			t.Fatalf("wrote %+v, read %+v", list[i], runs[i])
		}
	}
}

// FuzzInterpreter: the interpreter of a script's first line is one word of that line.
func FuzzInterpreter(f *testing.F) {
	for _, s := range []string{"", "#!/bin/sh -e", "#! /usr/bin/env\tx", "#!", "#!\x00", "/bin/sh"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if name, ok := interpreter([]byte(text)); ok && (name == "" || strings.ContainsAny(name, " \t\x00") || !strings.Contains(text, name)) {
			t.Fatalf("%q asks for %q", text, name)
		}
	})
}
