package secrets

import (
	"encoding/json"
	"strings"
	"testing"
)

// adversarial are parts of texts in which each key word may be the beginning
// of a secret that never ends, or hides another.
func adversarial() (units []string) {
	for _, r := range loaded().all {
		for _, k := range r.Keywords {
			units = append(units, k)
			if r.Value != "" {
				units = append(units, k+"=", k+"_A=")
			}
		}
	}
	for _, name := range []string{"PASSWORD", "--password", "client_secret", `"pass"`, "token"} {
		for _, sign := range []string{"=", ": ", "=\"", ":'", "=>", `\"`, `={"`, ` `, "=a1B2c3D4=", "=[REDACTED"} {
			units = append(units, name+sign)
		}
	}
	return append(units, `"`, `\`, "=", ":", "{", "[", `{"a":`, `\"`, `\\\"`, `\u0022`, "[REDACTED]", "'", "`", "://a:", "Bearer ", "eyJ",
		"-----BEGIN PRIVATE KEY-----", `{"name":"PASSWORD","value":"`, `["--password","`, `"{\"password\":\"`)
}

// The bytes that expressions read for nothing grow with the text, not with its square.
// So does the number of looks at the text. The test counts bytes and looks, no time.
func TestWorkIsLinear(t *testing.T) {
	const n = 2 << 10
	for _, unit := range adversarial() {
		text := strings.Repeat(unit, n/len(unit)+1)
		_, f := find(text)
		if most := firstFuel + fuelPerByte*len(text) + 2*(16<<10); f.spent > most {
			t.Errorf("%q: expressions read %d bytes of %d, want at most %d", unit, f.spent, len(text), most)
		}
		looks := 0
		for spans := []span{{}}; len(spans) > 0; looks++ {
			if spans = newSearch(text).spans(text); len(spans) > 0 {
				text = replace(text, widened(spans, text, looks+1))
			}
		}
		if looks > 8 {
			t.Errorf("%q: %d looks", unit, looks)
		}
		if again := Redact(text); again != text {
			t.Errorf("%q: what was redacted changes again", unit)
		}
	}
}

// A text that takes more than it may is cut where it was not read. It keeps the
// parts around the cut.
func TestWhatIsNotReadIsCut(t *testing.T) {
	text := `{"first":"fine","x":"` + strings.Repeat("ghp_", 16<<10) + `","last":"fine"}`
	got, changed := RedactJSON(json.RawMessage(text), "", nil)
	if !changed || !json.Valid(got) || len(got) > len(text)*3/4 {
		t.Errorf("changed %v, valid %v, %d bytes of %d", changed, json.Valid(got), len(got), len(text))
	}
	if s := string(got); !strings.HasPrefix(s, `{"first":"fine"`) || !strings.HasSuffix(s, `"last":"fine"}`) {
		t.Errorf("the rest is %.40q … %.40q", s, s[max(0, len(s)-40):])
	}
}
