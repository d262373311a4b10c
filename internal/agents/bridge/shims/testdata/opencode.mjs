// Calls the plugin as OpenCode does: it passes { args } and goes on with its own args.
import { Hookd } from "./shim.mjs"
import { serve } from "./serve.mjs"

const warned = []
const hooks = await Hookd({ directory: "/w", client: { app: { log: async ({ body }) => void warned.push(body.message) } } })

serve({
  async tool({ tool, args, session = "s", call = "c" }) {
    try {
      await hooks["tool.execute.before"]({ tool, sessionID: session, callID: call }, { args })
      return { args }
    } catch (err) {
      return { thrown: err.message }
    }
  },
  async result({ tool, args, output, session = "s", call = "c" }) {
    await hooks["tool.execute.after"]({ tool, sessionID: session, callID: call, args }, output)
    return { output }
  },
  async prompt({ text, session = "s" }) {
    const output = { message: {}, parts: [{ id: "prt_1", type: "text", text }] }
    await hooks["chat.message"]({ sessionID: session }, output)
    return { parts: output.parts }
  },
  async event({ event }) {
    await hooks.event({ event })
    return {}
  },
  async compacting({ session = "s" }) {
    const output = { context: [] }
    await hooks["experimental.session.compacting"]({ sessionID: session }, output)
    return output
  },
  async odd() {
    await hooks["tool.execute.before"](undefined, undefined)
    await hooks["tool.execute.after"]({}, { content: 7 })
    await hooks["chat.message"]({}, {})
    await hooks.event({ event: { type: "session.created" } })
    await hooks.event({})
    return {}
  },
  warned: async () => ({ warned }),
})
