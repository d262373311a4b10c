package verdict_test

import (
	"strings"
	"testing"

	. "github.com/hookd/hookd/internal/contract/verdict"
)

func TestWithoutWeakening(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"rm -rf is denied", "rm -rf is denied"},
		{"hook \"guard\": exit 1 (see: hookd log output guard; to switch it off: hookd disable guard)", "hook \"guard\": exit 1 (see: hookd log output guard)"},
		{"waits to be allowed; type `hookd allow guard`", "waits to be allowed"},
		{"is gone; type `hookd allow --gone 'my guard'` now", "is gone now"},
		{"hookd disable x", "(a command for a person)"},
		{"type hookd --socket=/s rm guard --yes\nand go on", "\nand go on"},
		{"`hookd disable x` changes hookd: denied", "(a command for a person) changes hookd: denied"},
		{"see hookd log", "see hookd log"},
		{"hookd stops, running hooks have time", "hookd stops, running hooks have time"},
		{"has changed since hookd read it; type `hookd reload`", "has changed since hookd read it"},
		{"hookd could not check this", "hookd could not check this"},
	} {
		if got := WithoutWeakening(tt.text); got != tt.want {
			t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
		}
	}
	for _, name := range WeakeningCommands {
		if got := WithoutWeakening("x; type `hookd " + name + " y`"); strings.Contains(got, name+" y") {
			t.Errorf("a model reads hookd %s: %q", name, got)
		}
	}
	v := &Verdict{Message: "no"}
	if ForModel(v) != v || ForModel(nil) != nil {
		t.Error("a verdict without commands is another one")
	}
	v.Message = "no; type `hookd disable guard`"
	if got := ForModel(v); got.Message != "no" || v.Message == "no" {
		t.Errorf("a model reads %q, a person %q", got.Message, v.Message)
	}
}
