//go:build !linux

package main

import (
	"runtime"
	"time"
)

// usage is the processor time that a process has used so far, and the resources that it
// holds now.
type usage struct {
	cpu      time.Duration
	switches int
	rss      int64
}

func usageOf(int) (usage, error) {
	return usage{}, missing{"what a process uses is only read on Linux"}
}

func machine() string { return runtime.GOOS + "/" + runtime.GOARCH }

func load() string { return "unknown" }
