// hookd for OpenCode: gives OpenCode's events to hookd, and does what hookd's
// hooks decide. Written by `hookd connect opencode`, removed by `hookd
// disconnect opencode`; changes are overwritten. It needs nothing but node:*
// and has no syntax that plain JavaScript has not, so every loader takes it.
//
//   HOOKD_SOCKET, LIBREFANG_HOME   where hookd listens
//   HOOKD_FAIL_CLOSED=1            deny tool calls that hookd could not check
//   HOOKD_ASK=none                 run calls that a hook wants a person to decide

/** OpenCode's events that hookd observes and does not decide. */
const told = new Set([
  "session.deleted", "session.idle", "session.error", "session.compacted",
  "permission.asked", "permission.replied", "file.edited", "command.executed",
])

/** How many starts of sessions are remembered until their first prompt. */
const maxStarts = 200

export const Hookd = async ({ client, directory }) => {
  const line = new Line("opencode", (message) => client?.app?.log?.({ body: { service: "hookd", level: "warn", message } }))
  const starts = new Map() // session → what its start has to say, until the first prompt
  const children = new Map() // session of a subagent → the session that started it

  const about = (event, data) => {
    const parentID = children.get(data.sessionID)
    return { event, session_id: data.sessionID, cwd: directory, data: { ...data, ...(parentID && { parentID }), cwd: directory } }
  }

  const started = (info) => {
    const data = { sessionID: info.id, title: info.title, parentID: info.parentID }
    if (info.parentID) {
      children.set(info.id, info.parentID)
      return void line.note(about("subagent.created", data))
    }
    if (starts.size >= maxStarts) starts.delete(starts.keys().next().value)
    starts.set(info.id, line.decide(about("session.created", data)))
  }

  const ended = (type, data) => {
    if (type === "session.idle" && children.has(data.sessionID)) return void line.note(about("subagent.idle", data))
    if (type === "session.deleted") {
      starts.delete(data.sessionID)
      if (children.delete(data.sessionID)) return
    }
    line.note(about(type, data))
  }

  const hooks = {
    event: async ({ event }) => {
      const { info, ...rest } = event.properties ?? {}
      if (event.type === "session.created") return started(info)
      if (told.has(event.type)) ended(event.type, { sessionID: info?.id, ...rest })
    },

    // What hooks say at the start of a session and to a prompt is added to the
    // prompt. OpenCode cannot refuse one: its text is taken away instead.
    "chat.message": async (input, output) => {
      const part = output.parts.find((p) => p.type === "text" && !p.synthetic)
      if (!part) return
      const start = await starts.get(input.sessionID)
      starts.delete(input.sessionID)
      const verdict = await line.decide(about("chat.message", { ...input, prompt: part.text }))
      if (verdict && denies(verdict)) {
        for (const p of output.parts) if (p.type === "text") p.text = ""
        output.parts.splice(0, output.parts.length, part)
        part.text = `[A hook has taken this prompt away: ${reasonOf(verdict)}]`
        return
      }
      part.text = [part.text, start?.additional_context, verdict?.additional_context].filter(Boolean).join("\n\n")
    },

    // Throwing is how OpenCode is told that a call is denied. It goes on with
    // the arguments it has, so they are changed where they are.
    "tool.execute.before": async (input, output) => {
      const unasked = process.env.HOOKD_ASK !== "none" // OpenCode asks no person for a plugin
      const verdict = await line.decide({ ...about("tool.execute.before", { ...input, args: output.args }), guards: true, unasked })
      if (!verdict) return
      if (denies(verdict)) throw new Denied(reasonOf(verdict))
      if (asks(verdict) && unasked) {
        throw new Denied(`${questionOf(verdict)} (hooks want a person to decide, and opencode cannot ask one: denied)`)
      }
      if (verdict.updated_input) become(output.args, verdict.updated_input)
    },

    "tool.execute.after": async (input, output) => {
      const text = resultText(output)
      if (text === null) return
      const call = { ...input, tool_name: input.tool, tool_input: input.args, tool_use_id: input.callID }
      const changed = newResult(await line.decide(about("tool_response_transform", { ...call, output: text, tool_response: text })))
      if (changed !== null) setResult(output, changed)
      const after = { ...input, title: output.title, output: changed ?? text, metadata: output.metadata }
      const verdict = await line.decide(about("tool.execute.after", after))
      const notes = [verdict && denies(verdict) && reasonOf(verdict), verdict?.additional_context].filter(Boolean)
      if (notes.length > 0) setResult(output, [changed ?? text, ...notes].join("\n\n"), changed !== null)
    },

    "experimental.session.compacting": async (input, output) => {
      const verdict = await line.decide(about("experimental.session.compacting", { ...input }))
      if (verdict?.additional_context) output.context?.push(verdict.additional_context)
    },

    dispose: async () => line.close(),
  }
  return guarded(hooks)
}

/** A denial, the one thing that is thrown into OpenCode. */
class Denied extends Error {}

/** The hooks, such that a mistake of theirs or a shape they do not know breaks nothing. */
function guarded(hooks) {
  const safe = (run) => async (...args) => {
    try {
      return await run(...args)
    } catch (err) {
      if (err instanceof Denied) throw new Error(err.message)
    }
  }
  return Object.fromEntries(Object.entries(hooks).map(([name, run]) => [name, safe(run)]))
}

/** A tool's result as the model sees it: text, or the content blocks of an MCP tool; null = neither. */
function resultText(output) {
  return typeof output.output === "string" ? output.output : blocksText(output.content)
}

/** Replaces the result, and what the metadata repeats of it. */
function setResult(output, text, hides = true) {
  if (typeof output.output === "string") output.output = text
  else output.content = withBlocksText(output.content, text)
  if (!hides) return
  for (const key of ["output", "preview"]) {
    if (typeof output.metadata?.[key] === "string") output.metadata[key] = text
  }
}
