package openclaw

import "github.com/hookd/hookd/internal/dialect/neutral"

// ships: the types of its plugins have one type for the names of all hooks.
var ships = neutral.Shipped{
	Files:   []string{"dist/*.d.ts"},
	Passage: `type PluginHookName = [^;]+;`,
	Left: "agent_turn_prepare before_agent_reply before_agent_run before_dispatch before_install before_message_write " +
		"before_model_resolve channel_pairing_requested cron_changed cron_reconciled heartbeat_prompt_contribution " +
		"inbound_claim llm_input llm_output message_received message_sending message_sent model_call_ended " +
		"model_call_started reply_dispatch reply_payload_sending resolve_exec_env skill_changed skill_proposal_changed " +
		"skill_proposal_evaluate subagent_delivery_target subagent_progress tool_result_persist",
}
