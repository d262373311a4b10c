// Calls the plugin as OpenClaw does: register once, then handlers with (event, ctx).
import plugin from "./shim.mjs"
import { serve } from "./serve.mjs"

const warned = []
const handlers = {}
let middleware
plugin.register({
  logger: { warn: (text) => warned.push(text) },
  on(name, handler, opts) {
    if (name === "before_compaction") throw new Error("unknown hook")
    handlers[name] = { handler, opts }
  },
  registerAgentToolResultMiddleware(run, { runtimes }) {
    if (!runtimes.includes("openclaw")) throw new Error("which runtime?")
    middleware = run
  },
})

const ctx = (session = "s") => ({ agentId: "main", sessionId: session, sessionKey: "agent:main:" + session, workspaceDir: "/w" })

serve({
  async on({ name, event, session }) {
    return { answer: (await handlers[name].handler(event, ctx(session))) ?? null, opts: handlers[name].opts ?? null }
  },
  async result({ event, session }) {
    return { answer: (await middleware(event, ctx(session))) ?? null }
  },
  async odd() {
    for (const { handler } of Object.values(handlers)) await handler(undefined, undefined)
    await middleware(undefined, undefined)
    return {}
  },
  names: async () => ({ names: Object.keys(handlers) }),
  warned: async () => ({ warned }),
})
