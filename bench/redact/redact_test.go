// Package redact measures the cost of redact_secrets on a large tool result, as ratios
// in one run: to reading the bytes once, and to running the regular expression of each
// rule over them one by one.
//
//	go test ./redact -run '^$' -bench . -benchtime 5x
package redact

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd/hookd/internal/facts/secrets"
)

// result is a tool result of 5 MB: log lines, source code, and a secret in
// every hundredth line.
func result() string {
	var b strings.Builder
	for i := 0; b.Len() < 5<<20; i++ {
		switch {
		case i%100 == 99:
			fmt.Fprintf(&b, "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz%08d\n", i)
		case i%3 == 0:
			fmt.Fprintf(&b, "2026-11-21T06:0%d:00Z INFO request id=%08x path=/api/v1/items/%d status=200 key=%d\n", i%10, i*2654435761, i, i)
		default:
			fmt.Fprintf(&b, "\tif token := next(%d); token != nil { return fmt.Errorf(\"unexpected %%q\", token.Text) }\n", i)
		}
	}
	return b.String()
}

// expressions are the rules' own, as rules.json has them.
func expressions(b *testing.B) (list []*regexp.Regexp) {
	b.Helper()
	text, err := os.ReadFile("../../internal/facts/secrets/rules.json")
	if err != nil {
		b.Fatal(err)
	}
	var rules []struct{ Pattern, Value string }
	if err := json.Unmarshal(text, &rules); err != nil {
		b.Fatal(err)
	}
	for _, r := range rules {
		for _, e := range []string{r.Pattern, r.Value} {
			if e == "" {
				continue
			}
			re, err := regexp.Compile(e)
			if err != nil {
				b.Fatal(err)
			}
			list = append(list, re)
		}
	}
	return list
}

func BenchmarkRedact5MB(b *testing.B) {
	text, rules := result(), expressions(b)
	secrets.Redact(text) // loads the rules
	var redact, read, each []float64
	var redactBytes, eachBytes []float64
	for b.Loop() {
		d, n := measure(func() { secrets.Redact(text) })
		redact, redactBytes = append(redact, d), append(redactBytes, n)
		d, _ = measure(func() { crc32.ChecksumIEEE([]byte(text)) })
		read = append(read, d)
		d, n = measure(func() {
			for _, re := range rules {
				re.FindAllStringIndex(text, -1)
			}
		})
		each, eachBytes = append(each, d), append(eachBytes, n)
	}
	b.ReportMetric(median(redact), "ms/redact")
	b.ReportMetric(median(redact)/median(read), "x-read-once")
	b.ReportMetric(median(each)/median(redact), "times-faster-than-each-rule")
	b.ReportMetric(median(redactBytes)/float64(len(text)), "bytes-allocated/byte")
	b.ReportMetric(median(eachBytes)/float64(len(text)), "bytes-allocated-by-each-rule/byte")
}

// measure returns milliseconds and bytes allocated.
func measure(f func()) (ms, allocated float64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	ms = float64(time.Since(start).Microseconds()) / 1000
	runtime.ReadMemStats(&after)
	return ms, float64(after.TotalAlloc - before.TotalAlloc)
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}
