package openclaw

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// ships: the types of its plugins have one type for the names of all hooks.
var ships = neutral.Shipped{
	Files:   []string{"dist/*.d.ts", "dist/core-tool-factory-descriptors-*.js"},
	Tools:   `\bname: "[a-z_]+",\s+family`,
	Passage: `type PluginHookName = [^;]+;`,
	Left: []neutral.LeftOut{
		{
			Names: "before_agent_run",
			Why:   "hookd's plugin uses it to deny a prompt, which hooks hear of as before_prompt_build",
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
			Why:   "they are parts of one message; message_sending reports the whole message and can deny it",
		},
		{
			Names: "before_dispatch inbound_claim channel_pairing_requested subagent_delivery_target",
			Why:   "they say where a message goes; message_received reports each message that arrived",
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

// reach has the tools of 2026.9.2 that reach something under a name of their own.
var reach = []neutral.Reach{
	{Tools: "process terminal", What: "writes to a program that runs, such as a shell"},
	{Tools: "nodes node_inference screen computer dir_fetch dir_list file_fetch file_write",
		What: "reaches paired machines, their files, screens and programs, where no guard of this one is asked"},
	{Tools: "browser", What: "reads pages and acts in a browser"},
	{Tools: "openclaw gateway", What: "changes OpenClaw's own settings and starts it again"},
	{Tools: "automations create_goal update_goal suggest_task", What: "has the agent work later, without a person"},
	{Tools: "subagents sessions sessions_send conversations_send conversations_turn",
		What: "has agents go on; their own calls are asked about"},
	{Tools: "message tts canvas dashboard portal mobile_ui show_widget github_publish",
		What: "sends text or files to a service or a person"},
	{Tools: "pdf view_image image_generate music_generate video_generate", What: "reads files, and sends them to a model"},
	{Tools: "secrets", What: "lists secrets and asks a person for one"},
	{Tools: "skill_workshop", What: "writes a skill"},
}

// others reach only the agent's own notes.
const others = "agents_list agents_wait ask_user conversations_list dismiss_task get_goal github_identity_status " +
	"heartbeat_respond intent memory_get memory_search progress_card session_status sessions_history sessions_list " +
	"sessions_search sessions_yield structured_output transcripts"
