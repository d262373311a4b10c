package shellsafe

import "testing"

// A command is never missed where the parser reads a line in another way than shells: the
// line is in doubt, and nothing says that it only reads.
func TestWhereTheParserErrs(t *testing.T) {
	for _, line := range []string{
		"(\necho 'a'#; rm -rf b\n)", "(echo \"a\"#; rm -rf b\n)", "(echo $a#; rm -rf b\n)", "(echo $##; rm -rf b\n)",
		"echo $(\necho 'a'#; rm -rf b\n)", "(echo $(a)#; rm -rf b\n)", "(echo `a`#; rm -rf b\n)", "(echo a\\\n#; rm -rf b\n)",
		"ls # \\\nrm -rf b", "ls #\\\nrm -rf b", "echo \"`echo \\\"\\`r\\\\\\\"\\\\\\\"m b\\`\\\"`\"",
	} {
		found := ReadCommands(line)
		removes := false
		for _, c := range found.List {
			removes = removes || len(c.Words) > 0 && c.Words[0].Text == "rm"
		}
		if found.Doubt == "" && !removes {
			t.Errorf("%q: the rm is not seen: %+v", line, found.List)
		}
		if Assess(line).Safe() {
			t.Errorf("%q is said to only read", line)
		}
	}
	for _, line := range []string{"ls # rm -rf b", "# rm", "(ls;# rm\n)", "curl http://a/#b", "echo a#b '# c'", "git commit -m 'a # b' \\\n -q"} {
		if found := ReadCommands(line); found.Doubt != "" {
			t.Errorf("%q is in doubt: %s", line, found.Doubt)
		}
	}
}
