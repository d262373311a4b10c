// hookd for Amp: gives Amp's events to hookd, and does what hookd's hooks decide.
// Written by `hookd connect amp`, removed by `hookd disconnect amp`; changes are
// overwritten. It needs nothing but node:* and has no syntax that plain
// JavaScript has not, so every loader takes it.
//
//   HOOKD_SOCKET, LIBREFANG_HOME   where hookd listens
//   HOOKD_FAIL_CLOSED=1            deny tool calls that hookd could not check
//   HOOKD_ASK=none                 run calls that a hook wants a person to decide

/** How many starts of threads are remembered until their first prompt. */
const maxStarts = 200

export default function hookd(amp) {
  const line = new Line("amp", (text) => amp.logger?.log?.(text))
  const starts = new Map() // thread → what its start has to say, until its first prompt

  const on = (name, run, otherwise) => {
    try {
      amp.on(name, safe(run, otherwise))
    } catch {} // an Amp that does not have this event
  }
  const about = (event, from, data) => {
    const thread = from?.thread?.id
    return { event, session_id: thread, cwd: process.cwd(), data: { ...data, threadID: thread, cwd: process.cwd() } }
  }

  on("session.start", (event) => {
    if (starts.size >= maxStarts) starts.delete(starts.keys().next().value)
    starts.set(event.thread?.id, line.decide(about("session.start", event, {})))
  })

  on("agent.start", async (event) => {
    const start = await starts.get(event.thread?.id)
    starts.delete(event.thread?.id)
    const verdict = await line.decide(about("agent.start", event, { message: event.message }))
    const content = [start?.additional_context, verdict?.additional_context].filter(Boolean).join("\n\n")
    if (content) return { message: { content, display: false } }
  })

  on("tool.call", async (event, ctx) => {
    const call = { tool: event.tool, input: event.input, toolUseID: event.toolUseID }
    const verdict = await line.decide({ ...about("tool.call", event, call), guards: true })
    if (!verdict) return { action: "allow" }
    if (denies(verdict)) return { action: "reject-and-continue", message: reasonOf(verdict) }
    if (asks(verdict) && process.env.HOOKD_ASK !== "none" && !(await confirmed(ctx, event.tool, questionOf(verdict)))) {
      return { action: "reject-and-continue", message: `${questionOf(verdict)} (a person has not allowed it)` }
    }
    if (verdict.updated_input) return { action: "modify", input: verdict.updated_input }
    return { action: "allow" }
  }, { action: "allow" })

  on("tool.result", async (event) => {
    const text = typeof event.output === "string" ? event.output : JSON.stringify(event.output ?? "")
    const call = { tool: event.tool, input: event.input, toolUseID: event.toolUseID, status: event.status, error: event.error }
    const asked = { ...call, output: text, tool_name: event.tool, tool_input: event.input, tool_use_id: event.toolUseID, tool_response: text }
    const changed = newResult(await line.decide(about("tool_response_transform", event, asked)))
    const verdict = await line.decide(about("tool.result", event, { ...call, output: changed ?? event.output }))
    const notes = [verdict && denies(verdict) && reasonOf(verdict), verdict?.additional_context].filter(Boolean)
    if (changed === null && notes.length === 0) return
    return { status: event.status, output: [changed ?? text, ...notes].join("\n\n") }
  })

  on("agent.end", async (event) => {
    const verdict = await line.decide(about("agent.end", event, { message: event.message, status: event.status }))
    if (verdict && !verdict.allowed && verdict.continue !== false) return { action: "continue", userMessage: reasonOf(verdict) }
  })
}

/** Whether a person allows a call; where Amp has no screen, none does. */
async function confirmed(ctx, tool, message) {
  try {
    return await ctx.ui.confirm({ title: `Run ${tool}?`, message, confirmButtonText: "Run" })
  } catch {
    return false
  }
}

/** A handler, such that a mistake of its own or a shape it does not know breaks nothing. */
function safe(run, otherwise) {
  return async (...args) => {
    try {
      return await run(...args)
    } catch {
      return otherwise
    }
  }
}
