package metrics

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"gopkg.in/yaml.v3"
)

var update = flag.Bool("update", false, "write the generated part of docs/reference/metrics.md")

const root = "../../.."

// known is a metric as a scrape shows it.
type known struct {
	name, help, kind string
	labels           []string
}

// everyMetric lists hookd's own metrics in order, from the lists of the program,
// so that none can be left out. Each must have a series in exercised.
func everyMetric(t *testing.T) []known {
	t.Helper()
	m := exercised()
	shown := families(t, m)
	var names []string
	for _, one := range m.all {
		names = append(names, one.name)
	}
	for _, r := range readings {
		names = append(names, r.name)
	}
	var list []known
	for _, name := range names {
		f := shown[name]
		if f == nil {
			t.Errorf("%s has no series in this test: exercise it", name)
			continue
		}
		k := known{name: name, help: f.GetHelp(), kind: strings.ToLower(f.GetType().String()), labels: labelsOf(f)}
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b known) int { return strings.Compare(a.name, b.name) })
	return list
}

func labelsOf(f *dto.MetricFamily) (names []string) {
	for _, l := range f.GetMetric()[0].GetLabel() {
		names = append(names, l.GetName())
	}
	return names
}

// docs/reference/metrics.md lists every metric, and no other.
func TestDocs(t *testing.T) {
	var table strings.Builder
	table.WriteString("| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n")
	for _, k := range everyMetric(t) {
		labels := ""
		if len(k.labels) > 0 {
			labels = "`" + strings.Join(k.labels, "`, `") + "`"
		}
		table.WriteString("| `" + k.name + "` | " + k.kind + " | " + labels + " | " + k.help + " |\n")
	}
	path := filepath.Join(root, "docs", "reference", "metrics.md")
	doc := readFile(t, path)
	head, rest, ok := strings.Cut(doc, "<!-- generated: metrics -->\n")
	_, tail, ok2 := strings.Cut(rest, "<!-- end -->\n")
	if !ok || !ok2 {
		t.Fatal("docs/reference/metrics.md has no generated part")
	}
	want := head + "<!-- generated: metrics -->\n" + table.String() + "<!-- end -->\n" + tail
	if doc == want {
		return
	}
	if !*update {
		t.Fatal("docs/reference/metrics.md is not what the registry says: type go test ./internal/record/metrics -run TestDocs -update")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAlerts(t *testing.T) {
	path := filepath.Join(root, "packaging", "prometheus", "alerts.yaml")
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	dec := yaml.NewDecoder(strings.NewReader(readFile(t, path)))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		t.Fatal(err)
	}
	metrics, rules := everyMetric(t), 0
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			rules++
			checkExpression(t, r.Alert, r.Expr, metrics)
			if !regexp.MustCompile(`^([0-9]+[smh])?$`).MatchString(r.For) || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s: for %q, labels %v, annotations %v", r.Alert, r.For, r.Labels, r.Annotations)
			}
			checkRunbook(t, r.Alert, r.Annotations["runbook_url"])
		}
	}
	if rules < 8 {
		t.Errorf("only %d rules were found", rules)
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("SKIP-TOOL promtool: the alerts are checked without Prometheus's own parser")
	}
	if out, err := exec.Command(promtool, "check", "rules", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// checkRunbook checks that a part of a document has a heading of the URL and names the alert.
func checkRunbook(t *testing.T, alert, url string) {
	t.Helper()
	file, anchor, _ := strings.Cut(strings.TrimPrefix(url, "https://github.com/hookd/hookd/blob/main/"), "#")
	if file == "" || anchor == "" {
		t.Errorf("%s has the runbook %q", alert, url)
		return
	}
	heading, part := regexp.MustCompile(`^##+ (.*)`), ""
	for line := range strings.Lines(readFile(t, filepath.Join(root, file))) {
		if m := heading.FindStringSubmatch(line); m != nil {
			part = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(m[1])), " ", "-")
		}
		if part == anchor && strings.Contains(line, "`"+alert+"`") {
			return
		}
	}
	t.Errorf("%s has no part %s that names %s", file, anchor, alert)
}

func TestDashboard(t *testing.T) {
	var board struct {
		Title  string
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr, LegendFormat string }
		}
		Templating struct {
			List []struct {
				Name  string
				Query any
			}
		}
	}
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(root, "packaging", "grafana", "hookd.json"))), &board); err != nil {
		t.Fatal(err)
	}
	metrics, shown := everyMetric(t), ""
	for i, p := range board.Panels {
		if len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %q: %d targets at %+v", p.Title, len(p.Targets), p.GridPos)
		}
		for _, other := range board.Panels[:i] {
			a, b := p.GridPos, other.GridPos
			if p.ID == other.ID || a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("panels %q and %q lie on each other", p.Title, other.Title)
			}
		}
		for _, target := range p.Targets {
			checkExpression(t, p.Title, target.Expr, metrics)
			shown += target.Expr + "\n"
		}
	}
	variables := map[string]bool{"__rate_interval": true}
	for _, v := range board.Templating.List {
		variables[v.Name] = true
	}
	for _, m := range regexp.MustCompile(`\$\{?([a-z_]+)`).FindAllStringSubmatch(shown, -1) {
		if !variables[m[1]] {
			t.Errorf("there is no variable %s", m[0])
		}
	}
	if len(board.Panels) < 10 {
		t.Errorf("only %d panels were found", len(board.Panels))
	}
}

// Each metric of the fleet, of forwarding, of policies and of the audit chain is in a panel, and in an alert unless it
// counts work alone.
func TestEachMetricOfMachinesIsWatched(t *testing.T) {
	alerts := readFile(t, filepath.Join(root, "packaging", "prometheus", "alerts.yaml"))
	board := readFile(t, filepath.Join(root, "packaging", "grafana", "hookd.json"))
	of := regexp.MustCompile(`^hookd_(audit|fleet|forward|policy)_`)
	work := regexp.MustCompile(`_(sent|taken|failures)_total$|^hookd_forward_waiting$`)
	found := 0
	for _, m := range everyMetric(t) {
		if !of.MatchString(m.name) {
			continue
		}
		found++
		if !strings.Contains(board, m.name) {
			t.Errorf("no panel has %s", m.name)
		}
		if !work.MatchString(m.name) && !strings.Contains(alerts, m.name) {
			t.Errorf("no alert has %s", m.name)
		}
	}
	for _, name := range []string{"unless on (instance, job) hookd_build_info", "node_textfile_mtime_seconds"} {
		if !strings.Contains(alerts, name) {
			t.Errorf("no alert has %s: a machine can be missing unseen", name)
		}
	}
	if found < 15 {
		t.Errorf("only %d metrics were found", found)
	}
}

var (
	quoted     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	metricName = regexp.MustCompile(`\b(hookd_[a-z_]+)(?:\{([^}]*)\})?`)
	labelName  = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)`)
	grouping   = regexp.MustCompile(`\bby \(([^)]*)\)`)
)

// checkExpression is no parser: it checks that brackets pair up, that each
// metric is one of ours in a form that its type has, and that it has the labels
// that are asked for. Targets add instance and job.
func checkExpression(t *testing.T, where, expr string, metrics []known) {
	t.Helper()
	bare := quoted.ReplaceAllString(expr, `""`)
	if !paired(bare) {
		t.Errorf("%s: brackets do not pair up in %s", where, expr)
	}
	allowed := []string{"instance", "job"}
	found := false
	for _, m := range metricName.FindAllStringSubmatch(bare, -1) {
		k, form := lookUp(metrics, m[1])
		if k == nil {
			t.Errorf("%s: there is no metric %s", where, m[1])
			continue
		}
		found = true
		if (k.kind == "histogram") != (form != "") {
			t.Errorf("%s: %s is a %s", where, m[1], k.kind)
		}
		labels := append(slices.Clone(k.labels), "instance", "job")
		for _, l := range labelName.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(labels, l[1]) {
				t.Errorf("%s: %s has no label %s", where, m[1], l[1])
			}
		}
		allowed = append(allowed, labels...)
		if form == "_bucket" {
			allowed = append(allowed, "le")
		}
	}
	for _, m := range grouping.FindAllStringSubmatch(bare, -1) {
		for l := range strings.SplitSeq(m[1], ",") {
			if !slices.Contains(allowed, strings.TrimSpace(l)) {
				t.Errorf("%s: nothing has the label %s in %s", where, l, expr)
			}
		}
	}
	if !found && !strings.Contains(bare, "node_textfile_") && !strings.Contains(bare, "process_") && !strings.Contains(bare, "go_") {
		t.Errorf("%s: no metric in %s", where, expr)
	}
}

func lookUp(metrics []known, name string) (k *known, form string) {
	for _, form := range []string{"", "_bucket", "_sum", "_count"} {
		base, ok := strings.CutSuffix(name, form)
		if !ok {
			continue
		}
		if i := slices.IndexFunc(metrics, func(k known) bool { return k.name == base }); i >= 0 {
			return &metrics[i], form
		}
	}
	return nil, ""
}

func paired(expr string) bool {
	var open []rune
	closing := map[rune]rune{')': '(', ']': '[', '}': '{'}
	for _, r := range expr {
		switch {
		case strings.ContainsRune("([{", r):
			open = append(open, r)
		case closing[r] != 0:
			if len(open) == 0 || open[len(open)-1] != closing[r] {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0
}
