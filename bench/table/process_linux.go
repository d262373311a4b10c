package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is the processor time that a process has used so far, and the resources that it
// holds now.
type usage struct {
	cpu      time.Duration // of all its threads that live, and of its children that have ended
	switches int           // context switches of all its threads
	rss      int64         // bytes
}

func usageOf(pid int) (u usage, err error) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if len(threads) == 0 {
		return u, fmt.Errorf("process %d is gone", pid)
	}
	for _, dir := range threads {
		if f := fields(filepath.Join(dir, "schedstat")); len(f) > 0 {
			u.cpu += time.Duration(number(f[0]))
		}
		for key, value := range status(filepath.Join(dir, "status")) {
			if strings.HasSuffix(key, "ctxt_switches") {
				u.switches += int(number(value))
			}
		}
	}
	u.rss = number(strings.Fields(status(fmt.Sprintf("/proc/%d/status", pid))["VmRSS"] + " 0")[0]) << 10
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	const ticks = time.Second / 100 // the unit of /proc/PID/stat, for every program
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	if f := strings.Fields(string(rest)); len(f) > 14 {
		u.cpu += time.Duration(number(f[13])+number(f[14])) * ticks
	}
	return u, nil
}

func fields(file string) []string {
	text, _ := os.ReadFile(file)
	return strings.Fields(string(text))
}

func status(file string) map[string]string {
	text, _ := os.ReadFile(file)
	list := map[string]string{}
	for line := range bytes.Lines(text) {
		if key, value, ok := strings.Cut(string(line), ":"); ok {
			list[key] = strings.TrimSpace(value)
		}
	}
	return list
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// machine describes the machine that this runs on, in one line.
func machine() string {
	cpu := ""
	for line := range strings.Lines(readAll("/proc/cpuinfo")) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.HasPrefix(key, "model name") {
			cpu = strings.TrimSpace(value)
		}
	}
	return fmt.Sprintf("%s, Linux %s", cpu, strings.TrimSpace(readAll("/proc/sys/kernel/osrelease")))
}

// load is the machine's load average over the last minute.
func load() string { return (append(fields("/proc/loadavg"), "unknown"))[0] }

func readAll(file string) string {
	text, _ := os.ReadFile(file)
	return string(text)
}
