package familiar

import (
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/hooks/hook"
)

func TestArithmeticTakesWholeNumbersOnly(t *testing.T) {
	for _, tt := range []struct{ script, value, want string }{
		{`printf %s $(({{x}}))`, "7", "7"},
		{`printf %s $((3-{{x}}))`, "-5", "8"},
		{`printf %s $((3 * ({{x}} + 1)))`, "+2", "9"},
		{`printf %s "$(( {{x}} > 5 ? {{x}} : 5 ))"`, "010", "10"},
		{`printf %s $((2*$(printf %s {{x}})))`, "4", "8"},
		{"cat <<EOF\n$(({{x}}+1))\nEOF", "1", "2\n"},
		{"cat <<'EOF'\n$(({{x}}+1))\nEOF", "$(id)", "$(($(id)+1))\n"},
		{`printf '%s %s' $(({{x}})) '{{x}}'`, "007", "7 007"},
		{`printf %s "$(({{x}}))"`, "9223372036854775807", "9223372036854775807"},
	} {
		for name, shell := range shells(t) {
			stdout, stderr, exit := run(t, shell, t.TempDir(), compiled(t, tt.script), only(tt.value))
			if stdout != tt.want || exit != 0 {
				t.Errorf("%s: %s with %q printed %q, exit %d, %s; want %q", name, tt.script, tt.value, stdout, exit, stderr, tt.want)
			}
		}
	}
}

func TestArithmeticRefusesOtherValuesBeforeTheRun(t *testing.T) {
	s := compiled(t, `echo $(({{n}}+1))`)
	for _, value := range []string{"", " 1", "1.5", "1e3", "0x1f", "a[$(touch canary)]", "x=1", "1+1", "9223372036854775808", "-9223372036854775808", "1\n"} {
		if _, err := s.Bind(only(value)); err == nil || !strings.Contains(err.Error(), "{{n}} stands in arithmetic") {
			t.Errorf("Bind with %q: error %v, want one about arithmetic", value, err)
		}
	}
}

func TestCompileRejects(t *testing.T) {
	for _, tt := range []struct{ script, at, message string }{
		{"echo 'open", "1:6", "script: reached EOF without closing quote"},
		{"echo a\nif true; then\n  echo {{x}}\n", "2:1", "script: `if` statement must end with `fi`"},
		{"echo {{tool_name}} )", "1:20", "script:"},
		{"a=(1 {{x}})", "1:3", "arrays are a bash"},
		{"cat <(echo {{x}})", "1:5", ""},
		{"for {{x}} in a; do :; done", "1:5", "placeholder {{x}} cannot stand in a name"},
		{"cat <<{{x}}\na\n{{x}}\n", "1:5", "unclosed here-document"},
		{"cat <<a{{x}}", "1:5", ""},
		{"cat <<'a b'\n{{x}}\na b\n", "1:7", "delimiter of letters and digits"},
		{"echo ${{{x}}}", "1:8", "invalid parameter name"},
		{"echo $((1{{x}}))", "1:10", "part of a number or name"},
		{"echo $(($v{{x}}))", "1:11", "part of a number or name"},
		{"echo $((\"{{x}}\"))", "1:10", "within $((…))"},
		{"echo $((${v:-{{x}}}))", "1:14", "within $((…))"},
		{`echo "${v:-'{{x}}'}"`, "1:13", "in single quotes within double quotes"},
		{`echo "${v:-"{{x}}"}"`, "1:13", "in double quotes within double quotes"},
		{`echo "${v:-\{{x}}}"`, "1:13", "within double quotes"},
		{"cat <<EOF\n${v#{{x}}}\nEOF", "2:5", "pattern within a here-document"},
		{"cat <<EOF\n`echo \"\\\\n\" {{x}}`\nEOF", "2:1", "backquotes"},
		{"echo $'a\\nb' {{x}}", "1:6", "does not mean the same"},
		{"echo $'{{x}}'", "1:6", "does not mean the same"},
		{"echo $[{{x}}+1]", "1:6", "does not mean the same"},
		{"echo $[1+1] {{x}}", "1:6", "does not mean the same"},
		{"((v = {{x}}))", "1:1", "((…))"},
		{"v={{x}}; (( $v > 3 ))", "1:10", "((…))"},
		{"[[ {{x}} -gt 3 ]]", "1:1", "[["},
		{"a[{{x}}]=1", "1:1", "[ ] of an assignment"},
		{"f{{x}}() { :; }", "1:1", "invalid func name"},
		{"echo \x00", "1:1", "not UTF-8"},
		{strings.Repeat("#", maxScript+1), "1:1", "longer than"},
		{strings.Repeat("{{x}} ", maxMarks+1), "1:1", "more than 1000 placeholders"},
	} {
		s, problems := Compile(tt.script)
		if s != nil || len(problems) == 0 {
			t.Errorf("Compile(%.80q) = %v, %v; want problems", tt.script, s, problems)
			continue
		}
		p := problems[0]
		if got := p.String(); !strings.HasPrefix(got, ":"+tt.at+": ") || !strings.Contains(got, tt.message) || strings.ContainsFunc(got, func(r rune) bool { return r >= firstMark }) {
			t.Errorf("Compile(%.80q): %s; want %s: %s", tt.script, got, tt.at, tt.message)
		}
	}
}

func TestCompileWarnsOfProgramText(t *testing.T) {
	const command, text, computed = "is the name of a command", "is pasted into program text", "is computed with"
	for _, tt := range []struct{ script, want string }{
		{`{{x}} --version`, command},
		{`./{{x}}.sh`, command},
		{`sudo -u me {{x}}`, command},
		{`{{x}}=1`, command},
		{`eval "echo {{x}}"`, text},
		{`sh -c 'echo {{x}}'`, text},
		{`bash -lc "echo {{x}}"`, text},
		{`env A=b nice -n 3 sh -c "echo {{x}}"`, text},
		{`timeout 5 /bin/dash -ec 'echo {{x}}'`, text},
		{`sh {{x}}`, text},
		{`. {{x}}`, text},
		{`python3 -c 'print("{{x}}")'`, text},
		{`python3.11 -c "print('{{x}}')"`, text},
		{`perl -ne "print if /{{x}}/" f`, text},
		{`perl -e'print "{{x}}"'`, text},
		{`node --eval "{{x}}"`, text},
		{`awk '/{{x}}/ {print}' f`, text},
		{`awk -F: -v a=b "/{{x}}/" f`, text},
		{`sed 's/a/{{x}}/' f`, text},
		{`sed -n -e 's/a/{{x}}/' f`, text},
		{`jq ".{{x}}" f`, text},
		{`ssh host "ls {{x}}"`, text},
		{`sqlite3 db "select '{{x}}'"`, text},
		{`find . -exec sh -c 'echo {{x}}' \;`, text},
		{`ls | xargs -n 1 sh -c 'echo {{x}}'`, text},
		{"python3 <<'PY'\nprint('{{x}}')\nPY", text},
		{"sh <<EOF\necho {{x}}\nEOF", text},
		{`echo "echo {{x}}" | sh`, text},
		{`trap "echo {{x}}" EXIT`, text},
		{`unset {{x}}`, text},
		{`f() { local "{{x}}=1"; }`, text},
		{`export {{x}}`, text},
		{`[ -v {{x}} ]`, text},
		{`printf -v {{x}} a`, text},
		{`v={{x}}; eval "$v"`, text},
		{`v='{{x}}'; w="a $v"; sh -c "echo $w"`, text},
		{`export v={{x}}; sh -c "echo $v"`, text},
		{`for v in {{x}}; do $v; done`, command},
		{`v={{x}}; echo $((v + 1))`, computed},
		{`v={{x}}; echo $(($v + 1))`, computed},
		{`printf %s "$(sh -c "{{x}}")"`, text},
		{"printf %s `sh -c '{{x}}'`", text},
	} {
		s, problems := Compile(tt.script)
		if s == nil || len(problems) != 1 || !problems[0].Warning || !strings.Contains(problems[0].Message, tt.want) {
			t.Errorf("Compile(%q): %v; want one warning that it %s", tt.script, problems, tt.want)
		}
	}
}

func TestCompileIsSilentAboutSafeScripts(t *testing.T) {
	for _, script := range []string{
		`sh -c 'echo "$1"' sh {{x}}`,
		`python3 -c 'import sys; print(sys.argv[1])' {{x}}`,
		`python3 check.py '{{x}}'`,
		`awk -v "v={{x}}" '{print v}' f`,
		`sed -n 5p "{{x}}"`,
		`jq --arg v {{x}} '.[$v]' f`,
		`printf '%s' '{{json_context}}' | jq -r .tool_name`,
		`printf '%s' '{{json_context}}' | python3 -c 'import json,sys; json.load(sys.stdin)'`,
		`printf '%s' '{{json_context}}' | python3 read.py`,
		`grep -q "{{x}}" f; test "{{x}}" = a; cd "{{x}}"`,
		`n=$(printf %s '{{x}}' | wc -c); echo $((n + 1))`,
		`eval "$(ssh-agent)"; echo {{x}}`,
		`cat {{x}}; mkdir -p {{x}}; git commit -m "{{x}}"`,
		`export v={{x}} w="{{x}}"; f() { local "v={{x}}" w; }`,
		`[ {{x}} = a ] && test "{{x}}" -gt 1; printf '%s' {{x}}`,
		`{{`,
		`docker ps --format '{{.Names}}'`,
	} {
		if s, problems := Compile(script); s == nil || len(problems) > 0 {
			t.Errorf("Compile(%q): %v, want no problems", script, problems)
		}
	}
}

func TestAScriptWithoutPlaceholdersStaysAsItIs(t *testing.T) {
	for _, script := range []string{"", "\n", "echo hi\n", "echo $'a\\n'", "echo `date` # {{ }}\n", "((a))"} {
		if s, problems := Compile(script); s == nil || s.Text() != script || len(problems) > 0 {
			t.Errorf("Compile(%q) = %+v, %v; want it unchanged", script, s, problems)
		}
	}
}

func TestBindNamesUnknownVariablesOnce(t *testing.T) {
	s := compiled(t, `echo {{nope}} '{{nope}}' $(({{n}})) {{known}}`)
	bound, err := s.Bind(func(name string) (string, bool) { return "1", name != "nope" })
	if err != nil || len(bound.Unknown) != 1 || bound.Unknown[0] != "nope" {
		t.Errorf("unknown = %q, %v; want nope once", bound.Unknown, err)
	}
}

func TestManyLargeValuesComeFromFiles(t *testing.T) {
	s := compiled(t, `printf '%s' "{{a}}{{b}}{{c}}{{d}}" | wc -c`)
	value := strings.Repeat("v", 90<<10)
	bound, err := s.Bind(only(value))
	if err != nil || len(bound.Env) != 2 || len(bound.Files) != 2 {
		t.Fatalf("%d in the environment, %d in files, %v; want 2 and 2", len(bound.Env), len(bound.Files), err)
	}
	stdout, stderr, _ := run(t, "/bin/sh", t.TempDir(), s, only(value))
	if got := strings.TrimSpace(stdout); got != "368640" {
		t.Errorf("the script saw %s bytes, want 368640 (%s)", got, stderr)
	}
}

func TestAMissingValueFileFailsTheRun(t *testing.T) {
	s := compiled(t, `echo {{a}}; exit 0`)
	bound, err := s.Bind(only(strings.Repeat("v", 100<<10)))
	if err != nil || len(bound.Files) != 1 {
		t.Fatalf("%d files, %v", len(bound.Files), err)
	}
	broken := template{bound.Text}
	if stdout, _, exit := run(t, "/bin/sh", t.TempDir(), broken, nil); exit != 1 || stdout != "" {
		t.Errorf("without the file: exit %d, printed %q; want 1 and nothing", exit, stdout)
	}
}

func TestPromptsTakeValuesAsText(t *testing.T) {
	bound, err := Prompt{"Agent {{ agent_name }}: '{{x}}' {{.y}} {{x}}\n"}.Bind(func(name string) (string, bool) {
		return "$(" + name + ")\x00", name != "x"
	})
	if want := "Agent $(agent_name): '$(x)' {{.y}} $(x)\n"; err != nil || bound.Text != want || len(bound.Unknown) != 1 {
		t.Errorf("Bind = %q, unknown %q, %v; want %q, unknown x", bound.Text, bound.Unknown, err, want)
	}
}

func FuzzCompile(f *testing.F) {
	for _, spot := range spots {
		f.Add(spot.script)
	}
	f.Fuzz(func(t *testing.T, script string) {
		s, problems := Compile(script)
		if (s == nil) == !hook.Rejects(problems) {
			t.Fatalf("Compile(%q) = %v with problems %v", script, s, problems)
		}
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Line > 1+strings.Count(script, "\n") {
				t.Fatalf("Compile(%q): problem at %d:%d", script, p.Line, p.Column)
			}
		}
		if s == nil {
			return
		}
		if _, err := parseShell(s.Text()); err != nil {
			t.Fatalf("Compile(%q) = %q: %v", script, s.Text(), err)
		}
	})
}
