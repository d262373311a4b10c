package hook

import "github.com/hookd/hookd/internal/base/lazyregexp"

var bridgeCall = lazyregexp.New(
	`(?:^|[\s;&|(/"'` + "`" + `])hookd(?:-bridge|["']?\s+bridge)(?:$|[\s;&|)"'` + "`" + `])`,
)

// CallsBridge reports whether a command line calls hookd's bridge. In an agent's own
// settings that is how events reach hookd; as a hook of hookd it would send each
// event round in a circle.
func CallsBridge(command string) bool { return bridgeCall.MatchString(command) }
