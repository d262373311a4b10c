"""hookd for Python 3.8 and newer: hooks and senders, in one file without dependencies.

A hook is a function that is given an event and returns an answer:

    import hookd

    def handle(event):
        for command in event.commands:  # of a hook with `facts: true`
            if command.program == "sudo":
                return hookd.deny("no sudo: ask me to do it")

    hookd.run(handle)

The same file works with `mode: spawn` and `mode: persistent`. None is no opinion. An
exception, an answer that the event has no use for, and an event that cannot be read are
failures, which deny where a guard's failures deny; nothing of that is silent.

A sender: emit tells, decide asks, subscribe follows.

    verdict = hookd.decide("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}})
    print("call it" if verdict["allowed"] else verdict["message"])

This file is hookd's sdk/python/hookd.py. `hookd new NAME --lang python` puts it beside a hook.
"""
import json
import os
import re
import sys

__all__ = ["run", "deny", "ask", "contain", "allow", "context", "rewrite", "Event", "Answer", "Command", "Effect", "Doubt", "Unread",
           "emit", "decide", "subscribe", "Error", "NotRunning", "NoAnswer", "Refused"]


# Hooks.

class Event:
    """What a hook is given. event["field"] and event.get("field") read the payload."""

    def __init__(self, data):
        if not isinstance(data, dict):
            raise ValueError("an event is a JSON object")
        self.data = data
        self.name = self._text("hook_event_name")
        self.id = self._text("event_id")
        self.session_id = self._text("session_id")
        self.cwd = self._text("cwd")

    def __getitem__(self, field):
        return self.data[field]

    def __contains__(self, field):
        return field in self.data

    def get(self, field, default=None):
        return self.data.get(field, default)

    def _text(self, field):
        value = self.data.get(field)
        return value if isinstance(value, str) else ""

    @property
    def kind(self):
        """What the event stands for in every agent's words, such as "tool.before"; its name if no table has it."""
        return _row(self.name)["kind"]

    @property
    def tool(self):
        """The tool's name, "" for an event without one. Under Claude Code's names of events it is Claude Code's."""
        row = _row(self.name)
        return next((v for v in _at_all(self.data, row["tool"]) if isinstance(v, str) and v), row["fixed"])

    @property
    def input(self):
        """The arguments of the tool, {} for an event without."""
        inputs = map(_from_text, _at_all(self.data, _row(self.name)["input"]))
        return next((v for v in inputs if isinstance(v, dict)), {})

    @property
    def facts(self):
        """What hookd knows of the call, as it is in the payload. ValueError for a hook without `facts: true`."""
        facts = self.data.get("facts")
        if not isinstance(facts, dict):
            raise ValueError("the payload has no facts: write `facts: true` in HOOK.yaml")
        return facts

    @property
    def commands(self):
        """Each command that the call runs, as Command, also those behind sudo, env, xargs, bash -c and ssh.

        [] where the call runs none. Raises Unread where others may run that hookd cannot tell.
        """
        found = [Command(c) for c in self.facts.get("commands") or []]
        for doubt in self.doubts:
            if doubt.kind in _HIDING:
                raise Unread(doubt.text, found)
        for command in found:
            if 0 in command.computed:
                raise Unread("the name of a program is computed: " + command.text, found)
        return found

    @property
    def effects(self):
        """What the call does, as Effect: it writes this file, deletes that, connects to a host."""
        return [Effect(e) for e in self.facts.get("effects") or []]

    @property
    def doubts(self):
        """What hookd cannot know of the call, as Doubt."""
        return [Doubt(d) for d in self.facts.get("doubts") or []]


_HIDING = ("parse", "eval", "open", "made", "variable", "limits")  # doubts that may hide a command


def _from_text(value):
    """The object or list that a text holds, where arguments came as JSON text."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            pass
    return value


def _at_all(data, paths):
    """The values at the paths that data has."""
    values = []
    for path in paths:
        value = data
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            values.append(value)
    return values


class Answer:
    """What a hook says; made by deny, ask, contain, allow, context and rewrite."""

    def __init__(self, word, value, reason=""):
        self.word, self.value, self.reason = word, value, reason


def deny(reason):
    """The answer no. The model reads the reason: say what to do instead."""
    return Answer("deny", _str(reason))


def ask(reason):
    """The answer that a person has to decide."""
    return Answer("ask", _str(reason))


def contain(reason, profile=""):
    """The answer that the call runs in a box; where it cannot, a person is asked. "" is the usual profile."""
    return Answer("contain", _str(reason), _str(profile))


def allow(reason=""):
    """The answer yes, which switches off the agent's own question. No opinion is None."""
    return Answer("allow", _str(reason))


def context(text):
    """Text for the model."""
    return Answer("context", _str(text))


def rewrite(value, reason=""):
    """What takes the place of a tool's input (members of a dict), of its result, or of the list of messages."""
    return Answer("rewrite", value, _str(reason))


def _str(text):
    if not isinstance(text, str):
        raise TypeError("this is not a text: %r" % (text,))
    return text


def run(handle):
    """Gives each event to handle(event) and answers it. A handler returns None, an Answer, or a dict with the members
    of an answer as docs/reference/running-hooks.md has them.

    What is printed meanwhile goes to stderr, from children too. Returns after the last event of a persistent hook. A
    spawned one ends with status 1 after a failure.
    """
    given, told = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # children neither read events nor write answers
    os.close(nothing)
    os.dup2(2, 1)
    with open(given, "rb") as lines, open(told, "wb", buffering=0) as answers:
        if "HOOK_EVENT" in os.environ:
            text, _, why = _answer(lines.read(), handle)
            if why:
                sys.exit(1)
            _write(answers, b"" if text == b"{}" else text)
            return
        for line in lines:
            if not line.strip():
                continue
            text, event_id, why = _answer(line, handle)
            if why:
                text = json.dumps({"hook_failed": why[-2000:]}).encode()
            begin = b'{"event_id":' + json.dumps(event_id or _event_id(line)).encode()
            _write(answers, begin + (b"," if text != b"{}" else b"") + text[1:] + b"\n")


def _write(answers, text):
    while text:
        text = text[answers.write(text):]


def _answer(line, handle):
    """The answer to one event as JSON, the id of the event, and why there is no answer."""
    event_id = ""
    try:
        event = Event(json.loads(line))
        event_id = event.id
        try:
            answer = handle(event)
        except Unread as e:
            if "b" not in _row(event.name)["can"]:
                raise
            print("hookd:", e, file=sys.stderr)
            answer = deny(str(e))
        said = _said(event.name, answer)
        said.pop("event_id", None)
        text = json.dumps(said, allow_nan=False).encode("ascii")
        sys.stdout.flush()
        return text, event_id, ""
    except (Exception, SystemExit) as e:
        if isinstance(e, RecursionError):
            print("RecursionError:", e, file=sys.stderr)  # the trace has a thousand lines
        else:
            import traceback
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        return b"", event_id, "%s: %s" % (type(e).__name__, e)


def _event_id(line):
    """The event_id of a line, however deep or strange the rest of it is."""
    try:
        value = json.loads(line)
        if isinstance(value, dict) and isinstance(value.get("event_id"), str):
            return value["event_id"]
    except (ValueError, RecursionError):
        pass
    depth, key, found = 0, "", ""
    for m in re.finditer(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]', line):
        token = m.group()
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
        elif depth == 1 and token[:1] == b'"':
            if key == "event_id":
                found = json.loads(token.decode("utf-8", "replace"))
            key = ""
            if re.match(rb"\s*:", line[m.end():m.end() + 16]):
                key = token[1:-1].decode("utf-8", "replace")
    if not found:
        sys.exit("hookd: a line on stdin has no event_id")
    return found


def _said(name, answer):
    """An answer in the words that the event takes. One that it has no use for is an error."""
    if answer is None:
        return {}
    if isinstance(answer, dict):
        return dict(answer)
    if not isinstance(answer, Answer):
        raise TypeError("a handler returns an answer such as hookd.deny(reason), or None, not %r" % (answer,))
    row, word, value = _row(name), answer.word, answer.value
    can, specific = row["can"], {}
    if word == "deny" and "b" in can:
        return {"decision": "deny", "reason": value}
    if word in ("deny", "ask", "allow") and "v" in can or word in ("deny", "allow") and "p" in can:
        specific = {"permission_decision": word, "permission_decision_reason": value}
    elif word == "contain" and "v" in can:
        specific = {"permission_decision": word, "permission_decision_reason": value}
        if answer.reason:
            specific["profile"] = answer.reason
    elif word == "allow" and "e" in can:
        return {"continue": True}
    elif word == "context" and "c" in can:
        specific = {"additional_context": value}
    elif word == "rewrite" and row["rewrite"]:
        wanted = {"updated_input": dict, "updated_messages": list}.get(row["rewrite"])
        wanted = str if "r" in can else wanted
        if wanted and not isinstance(value, wanted):
            raise TypeError("what takes the place here is a %s, not %r" % (wanted.__name__, type(value).__name__))
        if "r" in can:
            return {"tool_output": value}
        specific = {row["rewrite"]: value}
        if answer.reason and "v" in can:
            specific["permission_decision_reason"] = answer.reason
    if not specific:
        raise ValueError("%s has no use for the answer %s" % (name or "an event without a name", word))
    return {"hook_specific_output": specific}


# What a call does.

class Unread(ValueError):
    """What a call would run cannot be told.

    `reason` says why; `commands` has what could be read. Where a handler does not
    catch it, the answer is a denial, or a failure on events that cannot be denied.
    """

    def __init__(self, reason, commands=()):
        super().__init__("what this command would run cannot be told: " + reason)
        self.reason, self.commands = reason, list(commands)


class Command(list):
    """One command: its words as the shell sees them, without quotes.

    `computed` has the indexes of the words that are known only when the line runs, such
    as $x and *.txt. `via` is what the command is behind, such as sudo; `guess` says that it
    only may be what runs; `env`, `redirects` and `span` are as in the payload.
    """

    def __init__(self, facts):
        words = facts.get("words") or []
        super().__init__(w.get("text", "") for w in words)
        self.computed = tuple(i for i, w in enumerate(words) if w.get("kind", "literal") != "literal")
        self.text, self.guess = facts.get("text", ""), facts.get("guess", False)
        self.env, self.redirects = facts.get("env") or [], facts.get("redirects") or []
        self.via, self.span = facts.get("via") or [], facts.get("span") or {"from": 0, "to": 0}

    @property
    def program(self):
        """The program's name, without its folder and in small letters."""
        name = self[0].replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].lower() if self else ""
        return name[:-4] if name.endswith((".exe", ".cmd", ".bat")) else name


class Effect:
    """One thing that a call does, such as a `delete` of /srv/data or a `connect` to host:example.org."""

    def __init__(self, facts):
        self.kind, self.target = facts.get("kind", ""), facts.get("target", "")
        self.certain, self.why = facts.get("certain", False), facts.get("why", "")
        self.command, self.span = facts.get("command", -1), facts.get("span") or {"from": 0, "to": 0}


class Doubt:
    """One thing that hookd cannot know of a call: `kind` is one word, `text` says what and why."""

    def __init__(self, facts):
        self.kind, self.text = facts.get("kind", ""), facts.get("text", "")
        self.command, self.span = facts.get("command", -1), facts.get("span") or {"from": 0, "to": 0}


# Senders.

class Error(Exception):
    """There is no answer of hookd."""


class NotRunning(Error):
    """Nothing listens on the socket, or only a process of another user, which was told nothing."""


class NoAnswer(Error):
    """No answer came in time, or the connection was lost. hookd may have accepted the event."""


class Refused(Error):
    """hookd refused. code says why, hint what to do."""

    def __init__(self, error):
        text = "; ".join(t for t in (error.get("message"), error.get("hint")) if t)
        super().__init__(text)
        self.code, self.message, self.hint = error.get("code", ""), error.get("message", ""), error.get("hint", "")


def socket_path():
    """$HOOKD_SOCKET, else hookd.sock in $LIBREFANG_HOME, else in ~/.librefang."""
    home = os.environ.get("LIBREFANG_HOME") or os.path.join(os.path.expanduser("~"), ".librefang")
    return os.environ.get("HOOKD_SOCKET") or os.path.join(home, "hookd.sock")


def emit(event, data=None, seconds=60, **envelope):
    """Sends an event and returns hookd's answer: at once, or with wait=True when its hooks have ended.

    envelope: id, session_id, agent_id, agent_name, cwd, sender, dialect, lane, timeout_ms, parent. Raises Error.
    """
    with _Connection(seconds) as c:
        c.send(dict(envelope, event=event, data=data if data is not None else {}))
        answer = c.receive()
    if answer is None:
        raise NoAnswer("hookd closed the connection")
    if answer.get("ok") is not True:
        raise Refused(answer.get("error") or {})
    return answer


def decide(event, data=None, seconds=60, **envelope):
    """Asks the hooks, which have nine tenths of the time, and returns their verdict, a dict with `allowed`.

    Raises Error where there is none: whether that means yes or no is yours to say.
    """
    envelope.setdefault("timeout_ms", max(1, int(seconds * 900)))
    verdict = emit(event, data, seconds, wait=True, **envelope).get("verdict")
    if not isinstance(verdict, dict) or not isinstance(verdict.get("allowed"), bool):
        raise NoAnswer("hookd answered without a verdict")
    return verdict


def subscribe(*globs, since=None, epoch=None, starts=False):
    """Yields the records of the stream, for ever: it comes back after hookd was restarted.

    To go on later, keep seq (of a gap: to) and epoch of the last record. Raises Refused.
    """
    import time
    while True:
        question = {"subscribe": list(globs) or ["*"], "starts": starts}
        if since is not None:
            question.update(since=since, epoch=epoch)
        try:
            with _Connection(60) as c:  # a quiet stream has a ping every 15 s
                c.send(question)
                for record in iter(lambda: c.receive(60), None):
                    if record.get("ok") is False:
                        raise Refused(record.get("error") or {})
                    if record.get("type") == "epoch":
                        here = record["epoch"]
                        if since is None:
                            since, epoch = record["seq"], here
                    elif record.get("type") != "ping":
                        if "seq" in record or "to" in record:
                            since, epoch = record.get("seq", record.get("to")), here
                        yield dict(record, epoch=here)
        except (NotRunning, NoAnswer):
            pass
        time.sleep(0.5)


class _Connection:
    """A connection to the daemon of this user, or of root."""

    def __init__(self, seconds):
        import socket  # a hook that sends nothing does not wait for this to load
        import time
        self.now, self.late = time.monotonic, socket.timeout
        self.until, self.rest, path = self.now() + seconds, b"", socket_path()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.socket.settimeout(seconds)
            self.socket.connect(path)
            if _listener(self.socket) not in (0, os.geteuid()):
                raise NotRunning("another user's process listens on " + path)
        except (OSError, NotRunning) as e:
            self.socket.close()
            raise e if isinstance(e, NotRunning) else NotRunning("hookd is not running (socket %s: %s)" % (path, e))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, value):
        line = json.dumps(value, allow_nan=False).encode("ascii") + b"\n"
        try:
            self.socket.sendall(line)
        except BrokenPipeError:
            pass  # the answer says why not all was taken
        except OSError as e:
            raise NoAnswer("hookd does not take the event: %s" % e)

    def receive(self, seconds=None):
        """The next line's value, None at the end of the connection. seconds restarts the timer."""
        if seconds is not None:
            self.until = self.now() + seconds
        parts = [self.rest]
        while b"\n" not in parts[-1]:
            left = self.until - self.now()
            try:
                if left <= 0:
                    raise NoAnswer("no answer from hookd in time")
                self.socket.settimeout(left)
                part = self.socket.recv(1 << 16)
            except OSError as e:
                raise NoAnswer("no answer from hookd in time" if isinstance(e, self.late) else str(e))
            if not part:
                if any(parts):
                    raise NoAnswer("hookd closed the connection")
                return None
            parts.append(part)
        line, _, self.rest = b"".join(parts).partition(b"\n")
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as e:
            raise NoAnswer("hookd's answer cannot be read: %s" % e)
        if not isinstance(value, dict):
            raise NoAnswer("hookd's answer cannot be read")
        return value


def _listener(s):
    """The user of the process that listens, as the kernel says."""
    import socket
    import struct
    if hasattr(socket, "SO_PEERCRED"):
        return struct.unpack("iii", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
    credentials = s.getsockopt(0, 1, 76)  # LOCAL_PEERCRED of macOS and the BSDs: struct xucred
    return struct.unpack_from("II", credentials)[1]


# What hookd knows of events, from its contract table. Made by `go test ./sdk -update`.

def _row(name):
    return _tables().get(name) or {"kind": name, "can": "", "rewrite": "", "tool": ["tool_name"],
                                   "input": ["tool_input"], "fixed": ""}


_cache = {}


def _tables():
    if not _cache:
        for names, kind, can, rewrites, tool, inputs, fixed in json.loads(_TABLES)["events"]:
            for name in names.split():
                _cache[name] = {"kind": kind, "can": can, "rewrite": rewrites, "tool": tool.split(),
                                "input": inputs.split(), "fixed": fixed}
    return _cache


# generated: tables
_TABLES = '{"events":[["agent:start userPromptSubmitted user.prompt","prompt.submit","","","","",""],["agent:end session.idle task.complete","turn.stop","","","","",""],["agent:step","turn.step","","","","",""],["session:start on_session_start","session.start","","","","",""],["session:end session_end SessionEnd sessionEnd TaskCancel TaskComplete on_session_end session.deleted session_shutdown session.end","session.end","","","","",""],["session:reset on_session_reset before_reset","session.reset","","","","",""],["gateway:startup gateway_start","daemon.start","","","","",""],["transform_tool_result","tool.transform","r","updated_tool_response","tool_call tool_name","tool_input",""],["pre_tool_use BeforeTool pre_tool_call","tool.before","bv","updated_input","tool_name","tool_input",""],["tool_input_transform","tool_input_transform","b","updated_input","tool_name","tool_input",""],["tool_guard","tool_guard","bv","","tool_name","tool_input",""],["permission_request PermissionRequest","permission.request","bp","updated_input","tool_name","tool_input",""],["tool_response_transform","tool.transform","","updated_tool_response","tool_name","tool_input",""],["post_tool_use AfterTool","tool.after","bc","","tool_name","tool_input",""],["on_tool_approval_decision","on_tool_approval_decision","","","tool_name","tool_input",""],["user_prompt_submit UserPromptSubmit UserPromptExpansion BeforeAgent chat.message before_prompt_build input","prompt.submit","bc","","","",""],["user_steering_messages_submit","user_steering_messages_submit","bc","","","",""],["user_followup_submit","user_followup_submit","bc","","","",""],["turn_start","turn_start","c","","","",""],["turn_end","turn_end","","","","",""],["before_llm_call","model.before","b","updated_messages","","",""],["after_llm_call afterAgentResponse afterAgentThought post_cascade_response PostInvocation post_api_request model_call_ended","model.after","","","","",""],["stop","turn.stop","cb","","","",""],["subagent_stop subagent.idle subagent_ended","subagent.stop","","","","",""],["notification Notification","notification","c","","","",""],["on_error StopFailure errorOccurred TaskError api_request_error session.error","error","","","","",""],["on_max_iterations","on_max_iterations","","","","",""],["session_start sessionStart session.created agentSpawn session.start","session.start","c","","","",""],["pre_compact PreCompact","compact.before","bc","","","",""],["before_compaction","before_compaction","b","","","",""],["after_compaction session.compacted session_compact PostCompaction","compact.after","","","","",""],["on_user_input","on_user_input","","","","",""],["on_agent_switch","on_agent_switch","","","","",""],["on_session_resume","on_session_resume","","","","",""],["worktree_create","worktree_create","bc","","","",""],["skill_content_guard","skill_content_guard","be","","","",""],["prompt_file_guard","prompt_file_guard","be","","","",""],["onStart TaskStart TaskResume","session.start","bc","","","",""],["onStop Stop","turn.stop","bc","","","",""],["beforeToolCall","tool.before","bvc","","tool_name last_tool","tool_args",""],["afterToolCall","tool.after","c","","tool_name last_tool","tool_args",""],["onError","error","c","","","",""],["beforeMessage","model.before","bc","","","",""],["afterMessage","model.after","c","","","",""],["PreToolUse","tool.before","bvc","updated_input","tool_name tool_call.name preToolUse.toolName toolCall.name toolName","tool_input tool_call.input preToolUse.parameters toolCall.args toolInput",""],["PreSkillShellCommand beforeMCPExecution","tool.before","bv","","tool_name","tool_input",""],["PermissionDenied","PermissionDenied","","","tool_name toolName","tool_input toolInput",""],["PostToolUse","tool.after","bc","updated_tool_response","tool_name tool_result.name postToolUse.toolName toolCall.name toolName","tool_input tool_result.input postToolUse.parameters toolCall.args toolInput",""],["PostToolUseFailure","tool.after","c","","tool_name toolName","tool_input toolInput",""],["PostToolBatch","PostToolBatch","bc","","","",""],["MessageDisplay","MessageDisplay","","","","",""],["SubagentStart","subagent.start","c","","","",""],["SubagentStop","subagent.stop","bc","","","",""],["SessionStart","session.start","cb","","","",""],["Setup","Setup","c","","","",""],["PostCompact","compact.after","b","","","",""],["InstructionsLoaded","InstructionsLoaded","","","","",""],["ConfigChange","ConfigChange","b","","","",""],["CwdChanged","CwdChanged","","","","",""],["DirectoryAdded","DirectoryAdded","","","","",""],["FileChanged file.edited","file.changed","","","","",""],["PreModelSwitch","PreModelSwitch","bv","","","",""],["PostModelSwitch","PostModelSwitch","c","","","",""],["TaskCreated","TaskCreated","b","","","",""],["TaskCompleted","TaskCompleted","b","","","",""],["TeammateIdle","TeammateIdle","b","","","",""],["WorktreeCreate","WorktreeCreate","b","","","",""],["WorktreeRemove","WorktreeRemove","","","","",""],["Elicitation","Elicitation","b","","","",""],["ElicitationResult","ElicitationResult","b","","","",""],["Interrupt StopCancelled","turn.interrupt","","","","",""],["AfterAgent agentStop pre_verify before_agent_finalize agent.end","turn.stop","b","","","",""],["BeforeModel","model.before","b","","","",""],["BeforeToolSelection","BeforeToolSelection","","","","",""],["AfterModel","model.after","b","","","",""],["PreCompress preCompact context.compact","compact.before","","","","",""],["preToolUse","tool.before","bv","updated_input","tool_name toolName","tool_input toolArgs",""],["beforeShellExecution","tool.before","bv","","","","Shell"],["postToolUse","tool.after","c","updated_tool_response","tool_name toolName","tool_input toolArgs",""],["postToolUseFailure","tool.after","c","","tool_name toolName","tool_input toolArgs",""],["afterShellExecution","tool.after","","","","","Shell"],["afterMCPExecution post_tool_call","tool.after","","","tool_name","tool_input",""],["beforeReadFile beforeTabFileRead","tool.before","bv","","","","Read"],["afterFileEdit afterTabFileEdit","tool.after","","","","","Write"],["beforeSubmitPrompt pre_user_prompt","prompt.submit","b","","","",""],["subagentStart","subagent.start","bvc","","","",""],["subagentStop","subagent.stop","b","","","",""],["workspaceOpen","workspaceOpen","","","","",""],["userPromptTransformed","userPromptTransformed","","","","",""],["preMcpToolCall","preMcpToolCall","","","","",""],["permissionRequest","permission.request","bp","","toolName","toolArgs",""],["SessionHeartbeat","SessionHeartbeat","","","","",""],["UserPromptQueued","UserPromptQueued","","","","",""],["TurnStarted","TurnStarted","","","","",""],["PermissionResult","PermissionResult","","","tool_name","tool_input",""],["TaskStarted","TaskStarted","","","","",""],["pre_read_code","tool.before","bv","","","","read_code"],["pre_write_code","tool.before","bv","","","","write_code"],["pre_run_command","tool.before","bv","","","","run_command"],["pre_mcp_tool_use","tool.before","bv","","","tool_info.mcp_tool_arguments",""],["post_read_code","tool.after","","","","","read_code"],["post_write_code","tool.after","","","","","write_code"],["post_run_command","tool.after","","","","","run_command"],["post_mcp_tool_use","tool.after","","","","tool_info.mcp_tool_arguments",""],["post_cascade_response_with_transcript","post_cascade_response_with_transcript","","","","",""],["post_setup_worktree","post_setup_worktree","","","","",""],["SessionShutdown","SessionShutdown","","","","",""],["PreInvocation","model.before","c","","","",""],["session:compress","session:compress","","","","",""],["reaction:added","reaction:added","","","","",""],["reaction:removed","reaction:removed","","","","",""],["message:pre_route","message:pre_route","","","","",""],["on_session_finalize","on_session_finalize","","","","",""],["pre_llm_call userPromptSubmit agent.start","prompt.submit","c","","","",""],["post_llm_call","post_llm_call","","","","",""],["pre_api_request model_call_started","model.before","","","","",""],["transform_llm_output","transform_llm_output","","","","",""],["transform_terminal_output","transform_terminal_output","","","tool_name","tool_input",""],["subagent_start subagent.created subagent_spawned","subagent.start","","","","",""],["tool.execute.before","tool.before","bv","updated_input","tool","args",""],["tool.execute.after","tool.after","bc","","tool","args",""],["experimental.session.compacting","compact.before","c","","","",""],["permission.asked permission.request","permission.request","","","","",""],["permission.replied","permission.replied","","","","",""],["command.executed","command.executed","","","","",""],["gateway_stop","gateway_stop","","","","",""],["before_tool_call","tool.before","bv","updated_input","toolName","params",""],["after_tool_call","tool.after","bc","","toolName","params",""],["agent_end","agent_end","","","","",""],["message_received","message_received","","","","",""],["message_sending","message_sending","b","","","",""],["message_sent","message_sent","","","","",""],["SessionDelete","SessionDelete","","","","",""],["TodoCreated","TodoCreated","b","","","",""],["TodoCompleted","TodoCompleted","b","","","",""],["tool_call","tool.before","bv","updated_input","toolName","input",""],["tool_result","tool.after","bc","","toolName","input",""],["session_before_compact","compact.before","b","","","",""],["PreToolUseResult","PreToolUseResult","","","tool_name","tool_input",""],["BeforeReadFile","BeforeReadFile","","","tool_name","tool_input",""],["AfterFileEdit","AfterFileEdit","","","tool_name","tool_input",""],["BeforeShellExecution","BeforeShellExecution","","","tool_name","tool_input",""],["AfterShellExecution","AfterShellExecution","","","tool_name","tool_input",""],["tool.call","tool.before","bv","updated_input","tool","input",""],["tool.result","tool.after","bc","","tool","input",""],["input.required","notification","","","","",""],["tool.use","tool.use","","","","",""],["tool.error","tool.error","","","","",""],["hookd:reload","hookd:reload","","","","",""],["hookd:hook-changed","hookd:hook-changed","","","","",""],["hookd:guard-gone","hookd:guard-gone","","","","",""],["hookd:ask","hookd:ask","","","","",""],["hookd:answered","hookd:answered","","","","",""],["hookd:disobeyed","hookd:disobeyed","","","","",""],["hookd:unguarded","hookd:unguarded","","","","",""],["hookd:decided","hookd:decided","","","","",""],["hookd:stop","hookd:stop","","","","",""]]}'
# end
