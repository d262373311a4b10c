package secrets

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookd/hookd/internal/base/hooktest"
)

// fill makes n letters and digits that follow no pattern a person would write.
func fill(n int) string {
	return strings.Repeat("q7Zk2Xv9Lm4TbR8sYw1P", n/20+1)[:n]
}

func hexes(n int) string { return strings.Repeat("3f9a0c7e1b5d2864", n/16+1)[:n] }

func TestRedact(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing", "nothing here", "nothing here"},
		{"empty", "", ""},
		{"marker", "password [REDACTED]", "password [REDACTED]"},
		{"postgres", "psql postgres://app:s3cr3tpassw0rd@db.internal:5432/main", "psql postgres://app:[REDACTED]@db.internal:5432/main"},
		{"postgres-letters", "postgres://app:hunter@db/main", "postgres://app:[REDACTED]@db/main"},
		{"postgres-no-password", "postgres://app@db/main", "postgres://app@db/main"},
		{"postgres-variable", "postgres://app:$PGPASS@db/main", "postgres://app:$PGPASS@db/main"},
		{"redis-no-user", "redis://:p4ssw0rd@cache:6379/0", "redis://:[REDACTED]@cache:6379/0"},
		{"https-token", "git clone https://x-access-token:" + fill(40) + "@github.com/a/b", "git clone https://x-access-token:[REDACTED]@github.com/a/b"},
		{"https-port", "http://localhost:8080/path@v1", "http://localhost:8080/path@v1"},
		{"gitlab", "token=glpat-abcdefghij0123456789 ok", "token=[REDACTED] ok"},
		{"github-no-checksum", "ghp_1234567890abcdefghijABCDEFGHIJ123456", "[REDACTED]"},
		{"github-in-word", "xghp_" + fill(36), "xghp_" + fill(36)},
		{"two-in-a-row", "AKIAIOSFODNN7EXAMPLE AKIAIOSFODNN7EXAMPLE", "[REDACTED] [REDACTED]"},
		{"aws-example", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AWS_SECRET_ACCESS_KEY=[REDACTED]"},
		{"aws-yaml", "aws_secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'", "aws_secret_access_key: '[REDACTED]'"},
		{"aws-camel-json", `{"SecretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}`, `{"SecretAccessKey": "[REDACTED]"}`},
		{"stripe", "STRIPE=sk_live_" + fill(24), "STRIPE=[REDACTED]"},
		{"escaped-line-break", `{"out":"a\nghp_` + fill(36) + `\nb"}`, `{"out":"a\n[REDACTED]\nb"}`},
		{"url-escape", "next=%3Dghp_" + fill(36) + "&b=1", "next=%3D[REDACTED]&b=1"},
		{"colour", "\x1b[1;31mghp_" + fill(36) + "\x1b[0m", "\x1b[1;31m[REDACTED]\x1b[0m"},
		{"bearer", "Authorization: Bearer " + fill(30), "Authorization: Bearer [REDACTED]"},
		{"bearer-json", `{"Authorization": "Bearer ` + fill(30) + `"}`, `{"Authorization": "Bearer [REDACTED]"}`},
		{"bearer-word", "Authorization: Bearer token", "Authorization: Bearer token"},
		{"jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + fill(43), "[REDACTED]"},
		{"pem", "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(fill(64)+"\n", 4) + "-----END RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----[REDACTED]-----END RSA PRIVATE KEY-----"},
		{"pem-escaped", `"-----BEGIN PRIVATE KEY-----\n` + strings.Repeat(fill(64)+`\n`, 3) + `-----END PRIVATE KEY-----\n"`, `"-----BEGIN PRIVATE KEY-----[REDACTED]-----END PRIVATE KEY-----\n"`},
		{"pem-cut-off", "-----BEGIN OPENSSH PRIVATE KEY-----\n" + fill(64) + "\n" + fill(30), "-----BEGIN OPENSSH PRIVATE KEY-----[REDACTED]"},
		{"pem-mentioned", "it begins with -----BEGIN PRIVATE KEY----- and ends", "it begins with -----BEGIN PRIVATE KEY----- and ends"},
		{"pem-public", "-----BEGIN PUBLIC KEY-----\n" + fill(64), "-----BEGIN PUBLIC KEY-----\n" + fill(64)},
		{"env-file", "DB_PASSWORD=c0rrect-h0rse-battery\nDEBUG=1", "DB_PASSWORD=[REDACTED]\nDEBUG=1"},
		{"env-reference", "DB_PASSWORD=$OTHER_PASSWORD_1234", "DB_PASSWORD=$OTHER_PASSWORD_1234"},
		{"code-is-not-env", "password=someFunction2(argument)", "password=someFunction2(argument)"},
		{"openai", "sk-proj-" + fill(60) + "-x_y", "[REDACTED]"},
		{"anthropic", "key sk-ant-api03-" + fill(80) + "AA.", "key [REDACTED]."},
		{"slack-hook", "https://hooks.slack.com/services/T0ABCDEF/B0ABCDEF/" + fill(24), "https://hooks.slack.com/[REDACTED]"[:len("https://hooks.slack.com/")] + "services/[REDACTED]"},
		{"telegram", "curl https://api.telegram.org/bot123456789:AA" + fill(33) + "/getMe", "curl https://api.telegram.org/bot[REDACTED]/getMe"},
		{"datadog", "datadog.api_key = " + hexes(32), "datadog.api_key = [REDACTED]"},
		{"datadog-too-long", "datadog.api_key = " + hexes(33), "datadog.api_key = " + hexes(33)},
		{"heroku", "HEROKU_API_KEY=12345678-1234-1234-1234-123456789abc", "HEROKU_API_KEY=[REDACTED]"},
		{"netrc", "machine example.org login me password s3cret", "machine example.org login me password [REDACTED]"},
		{"sshpass", "sshpass -p hunter2 ssh host", "sshpass -p [REDACTED] ssh host"},
		{"docker-config", `{"auths":{"r.io":{"auth":"dXNlcjpwYXNzd29yZA=="}}}`, `{"auths":{"r.io":{"auth":"[REDACTED]"}}}`},
		{"overlapping", "token=ghp_" + fill(36) + "glpat-" + fill(20), "token=[REDACTED]-" + fill(20)},
		{"around-marker", "postgres://app:[REDACTED]@db and ghp_" + fill(36), "postgres://app:[REDACTED]@db and [REDACTED]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Redact(tt.in)
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if again := Redact(got); again != got {
				t.Errorf("again %q\nfirst %q", again, got)
			}
		})
	}
}

// A clean text comes back as it is, without a copy.
func TestCleanTextCostsNothing(t *testing.T) {
	text := strings.Repeat("2026-11-21 a line of log with a key, a token and a password in it\n", 1000)
	Redact(text)
	if n := testing.AllocsPerRun(5, func() { Redact(text) }); n > 4 {
		t.Errorf("got %v allocations, want a handful", n)
	}
}

// The lock file holds 20,000 packages of the makers whose secrets the rules
// know, with the hashes that npm, Cargo, Go and Python write: nothing in it is
// a secret.
func TestNoHitInLockFiles(t *testing.T) {
	text := lockFile(20000)
	for _, h := range Find(text) {
		t.Errorf("%s: %q in %q", h.Rule, text[h.Start:h.End], text[max(0, h.Start-80):min(len(text), h.End+20)])
	}
}

func lockFile(n int) string {
	var names []string
	for _, r := range loaded().all {
		if name := strings.Trim(r.Keywords[0], "-_="); !strings.ContainsAny(name, "=:/ \"$@") {
			names = append(names, name)
		}
	}
	var b strings.Builder
	for i := range n {
		name := names[i%len(names)]
		sum := sha512.Sum512([]byte(fmt.Sprint(name, i)))
		b64, hx := base64.StdEncoding.EncodeToString(sum[:]), hex.EncodeToString(sum[:32])
		fmt.Fprintf(&b, "    \"node_modules/@%s/%s-api-key\": {\n      \"version\": \"%d.2.3\",\n      \"resolved\": \"https://registry.example.org/%s/-/%s-%d.2.3.tgz\",\n      \"integrity\": \"sha512-%s\"\n    },\n", name, name, i%30, name, name, i%30, b64)
		fmt.Fprintf(&b, "[[package]]\nname = \"%s-token\"\nversion = \"0.%d.0\"\nchecksum = \"%s\"\n", name, i%90, hx)
		fmt.Fprintf(&b, "github.com/%s/%s-go v1.%d.0 h1:%s\n", name, name, i%9, base64.StdEncoding.EncodeToString(sum[:32]))
		fmt.Fprintf(&b, "%s-sdk==2.%d.1 \\\n    --hash=sha256:%s\n", name, i%50, hx)
	}
	return b.String()
}

// knownInGo explains every hit in the Go standard library, by file: all are
// credentials by form, put there as samples. None is a false one.
var knownInGo = map[string]string{
	"cmd/go/internal/auth/gitauth_test.go":           "sample answers of git credential",
	"cmd/go/testdata/vcstest/auth/or401.txt":         "sample passwords",
	"cmd/go/testdata/vcstest/auth/or404.txt":         "sample passwords",
	"cmd/go/testdata/vcstest/auth/ormanylines.txt":   "sample passwords",
	"cmd/go/testdata/vcstest/auth/oronelongline.txt": "sample passwords",
	"cmd/go/internal/auth/netrc_test.go":             "sample .netrc passwords",
	"cmd/go/internal/auth/userauth_test.go":          "sample Authorization headers",
	"cmd/go/testdata/script/goauth_netrc.txt":        "sample .netrc passwords",
	"cmd/go/testdata/script/goauth_userauth.txt":     "sample Authorization headers",
	"cmd/go/testdata/script/mod_auth.txt":            "sample .netrc passwords",
	"cmd/go/testdata/script/netrc_issue66832.txt":    "sample .netrc passwords",
	"crypto/tls/example_test.go":                     "a sample private key",
	"crypto/tls/testdata/example-key.pem":            "a sample private key",
	"crypto/x509/platform_root_key.pem":              "a private key of a test",
	"net/http/client_test.go":                        "passwords in URLs",
	"net/url/url_test.go":                            "passwords in URLs",
}

func TestGoStandardLibrary(t *testing.T) {
	if !hooktest.All() {
		t.Skip("reads the whole standard library")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	src := filepath.Join(strings.TrimSpace(string(root)), "src")
	files, size, hits := 0, 0, map[string]int{}
	err = filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files, size = files+1, size+len(data)
		rel, _ := filepath.Rel(src, path)
		for _, h := range Find(string(data)) {
			hits[filepath.ToSlash(rel)]++
			if knownInGo[filepath.ToSlash(rel)] == "" {
				t.Errorf("%s: %s: %.60q", rel, h.Rule, data[h.Start:h.End])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d bytes, hits: %v", files, size, hits)
}

func FuzzRedact(f *testing.F) {
	for _, r := range loaded().all {
		f.Add(r.Keywords[0] + "=" + fill(40))
	}
	f.Add("-----BEGIN PRIVATE KEY-----\n[REDACTED]" + fill(64))
	f.Add("postgres://a:b[REDACTED]@c")
	f.Add("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + fill(43))
	f.Fuzz(func(t *testing.T, s string) {
		if found := newSearch(s).spans(s); harmless(s) && len(found) > 0 {
			t.Errorf("%q counts as harmless, and has %v", s, found)
		}
		once := Redact(s)
		if again := Redact(once); again != once {
			t.Errorf("Redact(%q) = %q, and again %q", s, once, again)
		}
		if utf8.ValidString(s) && !utf8.ValidString(once) {
			t.Errorf("Redact(%q) = %q is not UTF-8", s, once)
		}
	})
}
