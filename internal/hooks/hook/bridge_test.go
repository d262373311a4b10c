package hook

import "testing"

func TestCallsBridge(t *testing.T) {
	for command, want := range map[string]bool{
		"hookd bridge docker-agent":                true,
		"/usr/local/bin/hookd-bridge docker-agent": true,
		`"/opt/hookd" bridge docker-agent`:         true,
		"test -S x && hookd-bridge docker-agent":   true,
		"hookd emit x":                             false,
		"./my-hookd-bridges":                       false,
		"hookd list | grep bridge":                 false,
		"echo hookdbridge":                         false,
	} {
		if got := CallsBridge(command); got != want {
			t.Errorf("%s: got %t, want %t", command, got, want)
		}
	}
}
