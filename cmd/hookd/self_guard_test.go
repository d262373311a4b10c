package main

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/hookd/hookd/docs/gallery"
)

// What self-guard lets an agent do with hookd only looks. A command that is new is
// denied until it stands in its list, and this test asks whether it should.
func TestSelfGuardKnowsCommands(t *testing.T) {
	changes := strings.Fields("init new edit allow enable disable rm kill replay add update remove trust import " +
		"connect disconnect serve stop reload install uninstall")
	folder, err := gallery.Files("self-guard")
	if err != nil {
		t.Fatal(err)
	}
	text, err := fs.ReadFile(folder, "rules/hookd.ini")
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(text), "\nreads   = ")
	if !ok {
		t.Fatal("the list of commands was not found")
	}
	reads := map[string]bool{}
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		reads[name] = true
	}
	for _, name := range changes {
		if reads[name] {
			t.Errorf("%s changes something and is let pass", name)
		}
	}
	root := newRoot(&app{})
	known := map[string]bool{}
	for _, c := range root.Commands() {
		known[c.Name()] = true
	}
	for _, name := range strings.Fields("list show status history tail logs decisions sessions ps top stats events match validate test doctor emit bridge " +
		"outdated version schema") {
		if !reads[name] || !known[name] {
			t.Errorf("%s only looks: known %v, let pass %v", name, known[name], reads[name])
		}
	}
}
