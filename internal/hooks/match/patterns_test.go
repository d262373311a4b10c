package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/base/pattern"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/hooks/hook"
)

// The index finds the same hooks as a try of each hook, in the same order.
func TestIndexFindsWhatTryingEachHookFinds(t *testing.T) {
	words := []string{"agent", "agent:end", "tool", "pre_tool_use", "PreToolUse", "onStop", "hookd:reload", "x:y:z", "transform_tool_result"}
	shapes := []string{"%s", "%s", "%s*", "%s:*", "*%s", "*", "{%s,zzz}", "?%s", "[a-z]%s", "%s?", "hookd:*"}
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		ix := New(randomHooks(t, random, shapes, words), Options{})
		for _, word := range words {
			c := events.For("", word)
			names := kindNames(c)
			var want []string
			for _, h := range ix.hooks {
				if m, ok := matchNames(h, c, names); ok {
					want = append(want, h.Name+" "+m.Given)
				}
			}
			var got []string
			for _, m := range ix.Named("", word).candidates {
				got = append(got, m.Hook.Name+" "+m.Given)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("round %d, %s: got %v, want %v", round, word, got, want)
			}
		}
	}
}

func randomHooks(t *testing.T, random *rand.Rand, shapes, words []string) *hook.Snapshot {
	t.Helper()
	snap := &hook.Snapshot{}
	for i := range 30 {
		h := &hook.Hook{Name: fmt.Sprint("h", i)}
		for range 1 + random.IntN(3) {
			shape, word := shapes[random.IntN(len(shapes))], words[random.IntN(len(words))]
			text := shape
			if strings.Contains(shape, "%") {
				text = fmt.Sprintf(shape, word)
			}
			p, err := pattern.Compile(text)
			if err != nil {
				t.Fatal(err)
			}
			h.Patterns = append(h.Patterns, p)
		}
		snap.Entries = append(snap.Entries, hook.Entry{Hook: h, Name: h.Name, State: hook.Active})
	}
	return snap
}
