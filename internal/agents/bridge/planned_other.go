//go:build !linux

package bridge

import (
	"errors"

	"github.com/hookd/hookd/internal/run/box"
	"github.com/hookd/hookd/wire"
)

// PlanBox leaves each box to the bridge: only Linux has boxes that another process can plan.
func PlanBox(wire.Handed, int, BoxKeeper) (reply []byte, files [2]int, ok bool) {
	return nil, files, false
}

func (boxCall) finish([]byte, box.Begun) (int, error) {
	return exitNoBox, errors.New("no box was planned")
}
