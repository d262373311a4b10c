package qwen

import (
	"time"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// Settings says where Qwen Code keeps its hooks, and how one is written there.
func Settings() neutral.Settings {
	return neutral.Settings{
		Programs: "qwen",
		Ships:    &ships, Reach: reach,
		DirEnv: "QWEN_HOME", Dir: ".qwen", File: "settings.json", Project: ".qwen/settings.json",
		Format: neutral.FormatJSON, At: []string{"hooks"}, Keys: neutral.StandardKeys, Lead: neutral.TypeCommand,
		// 0.15 reads each number as milliseconds, 0.24 as seconds below 1,000 alone.
		Shell: true, Unit: time.Millisecond,
		Switches: []neutral.Toggle{{
			Path: []string{"disableAllHooks"}, Off: true,
			Say: "`disableAllHooks` is true there: Qwen Code runs no hooks until it is removed",
		}},
	}
}
