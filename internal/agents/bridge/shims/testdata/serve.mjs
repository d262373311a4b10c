// Runs calls that the test writes, one JSON object a line, and prints what they
// returned, with the number of connections that the plugin has open.
import { createInterface } from "node:readline"

export function serve(calls) {
  process.on("unhandledRejection", (err) => {
    console.log(JSON.stringify({ id: -1, unhandled: String(err) }))
  })
  createInterface({ input: process.stdin }).on("line", async (text) => {
    const { id, call, ...args } = JSON.parse(text)
    const from = performance.now()
    let answer
    try {
      answer = await calls[call](args)
    } catch (err) {
      answer = { escaped: String(err) }
    }
    console.log(JSON.stringify({ id, took: performance.now() - from, ...answer }))
  })
}
