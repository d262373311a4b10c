//go:build !linux || !(amd64 || arm64)

package early

import (
	"os"

	"github.com/hookd/hookd/internal/run/box"
)

func payload() []byte { return nil }

func sent() (*os.File, []byte, bool) { return nil, nil, false }

func begun() ([]byte, box.Begun, bool) { return nil, box.Begun{}, false }
