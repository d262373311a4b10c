package proc

import (
	"time"
)

// cgroups: macOS has none, and a nil pool is empty.
type cgroups struct{}

type cgroup struct{}

func newCgroups(starter) *cgroups { return nil }

func (*cgroups) folder() string   { return "" }
func (*cgroups) of(int) string    { return "" }
func (*cgroups) acquire() *cgroup { return nil }
func (*cgroups) release(*cgroup)  {}
func (*cgroups) discard(*cgroup)  {}
func (*cgroups) noteStart()       {}
func (*cgroups) close() error     { return nil }

func (*cgroup) folder() string     { return "" }
func (*cgroup) descriptor() int    { return 0 }
func (*cgroup) kill() bool         { return false }
func (*cgroup) left(time.Time) int { return 0 }
