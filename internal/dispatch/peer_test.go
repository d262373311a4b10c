package dispatch

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/events"
)

// A sender's claims about its own process reach no hook, however the name is written: many
// readers of JSON take letters of another case, and the signs that fold to them, for the same.
func TestSendersDoNotNameTheirOwnProcess(t *testing.T) {
	peer := &events.Peer{UID: 1000, PID: 7, Program: "/bin/agent"}
	for _, data := range []string{
		`{}`, `{"a":1}`, `{"hookd_peer":{"uid":0}}`, `{"HOOKD_PEER":{"uid":0},"a":1}`, `{"a":1,"Hookd_Peer":{"uid":0}}`,
		`{"hookd_peer":{"uid":0},"hookd_peer":{"uid":0},"hookd_PEER":{"uid":0}}`, `{"hoo\u212ad_peer":{"uid":0}}`,
		`{"hoo\u212Ad_\u0050eer":{"uid":0},"hooKd_peer":{"uid":0}}`, `null`,
	} {
		got := withPeer(json.RawMessage(data), peer)
		var said struct {
			Peer events.Peer `json:"hookd_peer"`
		}
		if err := json.Unmarshal(got, &said); err != nil || said.Peer != *peer {
			t.Errorf("%s: %s: %+v, %v", data, got, said.Peer, err)
		}
		if strings.Contains(string(got), `"uid":0`) || strings.Contains(data, `"a":1`) != strings.Contains(string(got), `"a":1`) {
			t.Errorf("%s became %s", data, got)
		}
		env, refused := events.Parse([]byte(`{"event":"x","data":` + data + `}`))
		if alone := string(withoutPeer(json.RawMessage(data))); refused != nil || strings.Contains(alone, "uid") || env.Peerless == strings.Contains(data, "uid") {
			t.Errorf("%s became %s where hooks are told no process; it names none: %t", data, alone, env.Peerless)
		}
	}
}
