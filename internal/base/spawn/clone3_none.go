//go:build !linux || !(amd64 || arm64)

package spawn

import (
	"context"
	"errors"
	"runtime"
)

var errNoClone3 = errors.New("no clone3 on " + runtime.GOOS + "/" + runtime.GOARCH)

// Refused returns why Start does not use clone3.
func Refused() error { return errNoClone3 }

func startClone3(context.Context, *Spec) (Process, error) { panic("not called: Refused") }
