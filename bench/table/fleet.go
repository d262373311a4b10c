package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// fleetCost is the line of TestFiftyMachines for one size of a fleet.
var fleetCost = regexp.MustCompile(`([0-9]+) machines: ([0-9]+) messages, ([0-9.]+) messages and ([0-9]+) bytes a decision`)

// fleetMessages plots how many messages the servers of a fleet get as it grows tenfold, while
// each machine publishes 100 decisions. A test counts them, with the server's own counters.
func fleetMessages(b *bench) ([]row, error) {
	test := exec.Command("go", "test", "./internal/fleet", "-run", "^TestFiftyMachines$", "-count=1", "-v")
	test.Dir = root
	out, err := test.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("go test ./internal/fleet: %w\n%s", err, out)
	}
	p := plot{file: "fleet", title: "messages that the servers get for 100 decisions of each machine", x: "machines"}
	var texts []string
	for _, of := range fleetCost.FindAllStringSubmatch(string(out), -1) {
		machines, _ := strconv.ParseFloat(of[1], 64) // what the pattern matches are numbers
		messages, _ := strconv.ParseFloat(of[2], 64)
		p.points = append(p.points, point{machines, messages})
		texts = append(texts, fmt.Sprintf("%s: %s a decision, %s bytes", of[1], of[3], of[4]))
	}
	if len(p.points) < 2 {
		return nil, fmt.Errorf("go test ./internal/fleet prints no machines:\n%s", out)
	}
	b.plots = append(b.plots, p)
	first, last := p.points[0], p.points[len(p.points)-1]
	growth := last.x / first.x
	return []row{{
		what:   "messages to the servers as a fleet grows",
		checks: []check{atMost(fmt.Sprintf("× %.0f costs ≤ %.0f ×", growth, growth), growth, last.y/first.y, "%.1f ×")},
		beside: strings.Join(texts, ", ") + " ([plot](benchmarks/fleet.svg))",
	}}, nil
}
