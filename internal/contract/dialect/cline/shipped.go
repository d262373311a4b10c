package cline

import (
	"cmp"
	"strings"

	"github.com/hookd/hookd/internal/contract/dialect/neutral"
)

// ships: the program has a list of the names in its payloads.
var ships = neutral.Shipped{
	Files:   []string{".", "../cli-*/bin/cline", "node_modules/@cline/cli-*/bin/cline"},
	Tools:   `\bname:"(?:[a-z]+_[a-z_]+|editor|skills)",description`,
	Passage: `\["agent_start","agent_resume"(?:,"[a-z_]+")+\]`,
	Row: func(name string) string {
		_, words, _ := strings.Cut(" "+eventWords, " "+name+"=")
		row, _, _ := strings.Cut(words, " ")
		return cmp.Or(row, name)
	},
	Elsewhere: "Notification", // of its extension alone
}

// reach has the tools of 3.0.65 that reach something under a name of their own.
var reach = []neutral.Reach{
	{Tools: "skills", What: "reads the files of a skill"},
	{Tools: "team_spawn_teammate team_run_task team_send_message team_broadcast", What: "starts agents, or has them go on; their own calls are asked about"},
}

// others reach only the agent's own notes.
const others = "submit_and_exit switch_to_act_mode team_attach_outcome_fragment team_await_runs team_cancel_run team_cleanup " +
	"team_create_outcome team_finalize_outcome team_list_outcomes team_list_runs team_mission_log team_read_mailbox " +
	"team_review_outcome_fragment team_shutdown_teammate team_status team_task"
