package qwen

import "github.com/hookd/hookd/internal/contract/dialect/neutral"

// ships: its bundle has an enumeration of its events.
var ships = neutral.Shipped{
	Files:   []string{"cli.js", "chunks/*.js"},
	Tools:   `ToolNames[0-9]* = \{[^}]*\}`,
	Passage: `HookEventName[0-9]*\["[A-Za-z]+"\]`,
}

// reach has the tools of 0.24.4 that reach something under a name of their own.
var reach = []neutral.Reach{
	{Tools: "exec tool_call", What: "calls other tools, which are asked about one by one"},
	{Tools: "workflow create_sub_session send_message team_create", What: "starts agents, or has them go on"},
	{Tools: "cron_create loop_wakeup update_goal propose_goal", What: "has the agent work later, without a person"},
	{Tools: "enter_worktree exit_worktree", What: "makes and removes working trees of git, and works there"},
	{Tools: "artifact record_artifact image_gen", What: "sends text or files to a service"},
	{Tools: "read_mcp_resource", What: "asks an MCP server"},
	{Tools: "skill lsp zoom_image display_image omni_downsample_image omni_downscale_video omni_downsample_audio " +
		"omni_extract_keyframes omni_extract_audio omni_clip_video omni_convert_image omni_transcribe_audio omni_clip_image " +
		"omni_clip_audio omni_caption_image omni_caption_audio omni_ocr_image omni_understand_video_segments",
		What: "reads files, or has other programs read them"},
	{Tools: "save_memory", What: "writes the agent's memory"},
}

// others reach only the agent's own notes.
const others = "cron_delete cron_list enter_plan_mode exit_plan_mode get_goal list_agents omni_recall_media_memory " +
	"record_source report_findings request_shutdown structured_output task_create task_list task_stop task_update " +
	"team_delete team_plan_approval tool_search"
