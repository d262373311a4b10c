package box

import (
	"slices"
	"strings"
	"testing"
)

func TestLineIsReadAsItWasWritten(t *testing.T) {
	for _, plain := range []string{"ls", "echo 'a b' \"$c\"", "a\nb", "it's", `'`, "printf '%s\\n' x && y", "ü"} {
		l := Line{Bridge: "/opt/my hookd/hookd-bridge", Profile: Project, Ticket: "a1", Shell: "bash", Plain: plain}
		got, ok := ReadLine(l.String())
		if !ok || got != l {
			t.Errorf("%q: %q was read as %+v, %v", plain, l.String(), got, ok)
		}
		l.Socket = "/run/my hookd.sock"
		if got, ok := ReadLine(l.String()); !ok || got != l {
			t.Errorf("%q: with a socket it was read as %+v, %v", plain, got, ok)
		}
		l.Enter = "cd 'a b' && "
		if got, ok := ReadLine(l.String()); !ok || got.Whole() != "cd 'a b' && "+plain {
			t.Errorf("%q: the folder was read as %+v", plain, got)
		}
	}
	box := Line{Bridge: "/b/hookd-bridge", Profile: Project, Ticket: "a1", Shell: "bash", Plain: "ls"}.String()
	for _, other := range []string{
		box + "; rm x", box + " && rm x", "x; " + box, box + "\nrm x", box + "$(rm x)", strings.Replace(box, "-bridge", "-evil", 1),
		"FOO=x " + box, "(" + box + ")", box + " 'more'", "cd $(rm x) && " + box,
	} {
		if l, ok := ReadLine(other); ok {
			t.Errorf("%q was read as %+v", other, l)
		}
	}
}

func TestEnters(t *testing.T) {
	for line, want := range map[string]string{
		"cd a && ls": "a", "cd '/a b' && ls": "/a b", `cd "x y" && ls`: "x y", "cd ~/a && ls": "~/a", "cd .. && ls && x": "..",
		"cd $X && ls": "", "cd - && ls": "", "cd a; ls": "", "cd a || ls": "", "cd ~root/a && ls": "", `cd "$X" && ls`: "", "ls": "",
	} {
		if dir, _ := Enters(line); dir != want {
			t.Errorf("%q enters %q, want %q", line, dir, want)
		}
	}
}

func TestEnvironmentHasNoSecrets(t *testing.T) {
	got := environment(&Spec{Profile: Read, Env: []string{
		"PATH=/bin", "HOME=/h", "GITHUB_TOKEN=x", "AWS_REGION=x", "MY_API_KEY=x", "DB_PASSWORD=x", "OPENAI_BASE_URL=x",
		"HOOKD_SOCKET=x", "LD_PRELOAD=x", "SSH_AUTH_SOCK=x", "TMPDIR=/home/x", "LANG=C", "client_secret=x", "KEYBOARD=us",
		"DB_URL=postgres://me:word@db/x", "SITE=https://example.com/a:b@c", "REMOTE=ssh://git@example.com", "ANY=ghp_0123",
		"HTML=-----BEGIN X-----",
	}}, "/tmp")
	want := []string{"PATH=/bin", "HOME=/h", "TMPDIR=/tmp", "LANG=C", "KEYBOARD=us", "SITE=https://example.com/a:b@c", "REMOTE=ssh://git@example.com", "HOOKD_BOX=read"}
	if !slices.Equal(got, want) {
		t.Errorf("it has %q, want %q", got, want)
	}
}

func TestSeatbelt(t *testing.T) {
	text := seatbelt(&Spec{
		Write: []string{"/Users/a/p"}, Protect: []string{"/Users/a/p/.git/hooks"}, Watch: []string{"/Users/a/p/.mcp.json"},
		Hide: []string{"/Users/a/.ssh", `/Users/a/q"uote`},
	})
	for _, want := range []string{
		"(deny default)", `(allow file-write* (subpath "/Users/a/p"))`, `(deny file-write* (subpath "/Users/a/p/.git/hooks"))`,
		`(deny file-write-unlink (literal "/Users/a/p/.git"))`, `(deny file-write* (subpath "/Users/a/p/.mcp.json"))`,
		`(deny file-read* file-write* (subpath "/Users/a/.ssh"))`, `(subpath "/Users/a/q\"uote")`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if strings.Index(text, "(allow file-write* (subpath") > strings.Index(text, "(deny file-write* (subpath") {
		t.Error("the last rule counts, and what is allowed stands behind what is denied")
	}
	if strings.Count(text, "(") != strings.Count(text, ")")+strings.Count(text, "(.*/)?\\.git/(hooks(/|$)|config$)")*0 {
		t.Errorf("its parentheses do not match:\n%s", text)
	}
}
