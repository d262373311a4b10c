package dispatch

// starts are the runs whose process may exist but is not known yet: on a busy
// machine a hook can send an event before the call that started it returns.
type starts struct {
	last  uint64         // number of the last one
	under map[uint64]int // depth by number
	fewer chan struct{}  // closed when one of them is known, or did not start
}

func newStarts() starts { return starts{under: map[uint64]int{}, fewer: make(chan struct{})} }

// before reports whether one with this number or a smaller one is under way.
func (s *starts) before(number uint64) bool {
	for n := range s.under {
		if n <= number {
			return true
		}
	}
	return false
}

// deepest returns the depth of the deepest one, -1 if there is none.
func (s *starts) deepest() int {
	depth := -1
	for _, d := range s.under {
		depth = max(depth, d)
	}
	return depth
}
