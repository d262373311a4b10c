package metrics

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// contentType names the text format of Prometheus: hookd serves no other.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// The types of metrics, as the format names them.
const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

// metric is a name with its series. It is safe for concurrent use.
type metric struct {
	name, help, kind string
	labels           []string  // their names, in order
	bounds           []float64 // upper ends of a histogram's buckets, ascending; nil = no histogram

	mu    sync.Mutex
	cells map[string]*cell // by the text of their labels
}

// cell is the value of one series. It is safe for concurrent use.
type cell struct {
	bits   atomic.Uint64   // of the value; of a histogram, of the sum
	bounds []float64       // as in metric
	counts []atomic.Uint64 // of each bucket alone; the last is for values above all bounds
}

// with returns the series with these values of the labels, new if there is none.
func (m *metric) with(values ...string) *cell {
	key := labelText(m.labels, values)
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.cells[key]
	if c == nil {
		c = &cell{bounds: m.bounds}
		if m.bounds != nil {
			c.counts = make([]atomic.Uint64, len(m.bounds)+1)
		}
		if m.cells == nil {
			m.cells = map[string]*cell{}
		}
		m.cells[key] = c
	}
	return c
}

// remove takes away the series with these values of the labels, if there is one.
func (m *metric) remove(values ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.cells, labelText(m.labels, values))
}

func (c *cell) set(v float64) { c.bits.Store(math.Float64bits(v)) }

func (c *cell) add(v float64) {
	for {
		old := c.bits.Load()
		if c.bits.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+v)) {
			return
		}
	}
}

// observe counts v in a histogram.
func (c *cell) observe(v float64) {
	i, _ := slices.BinarySearch(c.bounds, v)
	c.counts[i].Add(1)
	c.add(v)
}

// append adds the text of m to b; a metric without series has none.
func (m *metric) append(b []byte) []byte {
	m.mu.Lock()
	cells := maps.Clone(m.cells)
	m.mu.Unlock()
	if len(cells) == 0 {
		return b
	}
	b = append(b, "# HELP "+m.name+" "+helpEscapes.Replace(m.help)+"\n# TYPE "+m.name+" "+m.kind+"\n"...)
	for _, labels := range slices.Sorted(maps.Keys(cells)) {
		b = cells[labels].append(b, m.name, labels)
	}
	return b
}

func (c *cell) append(b []byte, name, labels string) []byte {
	value := math.Float64frombits(c.bits.Load())
	if c.bounds == nil {
		return appendLine(b, name, labels, value)
	}
	prefix := labels
	if labels != "" {
		prefix += ","
	}
	total := uint64(0)
	for i := range c.counts {
		total += c.counts[i].Load()
		end := math.Inf(1)
		if i < len(c.bounds) {
			end = c.bounds[i]
		}
		le := string(appendNumber([]byte(prefix+`le="`), end)) + `"`
		b = appendLine(b, name+"_bucket", le, float64(total))
	}
	b = appendLine(b, name+"_sum", labels, value)
	return appendLine(b, name+"_count", labels, float64(total))
}

func appendLine(b []byte, name, labels string, value float64) []byte {
	b = append(b, name...)
	if labels != "" {
		b = append(append(append(b, '{'), labels...), '}')
	}
	return append(appendNumber(append(b, ' '), value), '\n')
}

// appendNumber writes infinity as +Inf, as the format does.
func appendNumber(b []byte, v float64) []byte {
	if math.IsInf(v, 1) {
		return append(b, "+Inf"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	valueEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// labelText is name="value",name="value", in valid UTF-8.
func labelText(names, values []string) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(name + `="` + valueEscapes.Replace(strings.ToValidUTF8(values[i], "\uFFFD")) + `"`)
	}
	return b.String()
}
