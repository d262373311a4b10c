package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// figures are the results of Go's benchmarks of a package: by benchmark, then by unit.
type figures map[string]map[string]float64

var (
	benchmarkLine = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)
	benchmarkUnit = regexp.MustCompile(`([0-9.]+) (\S+)`)
)

// goBench runs the benchmarks of a package of the measured module whose names match.
func goBench(pkg, pattern, benchtime string) (figures, error) {
	cmd := exec.Command("go", "test", pkg, "-run", "^$", "-bench", pattern, "-benchtime", benchtime)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("go test %s: %w\n%s", pkg, err, out)
	}
	got := figures{}
	for _, line := range benchmarkLine.FindAllSubmatch(out, -1) {
		units := map[string]float64{}
		for _, m := range benchmarkUnit.FindAllSubmatch(line[2], -1) {
			units[string(m[2])], _ = strconv.ParseFloat(string(m[1]), 64)
		}
		got[string(line[1])] = units
	}
	if len(got) == 0 {
		return nil, fmt.Errorf("go test %s: no figures in\n%s", pkg, out)
	}
	return got, nil
}

// judged is the cost of an ordinary call's facts and of rules that let it pass, in process, and how it grows.
func judged(*bench) ([]row, error) {
	got, err := goBench("./internal/hooks/rules", "^BenchmarkJudge$", "0.5s")
	if err != nil {
		return nil, err
	}
	us := func(rules int) float64 { return got[fmt.Sprintf("Judge/%d-rules", rules)]["ns/op"] / 1000 }
	var texts []string
	for _, n := range []int{10, 100, 1000, 10_000} {
		texts = append(texts, fmt.Sprintf("%s: %.0f µs", count(float64(n)), us(n)))
	}
	return []row{
		{
			what:   "the facts of an ordinary call, and 200 rules that let it pass",
			checks: []check{atMost("≤ 40 µs", 40, us(200), "%.0f µs")},
			beside: "go test ./internal/hooks/rules -run '^$' -bench Judge",
		},
		{
			what:   "the same as it grows: rules",
			checks: []check{atMost("× 1,000 costs ≤ 1,000 ×", 1000, us(10_000)/us(10), "%.1f ×")},
			beside: strings.Join(texts, ", "),
		},
	}, nil
}

// lines measures the bounds of the reader with ordinary lines of agents, and with the costliest.
func lines(*bench) ([]row, error) {
	got, err := goBench("./internal/facts", "^BenchmarkLine$/^ordinary", "0.2s")
	if err != nil {
		return nil, err
	}
	var each []float64
	for _, f := range got {
		each = append(each, f["ns/op"]/1000)
	}
	slices.Sort(each)
	if got, err = goBench("./internal/facts", "^BenchmarkLine$/^worst", "10x"); err != nil {
		return nil, err
	}
	var slow, big string
	for name, f := range got {
		if f["ns/op"] >= got[slow]["ns/op"] {
			slow = name
		}
		if f["B/op"] >= got[big]["B/op"] {
			big = name
		}
	}
	beside := "go test ./internal/facts -run '^$' -bench Line"
	return []row{
		{
			what:   "the facts of an ordinary line, at p50",
			checks: []check{atMost("≤ 25 µs", 25, each[len(each)/2], "%.0f µs")},
			beside: beside,
		},
		{
			what: fmt.Sprintf("the facts of the worst of %d lines of 16 KiB", len(got)),
			checks: []check{
				atMost("≤ 20 ms", 20, got[slow]["ns/op"]/1e6, "%.1f ms"),
				atMost("≤ 8 MiB", 8, got[big]["B/op"]/(1<<20), "%.1f MiB"),
			},
			beside: fmt.Sprintf("%s; %s takes the most time, %s the most memory", beside,
				strings.TrimPrefix(slow, "Line/worst-"), strings.TrimPrefix(big, "Line/worst-")),
		},
	}, nil
}

// kept is the time that undo adds to a call, to keep the files that it deletes.
func kept(*bench) ([]row, error) {
	got, err := goBench("./internal/record/undo", "^BenchmarkKeep$/^1_files$", "300x")
	if err != nil {
		return nil, err
	}
	one := got["Keep/1_files"]
	return []row{{
		what:   "what undo adds to a call that deletes a folder with one file",
		checks: []check{atMost("≤ 1 ms", 1, one["ms/keep"], "%.2f ms")},
		beside: "go test ./internal/record/undo -run '^$' -bench Keep",
	}}, nil
}

// scanned is how fast `hookd scan` reads transcripts and judges their calls.
func scanned(*bench) ([]row, error) {
	got, err := goBench("./internal/people/scan", "^BenchmarkScan", "3x")
	if err != nil {
		return nil, err
	}
	return []row{{
		what: "hookd scan over 20 transcripts of 500 calls each; with 15 kB of output each",
		checks: []check{
			atLeast("≥ 150 MB/s", 150, got["ScanOutputs"]["MB/s"], "%.0f MB/s"),
			atLeast("≥ 10,000 calls judged a second", 10_000, got["Scan"]["calls/s"], "%.0f"),
		},
		beside: "go test ./internal/people/scan -run '^$' -bench Scan",
	}}, nil
}
