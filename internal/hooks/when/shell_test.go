package when

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/facts/shelltest"
)

// findPush is git as it finds its subcommand: behind options, and the values of some.
const findPush = `while :; do
	case $1 in
	-C | -c) shift 2 ;;
	-*) shift ;;
	*) break ;;
	esac
done
exec m1 "$1"
`

// A condition on a command is never looser than the shell: in random lines, whatever
// they are wrapped in, a command that bash runs is a command that is found. The
// programs are stand-ins that note how they were called. HOOKD_LINES is how many lines
// are tried; unset = as many as take a few seconds.
func TestNoCommandOfAShellIsMissed(t *testing.T) {
	bash := shelltest.New(t, "bash")
	bash.Program("git", findPush)
	p := compiled(t, "git push")
	lines, seed := 80, uint64(7)
	if n, err := strconv.Atoi(os.Getenv("HOOKD_LINES")); err == nil {
		lines, seed = n, rand.Uint64()
	}
	random := rand.New(rand.NewPCG(seed, 11))
	ran := 0
	for range lines {
		line := randomLine(random)
		calls := bash.Run(line)
		if !slices.ContainsFunc(calls, func(c []string) bool { return slices.Equal(c, []string{"m1", "push"}) }) {
			continue
		}
		ran++
		if read := facts.Line(line, facts.Env{}); !has(read, &p) {
			t.Errorf("bash runs git push, which is not found in %q: %+v", line, read.Commands)
		}
	}
	if ran < lines/2 {
		t.Errorf("only %d of the lines ran the command: they say little", ran)
	}
}

// Each call that bash makes of a line is found by a condition on its program, and on its
// program and first word.
func TestCallsOfBashAreFound(t *testing.T) {
	bash := shelltest.New(t, "bash")
	for _, line := range shelltest.Lines() {
		calls := bash.Run(line)
		if len(calls) == 0 {
			continue
		}
		read := facts.Line(line, facts.Env{})
		for _, call := range calls {
			text := call[0]
			if len(call) > 1 && strings.Trim(call[1], "abcdefghijklmnopqrstuvwxyz") == "" {
				text += " " + call[1]
			}
			if p := compiled(t, text); !has(read, &p) {
				t.Errorf("bash runs %q, and %q is not found in %q: %+v", call, text, line, read.Commands)
			}
		}
	}
}

// randomLine is a call of git push, in some spelling, within a few other constructs.
func randomLine(r *rand.Rand) string {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	git := pick([]string{"git", `\git`, `"git"`, `g''it`, `$'git'`, `$'\x67it'`, `$(echo git)`, "`echo git`",
		`${A:-git}`, "$G", `"$G"`, "g{it,}", "gi?", "$PWD/../bin/git", "../bin/git"})
	options := pick([]string{"", "", " -C .", " -c a.b=c", " --no-pager", ` -C "$PWD"`, " -P -C ."})
	push := pick([]string{"push", "push", `p\ush`, `"push"`, "pu''sh", `$'pu\163h'`, "$(echo push)", "$P",
		"{push,-f}", "push origin main --force"})
	line := pick([]string{"", "G=git; P=push; "}) + git + options + " " + push
	for range r.IntN(4) {
		line = wrapped(r, line)
	}
	return line
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// wrapped is a construct in which a shell runs the line.
func wrapped(r *rand.Rand, line string) string {
	q := quote(line)
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(line)
	wraps := []string{
		"true && " + line, "false || " + line, "( " + line + " )", "{ " + line + "; }", "! " + line, line + " ; true",
		"if true; then " + line + "; fi", "for i in 1; do " + line + "; done", "while " + line + "; do break; done",
		"case x in x) " + line + ";; esac", "f() { " + line + "; }; f", "echo $(" + line + ")",
		`echo "$(` + line + `)"`,
		": ${X:=$(" + line + ")}", "[[ -z $(" + line + ") ]]", "cat <(" + line + ")", "true | { " + line + "; }",
		line + " > out", line + " 2>&1 | cat", line + " & wait", "trap " + q + " EXIT", "eval " + q, "bash -c " + q,
		"sh -c " + q,
		`bash -c "` + escaped + `"`, "bash -ec " + q, "env bash -c " + q, "env A=1 sh -c " + q,
		"nice -n 1 bash -c " + q,
		"timeout 9 bash -c " + q, "nohup bash -c " + q, "setsid -w bash -c " + q, "command bash -c " + q,
		"exec bash -c " + q,
		"xargs -I{} bash -c " + q + " <<< x", "echo x | xargs -I{} bash -c " + q,
		"find . -maxdepth 0 -exec bash -c " + q + ` \;`,
		"echo " + q + " | bash", "printf '%s\\n' " + q + " | sh", "bash <<< " + q, "bash <<'EOF'\n" + line + "\nEOF\n",
		"L=" + q + `; eval "$L"`, "L=" + q + `; bash -c "$L"`, "L=" + q + "; export L; bash -c 'eval \"$L\"'",
		"echo " + base64.StdEncoding.EncodeToString([]byte(line)) + " | base64 -d | sh", `sh -c '"$@"' _ bash -c ` + q,
		"echo " + q + " > s; bash s", "echo " + q + " > s; . ./s",
		"sed -n " + quote("1e "+line) + " /dev/null; " + line,
		"awk " + quote(`BEGIN { system("`+strings.ReplaceAll(line, `"`, `\"`)+`") }`), "A=1 bash -c " + q,
		"shopt -s expand_aliases\nalias ls=" + q + "\nls", fmt.Sprintf("echo %s | tr a-z a-z | sh", q),
		"# comment\n" + line,
		"echo it\\'s; " + line, "(( 1 )) && " + line, "coproc { " + line + "; }; wait",
		"until " + line + "; do break; done",
		"select i in x; do " + line + "; break; done <<< 1", "bash -c 'bash -c \"$0\"' " + q,
		"source <(echo " + q + ")",
		"mapfile -C " + quote("bash -c "+q+" #") + " -c 1 <<< x",
	}
	return wraps[r.IntN(len(wraps))]
}
