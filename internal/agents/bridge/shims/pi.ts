// hookd for Pi: gives Pi's events to hookd, and does what hookd's hooks decide.
// Written by `hookd connect pi`, removed by `hookd disconnect pi`; changes are
// overwritten. It needs nothing but node:* and has no syntax that plain
// JavaScript has not, so every loader takes it.
//
//   HOOKD_SOCKET, LIBREFANG_HOME   where hookd listens
//   HOOKD_FAIL_CLOSED=1            deny tool calls that hookd could not check
//   HOOKD_ASK=none                 run calls that a hook wants a person to decide

export default function hookd(pi) {
  let screen = null // of the session that is on
  const line = new Line("pi", (text) => (screen?.hasUI ? screen.ui.notify(text, "warning") : console.error(text)))
  let start = null // what the session's start has to say, until the first prompt
  let notes = [] // what hooks say to a prompt, until the agent starts on it

  const on = (name, run) => {
    try {
      pi.on(name, safe(run))
    } catch {} // a Pi that does not have this event
  }
  const about = (event, ctx, data) => {
    screen = ctx
    const session = ctx?.sessionManager?.getSessionId?.()
    return { event, session_id: session, cwd: ctx?.cwd, data: { ...data, type: event, sessionId: session, cwd: ctx?.cwd } }
  }

  on("session_start", (event, ctx) => {
    start = line.decide(about("session_start", ctx, { reason: event?.reason }))
  })

  // A prompt can be blocked where it comes in, and be given context where the
  // agent starts on it.
  on("input", async (event, ctx) => {
    const begin = await start
    start = null
    const verdict = await line.decide(about("input", ctx, { text: event.text, source: event.source }))
    if (verdict && denies(verdict)) {
      start = begin
      const text = `hookd: a hook has blocked this prompt: ${reasonOf(verdict)}`
      if (ctx.hasUI) ctx.ui.notify(text, "warning")
      else console.error(text)
      return { action: "handled" }
    }
    notes.push(...[begin?.additional_context, verdict?.additional_context].filter(Boolean))
  })
  on("before_agent_start", () => {
    const content = notes.join("\n\n")
    notes = []
    if (content) return { message: { customType: "hookd", content, display: false } }
  })

  on("tool_call", async (event, ctx) => {
    const call = { toolName: event.toolName, toolCallId: event.toolCallId, input: event.input }
    const unasked = !ctx.hasUI && process.env.HOOKD_ASK !== "none"
    const verdict = await line.decide({ ...about("tool_call", ctx, call), guards: true, unasked })
    if (!verdict) return
    if (denies(verdict)) return { block: true, reason: reasonOf(verdict) }
    if (asks(verdict) && process.env.HOOKD_ASK !== "none") {
      const question = questionOf(verdict)
      if (unasked) return { block: true, reason: `${question} (hooks want a person to decide, and no person is there: denied)` }
      if (!(await ctx.ui.confirm(`Run ${event.toolName}?`, question))) return { block: true, reason: `${question} (denied by a person)` }
    }
    if (verdict.updated_input) become(event.input, verdict.updated_input)
  })

  on("tool_result", async (event, ctx) => {
    const text = blocksText(event.content)
    if (text === null) return
    const call = { toolName: event.toolName, toolCallId: event.toolCallId, input: event.input, isError: event.isError }
    const asked = { ...call, content: event.content, tool_name: event.toolName, tool_input: event.input, tool_use_id: event.toolCallId, tool_response: text }
    const changed = newResult(await line.decide(about("tool_response_transform", ctx, asked)))
    const content = changed === null ? event.content : withBlocksText(event.content, changed)
    const verdict = await line.decide(about("tool_result", ctx, { ...call, content }))
    const said = [verdict && denies(verdict) && reasonOf(verdict), verdict?.additional_context].filter(Boolean)
    if (changed === null && said.length === 0) return
    const all = [...content, ...said.map((text) => ({ type: "text", text }))]
    return changed === null ? { content: all } : { content: all, details: {} } // details may repeat what was taken out
  })

  on("session_before_compact", async (event, ctx) => {
    const verdict = await line.decide(about("session_before_compact", ctx, { customInstructions: event.customInstructions }))
    if (verdict && denies(verdict)) return { cancel: true }
  })
  on("session_compact", (_, ctx) => void line.note(about("session_compact", ctx, {})))
  on("turn_end", (event, ctx) => void line.note(about("turn_end", ctx, { turnIndex: event.turnIndex })))
  on("agent_end", (event, ctx) => {
    const last = event.messages?.findLast?.((m) => m.role === "assistant")
    const failed = last?.stopReason === "error" || last?.stopReason === "aborted"
    const data = { answer: blocksText(last?.content) ?? "", status: failed ? last.stopReason : "ok", error: last?.errorMessage }
    return line.note(about("agent_end", ctx, data)) // Pi waits for it: in print mode it ends then
  })
  on("session_shutdown", async (event, ctx) => {
    await line.note(about("session_shutdown", ctx, { reason: event?.reason }))
    line.close()
  })
}

/** A handler, such that a mistake of its own or a shape it does not know breaks nothing. */
function safe(run) {
  return async (...args) => {
    try {
      return await run(...args)
    } catch {}
  }
}
