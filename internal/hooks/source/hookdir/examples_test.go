package hookdir

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/hooktest"
)

const examples = "../../../../testdata/hooks/"

// runExample starts an example's script as the daemon would.
func runExample(t *testing.T, script, input string, env ...string) (stdout, stderr string, exit int) {
	t.Helper()
	path, err := filepath.Abs(examples + script)
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(path)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.TempDir(), strings.NewReader(input+"\n"), &out, &errs
	cmd.Env = append(os.Environ(), env...)
	err = cmd.Run()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestExampleGuard(t *testing.T) {
	for input, denied := range map[string]bool{
		`{"tool_input":{"command":"rm -rf /"}}`:       true,
		`{"c":"cd x\nrm -r -v -f y"}`:                 true,
		`{"c":"/bin/rm --force -R x"}`:                true,
		`{"c":"sudo rm\t-fvr x"}`:                     true,
		"{\"c\":\n\"rm --recursive --force x\"}":      true,
		`{"c":"rm -r x"}`:                             false,
		`{"c":"rm -f x; ls -r"}`:                      false,
		`{"c":"farm -rf x"}`:                          false,
		`{"tool_input":{"command":"git status -rf"}}`: false,
		`{}`: false,
	} {
		_, stderr, exit := runExample(t, "guard-rm/guard.sh", input)
		if got := exit == 2; got != denied || exit != 0 && exit != 2 {
			t.Errorf("%s: exit %d, denied should be %v", input, exit, denied)
		}
		if denied != strings.Contains(stderr, "rm -rf is not allowed") {
			t.Errorf("%s: stderr %q", input, stderr)
		}
	}
}

func TestExampleRedact(t *testing.T) {
	long := strings.Repeat(`a \"quoted\" line\n`, 50_000)
	for _, c := range []struct{ name, input, want string }{
		{"clean", `{"tool_output":"ok"}`, ""},
		{"absent", `{}`, ""},
		{"not_text", `{"tool_output":null,"b":"token=abcd"}`, ""},
		{"escapes", `{"a":{"tool_output":"x"},"tool_output" : "\"token\": \"abc\" password=hunter2\nAKIAABCDEFGHIJKLMNOP C:\\\\","z":1}`,
			`{"tool_output":"\"token\": \"[redacted]\" password=[redacted]\n[redacted] C:\\\\"}`},
		{"name_as_value", `{"k":"tool_output","tool_output":"Bearer abcdefgh123"}`, `{"tool_output":"Bearer [redacted]"}`},
		{"name_in_list", `{"x":["tool_output","password=a"],"tool_output":"a secret: b c"}`, `{"tool_output":"a secret: [redacted] c"}`},
		{"key", `{"tool_output":"-----BEGIN RSA PRIVATE KEY-----\nabc-d\n-----END RSA PRIVATE KEY-----\n"}`, `{"tool_output":"[redacted]\n"}`},
		{"masked_already", `{"tool_output":"password: [redacted]"}`, ""},
		{"long", `{"tool_output":"` + long + `api_key=x"}`, `{"tool_output":"` + long + `api_key=[redacted]"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, exit := runExample(t, "redact-output/redact.sh", c.input)
			if got := strings.TrimSuffix(stdout, "\n"); exit != 0 || stderr != "" || got != c.want {
				t.Errorf("exit %d, stderr %q, stdout %.200q, want %.200q", exit, stderr, got, c.want)
			}
		})
	}
}

func TestExampleAuditLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	for _, data := range []string{`{"a":1}`, "{\n\"b\":\r\n2}"} {
		if _, stderr, exit := runExample(t, "audit-log/run.sh", data, "AUDIT_LOG_FILE="+file, "HOOK_EVENT=agent:end", "HOOK_EVENT_DATA="+data); exit != 0 {
			t.Fatalf("exit %d: %s", exit, stderr)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[0], ` agent:end {"a":1}`) || !strings.HasSuffix(lines[1], ` agent:end { "b":  2}`) {
		t.Errorf("log = %q", text)
	}
}

// All but the documented example, which stays as it was found.
func TestExamplesPassShellcheck(t *testing.T) {
	hooktest.NeedTool(t, "shellcheck")
	scripts, err := filepath.Glob(examples + "*/*.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		if strings.Contains(script, "notify-on-end") {
			continue
		}
		if out, err := exec.Command("shellcheck", script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
	}
}
