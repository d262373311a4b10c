package daemon

import (
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/config"
)

// Text for the history is looked at decoded, and stays JSON.
func TestHistoryIsRedactedDecoded(t *testing.T) {
	p := storeLimits(config.Config{RedactHistory: true})
	token := strings.Repeat("aB3dE5", 6)
	got := string(
		p.Redact(
			[]byte(`{"a":"\u0067hp_` + token + `","b":"x\/y","c":"{\"client_secret\":\"s3cr3t\\\/value\"}","n":1.50}`),
		),
	)
	if want := `{"a":"[REDACTED]","b":"x\/y","c":"{\"client_secret\":\"[REDACTED]\"}","n":1.50}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
