// ---------------------------------------------------------------------------
// Lines to hookd and back (docs/protocol.md). One event is one line, and its
// answer is the next line on the same connection. A connection is used again
// when its answer has come; events at the same time have one each.

import { randomUUID } from "node:crypto"
import { connect } from "node:net"
import { homedir } from "node:os"
import { join } from "node:path"

/** How long hooks may take to decide, in ms; the answer gets a little more. */
const hooksTime = 54_000
const answerTime = 57_000
/** How long hookd may take to accept an event that nobody decides, in ms. */
const noteTime = 5_000
/** How many connections stay open for the next event. */
const keptOpen = 4

function socketPath() {
  const env = process.env
  return env.HOOKD_SOCKET || join(env.LIBREFANG_HOME || join(homedir(), ".librefang"), "hookd.sock")
}

/**
 * The way to hookd. It never throws: whatever goes wrong is told to `notice`,
 * once for each spell of it, and is no verdict.
 */
class Line {
  /** @param dialect the agent's name. @param notice told once why there are no verdicts. */
  constructor(dialect, notice) {
    this.dialect = dialect
    this.notice = notice
    this.idle = []
    this.told = false
    this.notes = Promise.resolve()
  }

  /** Sends an event that hooks decide. Returns the verdict, or null where there is none. */
  async decide(event) {
    const answer = await this.send({ ...event, wait: true, timeout_ms: hooksTime }, answerTime)
    if (answer?.verdict) return answer.verdict
    if (answer || !event.guards || process.env.HOOKD_FAIL_CLOSED !== "1") return null
    return { allowed: false, continue: true, message: "hookd could not check this" }
  }

  /** Sends an event that nobody waits for, behind those that were noted before. */
  note(event) {
    this.notes = this.notes.then(() => this.send(event, noteTime)).then(() => {})
    return this.notes
  }

  /** Sends one event. Returns hookd's answer, or null. */
  async send({ guards, ...event }, patience) {
    try {
      const text = JSON.stringify({ id: randomUUID(), dialect: this.dialect, ...event }) + "\n"
      const answer = await this.exchange(text, Date.now() + patience)
      if (answer.error) throw new Error(answer.error.message)
      this.told = false
      return answer
    } catch (err) {
      this.tell(err)
      return null
    }
  }

  /** A connection that hookd closed while it was idle is worth a second try: the event has an id. */
  async exchange(text, deadline) {
    for (;;) {
      const reused = this.idle.pop()
      const socket = reused ?? (await open(socketPath(), deadline))
      try {
        const answer = await ask(socket, text, deadline)
        this.keep(socket)
        return answer
      } catch (err) {
        socket.destroy()
        if (!reused || Date.now() >= deadline) throw err
      }
    }
  }

  keep(socket) {
    if (socket.destroyed || this.idle.length >= keptOpen) return void socket.destroy()
    socket.unref() // an agent that is done may end
    this.idle.push(socket)
  }

  tell(err) {
    if (this.told) return
    this.told = true
    const down = err?.code === "ENOENT" || err?.code === "ECONNREFUSED"
    const text = down ? "hookd does not run, so no hook runs: start it with `hookd serve`" : `hookd: ${err?.message ?? err}`
    try {
      Promise.resolve(this.notice(text)).catch(() => {})
    } catch {}
  }

  close() {
    for (const socket of this.idle.splice(0)) socket.destroy()
  }
}

function open(path, deadline) {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    const timer = setTimeout(() => socket.destroy(new Error(`no connection to ${path}`)), deadline - Date.now())
    const end = (err) => {
      clearTimeout(timer)
      socket.off("connect", end).off("error", end)
      socket.on("error", () => {}) // what goes wrong is seen as the end of the answer
      if (err) reject(err)
      else resolve(socket)
    }
    socket.once("connect", end).once("error", end)
  })
}

/** Writes one line and reads one. */
function ask(socket, text, deadline) {
  return new Promise((resolve, reject) => {
    const parts = []
    const end = (err, line) => {
      clearTimeout(timer)
      socket.off("data", read).off("close", closed)
      if (err) return reject(err)
      try {
        resolve(JSON.parse(line))
      } catch (err) {
        reject(err)
      }
    }
    const read = (part) => {
      parts.push(part)
      if (part.includes(10)) end(null, Buffer.concat(parts).toString("utf8"))
    }
    const closed = () => end(new Error("hookd closed the connection"))
    const timer = setTimeout(() => end(new Error("no answer in time")), Math.max(deadline - Date.now(), 1))
    if (socket.destroyed) return closed()
    socket.ref()
    socket.on("data", read).on("close", closed)
    socket.write(text)
  })
}

/** What stands against it, in the hooks' words. */
function reasonOf(verdict) {
  return verdict.message || verdict.decision_reason || verdict.stop_reason || "denied by a hook"
}

function denies(verdict) {
  return !verdict.allowed || verdict.continue === false
}

function asks(verdict) {
  return verdict.permission_decision === "ask" && !denies(verdict)
}

/** Why a person would have to be asked. */
function questionOf(verdict) {
  return verdict.decision_reason || verdict.message || "a hook asks for a person's decision"
}

/** The new result of a tool as text; null = it stays. */
function newResult(verdict) {
  const result = verdict?.updated_tool_response
  if (result === undefined || result === null) return null
  return typeof result === "string" ? result : JSON.stringify(result)
}

/** The text that the model sees of a result's content blocks; null = there is none. */
function blocksText(blocks) {
  if (!Array.isArray(blocks)) return null
  const texts = blocks.filter((b) => typeof b?.text === "string").map((b) => b.text)
  return texts.length > 0 ? texts.join("\n") : null
}

/** The blocks with text in the place of their texts. */
function withBlocksText(blocks, text) {
  let left = text
  return blocks.map((b) => {
    if (typeof b?.text !== "string") return b
    const block = { ...b, text: left }
    left = ""
    return block
  })
}
