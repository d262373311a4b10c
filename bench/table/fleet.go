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

// fleetMessages counts how many messages the servers of a fleet get as it grows tenfold, while
// each machine publishes 100 decisions. A test counts them, with the server's own counters.
func fleetMessages(*bench) ([]row, error) {
	test := exec.Command("go", "test", "./internal/fleet", "-run", "^TestFiftyMachines$", "-count=1", "-v")
	test.Dir = root
	out, err := test.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("go test ./internal/fleet: %w\n%s", err, out)
	}
	var machines, messages []float64
	var texts []string
	for _, of := range fleetCost.FindAllStringSubmatch(string(out), -1) {
		size, _ := strconv.ParseFloat(of[1], 64) // the pattern matches numbers
		sent, _ := strconv.ParseFloat(of[2], 64)
		machines, messages = append(machines, size), append(messages, sent)
		texts = append(texts, fmt.Sprintf("%s: %s a decision, %s bytes", of[1], of[3], of[4]))
	}
	if len(machines) < 2 {
		return nil, fmt.Errorf("go test ./internal/fleet prints no machines:\n%s", out)
	}
	last := len(machines) - 1
	growth := machines[last] / machines[0]
	return []row{{
		what: "messages to the servers as a fleet grows",
		checks: []check{atMost(fmt.Sprintf("× %.0f costs ≤ %.0f ×", growth, growth), growth,
			messages[last]/messages[0], "%.1f ×")},
		beside: strings.Join(texts, ", "),
	}}, nil
}
