// Calls the plugin as Amp does: register once, then handlers with (event, ctx).
import plugin from "./shim.mjs"
import { serve } from "./serve.mjs"

process.chdir("/")
const warned = []
const handlers = {}
plugin({
  logger: { log: (text) => void warned.push(text) },
  on(name, handler) {
    handlers[name] = handler
  },
})

const ctx = (says) => ({
  ui: {
    confirm: async () => {
      if (says === undefined) throw new Error("no UI")
      return says
    },
  },
})

serve({
  async on({ name, event, says, thread = "t" }) {
    return { answer: (await handlers[name]({ ...event, thread: { id: thread } }, ctx(says))) ?? null }
  },
  async odd() {
    const answers = []
    for (const handler of Object.values(handlers)) answers.push((await handler(undefined, undefined)) ?? null)
    return { answers }
  },
  warned: async () => ({ warned }),
})
