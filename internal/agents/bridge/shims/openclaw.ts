// hookd for OpenClaw: gives OpenClaw's events to hookd, and does what hookd's
// hooks decide. Written by `hookd connect openclaw`, removed by `hookd
// disconnect openclaw`; changes are overwritten. It needs nothing but node:*
// and has no syntax that plain JavaScript has not, so every loader takes it.
//
//   HOOKD_SOCKET, LIBREFANG_HOME   where hookd listens
//   HOOKD_FAIL_CLOSED=1            deny tool calls that hookd could not check
//   HOOKD_ASK=none                 run calls that a hook wants a person to decide

/** How much is remembered about sessions and calls that never came to an end. */
const maxKept = 200

/** OpenClaw's events that hookd observes and does not decide. */
const told = [
  "gateway_start", "gateway_stop", "session_end", "before_reset", "agent_end",
  "before_compaction", "after_compaction", "subagent_spawned", "subagent_ended",
  "model_call_started", "model_call_ended", "message_received", "message_sent",
]

/** What a context tells about where an event belongs. */
const places = ["agentId", "sessionKey", "sessionId", "runId", "jobId", "channelId", "messageProvider", "workspaceDir", "trigger"]

export default {
  id: "hookd",
  name: "hookd",
  description: "Runs the hooks of hookd for OpenClaw's events",
  configSchema: { type: "object", additionalProperties: false, properties: {} },
  register(api) {
    const budget = { timeoutMs: deadlineMS } // how long OpenClaw waits for a handler that waits for hooks
    const line = new Line("openclaw", (text) => api.logger?.warn?.(text))
    const starts = new Map() // session → what its start has to say, until its first prompt
    const blocked = new Map() // session → why its prompt is blocked
    const on = (name, run, opts) => {
      try {
        api.on(name, safe(run), opts)
      } catch {} // an OpenClaw that does not have this hook
    }

    for (const name of told) on(name, (event, ctx) => line.note(about(name, event, ctx)))
    on("gateway_stop", () => line.notes.then(() => line.close()))
    on("session_start", (event, ctx) => remember(starts, sessionOf(event, ctx), line.decide(about("session_start", event, ctx))))

    on("before_prompt_build", async (event, ctx) => {
      const session = sessionOf(event, ctx)
      const start = await starts.get(session)
      const verdict = await line.decide(about("before_prompt_build", event, ctx))
      starts.delete(session)
      blocked.delete(session)
      if (verdict && denies(verdict)) remember(blocked, session, reasonOf(verdict))
      const context = [start?.additional_context, verdict?.additional_context].filter(Boolean).join("\n\n")
      if (context) return { prependContext: context }
    }, budget)

    on("before_agent_run", (event, ctx) => {
      const reason = blocked.get(sessionOf(event, ctx))
      if (reason) return { outcome: "block", reason, message: reason }
    })

    on("before_tool_call", async (event, ctx) => {
      const verdict = await line.decide({ ...about("before_tool_call", event, ctx), guards: true })
      if (!verdict) return
      if (denies(verdict)) return { block: true, blockReason: reasonOf(verdict) }
      const answer = {}
      if (verdict.updated_input) answer.params = onTop(event.params, verdict.updated_input)
      if (asks(verdict) && process.env.HOOKD_ASK !== "none") answer.requireApproval = approval(event, verdict)
      if (Object.keys(answer).length > 0) return answer
    }, budget)

    on("message_sending", async (event, ctx) => {
      const verdict = await line.decide(about("message_sending", event, ctx))
      if (verdict && denies(verdict)) return { cancel: true, cancelReason: reasonOf(verdict) }
    }, budget)

    // The result reaches hooks before the model where OpenClaw has the seam for
    // it; where it has not, they are told of it afterwards. Of the two, hookd gets
    // the first.
    const ended = [] // calls that one of the two has told of, and the other has not
    const after = (from) => (event, ctx) => {
      const call = event.toolCallId && JSON.stringify([sessionOf(event, ctx), event.runId ?? ctx?.runId, event.toolCallId])
      const first = ended.findIndex((other) => call && other.call === call && other.from !== from)
      if (first >= 0) return ended.splice(first, 1)[0].verdict
      const verdict = line.decide(about("after_tool_call", event, ctx))
      if (call && ended.push({ call, from, verdict }) > maxKept) ended.shift()
      return verdict
    }
    on("after_tool_call", after("told"))
    try {
      api.registerAgentToolResultMiddleware?.(safe((event, ctx) => result(line, after("seam"), event, ctx)), { runtimes: ["openclaw", "codex"] })
    } catch {} // the plugin's manifest is missing, or OpenClaw does not allow it

    on("before_agent_finalize", async (event, ctx) => {
      const verdict = await line.decide(about("before_agent_finalize", event, ctx))
      if (verdict && !verdict.allowed && verdict.continue !== false) return { action: "revise", reason: reasonOf(verdict) }
    }, budget)
  },
}

/** Lets hooks rewrite the result of a tool, then tells them of the call, and the model of what they say to it. */
async function result(line, after, event, ctx) {
  const text = blocksText(event.result?.content)
  if (text === null) return
  const call = { ...event, params: event.params ?? event.args, args: undefined }
  const asked = about("tool_response_transform", { ...call, tool_name: event.toolName, tool_input: call.params, tool_use_id: event.toolCallId, tool_response: text }, ctx)
  const changed = newResult(await line.decide(asked))
  const content = changed === null ? event.result.content : withBlocksText(event.result.content, changed)
  const verdict = await after({ ...call, result: { ...event.result, content } }, ctx)
  const notes = [verdict && denies(verdict) && reasonOf(verdict), verdict?.additional_context].filter(Boolean)
  if (changed === null && notes.length === 0) return
  const all = [...content, ...notes.map((text) => ({ type: "text", text }))]
  const { details, ...rest } = event.result // they may repeat what was taken out
  return { result: changed === null ? { ...event.result, content: all } : { ...rest, content: all } }
}

function approval(event, verdict) {
  return { title: `Run ${event.toolName}`, description: questionOf(verdict), severity: "warning", timeoutBehavior: "deny" }
}

/** An event of OpenClaw as hookd is to see it: without the conversation, which may be long. */
function about(name, event, ctx) {
  const data = {}
  for (const key of places) if (ctx?.[key] !== undefined) data[key] = ctx[key]
  for (const [key, value] of Object.entries(event ?? {})) {
    if (key !== "messages" && key !== "context" && typeof value !== "function") data[key] = value
  }
  const session = sessionOf(event, ctx)
  return { event: name, session_id: session, agent_name: ctx?.agentId, cwd: folderOf(session, ctx), data }
}

/** Folders by session: a call is not told of its own, the prompt before it is. */
const folders = new Map()

function folderOf(session, ctx) {
  if (ctx?.workspaceDir === undefined) return folders.get(session)
  if (folders.size > 100) folders.clear()
  folders.set(session, ctx.workspaceDir)
  return ctx.workspaceDir
}

function sessionOf(event, ctx) {
  return ctx?.sessionId ?? event?.sessionId ?? ctx?.sessionKey ?? event?.sessionKey
}

/** OpenClaw lays new parameters over the old ones: one that is gone must be said to be. */
function onTop(params, updated) {
  const gone = Object.keys(params ?? {}).filter((key) => !(key in updated))
  return { ...updated, ...Object.fromEntries(gone.map((key) => [key, undefined])) }
}

function remember(map, key, value) {
  if (map.size >= maxKept) map.delete(map.keys().next().value)
  map.set(key, value)
}

/** A handler, such that a mistake of its own or a shape it does not know breaks nothing. */
function safe(run) {
  return async (...args) => {
    try {
      return await run(...args)
    } catch {}
  }
}
