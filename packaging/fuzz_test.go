package packaging

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"howett.net/plist"
)

// FuzzService: whatever a machine calls its paths, each value arrives as it is
// in the unit and the property list, or is refused.
func FuzzService(f *testing.F) {
	f.Add("/opt/a b/50%h/x$y;z/hookd", `/home/u & <v>/50%h "q"/hookd.sock`, "/log", `/usr/bin:/"q":/b\c:$HOME:/'s':/é`)
	f.Add("/a\nExecStartPre=/bin/evil", "/s", "", "")
	f.Add("/hookd", `/s\`, "]]>", " \\n ")
	f.Add("/hookd%", "%%", "&amp;", `\`)
	f.Add("/h", "/s", "\ufffe", "\u2028\ufeff")
	f.Fuzz(func(t *testing.T, program, socket, log, path string) {
		s := Service{Program: program, Socket: socket, Log: log, Variables: []Variable{{"PATH", path}}}
		if files, err := s.Systemd(); err == nil {
			unit := settings(t, files[0].Text)
			if got := unit["Service.ExecStart"]; len(got) != 1 || !reflect.DeepEqual(unitWords(t, got[0]), []string{program, "serve"}) {
				t.Fatalf("program %q is started by %q", program, got)
			}
			if got := unit["Service.Environment"]; len(got) != 1 || !reflect.DeepEqual(unitWords(t, got[0]), []string{"PATH=" + path}) {
				t.Fatalf("PATH %q is set by %q", path, got)
			}
			if got := settings(t, files[1].Text)["Socket.ListenStream"]; len(got) != 1 || specifiers(t, got[0]) != socket {
				t.Fatalf("socket %q is %q", socket, got)
			}
		}
		file, err := s.Launchd()
		if err != nil {
			return
		}
		var got struct {
			ProgramArguments     []string
			EnvironmentVariables map[string]string
			StandardErrorPath    string
		}
		if _, err := plist.Unmarshal([]byte(file.Text), &got); err != nil {
			t.Fatalf("%v:\n%s", err, file.Text)
		}
		if fmt.Sprintf("%q %q %q", got.ProgramArguments, got.StandardErrorPath, got.EnvironmentVariables["PATH"]) != fmt.Sprintf("%q %q %q", []string{program, "serve"}, log, path) {
			t.Fatalf("of %+v came %+v", s, got)
		}
	})
}

// unitWords splits a line as extract_first_word of systemd does with
// EXTRACT_UNQUOTE and EXTRACT_CUNESCAPE, as far as a unit of ours uses it.
func unitWords(t *testing.T, line string) (words []string) {
	t.Helper()
	var word strings.Builder
	in, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\':
			if i++; i == len(line) || line[i] != '\\' && line[i] != '"' {
				t.Fatalf("systemd reads another character at %d of %s", i, line)
			}
			word.WriteByte(line[i])
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, in = c, true
		case quote == 0 && c == ' ':
			words, in = append(words, specifiers(t, word.String())), false
			word.Reset()
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if quote != 0 {
		t.Fatalf("a quote is not closed: %s", line)
	}
	if in {
		words = append(words, specifiers(t, word.String()))
	}
	return words
}

// specifiers resolves %%; any other one would mean something else.
func specifiers(t *testing.T, text string) string {
	t.Helper()
	if strings.Contains(strings.ReplaceAll(text, "%%", ""), "%") {
		t.Fatalf("%q has a specifier", text)
	}
	return strings.ReplaceAll(text, "%%", "%")
}
