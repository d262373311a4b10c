#!/bin/sh
# entry.sh prints the linker's flag by which hookd-bridge asks hookd before Go's runtime starts, for GOOS and
# GOARCH: see internal/agents/early. For a system without it, nothing.
case $(go env GOOS)/$(go env GOARCH) in
linux/amd64 | linux/arm64) echo "-E github.com/hookd/hookd/internal/agents/early.start" ;;
esac
