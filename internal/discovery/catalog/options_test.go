package catalog

import (
	"slices"
	"testing"

	"github.com/hookd/hookd/internal/base/config"
)

// hookd.yaml names each format that there is a parser for, and no other.
func TestEachSourceTypeHasAParser(t *testing.T) {
	names := []string{config.HookDir}
	for _, f := range fileFormats {
		names = append(names, f.name)
	}
	slices.Sort(names)
	if want := slices.Sorted(slices.Values(config.SourceTypes)); !slices.Equal(names, want) {
		t.Errorf("there are parsers for %q, hookd.yaml takes %q", names, want)
	}
}
