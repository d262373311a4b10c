package hookdir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
)

// load returns the bytes of HOOK.yaml, or nil after a problem.
func (d *draft) load() []byte {
	data, err := d.content()
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.missing()
	case err != nil:
		d.reject(nil, "", "%v", readfile.Cause(err))
	default:
		return data
	}
	return nil
}

func (d *draft) content() ([]byte, error) {
	if f, known := d.opt.Content(d.file); known && len(f.Data) <= MaxFileSize {
		return f.Data, nil
	}
	return readfile.Read(d.file, MaxFileSize)
}

// missing adds the problem that there is no HOOK.yaml, with the file that may be
// meant.
func (d *draft) missing() {
	hint := "each hook folder needs one " + FileName + "; to remove the hook, remove its folder"
	entries, _ := os.ReadDir(d.hook.Dir) // without a listing the hint stays general
	for _, e := range entries {
		if name := strings.ToLower(e.Name()); name == "hook.yaml" || name == "hook.yml" {
			hint = "rename " + filepath.Join(d.hook.Dir, e.Name())
		}
	}
	d.reject(nil, hint, "no %s in %s", FileName, d.hook.Dir)
}

// parse returns the mapping at the top of the file, or nil after a problem.
func (d *draft) parse(data []byte) *yaml.Node {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	err := decoder.Decode(&first)
	switch {
	case errors.Is(err, io.EOF):
		d.reject(nil, "it needs name, events and command", "the file is empty")
		return nil
	case err != nil:
		d.syntax(data, err)
		return nil
	}
	root := first.Content[0]
	if yamlnode.IsNull(root) {
		d.reject(root, "it needs name, events and command", "the file is empty")
		return nil
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		hint := "one folder is one hook: move it to a folder of its own"
		d.reject(separator(data, root.Line, &second), hint, "a second YAML document")
		return nil
	}
	if root.Kind != yaml.MappingNode {
		d.reject(root, "write `name: …`, `events: …`, `command: …`", "must be a mapping, is %s", kind(root))
		return nil
	}
	return root
}

// separator finds the line on which the second document begins. The document may be
// nothing but its `---`.
func separator(data []byte, after int, second *yaml.Node) *yaml.Node {
	lines := bytes.Split(data, []byte("\n"))
	for i := after; i < len(lines); i++ {
		if bytes.HasPrefix(lines[i], []byte("---")) {
			return &yaml.Node{Line: i + 1, Column: 1}
		}
	}
	return second
}

var (
	yamlLine = regexp.MustCompile(`^(?:line (\d+): )?(?s:(.*))$`)
	// grammar matches the errors of yaml.v3's parser, all others come from its scanner.
	grammar = regexp.MustCompile(`^did not find expected (<|node content|key|'-'|',')|` +
		`^found undefined tag handle|^found duplicate %|^found incompatible`)
)

// syntax turns "yaml: line N: message" into a problem at line and column. The
// parser knows no column, and no line when it is the first.
func (r *valueReader) syntax(data []byte, err error) {
	parts := yamlLine.FindStringSubmatch(strings.TrimPrefix(err.Error(), "yaml: "))
	line, _ := strconv.Atoi(parts[1])
	message, hint := parts[2], ""
	if line > 0 && grammar.MatchString(message) {
		line++ // yaml.v3 counts these from 0
	}
	at := &yaml.Node{Line: max(line, 1), Column: 1}
	lines := strings.Split(string(data), "\n")
	at.Line = min(at.Line, len(lines))
	at.Column = indent(lines[at.Line-1]) + 1
	// The parser names the line before or after that of a tab.
	ofTab := strings.Contains(message, "cannot start any token") || strings.Contains(message, "tab character")
	if tab, ok := tabNear(lines, at.Line); ok && ofTab {
		at, message, hint = tab, "a tab in the indentation", "indent with blanks"
	}
	r.reject(at, hint, "%s", message)
}

func tabNear(lines []string, line int) (*yaml.Node, bool) {
	for _, n := range []int{line, line - 1, line + 1} {
		if n < 1 || n > len(lines) {
			continue
		}
		text := lines[n-1]
		if i := strings.IndexByte(text[:indent(text)], '\t'); i >= 0 {
			return &yaml.Node{Line: n, Column: i + 1}, true
		}
	}
	return nil, false
}

// indent returns how many bytes of white space line begins with.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// kind names the kind of a node, for people.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch tag := n.ShortTag(); tag {
	case "!!str":
		return "a string"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "a bool"
	case "!!null":
		return "nothing"
	default:
		return fmt.Sprintf("of type %s", tag)
	}
}
