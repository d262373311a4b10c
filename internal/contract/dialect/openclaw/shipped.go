package openclaw

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// ships: the types of its plugins have one type for the names of all hooks.
var ships = neutral.Shipped{
	Files:   []string{"dist/*.d.ts"},
	Passage: `type PluginHookName = [^;]+;`,
	Left: []neutral.LeftOut{
		{
			Names: "before_agent_run",
			Why:   "hookd's plugin uses it to block a prompt, which hooks hear of as before_prompt_build",
		},
		{
			Names: "tool_result_persist",
			Why:   "after_tool_call tells of the result, and a new one is already in place",
		},
		{
			Names: "llm_input llm_output",
			Why:   "they hold the whole conversation for each call of the model; model_call_started and model_call_ended tell of the calls",
		},
		{
			Names: "before_model_resolve before_agent_reply",
			Why:   "they choose the model or answer in its place, for which hooks have no word",
		},
		{
			Names: "before_message_write reply_dispatch reply_payload_sending",
			Why:   "they are parts of one message; message_sending tells of it whole and can block it",
		},
		{
			Names: "before_dispatch inbound_claim channel_pairing_requested subagent_delivery_target",
			Why:   "they say where a message goes; message_received tells of each one that arrived",
		},
		{
			Names: "agent_turn_prepare heartbeat_prompt_contribution",
			Why:   "they only add to a prompt, as before_prompt_build can",
		},
		{
			Names: "resolve_exec_env before_install",
			Why:   "they are of plugins and their settings, not of an agent's work",
		},
		{
			Names: "cron_changed cron_reconciled skill_changed skill_proposal_changed skill_proposal_evaluate subagent_progress",
			Why:   "they tell of changes within OpenClaw that no call of an agent waits for",
		},
	},
}
