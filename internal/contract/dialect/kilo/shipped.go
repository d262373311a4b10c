package kilo

import (
	"github.com/hookd/hookd/internal/contract/dialect/neutral"
	"github.com/hookd/hookd/internal/contract/dialect/opencode"
)

// ships is OpenCode's, in Kilo's own package.
func ships() *neutral.Shipped {
	s := opencode.Ships
	s.Tools = "" // not gone through
	s.Files = []string{".", "bin/kilo", "../cli-*/bin/kilo"}
	return &s
}
