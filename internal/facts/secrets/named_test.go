package secrets

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

//go:embed testdata/lookalikes.txt
var lookalikes string

func lines() []string { return strings.Split(strings.TrimSpace(lookalikes), "\n") }

// No line of testdata/lookalikes.txt has a secret, however it is wrapped.
func TestLookAlikes(t *testing.T) {
	if n := len(lines()); n < 70 {
		t.Fatalf("%d look-alikes, want 70 at least", n)
	}
	for _, line := range lines() {
		for _, text := range []string{line, "a\n" + line + "\nb", nested(1, line), nested(2, line), `{"command":` + nested(1, line) + `}`} {
			if got := Redact(text); got != text {
				t.Errorf("got  %q\nwant %q", got, text)
			}
		}
	}
}

// nested is text as a JSON string, in a JSON string, n times.
func nested(n int, text string) string {
	for range n {
		quoted, err := json.Marshal(text)
		if err != nil {
			panic(err)
		}
		text = string(quoted)
	}
	return text
}

// Each name, in each form that a value is given to it, with each kind of value
// that the form can hold, loses the value and nothing else.
func TestNamedValues(t *testing.T) {
	names := []string{"access_token", "refresh_token", "client_secret", "password", "ACCESS_TOKEN", "accessToken", "clientSecret",
		"db_password", "DB_PASSWORD", "refresh-token", "id_token", "userPassword", "passwd"}
	values := []string{"hunter2hunter", "q7Zk2Xv9Lm4TbR8sYw1P", "s3cr3t-v4lue_1", "0a1b2c3d.4e5f6a7b~"}
	forms := []string{
		`{"%s":"%s"}`, `{"%s" : "%s", "x": 1}`, `{'%s': '%s'}`, `"%s": "%s"`, `?a=b&%s=%s&c=d`, `https://example.org/cb?%s=%s`, `%s=%s`,
		`a=1&%s=%s`, `%s = "%s"`, `%s='%s'`, `%s: "%s"`, "%s: %s", `%s := "%s"`, `export %s=%s`, `--%s %s`, `--%s=%s`, `--%s "%s"`, `--%s='%s' run`,
		`["--%s","%s"]`, `["--%s=%s"]`, `<%s>%s</x>`, `config["%s"] = "%s"`, `X-%s: %s`, `run -D%s=%s now`, `{"name":"%s","value":"%s"}`, "tool --%s \\\n  %s",
		`user=bob, %s=%s, host=db`, "\x1b[31m%s=%s\x1b[0m", `{"%s":["%s"]}`,
	}
	for _, f := range forms {
		for _, n := range names {
			for _, v := range values {
				text, want := fmt.Sprintf(f, n, v), fmt.Sprintf(f, n, Marker)
				for depth := range 4 {
					if got := Redact(nested(depth, text)); got != nested(depth, want) {
						t.Errorf("depth %d: got  %s\nwant %s", depth, got, nested(depth, want))
					}
				}
			}
		}
	}
}

func TestNamed(t *testing.T) {
	jwt := "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0NSJ9." + fill(86)
	for _, tt := range []struct{ in, want string }{
		{"PASSWORD=hunter", "PASSWORD=[REDACTED]"},
		{"mysql -u bob --password hunter", "mysql -u bob --password [REDACTED]"},
		{"password=correcthorse", "password=[REDACTED]"},
		{"password=123456", "password=[REDACTED]"},
		{`{"password":"hunter"}`, `{"password":"[REDACTED]"}`},
		{`{"password":"correct horse, \"battery\" & staple"}`, `{"password":"[REDACTED]"}`},
		{`{"user":"bob","pass":"hunter2"}`, `{"user":"bob","pass":"[REDACTED]"}`},
		{`{"pass\u0077ord":"hunter"}`, `{"pass\u0077ord":"[REDACTED]"}`},
		{`{"env":[{"name":"DB_PASSWORD","value":"hunter"}]}`, `{"env":[{"name":"DB_PASSWORD","value":"[REDACTED]"}]}`},
		{`{"GH_TOKEN":"a1b2c3d4e5f6"}`, `{"GH_TOKEN":"[REDACTED]"}`},
		{`{"headers":{"Authorization":"Bearer a1b2c3d4e5f6g7h8"}}`, `{"headers":{"Authorization":"Bearer [REDACTED]"}}`},
		{"curl -H 'Authorization: Bearer s3cr3t-v4lue'", "curl -H 'Authorization: Bearer [REDACTED]'"},
		{"ALTER USER bob PASSWORD 'hunter'", "ALTER USER bob PASSWORD '[REDACTED]'"},
		{"--token=" + fill(20), "--token=[REDACTED]"},
		{`{"` + "ghp_" + fill(36) + `":1}`, `{"[REDACTED]":1}`},
		{"ghs_1234567_" + jwt + " ok", "[REDACTED] ok"},
		{"ghs_" + jwt + ".", "[REDACTED]."},
		{"ghs_12_abc123.def456." + fill(20), "ghs_12_abc123.def456." + fill(20)},
		{"https://x-access-token:ghs_1234567_" + jwt + "@github.com/a/b", "https://x-access-token:[REDACTED]@github.com/a/b"},
		{"ghs_1234567_" + fill(30) + "." + fill(30) + "." + fill(30), "[REDACTED]"},
	} {
		for depth := range 4 {
			if got := Redact(nested(depth, tt.in)); got != nested(depth, tt.want) {
				t.Errorf("depth %d: got  %s\nwant %s", depth, got, nested(depth, tt.want))
			}
		}
	}
}

// A secret is found whichever of its characters are written as escapes, at any
// depth. That holds in JSON and in a cut-off part of JSON. The rest stays as it
// is.
func TestEscapes(t *testing.T) {
	for _, secret := range []string{"ghp_" + fill(36), "glpat-" + fill(20), "AKIAIOSFODNN7EXAMPLE"} {
		for _, escaped := range []string{
			secret, fmt.Sprintf(`\u%04x`, secret[0]) + secret[1:], secret[:3] + fmt.Sprintf(`\u%04X`, secret[3]) + secret[4:], escapeAll(secret),
		} {
			for _, around := range []string{
				`{"a\/b":"x\/\u0079 %s \/z","n":1.50}`, `"%s"`, "{\"a\" : [ \"%s\" ]}\n{\"b\":2}", `{"cut":"off %s`, `level=info body={"a":"%s"}`, `{"%s":true}`,
			} {
				text, want := fmt.Sprintf(around, escaped), fmt.Sprintf(around, Marker)
				for depth := range 5 {
					if got := Redact(nested(depth, text)); got != nested(depth, want) {
						t.Errorf("depth %d: got  %s\nwant %s", depth, got, nested(depth, want))
					}
				}
			}
		}
	}
	aws := `{"AWS_SECRET_ACCESS_KEY":"wJalrXUtnFEMI\/K7MDENG\/bPxRfiCYEXAMPLEKEY"}`
	if got := Redact(aws); got != `{"AWS_SECRET_ACCESS_KEY":"[REDACTED]"}` {
		t.Errorf("got %s", got)
	}
	if text := `{"a":"` + strings.Repeat(`\ud83d\ude00\ud83d\/`, 50) + `ghp_` + fill(36) + `"}`; !strings.HasSuffix(Redact(text), `\/[REDACTED]"}`) {
		t.Errorf("got %s", Redact(text))
	}
}

func escapeAll(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

// Text that is escaped without end costs no more than a few times its length.
func TestEndlessEscapes(t *testing.T) {
	deep := `\` + strings.Repeat("u005c", 200_000)
	w := newSearch(deep)
	w.spans(deep)
	if w.left < 0 {
		t.Errorf("decoded %d bytes more than allowed", -w.left)
	}
}

func FuzzRedactJSON(f *testing.F) {
	f.Add(`{"password":"hunter2","a":["--token","q7Zk2Xv9Lm4TbR8sYw1P"],"b":"{\"client_secret\":\"a\\u0062c1234567\"}"}`)
	f.Add(`[{"name":"PASSWORD","value":"\ud83d\u0041\/"}]`)
	for _, line := range lines() {
		f.Add(nested(2, line))
	}
	f.Fuzz(func(t *testing.T, s string) {
		if found := newSearch(s).spans(s); harmless(s) && len(found) > 0 {
			t.Errorf("%q counts as harmless, and has %v", s, found)
		}
		once := Redact(s)
		if json.Valid([]byte(s)) && !json.Valid([]byte(once)) {
			t.Errorf("Redact(%s) = %s is not JSON", s, once)
		}
		if again := Redact(once); again != once {
			t.Errorf("Redact(%q) = %q, and again %q", s, once, again)
		}
		if plain := encoded(s, []span{{0, len(decode(s))}}); plain[0] != (span{0, len(s)}) {
			t.Errorf("all of decode(%q) is %v", s, plain)
		}
	})
}
