package facts

import (
	"fmt"
	"strings"
	"testing"
)

// ordinaryLines are the lines that agents mostly run.
var ordinaryLines = []string{
	"git status --short", "go test ./internal/... 2>&1 | tail -20", `grep -rn "func main" --include='*.go' . | head`,
	"cd /home/me/project && npm run build", `git commit -m "facts: read a line once"`, "ls -la src && cat package.json",
}

func full(pattern string) string { return strings.Repeat(pattern, boundedLine/len(pattern)) }

// nested puts parts around one another to the size of a bounded line.
func nested(before, inner, after string) string {
	n := (boundedLine - len(inner)) / (len(before) + len(after))
	return strings.Repeat(before, n) + inner + strings.Repeat(after, n)
}

// worstLines are lines of 16 KiB that ask for more work than their length.
func worstLines() map[string]string {
	quotes := func(n int) string { // a shell in a shell, each with the quotes that it needs
		line := "rm x"
		for range n {
			next := "sh -c '" + strings.ReplaceAll(line, "'", `'\''`) + "'"
			if len(next) > boundedLine {
				break
			}
			line = next
		}
		return line
	}
	heredocs := func() string {
		var b strings.Builder
		for i := 0; b.Len() < boundedLine-40; i++ {
			fmt.Fprintf(&b, "cat <<E%d\n$(x)\nE%d\n", i, i)
		}
		return b.String()
	}
	doubling := func(step string) string { // each variable is the one before it twice
		var b strings.Builder
		b.WriteString("a0='rm x;'; ")
		for i := 1; i < 60; i++ {
			fmt.Fprintf(&b, step, i, i-1)
		}
		return b.String() + `; eval "$a59"; $a59`
	}
	functions := func() string { // each function calls the one before it twice
		var b strings.Builder
		b.WriteString("f0() { rm x; }; ")
		for i := 1; i < 60; i++ {
			fmt.Fprintf(&b, "f%d() { f%d; f%d; }; ", i, i-1, i-1)
		}
		return b.String() + "f59"
	}
	return map[string]string{
		"one-word":    full("a"),
		"words":       full("a "),
		"commands":    full("ls;"),
		"unknown":     full("foo;"),
		"pipes":       full("a|") + "a",
		"and":         full("a&&") + "a",
		"variables":   full("$a "),
		"assignments": full("a=b "),
		"sets":        full("a=b;"),
		"many-variables": func() (s string) {
			for i := 0; len(s) < boundedLine-60; i++ {
				s += fmt.Sprintf("a%d=$b && ", i)
			}
			return s + "ls"
		}(),
		"substitutions":  nested("$(", "rm x", ")"),
		"quoted-substs":  nested(`"$(`, "rm x", `)"`),
		"backquotes":     full("`a`"),
		"defaults":       nested("${x:-", "y", "}"),
		"echo-defaults":  "echo " + nested("${x:-", "y", "}"),
		"alternates":     "echo " + nested("${x:+", "$(rm x)", "}"),
		"braces":         "echo " + full("{a,b}"),
		"nested-braces":  "echo " + nested("{a,", "b", "}"),
		"open-braces":    "echo " + full("{a,"),
		"pwsh-parts":     "pwsh -c '\"" + full("$b=x;") + "\"'",
		"ranges":         "echo " + full("{1..1000}"),
		"braces-command": full("{a,b}{c,d}{e,f};"),
		"quotes":         full(`'"'"`),
		"single-quotes":  "echo " + full("'a'b"),
		"double-quotes":  "echo " + full(`"a"b`),
		"escapes":        full(`\a`),
		"ansi":           "echo $'" + full(`\x41`) + "'",
		"subshells":      nested("( ", "ls", " )"),
		"blocks":         nested("{ ", "ls;", "};"),
		"ifs":            nested("if a; then ", "b", "; fi"),
		"loops":          nested("for i in a b; do ", "rm $i", "; done"),
		"whiles":         nested("while a; do ", "b", "; done"),
		"cases":          nested("case a in a) ", "b", ";; esac"),
		"functions":      nested("f() { ", "a", "; }; f"),
		"doubling-calls": functions(),
		"doubling-vars":  doubling(`a%d="$a%[2]d$a%[2]d"; `),
		"doubling-echo":  doubling(`a%d=$(echo "$a%[2]d" "$a%[2]d"); `),
		"appends":        "a=x; " + full(`a+="$a"; `),
		"split-words":    "IFS=,; a=" + full("b,") + "; rm $a",
		"split-again":    "a='" + strings.Repeat("b ", 4000) + "'; " + strings.Repeat("rm $a;", 1000),
		"many-operands":  "rm " + full("a "),
		"many-files": "rm " + func() (s string) {
			for i := 0; len(s) < boundedLine-20; i++ {
				s += fmt.Sprintf("f%d ", i)
			}
			return s
		}(),
		"redirects":       "a " + full(">b "),
		"heredocs":        heredocs(),
		"heredoc-lists":   "cat " + full("<<E ") + "\nE\n",
		"here-strings":    full("a<<<b;"),
		"processes":       "cat " + full("<(a) "),
		"arithmetic":      "echo $((" + full("1+") + "1))",
		"parentheses":     "echo $((" + nested("(", "1", ")") + "))",
		"indexes":         full("a[b]=c "),
		"nested-index":    nested("a[", "1", "]") + "=1",
		"evals":           strings.Repeat("eval ", 3000) + "rm x",
		"sudos":           strings.Repeat("sudo ", 3200) + "rm x",
		"envs":            strings.Repeat("env A=b ", 2000) + "rm x",
		"xargs":           strings.Repeat("xargs ", 2700) + "rm x",
		"finds":           nested("find . -exec ", "rm {}", ` \;`),
		"shells":          strings.Repeat("sh -c ", 2700) + "rm",
		"nested-shells":   quotes(40),
		"echo-pipes":      nested("echo '", "rm x", "' | sh"),
		"printf-pipes":    "printf '" + full("%s") + "' " + strings.Repeat("a ", 100) + "| sh",
		"traps":           full("trap 'a' EXIT;"),
		"trap-in-trap":    "trap 'trap \"rm x\" EXIT' EXIT; " + full("trap 'a b c' DEBUG;"),
		"aliases":         full("alias a=b;"),
		"exports":         full("export a=b;"),
		"arrays":          "a=(" + full("b ") + `); rm "${a[@]}"; rm "${a[@]}"; rm "${a[@]}"`,
		"array-calls":     "a=(" + strings.Repeat("b ", 4000) + "); " + strings.Repeat(`rm "${a[@]}";`, 500),
		"parameters":      "set -- " + strings.Repeat("b ", 4000) + "; " + strings.Repeat(`rm "$@";`, 700),
		"case-patterns":   "case a in " + full("a|") + "b) c;; esac",
		"globs":           "rm " + full("*?[a]"),
		"glob-braces":     "ls '" + full("{a,b}*") + "'",
		"tildes":          "ls " + full("~a "),
		"comments":        full("#a\n"),
		"continued":       full("a\\\n"),
		"unended":         full("a('"),
		"unended-subst":   full("$("),
		"unended-if":      full("if "),
		"not-text":        full("\xff\x00"),
		"python":          "python3 -c '" + full("f(") + "'",
		"python-calls":    "python3 -c '" + full("os.system(x);") + "'",
		"python-sums":     "python3 -c 'a=1\n" + full("a=a+a\n") + "os.system(a)'",
		"node":            "node -e '" + full("`${") + "'",
		"sql":             "psql -c '" + full("drop table a;") + "'",
		"sed":             "sed '" + full("s/a/b/;") + "' f",
		"awk":             "awk '" + full("{print}") + "' f",
		"powershell":      "pwsh -c '" + full("rm a;") + "'",
		"make":            "make -f - <<'E'\n" + full("a:\n\trm x\n") + "E\n",
		"make-sums":       "make -f - <<'E'\na=x\n" + full("a=$(a)$(a)\n") + "E\n",
		"powershell-sums": "pwsh -c '$a=\"x\";" + full("$a=\"$a$a\";") + "rm $a'",
		"node-sums":       "node -e 'a=\"x\";" + full("a=`${a}${a}`;") + "fs.rmSync(a)'",
		"python-joins":    "python3 -c 'a=[\"x\"]\n" + full("a=[a,a]\n") + "os.system(a)'",
		"python-calls-of": "python3 -c 'import os;" + full("os.path.join(") + "'",
		"printf-sums":     "a=x; " + full(`printf -v a %s%s "$a" "$a";`) + ` rm "$a"`,
		"repeated-values": "a=" + strings.Repeat("x", 8000) + `; rm ` + strings.Repeat(`"$a" `, 1000),
		"sql-names":       "psql -c '" + full("drop table a.b, c.d;") + "'",
		"awk-system":      "awk '" + full("BEGIN{system(x)}") + "'",
		"perl":            "perl -e '" + full("unlink x;") + "'",
		"ruby":            "ruby -e '" + full("`rm x`;") + "'",
		"git-options":     "git " + full("-c a=b ") + "push",
		"long-options":    "git push " + full("--f "),
		"clusters":        "rm -" + full("rf"),
		"made-files":      full("echo a>b;./b;"),
		"links":           full("ln -s a b;rm b;"),
		"folders":         full("cd a;"),
		"kills":           full("pkill a;"),
		"hosts":           full("ssh a b;"),
	}
}

// Any line of 16 KiB is read in bounded time and memory. The part over a limit is a doubt.
func TestWorstLines(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector takes several times as much")
	}
	for name, line := range worstLines() {
		t.Run(name, func(t *testing.T) {
			Line(line, fuzzEnv) // tables and globs are read once
			if line = line[:min(len(line), boundedLine)]; len(line) == boundedLine {
				Line(line, fuzzEnv)
			}
			checkLine(t, line)
		})
	}
}

func BenchmarkLine(b *testing.B) {
	for i, line := range ordinaryLines {
		b.Run(fmt.Sprint("ordinary-", i), func(b *testing.B) { read(b, line) })
	}
	for name, line := range worstLines() {
		b.Run("worst-"+name, func(b *testing.B) { read(b, line[:min(len(line), boundedLine)]) })
	}
}

func read(b *testing.B, line string) {
	b.ReportAllocs()
	for b.Loop() {
		Line(line, fuzzEnv)
	}
}
