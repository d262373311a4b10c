package hookdir

import (
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/hookd/hookd/internal/base/duration"
	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/base/readfile"
	"github.com/hookd/hookd/internal/base/spell"
	"github.com/hookd/hookd/internal/hooks/hook"
	"github.com/hookd/hookd/internal/hooks/source/yamlnode"
)

// maxName bounds a hook's name, in bytes: it is in logs, file names and addresses.
const maxName = 128

func (d *draft) setName(n *yaml.Node) {
	d.hook.Line, d.hook.Column = n.Line, n.Column
	if !d.text(n, &d.hook.Name) {
		return
	}
	switch name := d.hook.Name; {
	case strings.TrimSpace(name) == "":
		d.reject(n, "", "name must not be blank")
	case len(name) > maxName:
		d.reject(n, "", "name is longer than %d bytes", maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		d.reject(n, "", "name must not have control characters")
	}
}

func (d *draft) setEvents(n *yaml.Node) {
	before := len(d.problems)
	d.hook.Patterns = d.patterns(n)
	if len(d.problems) > before {
		return
	}
	if len(d.hook.Patterns) == 0 {
		d.reject(n, "write at least one event, or \"*\" for all", "events is empty")
		return
	}
	for _, item := range d.list(n) {
		d.checkEvent(yamlnode.Resolve(item))
	}
}

// checkEvent warns about a name that is nearly a known one. Custom names are allowed,
// so it is never more than a warning.
func (d *draft) checkEvent(n *yaml.Node) {
	if strings.ContainsAny(n.Value, `*?[]{}\`) || slices.Contains(d.opt.KnownEvents, n.Value) {
		return
	}
	best, most := "", min(2, len(n.Value)/3)
	for _, known := range d.opt.KnownEvents {
		if slips, near := spell.Distance(n.Value, known, most); near {
			best, most = known, slips-1
		}
	}
	if best != "" {
		d.warn(n, "", "unknown event `%s`, did you mean `%s`?", n.Value, best)
	}
}

func (d *draft) setCommand(n *yaml.Node) {
	if d.text(n, &d.hook.Command) && isBlankOrBinary(d.hook.Command) {
		d.reject(n, "", "command must name an executable")
		d.hook.Command = ""
	}
}

func (d *draft) setScript(n *yaml.Node) {
	if d.text(n, &d.hook.ScriptText) && isBlankOrBinary(d.hook.ScriptText) {
		d.reject(n, "", "script must be text for a shell")
	}
}

func isBlankOrBinary(s string) bool { return strings.TrimSpace(s) == "" || strings.ContainsRune(s, 0) }

func (d *draft) setArgs(n *yaml.Node) {
	d.args = d.texts(n)
	if slices.ContainsFunc(d.args, func(s string) bool { return strings.ContainsRune(s, 0) }) {
		d.reject(n, "", "args must not have NUL characters")
	}
}

func (d *draft) setTimeout(n *yaml.Node) {
	t, ok := d.duration(n)
	if ok && (t < hook.MinTimeout || t > hook.MaxTimeout) {
		d.reject(n, "", "timeout %s is out of range, %s to %s", t, hook.MinTimeout, hook.MaxTimeout)
	}
	d.hook.Timeout = t
}

// setHold reads auto, never or a duration, as the setting asks.hold.
func (d *draft) setHold(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && (n.Value == "auto" || n.Value == "never") {
		d.hook.Hold = n.Value
		return
	}
	t, ok := d.duration(n)
	if ok && (t < hook.MinHold || t > hook.MaxTimeout) {
		d.reject(n, "write auto, never, or a duration", "hold %s is out of range, %s to %s", t, hook.MinHold, hook.MaxTimeout)
	}
	d.hook.Hold = t.String()
}

func (d *draft) setTermBefore(n *yaml.Node) {
	t, ok := d.duration(n)
	if ok && t < 0 {
		d.reject(n, "", "term_before must not be negative")
	}
	d.hook.TermBefore = t
}

func (d *draft) setBlocking(n *yaml.Node) {
	var b bool
	d.boolean(n, &b)
	d.hook.Blocking = &b
}

func (d *draft) setMatcher(n *yaml.Node) {
	text := &d.hook.MatcherText
	if !d.text(n, text) || *text == "" || *text == "*" {
		return
	}
	m := found(&d.opt.once.matchers, *text, func() matcher { return compileMatcher(*text) })
	if m.err != nil {
		d.reject(n, "RE2 syntax, like \"shell|edit_.*\"", "bad matcher %q: %v", *text, m.err)
	}
	d.hook.Matcher = m.compiled
}

// matcher is a compiled matcher; several hooks may have the same.
type matcher struct {
	compiled *regexp.Regexp // nil where err is not
	err      error
}

// compileMatcher parses the text alone first: the anchor must not balance an unbalanced
// pattern.
func compileMatcher(text string) matcher {
	if _, err := syntax.Parse(text, syntax.Perl); err != nil {
		return matcher{err: err}
	}
	return matcher{compiled: regexp.MustCompile("^(?:" + text + ")$")}
}

func (d *draft) setWorkspaces(n *yaml.Node) {
	for _, item := range d.list(n) {
		var s string
		if !d.text(item, &s) {
			continue
		}
		text := s
		if rest, ok := strings.CutPrefix(s, "~/"); ok && d.opt.Home != "" {
			text = pattern.Quote(d.opt.Home) + "/" + rest
		}
		if len(text) > 1 {
			text = strings.TrimRight(text, "/") // a cleaned path has none at its end
		}
		p, err := pattern.Compile(text, '/')
		if err != nil {
			d.reject(item, "", "bad glob %q: %v", s, err)
			continue
		}
		if !strings.ContainsAny(text[:1], `/*?[{\`) {
			d.warn(item, "begin with /, ~/ or **/", "workspace %q never matches: directories are absolute", s)
		}
		d.hook.Filter.Workspaces = append(d.hook.Filter.Workspaces, p)
	}
}

// setEnv reads the environment in the order of the file. Numbers and bools
// count as they are written.
func (d *draft) setEnv(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.wrongType(n, "a mapping")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], yamlnode.Resolve(n.Content[i+1])
		switch name := key.Value; {
		case key.Kind != yaml.ScalarNode || name == "" || strings.ContainsAny(name, "=\x00"):
			d.reject(key, "", "env: %q cannot be the name of a variable", name)
		case seen[name]:
			d.reject(key, "", "duplicate key `%s` in env", name)
		case value.Kind != yaml.ScalarNode || yamlnode.IsNull(value):
			d.reject(value, `write "" for an empty value`, "env %s must be a string, is %s", name, kind(value))
		case strings.ContainsRune(value.Value, 0):
			d.reject(value, "", "env %s must not have NUL characters", name)
		default:
			seen[name] = true
			d.checkReferences(value)
			d.hook.Env = append(d.hook.Env, name+"="+value.Value)
		}
	}
}

// checkReferences warns of ${env.X} that is not set now. References expand when the
// hook starts, see hook.Environ.
func (d *draft) checkReferences(n *yaml.Node) {
	hook.ExpandEnv(n.Value, func(name string) string {
		if _, ok := d.opt.Env(name); !ok {
			d.warn(n, "", "${env.%s} is not set in the daemon's environment and expands to nothing", name)
		}
		return ""
	})
}

func (d *draft) setWorkingDir(n *yaml.Node) {
	var dir string
	if !d.text(n, &dir) || dir == "" {
		return
	}
	dir = d.opt.home(dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(d.hook.Dir, dir)
	}
	d.hook.WorkingDir = filepath.Clean(dir)
	if d.opt.Blind {
		return
	}
	if info, err := os.Stat(d.hook.WorkingDir); err != nil {
		d.warn(n, "", "working_dir %s: %v", d.hook.WorkingDir, readfile.Cause(err))
	} else if !info.IsDir() {
		d.warn(n, "", "working_dir %s is not a directory", d.hook.WorkingDir)
	}
}

// The values of mode.
const (
	modeSpawn      = "spawn"
	modePersistent = "persistent"
)

func (d *draft) setMode(n *yaml.Node) {
	var mode string
	word(&d.valueReader, n, modes, &mode)
	d.hook.Persistent = mode == modePersistent
}

func (d *draft) setConcurrency(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Decode(&d.hook.Concurrency) != nil {
		d.wrongType(n, "a whole number")
	} else if d.hook.Concurrency < 0 {
		d.reject(n, "0 is no limit", "concurrency must not be negative")
	}
}

const (
	maxRetries     = 100
	defaultBackoff = time.Second
)

func (d *draft) setRetryMax(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Decode(&d.hook.Retry.Max) != nil {
		d.wrongType(n, "a whole number")
	} else if d.hook.Retry.Max < 0 || d.hook.Retry.Max > maxRetries {
		d.reject(n, "0 is never", "retry.max must be from 0 to %d", maxRetries)
	}
	if d.hook.Retry.Backoff == 0 {
		d.hook.Retry.Backoff = defaultBackoff
	}
}

func (d *draft) setRetryBackoff(n *yaml.Node) {
	t, ok := d.duration(n)
	if ok && (t < time.Millisecond || t > time.Hour) {
		d.reject(n, "", "retry.backoff must be from 1ms to 1h")
	}
	d.hook.Retry.Backoff = t
}

func (d *draft) setDebounce(n *yaml.Node) {
	t, ok := d.duration(n)
	if ok && (t < 0 || t > maxDebounce) {
		d.reject(n, "write a time of at most 1h, such as 2s", "debounce %s is out of range", n.Value)
	}
	d.hook.Debounce = t
}

// setThrottle reads RUNS/DURATION.
func (d *draft) setThrottle(n *yaml.Node) {
	const hint = "write runs and a time of at most 24h, such as 1/10s or 30/1m"
	if n.Kind != yaml.ScalarNode {
		d.reject(n, hint, "throttle must be a rate, is %s", kind(n))
		return
	}
	text := n.Value
	count, per, ok := strings.Cut(text, "/")
	runs, err := strconv.Atoi(strings.TrimSpace(count))
	span, bad := duration.Parse(strings.TrimSpace(per))
	if !ok || err != nil || bad != nil || runs < 1 || runs > 10_000 || span <= 0 || span > 24*time.Hour {
		d.reject(n, hint, "bad throttle %q", text)
		return
	}
	d.hook.Throttle = hook.Rate{Runs: runs, Per: span}
}

func (d *draft) setWarm(n *yaml.Node) {
	var warm bool
	d.boolean(n, &warm)
	d.hook.Warm = &warm
}

// setRunAs reads the user that the process runs as. The hooks that root has written may
// have one, and no pack.
func (d *draft) setRunAs(n *yaml.Node) {
	var name string
	d.text(n, &name)
	switch {
	case name == "":
		return
	case d.opt.RunAs == nil || d.opt.Layer != hook.LayerUser:
		d.reject(n, "remove `run_as`", "`run_as` is for hooks that root has written for the system daemon")
		return
	}
	account, err := d.opt.RunAs(name)
	if err != nil {
		d.reject(n, "name another user, or remove `run_as`", "run_as: %v", err)
		return
	}
	d.hook.RunAs = account
}

// setOnError also takes block, docker-agent's word for deny.
func (d *draft) setOnError(n *yaml.Node) {
	if yamlnode.Resolve(n).Value == "block" {
		d.hook.OnError = hook.OnErrorDeny
		return
	}
	word(&d.valueReader, n, onError, &d.hook.OnError)
}
