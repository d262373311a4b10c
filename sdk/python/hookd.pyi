"""The types of hookd.py. Editors and type checkers read this file, Python does not."""
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, TypedDict, Union

Said = Union["Answer", Dict[str, Any], None]

class Event:
    data: Dict[str, Any]
    name: str
    id: str
    session_id: str
    cwd: str
    def __init__(self, data: Dict[str, Any]) -> None: ...
    def __getitem__(self, field: str) -> Any: ...
    def __contains__(self, field: str) -> bool: ...
    def get(self, field: str, default: Any = None) -> Any: ...
    @property
    def kind(self) -> str: ...
    @property
    def tool(self) -> str: ...
    @property
    def input(self) -> Dict[str, Any]: ...
    @property
    def facts(self) -> Dict[str, Any]: ...
    @property
    def commands(self) -> List["Command"]: ...
    @property
    def effects(self) -> List["Effect"]: ...
    @property
    def doubts(self) -> List["Doubt"]: ...

class Answer:
    word: str
    value: Any
    reason: str
    def __init__(self, word: str, value: Any, reason: str = "") -> None: ...

def run(handle: Callable[[Event], Said]) -> None: ...
def deny(reason: str) -> Answer: ...
def ask(reason: str) -> Answer: ...
def allow(reason: str = "") -> Answer: ...
def context(text: str) -> Answer: ...
def rewrite(value: Any, reason: str = "") -> Answer: ...

class Unread(ValueError):
    reason: str
    commands: List["Command"]

class Command(List[str]):
    computed: Tuple[int, ...]
    text: str
    guess: bool
    env: List[Dict[str, Any]]
    redirects: List[Dict[str, Any]]
    via: List[str]
    span: Dict[str, int]
    def __init__(self, facts: Dict[str, Any]) -> None: ...
    @property
    def program(self) -> str: ...

class Effect:
    kind: str
    target: str
    certain: bool
    why: str
    command: int
    span: Dict[str, int]
    def __init__(self, facts: Dict[str, Any]) -> None: ...

class Doubt:
    kind: str
    text: str
    command: int
    span: Dict[str, int]
    def __init__(self, facts: Dict[str, Any]) -> None: ...

class Error(Exception): ...
class NotRunning(Error): ...
class NoAnswer(Error): ...

class Refused(Error):
    code: str
    message: str
    hint: str

def socket_path() -> str: ...
def emit(event: str, data: Optional[Dict[str, Any]] = None, seconds: float = 60, **envelope: Any) -> Dict[str, Any]: ...
def decide(event: str, data: Optional[Dict[str, Any]] = None, seconds: float = 60, **envelope: Any) -> Dict[str, Any]: ...
def subscribe(
    *globs: str, since: Optional[int] = None, epoch: Optional[str] = None, starts: bool = False
) -> Iterator[Dict[str, Any]]: ...

# The payloads of events, from hookd's contract table: `call: hookd.PreToolUse = event.data`.
# generated: types
agent__start = TypedDict("agent__start", {"agent_id": str, "session_id": str, "sender": str, "message_preview": str, "platform": str, "user_id": str, "chat_id": str, "thread_id": Optional[str], "chat_type": str, "message": str}, total=False)
agent__end = TypedDict("agent__end", {"agent_id": str, "session_id": str, "status": str, "tokens_used": int, "steps": int, "duration_ms": int, "response_preview": str, "platform": str, "user_id": str, "chat_id": str, "thread_id": Optional[str], "chat_type": str, "message": str, "response": str, "model": str, "provider": str}, total=False)
agent__step = TypedDict("agent__step", {"agent_id": str, "session_id": str, "step_index": int, "tool_call": Optional[str], "iteration": int, "tool_names": List[Any]}, total=False)
session__start = TypedDict("session__start", {"agent_id": str, "session_id": str}, total=False)
session__end = TypedDict("session__end", {"agent_id": str, "session_id": str}, total=False)
session__reset = TypedDict("session__reset", {"agent_id": str, "session_id": str, "reset_reason": str, "message_count_cleared": int}, total=False)
gateway__startup = TypedDict("gateway__startup", {"version": str, "started_at": str, "platforms": List[Any]}, total=False)
transform_tool_result = TypedDict("transform_tool_result", {"agent_id": str, "tool_name": Optional[str], "tool_input": Optional[Dict[str, Any]], "tool_output": str, "hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]]}, total=False)
pre_tool_use = TypedDict("pre_tool_use", {"session_id": str, "cwd": str, "hook_event_name": str, "agent_name": str, "tool_name": str, "tool_use_id": str, "tool_input": Dict[str, Any], "tool_category": str, "safety_policy": str}, total=False)
tool_input_transform = TypedDict("tool_input_transform", {"session_id": str, "cwd": str, "hook_event_name": str, "agent_name": str, "tool_name": str, "tool_use_id": str, "tool_input": Dict[str, Any], "tool_category": str, "safety_policy": str}, total=False)
tool_guard = TypedDict("tool_guard", {"session_id": str, "cwd": str, "hook_event_name": str, "agent_name": str, "tool_name": str, "tool_use_id": str, "tool_input": Dict[str, Any], "tool_category": str, "safety_policy": str}, total=False)
permission_request = TypedDict("permission_request", {"session_id": str, "cwd": str, "hook_event_name": str, "agent_name": str, "tool_name": str, "tool_use_id": str, "tool_input": Dict[str, Any], "tool_category": str, "safety_policy": str}, total=False)
tool_response_transform = TypedDict("tool_response_transform", {"session_id": str, "cwd": str, "hook_event_name": str, "tool_name": str, "tool_use_id": str, "tool_category": str, "tool_input": Dict[str, Any], "tool_response": Any, "tool_error": bool}, total=False)
post_tool_use = TypedDict("post_tool_use", {"session_id": str, "cwd": str, "hook_event_name": str, "agent_name": str, "tool_name": str, "tool_use_id": str, "tool_input": Dict[str, Any], "tool_response": Any, "tool_error": bool}, total=False)
on_tool_approval_decision = TypedDict("on_tool_approval_decision", {"session_id": str, "cwd": str, "hook_event_name": str, "tool_name": str, "tool_use_id": str, "tool_input": Dict[str, Any], "approval_decision": str, "approval_source": str, "safety_label": str}, total=False)
user_prompt_submit = TypedDict("user_prompt_submit", {"session_id": str, "cwd": str, "hook_event_name": str, "prompt": str}, total=False)
user_steering_messages_submit = TypedDict("user_steering_messages_submit", {"session_id": str, "cwd": str, "hook_event_name": str, "steering_messages": List[Any]}, total=False)
user_followup_submit = TypedDict("user_followup_submit", {"session_id": str, "cwd": str, "hook_event_name": str, "prompt": str}, total=False)
turn_start = TypedDict("turn_start", {"session_id": str, "cwd": str, "hook_event_name": str}, total=False)
turn_end = TypedDict("turn_end", {"session_id": str, "cwd": Optional[str], "hook_event_name": str, "agent_name": str, "reason": str, "type": str, "sessionId": Optional[str], "turnIndex": Optional[int]}, total=False)
before_llm_call = TypedDict("before_llm_call", {"session_id": str, "cwd": str, "hook_event_name": str, "iteration": int, "model_id": str, "messages": List[Any]}, total=False)
after_llm_call = TypedDict("after_llm_call", {"session_id": str, "cwd": str, "hook_event_name": str, "agent_name": str, "stop_response": str, "last_user_message": str, "model_id": str, "usage": Dict[str, Any], "cost": float}, total=False)
stop = TypedDict("stop", {"session_id": str, "cwd": str, "hook_event_name": str, "agent_name": str, "stop_response": str, "last_user_message": str, "conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "status": str, "loop_count": int, "assistant_response": str}, total=False)
subagent_stop = TypedDict("subagent_stop", {"session_id": str, "cwd": str, "hook_event_name": str, "agent_name": str, "parent_session_id": str, "stop_response": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]]}, total=False)
notification = TypedDict("notification", {"session_id": str, "cwd": str, "hook_event_name": str, "notification_level": str, "notification_message": str, "sessionId": str, "timestamp": Any, "message": str, "title": str, "notification_type": str}, total=False)
on_error = TypedDict("on_error", {"session_id": str, "cwd": str, "hook_event_name": str, "notification_level": str, "notification_message": str}, total=False)
on_max_iterations = TypedDict("on_max_iterations", {"session_id": str, "cwd": str, "hook_event_name": str, "notification_level": str, "notification_message": str}, total=False)
session_start = TypedDict("session_start", {"session_id": str, "cwd": Optional[str], "hook_event_name": str, "source": str, "sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str], "type": str, "reason": Optional[str]}, total=False)
session_end = TypedDict("session_end", {"session_id": str, "cwd": str, "hook_event_name": str, "reason": Optional[str], "sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str]}, total=False)
pre_compact = TypedDict("pre_compact", {"session_id": str, "cwd": str, "hook_event_name": str, "source": str}, total=False)
before_compaction = TypedDict("before_compaction", {"session_id": str, "cwd": str, "hook_event_name": str, "input_tokens": int, "output_tokens": int, "context_limit": int, "compaction_reason": str, "sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str]}, total=False)
after_compaction = TypedDict("after_compaction", {"session_id": str, "cwd": str, "hook_event_name": str, "input_tokens": int, "output_tokens": int, "context_limit": int, "compaction_reason": str, "summary": str, "sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str]}, total=False)
on_user_input = TypedDict("on_user_input", {"session_id": str, "cwd": str, "hook_event_name": str}, total=False)
on_agent_switch = TypedDict("on_agent_switch", {"session_id": str, "cwd": str, "hook_event_name": str, "from_agent": str, "to_agent": str, "agent_switch_kind": str, "from_agent_models": List[Any]}, total=False)
on_session_resume = TypedDict("on_session_resume", {"session_id": str, "cwd": str, "hook_event_name": str, "previous_max_iterations": int, "new_max_iterations": int}, total=False)
worktree_create = TypedDict("worktree_create", {"session_id": str, "cwd": str, "hook_event_name": str, "worktree_path": str, "worktree_branch": str, "worktree_source_dir": str}, total=False)
skill_content_guard = TypedDict("skill_content_guard", {"session_id": str, "cwd": str, "hook_event_name": str, "agent_name": str, "skill": Dict[str, Any]}, total=False)
prompt_file_guard = TypedDict("prompt_file_guard", {"session_id": str, "cwd": str, "hook_event_name": str, "agent_name": str, "source": str, "prompt_file": Dict[str, Any]}, total=False)
onStart = TypedDict("onStart", {"agent_name": str, "agent_id": str, "conversation_id": str, "workspace": str, "timestamp": str, "json_context": str, "trigger_type": str, "trigger_name": Optional[str], "parameters": Optional[Dict[str, Any]], "parent_agent": Optional[str]}, total=False)
onStop = TypedDict("onStop", {"agent_name": str, "agent_id": str, "conversation_id": str, "workspace": str, "timestamp": str, "json_context": str, "duration_ms": int, "message_count": int, "tool_call_count": int, "token_usage": Dict[str, Any], "exit_reason": str, "files_modified": List[Any], "hook_output": Optional[str]}, total=False)
beforeToolCall = TypedDict("beforeToolCall", {"agent_name": str, "agent_id": str, "conversation_id": str, "workspace": str, "timestamp": str, "json_context": str, "tool_name": str, "tool_args": Dict[str, Any], "tool_call_index": int}, total=False)
afterToolCall = TypedDict("afterToolCall", {"agent_name": str, "agent_id": str, "conversation_id": str, "workspace": str, "timestamp": str, "json_context": str, "tool_name": str, "tool_result": Any, "tool_error": Optional[str], "tool_success": bool, "tool_duration_ms": int}, total=False)
onError = TypedDict("onError", {"agent_name": str, "agent_id": str, "conversation_id": str, "workspace": str, "timestamp": str, "json_context": str, "error_type": str, "error_message": str, "error_stack": Optional[str], "last_tool": Optional[str], "recoverable": bool}, total=False)
beforeMessage = TypedDict("beforeMessage", {"agent_name": str, "agent_id": str, "conversation_id": str, "workspace": str, "timestamp": str, "json_context": str}, total=False)
afterMessage = TypedDict("afterMessage", {"agent_name": str, "agent_id": str, "conversation_id": str, "workspace": str, "timestamp": str, "json_context": str}, total=False)
PreToolUse = TypedDict("PreToolUse", {"session_id": Optional[str], "prompt_id": str, "transcript_path": Optional[str], "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "tool_name": str, "tool_input": Any, "tool_use_id": str, "model": str, "turn_id": str, "session_title": str, "client_type": str, "tool_call_id": str, "clineVersion": str, "hookName": str, "timestamp": str, "taskId": str, "workspaceRoots": List[Any], "userId": str, "parent_agent_id": Optional[str], "preToolUse": Dict[str, Any], "conversationId": str, "stepIdx": int, "modelName": str, "transcriptPath": str, "workspacePaths": List[Any], "toolCall": Dict[str, Any], "event": str, "matcher_context": Optional[str], "working_dir": Optional[str], "hookEventName": str, "sessionId": str, "workspaceRoot": str, "toolName": str, "toolInput": Dict[str, Any], "event_type": str, "metadata": Dict[str, Any]}, total=False)
PreSkillShellCommand = TypedDict("PreSkillShellCommand", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "tool_name": str, "tool_input": Dict[str, Any], "tool_use_id": str, "command_name": str, "command_source": str, "invoked_by": str}, total=False)
PermissionRequest = TypedDict("PermissionRequest", {"session_id": str, "prompt_id": str, "transcript_path": Optional[str], "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "tool_name": str, "tool_input": Dict[str, Any], "permission_suggestions": List[Any], "model": str, "turn_id": str, "session_title": str, "client_type": str, "tool_call_id": str, "timestamp": str}, total=False)
PermissionDenied = TypedDict("PermissionDenied", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "tool_name": str, "tool_input": Dict[str, Any], "tool_use_id": str, "reason": str, "timestamp": str, "hookEventName": str, "sessionId": str, "workspaceRoot": str, "toolName": str, "toolInput": Dict[str, Any]}, total=False)
PostToolUse = TypedDict("PostToolUse", {"session_id": Optional[str], "prompt_id": str, "transcript_path": Optional[str], "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "tool_name": str, "tool_input": Dict[str, Any], "tool_use_id": str, "tool_response": Any, "duration_ms": float, "model": str, "turn_id": str, "exit_code": int, "session_title": str, "client_type": str, "tool_call_id": str, "tool_output": Any, "clineVersion": str, "hookName": str, "timestamp": str, "taskId": str, "workspaceRoots": List[Any], "userId": str, "parent_agent_id": Optional[str], "postToolUse": Dict[str, Any], "conversationId": str, "stepIdx": int, "modelName": str, "transcriptPath": str, "workspacePaths": List[Any], "toolCall": Dict[str, Any], "event": str, "matcher_context": Optional[str], "working_dir": Optional[str], "hookEventName": str, "sessionId": str, "workspaceRoot": str, "toolName": str, "toolInput": Dict[str, Any], "toolResponse": Any, "event_type": str, "metadata": Dict[str, Any]}, total=False)
PostToolUseFailure = TypedDict("PostToolUseFailure", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "tool_name": str, "tool_input": Dict[str, Any], "tool_use_id": str, "error": Any, "is_interrupt": bool, "duration_ms": float, "session_title": str, "client_type": str, "tool_call_id": str, "timestamp": str, "event": str, "matcher_context": Optional[str], "working_dir": str, "hookEventName": str, "sessionId": str, "workspaceRoot": str, "toolName": str, "toolInput": Dict[str, Any]}, total=False)
PostToolBatch = TypedDict("PostToolBatch", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "tool_calls": List[Any], "timestamp": str}, total=False)
UserPromptSubmit = TypedDict("UserPromptSubmit", {"session_id": Optional[str], "prompt_id": str, "transcript_path": Optional[str], "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "prompt": Any, "model": str, "turn_id": str, "session_title": str, "client_type": str, "is_steer": bool, "clineVersion": str, "hookName": str, "timestamp": str, "taskId": str, "workspaceRoots": List[Any], "userId": str, "parent_agent_id": Optional[str], "userPromptSubmit": Dict[str, Any], "event": str, "matcher_context": Optional[str], "message": str, "hookEventName": str, "sessionId": str, "workspaceRoot": str, "event_type": str, "working_dir": Optional[str], "metadata": Dict[str, Any]}, total=False)
UserPromptExpansion = TypedDict("UserPromptExpansion", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "expansion_type": str, "command_name": str, "command_args": str, "command_source": str, "prompt": str, "timestamp": str}, total=False)
MessageDisplay = TypedDict("MessageDisplay", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "turn_id": str, "message_id": str, "index": int, "final": bool, "delta": str, "timestamp": str, "displayed_text": str, "is_final": bool}, total=False)
Stop = TypedDict("Stop", {"session_id": Optional[str], "prompt_id": str, "transcript_path": Optional[str], "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "stop_hook_active": bool, "last_assistant_message": Optional[str], "background_tasks": List[Any], "session_crons": List[Any], "model": str, "turn_id": str, "session_title": str, "client_type": str, "conversationId": str, "stepIdx": int, "modelName": str, "transcriptPath": str, "workspacePaths": List[Any], "timestamp": str, "event": str, "matcher_context": Optional[str], "hookEventName": str, "sessionId": str, "workspaceRoot": str, "event_type": str, "working_dir": Optional[str], "metadata": Dict[str, Any]}, total=False)
StopFailure = TypedDict("StopFailure", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "error": str, "error_details": str, "last_assistant_message": str, "session_title": str, "client_type": str, "error_type": str, "error_message": str, "timestamp": str, "hookEventName": str, "sessionId": str, "workspaceRoot": str}, total=False)
SubagentStart = TypedDict("SubagentStart", {"session_id": str, "prompt_id": str, "transcript_path": Optional[str], "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "model": str, "turn_id": str, "session_title": str, "client_type": str, "agent_name": str, "prompt": str, "timestamp": str, "hookEventName": str, "sessionId": str, "workspaceRoot": str}, total=False)
SubagentStop = TypedDict("SubagentStop", {"session_id": str, "prompt_id": str, "transcript_path": Optional[str], "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "stop_hook_active": bool, "last_assistant_message": Optional[str], "background_tasks": List[Any], "session_crons": List[Any], "agent_transcript_path": Optional[str], "model": str, "turn_id": str, "session_title": str, "client_type": str, "agent_name": str, "response": str, "timestamp": str, "hookEventName": str, "sessionId": str, "workspaceRoot": str}, total=False)
Notification = TypedDict("Notification", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "message": str, "title": str, "notification_type": str, "timestamp": str, "details": Dict[str, Any], "session_title": str, "client_type": str, "sink": str, "body": str, "severity": str, "clineVersion": str, "hookName": str, "taskId": str, "workspaceRoots": List[Any], "userId": str, "parent_agent_id": Optional[str], "hookEventName": str, "sessionId": str, "workspaceRoot": str}, total=False)
SessionStart = TypedDict("SessionStart", {"session_id": Optional[str], "prompt_id": str, "transcript_path": Optional[str], "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "source": str, "model": str, "session_title": str, "timestamp": str, "client_type": str, "profile": str, "conversationId": str, "stepIdx": int, "modelName": str, "transcriptPath": str, "workspacePaths": List[Any], "event": str, "matcher_context": Optional[str], "hookEventName": str, "sessionId": str, "workspaceRoot": str, "event_type": str, "working_dir": Optional[str], "metadata": Dict[str, Any]}, total=False)
Setup = TypedDict("Setup", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "trigger": str}, total=False)
SessionEnd = TypedDict("SessionEnd", {"session_id": Optional[str], "prompt_id": str, "transcript_path": Optional[str], "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "reason": str, "model": str, "timestamp": str, "session_title": str, "client_type": str, "event": str, "matcher_context": Optional[str], "hookEventName": str, "sessionId": str, "workspaceRoot": str, "event_type": str, "working_dir": Optional[str], "metadata": Dict[str, Any]}, total=False)
PreCompact = TypedDict("PreCompact", {"session_id": str, "prompt_id": str, "transcript_path": Optional[str], "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "trigger": str, "custom_instructions": Optional[str], "model": str, "turn_id": str, "session_title": str, "client_type": str, "clineVersion": str, "hookName": str, "timestamp": str, "taskId": str, "workspaceRoots": List[Any], "userId": str, "parent_agent_id": Optional[str], "preCompact": Dict[str, Any], "event": str, "tool_name": str, "tool_input": Dict[str, Any], "hookEventName": str, "sessionId": str, "workspaceRoot": str}, total=False)
PostCompact = TypedDict("PostCompact", {"session_id": str, "prompt_id": str, "transcript_path": Optional[str], "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "trigger": str, "compact_summary": str, "model": str, "turn_id": str, "session_title": str, "client_type": str, "timestamp": str, "hookEventName": str, "sessionId": str, "workspaceRoot": str}, total=False)
InstructionsLoaded = TypedDict("InstructionsLoaded", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "file_path": str, "memory_type": str, "load_reason": str, "timestamp": str}, total=False)
ConfigChange = TypedDict("ConfigChange", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "source": str, "file_path": str}, total=False)
CwdChanged = TypedDict("CwdChanged", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "old_cwd": str, "new_cwd": str}, total=False)
DirectoryAdded = TypedDict("DirectoryAdded", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "directory": str, "source": str}, total=False)
FileChanged = TypedDict("FileChanged", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "file_path": str, "event": str}, total=False)
PreModelSwitch = TypedDict("PreModelSwitch", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "from_model": str, "to_model": str, "requested_model": Optional[str], "source": str, "context_tokens": int, "prompt_cache_warm": bool, "cache_ttl": str, "estimated_cache_write_usd": float, "pricing": str}, total=False)
PostModelSwitch = TypedDict("PostModelSwitch", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "from_model": str, "to_model": str, "requested_model": Optional[str], "source": str, "context_tokens": int, "prompt_cache_warm": bool, "cache_ttl": str, "estimated_cache_write_usd": float, "pricing": str}, total=False)
TaskCreated = TypedDict("TaskCreated", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "task_id": str, "task_subject": str, "task_description": str, "teammate_name": str, "team_name": str}, total=False)
TaskCompleted = TypedDict("TaskCompleted", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "task_id": str, "task_subject": str, "task_description": str, "teammate_name": str, "team_name": str}, total=False)
TeammateIdle = TypedDict("TeammateIdle", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "teammate_name": str, "team_name": str}, total=False)
WorktreeCreate = TypedDict("WorktreeCreate", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "name": str}, total=False)
WorktreeRemove = TypedDict("WorktreeRemove", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "worktree_path": str}, total=False)
Elicitation = TypedDict("Elicitation", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "mcp_server_name": str, "message": str, "mode": str, "url": str, "elicitation_id": str, "requested_schema": Dict[str, Any]}, total=False)
ElicitationResult = TypedDict("ElicitationResult", {"session_id": str, "prompt_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "effort": Dict[str, Any], "hook_event_name": str, "agent_id": str, "agent_type": str, "mcp_server_name": str, "action": str, "content": Any, "mode": str, "elicitation_id": str}, total=False)
Interrupt = TypedDict("Interrupt", {"session_id": str, "transcript_path": Optional[str], "cwd": str, "hook_event_name": str, "model": str, "turn_id": str, "permission_mode": str, "session_title": str, "client_type": str, "reason": str}, total=False)
BeforeAgent = TypedDict("BeforeAgent", {"session_id": str, "transcript_path": str, "cwd": str, "hook_event_name": str, "timestamp": str, "prompt": str}, total=False)
AfterAgent = TypedDict("AfterAgent", {"session_id": str, "transcript_path": str, "cwd": str, "hook_event_name": str, "timestamp": str, "prompt": str, "prompt_response": str, "stop_hook_active": bool}, total=False)
BeforeTool = TypedDict("BeforeTool", {"session_id": str, "transcript_path": str, "cwd": str, "hook_event_name": str, "timestamp": str, "tool_name": str, "tool_input": Dict[str, Any], "mcp_context": Dict[str, Any], "original_request_name": str}, total=False)
AfterTool = TypedDict("AfterTool", {"session_id": str, "transcript_path": str, "cwd": str, "hook_event_name": str, "timestamp": str, "tool_name": str, "tool_input": Dict[str, Any], "mcp_context": Dict[str, Any], "original_request_name": str, "tool_response": Dict[str, Any]}, total=False)
BeforeModel = TypedDict("BeforeModel", {"session_id": str, "transcript_path": str, "cwd": str, "hook_event_name": str, "timestamp": str, "llm_request": Dict[str, Any]}, total=False)
BeforeToolSelection = TypedDict("BeforeToolSelection", {"session_id": str, "transcript_path": str, "cwd": str, "hook_event_name": str, "timestamp": str, "llm_request": Dict[str, Any]}, total=False)
AfterModel = TypedDict("AfterModel", {"session_id": str, "transcript_path": str, "cwd": str, "hook_event_name": str, "timestamp": str, "llm_request": Dict[str, Any], "llm_response": Dict[str, Any]}, total=False)
PreCompress = TypedDict("PreCompress", {"session_id": str, "transcript_path": str, "cwd": str, "hook_event_name": str, "timestamp": str, "trigger": str}, total=False)
preToolUse = TypedDict("preToolUse", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "tool_name": str, "tool_input": Dict[str, Any], "tool_use_id": str, "cwd": str, "agent_message": str, "sessionId": str, "timestamp": Any, "toolName": str, "toolArgs": Any, "session_id": str}, total=False)
beforeShellExecution = TypedDict("beforeShellExecution", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "command": str, "cwd": str, "sandbox": bool}, total=False)
beforeMCPExecution = TypedDict("beforeMCPExecution", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "tool_name": str, "tool_input": str, "mcp_server_name": str, "url": str, "mcp_server_url": str, "command": str}, total=False)
postToolUse = TypedDict("postToolUse", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "tool_name": str, "tool_input": Dict[str, Any], "tool_use_id": str, "cwd": str, "tool_output": str, "duration": float, "sessionId": str, "timestamp": Any, "toolName": str, "toolArgs": Any, "toolResult": Dict[str, Any], "session_id": str, "tool_response": Dict[str, Any]}, total=False)
postToolUseFailure = TypedDict("postToolUseFailure", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "tool_name": str, "tool_input": Dict[str, Any], "tool_use_id": str, "cwd": str, "error_message": str, "failure_type": str, "duration": float, "is_interrupt": bool, "sessionId": str, "timestamp": Any, "toolName": str, "toolArgs": Any, "error": Any}, total=False)
afterShellExecution = TypedDict("afterShellExecution", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "command": str, "cwd": str, "sandbox": bool, "output": str, "duration": float}, total=False)
afterMCPExecution = TypedDict("afterMCPExecution", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "tool_name": str, "tool_input": str, "result_json": str, "duration": float}, total=False)
beforeReadFile = TypedDict("beforeReadFile", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "file_path": str, "content": str, "attachments": List[Any]}, total=False)
beforeTabFileRead = TypedDict("beforeTabFileRead", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "file_path": str, "content": str}, total=False)
afterFileEdit = TypedDict("afterFileEdit", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "file_path": str, "edits": List[Any]}, total=False)
afterTabFileEdit = TypedDict("afterTabFileEdit", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "file_path": str, "edits": List[Any]}, total=False)
sessionStart = TypedDict("sessionStart", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "session_id": str, "is_background_agent": bool, "composer_mode": str, "sessionId": str, "timestamp": Any, "cwd": str, "source": str, "initialPrompt": str}, total=False)
sessionEnd = TypedDict("sessionEnd", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "session_id": str, "is_background_agent": bool, "reason": str, "duration_ms": float, "final_status": str, "error_message": str, "sessionId": str, "timestamp": Any, "cwd": str}, total=False)
beforeSubmitPrompt = TypedDict("beforeSubmitPrompt", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "prompt": str, "attachments": List[Any]}, total=False)
afterAgentResponse = TypedDict("afterAgentResponse", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "text": str}, total=False)
afterAgentThought = TypedDict("afterAgentThought", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "text": str, "duration_ms": float}, total=False)
subagentStart = TypedDict("subagentStart", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "subagent_type": str, "task": str, "subagent_id": str, "parent_conversation_id": str, "tool_call_id": str, "subagent_model": str, "is_parallel_worker": bool, "git_branch": str, "sessionId": str, "timestamp": Any, "cwd": str, "agentName": str}, total=False)
subagentStop = TypedDict("subagentStop", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "subagent_type": str, "task": str, "status": str, "description": str, "summary": str, "duration_ms": float, "message_count": int, "tool_call_count": int, "loop_count": int, "modified_files": List[Any], "agent_transcript_path": Optional[str], "sessionId": str, "timestamp": Any, "cwd": str, "agentId": str, "agentType": str, "response": str}, total=False)
preCompact = TypedDict("preCompact", {"conversation_id": str, "generation_id": str, "model": str, "model_id": str, "model_params": List[Any], "hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str], "transcript_path": Optional[str], "trigger": str, "context_usage_percent": float, "context_tokens": int, "context_window_size": int, "message_count": int, "messages_to_compact": int, "is_first_compaction": bool, "sessionId": str, "timestamp": Any, "cwd": str, "customInstructions": Optional[str]}, total=False)
workspaceOpen = TypedDict("workspaceOpen", {"hook_event_name": str, "cursor_version": str, "workspace_roots": List[Any], "user_email": Optional[str]}, total=False)
userPromptSubmitted = TypedDict("userPromptSubmitted", {"sessionId": str, "timestamp": Any, "cwd": str, "prompt": str}, total=False)
userPromptTransformed = TypedDict("userPromptTransformed", {"sessionId": str, "timestamp": Any, "cwd": str, "prompt": str}, total=False)
preMcpToolCall = TypedDict("preMcpToolCall", {"sessionId": str, "timestamp": Any, "cwd": str}, total=False)
permissionRequest = TypedDict("permissionRequest", {"sessionId": str, "timestamp": Any, "cwd": str, "toolName": str, "toolArgs": Any}, total=False)
agentStop = TypedDict("agentStop", {"sessionId": str, "timestamp": Any, "cwd": str, "transcriptPath": str, "stopReason": str, "stop_hook_active": bool}, total=False)
errorOccurred = TypedDict("errorOccurred", {"sessionId": str, "timestamp": Any, "cwd": str, "error": Dict[str, Any], "errorContext": str, "recoverable": bool}, total=False)
SessionHeartbeat = TypedDict("SessionHeartbeat", {"hook_event_name": str, "session_id": str, "session_title": str, "client_type": str, "cwd": str, "uptime_ms": float}, total=False)
UserPromptQueued = TypedDict("UserPromptQueued", {"hook_event_name": str, "session_id": str, "session_title": str, "client_type": str, "cwd": str}, total=False)
TurnStarted = TypedDict("TurnStarted", {"hook_event_name": str, "session_id": str, "session_title": str, "client_type": str, "cwd": str}, total=False)
PermissionResult = TypedDict("PermissionResult", {"hook_event_name": str, "session_id": str, "session_title": str, "client_type": str, "cwd": str, "tool_name": str, "tool_input": Dict[str, Any], "tool_call_id": str}, total=False)
TaskStarted = TypedDict("TaskStarted", {"hook_event_name": str, "session_id": str, "session_title": str, "client_type": str, "cwd": str}, total=False)
pre_read_code = TypedDict("pre_read_code", {"agent_action_name": str, "trajectory_id": str, "execution_id": str, "timestamp": str, "model_name": str, "tool_info": Dict[str, Any]}, total=False)
pre_write_code = TypedDict("pre_write_code", {"agent_action_name": str, "trajectory_id": str, "execution_id": str, "timestamp": str, "model_name": str, "tool_info": Dict[str, Any]}, total=False)
pre_run_command = TypedDict("pre_run_command", {"agent_action_name": str, "trajectory_id": str, "execution_id": str, "timestamp": str, "model_name": str, "tool_info": Dict[str, Any]}, total=False)
pre_mcp_tool_use = TypedDict("pre_mcp_tool_use", {"agent_action_name": str, "trajectory_id": str, "execution_id": str, "timestamp": str, "model_name": str, "tool_info": Dict[str, Any]}, total=False)
post_read_code = TypedDict("post_read_code", {"agent_action_name": str, "trajectory_id": str, "execution_id": str, "timestamp": str, "model_name": str, "tool_info": Dict[str, Any]}, total=False)
post_write_code = TypedDict("post_write_code", {"agent_action_name": str, "trajectory_id": str, "execution_id": str, "timestamp": str, "model_name": str, "tool_info": Dict[str, Any]}, total=False)
post_run_command = TypedDict("post_run_command", {"agent_action_name": str, "trajectory_id": str, "execution_id": str, "timestamp": str, "model_name": str, "tool_info": Dict[str, Any]}, total=False)
post_mcp_tool_use = TypedDict("post_mcp_tool_use", {"agent_action_name": str, "trajectory_id": str, "execution_id": str, "timestamp": str, "model_name": str, "tool_info": Dict[str, Any]}, total=False)
pre_user_prompt = TypedDict("pre_user_prompt", {"agent_action_name": str, "trajectory_id": str, "execution_id": str, "timestamp": str, "model_name": str, "tool_info": Dict[str, Any]}, total=False)
post_cascade_response = TypedDict("post_cascade_response", {"agent_action_name": str, "trajectory_id": str, "execution_id": str, "timestamp": str, "model_name": str, "tool_info": Dict[str, Any]}, total=False)
post_cascade_response_with_transcript = TypedDict("post_cascade_response_with_transcript", {"agent_action_name": str, "trajectory_id": str, "execution_id": str, "timestamp": str, "model_name": str, "tool_info": Dict[str, Any]}, total=False)
post_setup_worktree = TypedDict("post_setup_worktree", {"agent_action_name": str, "trajectory_id": str, "execution_id": str, "timestamp": str, "model_name": str, "tool_info": Dict[str, Any]}, total=False)
TaskStart = TypedDict("TaskStart", {"clineVersion": str, "hookName": str, "timestamp": str, "taskId": str, "workspaceRoots": List[Any], "userId": str, "parent_agent_id": Optional[str], "taskStart": Dict[str, Any]}, total=False)
TaskResume = TypedDict("TaskResume", {"clineVersion": str, "hookName": str, "timestamp": str, "taskId": str, "workspaceRoots": List[Any], "userId": str, "parent_agent_id": Optional[str], "taskResume": Dict[str, Any]}, total=False)
TaskCancel = TypedDict("TaskCancel", {"clineVersion": str, "hookName": str, "timestamp": str, "taskId": str, "workspaceRoots": List[Any], "userId": str, "parent_agent_id": Optional[str], "taskCancel": Dict[str, Any]}, total=False)
TaskComplete = TypedDict("TaskComplete", {"clineVersion": str, "hookName": str, "timestamp": str, "taskId": str, "workspaceRoots": List[Any], "userId": str, "parent_agent_id": Optional[str], "taskComplete": Dict[str, Any]}, total=False)
TaskError = TypedDict("TaskError", {"clineVersion": str, "hookName": str, "timestamp": str, "taskId": str, "workspaceRoots": List[Any], "userId": str, "parent_agent_id": Optional[str], "error": Optional[Dict[str, Any]]}, total=False)
SessionShutdown = TypedDict("SessionShutdown", {"clineVersion": str, "hookName": str, "timestamp": str, "taskId": str, "workspaceRoots": List[Any], "userId": str, "parent_agent_id": Optional[str], "reason": Optional[str]}, total=False)
PreInvocation = TypedDict("PreInvocation", {"conversationId": str, "stepIdx": int, "modelName": str, "transcriptPath": str, "workspacePaths": List[Any]}, total=False)
PostInvocation = TypedDict("PostInvocation", {"conversationId": str, "stepIdx": int, "modelName": str, "transcriptPath": str, "workspacePaths": List[Any]}, total=False)
session__compress = TypedDict("session__compress", {}, total=False)
reaction__added = TypedDict("reaction__added", {}, total=False)
reaction__removed = TypedDict("reaction__removed", {}, total=False)
message__pre_route = TypedDict("message__pre_route", {}, total=False)
on_session_start = TypedDict("on_session_start", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]]}, total=False)
on_session_end = TypedDict("on_session_end", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]]}, total=False)
on_session_reset = TypedDict("on_session_reset", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]]}, total=False)
on_session_finalize = TypedDict("on_session_finalize", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]]}, total=False)
pre_llm_call = TypedDict("pre_llm_call", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]]}, total=False)
post_llm_call = TypedDict("post_llm_call", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]]}, total=False)
pre_api_request = TypedDict("pre_api_request", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]]}, total=False)
post_api_request = TypedDict("post_api_request", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]]}, total=False)
transform_llm_output = TypedDict("transform_llm_output", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]]}, total=False)
api_request_error = TypedDict("api_request_error", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]]}, total=False)
pre_tool_call = TypedDict("pre_tool_call", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]], "tool_name": Optional[str], "tool_input": Optional[Dict[str, Any]]}, total=False)
post_tool_call = TypedDict("post_tool_call", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]], "tool_name": Optional[str], "tool_input": Optional[Dict[str, Any]]}, total=False)
transform_terminal_output = TypedDict("transform_terminal_output", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]], "tool_name": Optional[str], "tool_input": Optional[Dict[str, Any]]}, total=False)
pre_verify = TypedDict("pre_verify", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]]}, total=False)
subagent_start = TypedDict("subagent_start", {"hook_event_name": str, "session_id": str, "cwd": str, "profile": Optional[str], "extra": Optional[Dict[str, Any]]}, total=False)
session_created = TypedDict("session_created", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str], "title": Optional[str]}, total=False)
session_deleted = TypedDict("session_deleted", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str]}, total=False)
chat_message = TypedDict("chat_message", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str], "prompt": str, "agent": Optional[str], "messageID": Optional[str]}, total=False)
tool_execute_before = TypedDict("tool_execute_before", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str], "tool": str, "callID": str, "args": Optional[Dict[str, Any]]}, total=False)
tool_execute_after = TypedDict("tool_execute_after", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str], "tool": str, "callID": str, "args": Optional[Dict[str, Any]], "title": Optional[str], "output": str, "metadata": Any}, total=False)
session_idle = TypedDict("session_idle", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str]}, total=False)
session_error = TypedDict("session_error", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str], "error": Any}, total=False)
experimental_session_compacting = TypedDict("experimental_session_compacting", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str]}, total=False)
session_compacted = TypedDict("session_compacted", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str]}, total=False)
permission_asked = TypedDict("permission_asked", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str], "permission": Any}, total=False)
permission_replied = TypedDict("permission_replied", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str]}, total=False)
file_edited = TypedDict("file_edited", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str], "file": str}, total=False)
command_executed = TypedDict("command_executed", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str], "name": str, "arguments": Optional[str]}, total=False)
subagent_created = TypedDict("subagent_created", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str], "title": Optional[str]}, total=False)
subagent_idle = TypedDict("subagent_idle", {"sessionID": Optional[str], "cwd": str, "parentID": Optional[str]}, total=False)
gateway_start = TypedDict("gateway_start", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str]}, total=False)
gateway_stop = TypedDict("gateway_stop", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str]}, total=False)
before_reset = TypedDict("before_reset", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str], "reason": Optional[str]}, total=False)
before_prompt_build = TypedDict("before_prompt_build", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str], "prompt": str}, total=False)
before_tool_call = TypedDict("before_tool_call", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str], "toolName": str, "params": Optional[Dict[str, Any]], "toolCallId": Optional[str]}, total=False)
after_tool_call = TypedDict("after_tool_call", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str], "toolName": str, "params": Optional[Dict[str, Any]], "toolCallId": Optional[str], "result": Any, "error": Optional[str], "durationMs": Optional[float]}, total=False)
before_agent_finalize = TypedDict("before_agent_finalize", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str]}, total=False)
agent_end = TypedDict("agent_end", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str], "success": Optional[bool], "error": Optional[str], "durationMs": Optional[float], "type": str, "cwd": Optional[str], "answer": str, "status": str}, total=False)
model_call_started = TypedDict("model_call_started", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str], "callId": Optional[str], "provider": Optional[str], "model": Optional[str]}, total=False)
model_call_ended = TypedDict("model_call_ended", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str], "callId": Optional[str], "provider": Optional[str], "model": Optional[str], "outcome": Optional[str], "durationMs": Optional[float]}, total=False)
message_received = TypedDict("message_received", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str], "channelId": Optional[str], "content": str, "from": Optional[str]}, total=False)
message_sending = TypedDict("message_sending", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str], "channelId": Optional[str], "content": str, "to": Optional[str]}, total=False)
message_sent = TypedDict("message_sent", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str], "channelId": Optional[str], "content": str, "to": Optional[str], "success": Optional[bool]}, total=False)
subagent_spawned = TypedDict("subagent_spawned", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str], "childSessionKey": Optional[str]}, total=False)
subagent_ended = TypedDict("subagent_ended", {"sessionId": Optional[str], "sessionKey": Optional[str], "agentId": Optional[str], "runId": Optional[str], "workspaceDir": Optional[str], "childSessionKey": Optional[str]}, total=False)
SessionDelete = TypedDict("SessionDelete", {"session_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "hook_event_name": str, "timestamp": str, "prompt_id": str, "deleted_session_id": str}, total=False)
TodoCreated = TypedDict("TodoCreated", {"session_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "hook_event_name": str, "timestamp": str, "prompt_id": str, "todo_id": str, "todo_content": str, "all_todos": List[Any], "phase": str}, total=False)
TodoCompleted = TypedDict("TodoCompleted", {"session_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "hook_event_name": str, "timestamp": str, "prompt_id": str, "todo_id": str, "todo_content": str, "all_todos": List[Any], "phase": str}, total=False)
session_shutdown = TypedDict("session_shutdown", {"type": str, "sessionId": Optional[str], "cwd": Optional[str], "reason": Optional[str]}, total=False)
input = TypedDict("input", {"type": str, "sessionId": Optional[str], "cwd": Optional[str], "text": str, "source": Optional[str]}, total=False)
tool_call = TypedDict("tool_call", {"type": str, "sessionId": Optional[str], "cwd": Optional[str], "toolName": str, "toolCallId": str, "input": Dict[str, Any]}, total=False)
tool_result = TypedDict("tool_result", {"type": str, "sessionId": Optional[str], "cwd": Optional[str], "toolName": str, "toolCallId": str, "input": Dict[str, Any], "content": List[Any], "isError": Optional[bool]}, total=False)
session_before_compact = TypedDict("session_before_compact", {"type": str, "sessionId": Optional[str], "cwd": Optional[str], "customInstructions": Optional[str]}, total=False)
session_compact = TypedDict("session_compact", {"type": str, "sessionId": Optional[str], "cwd": Optional[str]}, total=False)
PreToolUseResult = TypedDict("PreToolUseResult", {"event": str, "session_id": str, "matcher_context": Optional[str], "tool_name": str, "tool_input": Dict[str, Any], "tool_call_id": str, "working_dir": str, "decision": str, "blocked_by": str, "reason": str}, total=False)
BeforeReadFile = TypedDict("BeforeReadFile", {"event": str, "session_id": str, "matcher_context": Optional[str], "tool_name": str, "tool_input": Dict[str, Any], "tool_call_id": str, "working_dir": str}, total=False)
AfterFileEdit = TypedDict("AfterFileEdit", {"event": str, "session_id": str, "matcher_context": Optional[str], "tool_name": str, "tool_input": Dict[str, Any], "tool_call_id": str, "working_dir": str}, total=False)
BeforeShellExecution = TypedDict("BeforeShellExecution", {"event": str, "session_id": str, "matcher_context": Optional[str], "tool_name": str, "tool_input": Dict[str, Any], "tool_call_id": str, "working_dir": str}, total=False)
AfterShellExecution = TypedDict("AfterShellExecution", {"event": str, "session_id": str, "matcher_context": Optional[str], "tool_name": str, "tool_input": Dict[str, Any], "tool_call_id": str, "working_dir": str}, total=False)
agentSpawn = TypedDict("agentSpawn", {"hook_event_name": str, "session_id": str, "cwd": str}, total=False)
userPromptSubmit = TypedDict("userPromptSubmit", {"hook_event_name": str, "session_id": str, "cwd": str, "prompt": str}, total=False)
StopCancelled = TypedDict("StopCancelled", {"hookEventName": str, "sessionId": str, "cwd": str, "workspaceRoot": str, "timestamp": str}, total=False)
PostCompaction = TypedDict("PostCompaction", {"session_id": str, "transcript_path": str, "cwd": str, "permission_mode": str, "hook_event_name": str}, total=False)
session_start = TypedDict("session_start", {"threadID": Optional[str], "cwd": str, "event": str, "thread_id": str}, total=False)
agent_start = TypedDict("agent_start", {"threadID": Optional[str], "cwd": str, "message": str}, total=False)
tool_call = TypedDict("tool_call", {"threadID": Optional[str], "cwd": str, "tool": str, "input": Dict[str, Any], "toolUseID": str}, total=False)
tool_result = TypedDict("tool_result", {"threadID": Optional[str], "cwd": str, "tool": str, "input": Dict[str, Any], "toolUseID": str, "status": str, "output": Any, "error": Any, "event": str, "thread_id": str}, total=False)
agent_end = TypedDict("agent_end", {"threadID": Optional[str], "cwd": str, "message": Optional[str], "status": Optional[str]}, total=False)
session_end = TypedDict("session_end", {"event": str, "thread_id": str}, total=False)
user_prompt = TypedDict("user_prompt", {"event": str, "thread_id": str}, total=False)
input_required = TypedDict("input_required", {"event": str, "thread_id": str}, total=False)
permission_request = TypedDict("permission_request", {"event": str, "thread_id": str}, total=False)
tool_use = TypedDict("tool_use", {"event": str, "thread_id": str}, total=False)
tool_error = TypedDict("tool_error", {"event": str, "thread_id": str}, total=False)
task_complete = TypedDict("task_complete", {"event": str, "thread_id": str}, total=False)
context_compact = TypedDict("context_compact", {"event": str, "thread_id": str}, total=False)
hookd__reload = TypedDict("hookd__reload", {}, total=False)
hookd__hook_changed = TypedDict("hookd__hook_changed", {}, total=False)
hookd__guard_gone = TypedDict("hookd__guard_gone", {"hook": str, "change": str, "digest": str, "layer": str, "by": str, "why": str}, total=False)
hookd__ask = TypedDict("hookd__ask", {"id": str, "event_id": str, "hook": str, "reason": str, "agent": str, "session_id": str, "cwd": str, "tool": str, "subject": str, "input": Dict[str, Any], "card": Dict[str, Any], "since": str, "until": str, "show": str, "allow": str, "deny": str}, total=False)
hookd__answered = TypedDict("hookd__answered", {"id": str, "event_id": str, "hook": str, "reason": str, "agent": str, "session_id": str, "cwd": str, "tool": str, "subject": str, "input": Dict[str, Any], "card": Dict[str, Any], "since": str, "until": str, "show": str, "allow": str, "deny": str, "answered": Dict[str, Any]}, total=False)
hookd__disobeyed = TypedDict("hookd__disobeyed", {"agent": str, "session_id": str, "cwd": str, "call_id": str, "tool": str, "subject": str, "event_id": str, "why": str, "do": str, "denied": str}, total=False)
hookd__unguarded = TypedDict("hookd__unguarded", {"agent": str, "session_id": str, "cwd": str, "call_id": str, "tool": str, "subject": str, "event_id": str, "why": str, "do": str}, total=False)
hookd__decided = TypedDict("hookd__decided", {"event_id": str, "event": str, "dialect": str, "agent_name": str, "session_id": str, "cwd": str, "tool": str, "subject": str, "decision": str, "outcome": str, "reason": str, "decided_by": List[Any], "answered": Dict[str, Any], "why": str, "permit": str}, total=False)
hookd__stop = TypedDict("hookd__stop", {}, total=False)
# end
