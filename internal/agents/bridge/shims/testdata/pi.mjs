// Calls the extension as Pi does: register once, then handlers with (event, ctx).
import plugin from "./shim.mjs"
import { serve } from "./serve.mjs"

const warned = []
const asked = []
const handlers = {}
plugin({
  on(name, handler) {
    if (name === "session_compact") throw new Error("unknown event")
    handlers[name] = handler
  },
})

const ui = {
  notify: (text) => void warned.push(text),
  confirm: async (title, text) => {
    asked.push(`${title} ${text}`)
    return text.includes("yes")
  },
}
const ctx = (session = "s", hasUI = true) => ({ hasUI, ui, cwd: "/w", sessionManager: { getSessionId: () => session } })

serve({
  async on({ name, event, session, hasUI }) {
    return { answer: (await handlers[name](event, ctx(session, hasUI))) ?? null, event }
  },
  async odd() {
    for (const handler of Object.values(handlers)) await handler(undefined, undefined)
    return {}
  },
  names: async () => ({ names: Object.keys(handlers) }),
  warned: async () => ({ warned, asked }),
})
