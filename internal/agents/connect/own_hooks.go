package connect

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// OwnHook is a hook that stands in an agent's settings and is not hookd's bridge.
type OwnHook struct {
	Event   string         // the key that it stands under
	Matcher string         // of its group; "" = none
	Group   map[string]any // what else the group says
	Handler map[string]any // what it runs
}

// OwnHooks reads the hooks of an agent whose settings hold groups of handlers by
// event, and the path of the settings. A missing file has none. It changes nothing.
func OwnHooks(o Options) (path string, list []OwnHook, err error) {
	t, err := open(o)
	if err != nil {
		return "", nil, err
	}
	if t.agent.files != nil || t.agent.Shape != neutral.Grouped || len(t.agent.At) != 1 {
		return t.path, nil, fmt.Errorf("%s: its hooks are not written as groups of commands", o.Agent)
	}
	tree, err := t.agent.parse(t.path, t.file.text)
	if err != nil {
		return t.path, nil, err
	}
	byEvent, _ := neutral.Value(tree, t.agent.At...).(map[string]any)
	for _, event := range slices.Sorted(maps.Keys(byEvent)) {
		groups, _ := byEvent[event].([]any)
		for _, g := range groups {
			group, _ := g.(map[string]any)
			list = append(list, t.agent.ownIn(event, group)...)
		}
	}
	return t.path, list, nil
}

// ownIn lists the handlers of a group that are not the bridge.
func (a *agent) ownIn(event string, group map[string]any) (list []OwnHook) {
	rest := maps.Clone(group)
	delete(rest, "hooks")
	delete(rest, "matcher")
	matcher, _ := group["matcher"].(string)
	handlers, _ := group["hooks"].([]any)
	for _, h := range handlers {
		handler, _ := h.(map[string]any)
		if _, ours := a.callIn(handler); !ours {
			list = append(list, OwnHook{event, matcher, rest, handler})
		}
	}
	return list
}
