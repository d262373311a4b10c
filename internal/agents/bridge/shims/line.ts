// ---------------------------------------------------------------------------
// Lines to hookd and back (docs/reference/protocol.md). One event is one line, and its
// answer is the next line on the same connection. A connection is used again
// when its answer has come; events at the same time have one each.

import { randomUUID } from "node:crypto"
import { lstat, readlink } from "node:fs/promises"
import { connect } from "node:net"
import { homedir } from "node:os"
import { dirname, isAbsolute, join, resolve } from "node:path"

/** How long hookd may take to accept an event that it does not decide, in ms. */
const acceptTime = 5_000
/** How long there may be no answer until another connection sends a ping, how long its answer may take, and until the next ping, in ms. */
const pingTime = 2_000
const askAgain = 10_000
/** How many connections stay open for the next event. */
const keptOpen = 4

/** What `hookd connect` says: the socket, and whether to deny where hookd does not answer. Empty: the environment says. */
const connected = { "socket": "", "failClosed": false, "deadlineMS": 0 }

/** How long the agent waits for hookd, in ms; hooks may take less, and the answer a little more than they. */
const deadlineMS = connected.deadlineMS || 60_000
const hooksTime = Math.round(deadlineMS * 0.9)
const answerTime = Math.round(deadlineMS * 0.95)

function socketPath() {
  const env = process.env
  return connected.socket || env.HOOKD_SOCKET || join(env.LIBREFANG_HOME || join(homedir(), ".librefang"), "hookd.sock")
}

function failClosed() {
  return connected.failClosed || process.env.HOOKD_FAIL_CLOSED === "1"
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
    if (answer || !event.guards || !failClosed()) return null
    return { allowed: false, continue: true, message: "hookd could not check this" }
  }

  /** Sends an event without waiting for its answer, after those noted before it. */
  note(event) {
    this.notes = this.notes.then(() => this.send(event, acceptTime)).then(() => {})
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
        const answer = await whileAlive(ask(socket, text, deadline), deadline)
        this.keep(socket)
        return answer
      } catch (err) {
        socket.destroy()
        if (!reused || err instanceof Stopped || Date.now() >= deadline) throw err
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
    const text = down ? "hookd does not run, so no hook runs: start it with `hookd serve`" : err instanceof Foreign ? err.message : `hookd: ${err?.message ?? err}`
    try {
      Promise.resolve(this.notice(text)).catch(() => {})
    } catch {}
  }

  close() {
    for (const socket of this.idle.splice(0)) socket.destroy()
  }
}

/** How many symbolic links a path may lead through, as for the system. */
const maxLinks = 40

/** Says that another user may listen where hookd should. */
class Foreign extends Error {
  constructor(path, fact, mend) {
    super(`hookd does not run, so no hook runs: another user may listen in its place, as ${path} ${fact}; ${mend}`)
  }
}

/**
 * Throws where another user could have put a socket at `path`. Node cannot ask
 * the kernel which process listens, so the path has to tell: the owner of the
 * socket, and of every folder and link that leads to it, must be the user or
 * root, and no other user may write to those folders. What a folder of root's
 * holds that is sticky, such as /tmp, only its owner can replace.
 */
async function checkPath(path) {
  let at = "/"
  let rest = resolve(path).split("/")
  for (let links = 0; rest.length > 0; ) {
    const name = rest.shift()
    if (name === "..") at = dirname(at) // of where a link has led
    const next = name === ".." ? at : join(at, name)
    const info = await lstat(next)
    if (info.uid !== 0 && info.uid !== process.geteuid()) {
      throw new Foreign(next, `belongs to uid ${info.uid}`, "set LIBREFANG_HOME to a folder that only you can write to, then type `hookd serve`")
    }
    if (info.isSymbolicLink()) {
      if (++links > maxLinks) throw new Foreign(next, "leads through too many links", `type \`ls -l ${next}\``)
      const target = await readlink(next)
      if (isAbsolute(target)) at = "/"
      rest = [...target.split("/"), ...rest]
      continue
    }
    at = next
    const sticky = info.uid === 0 && (info.mode & 0o1000) !== 0
    if (info.isDirectory() && (info.mode & 0o022) !== 0 && !sticky) {
      throw new Foreign(next, "is a folder that others can write to", `type \`chmod go-w ${next}\``)
    }
  }
}

/**
 * Opens a connection. The path is checked before and after: the socket that was
 * connected to is the one that was there all the time.
 */
async function open(path, deadline) {
  await within(checkPath(path), deadline, path)
  const socket = await dial(path, deadline)
  try {
    await within(checkPath(path), deadline, path)
  } catch (err) {
    socket.destroy()
    throw err
  }
  return socket
}

/** The result of a promise, if it comes before the deadline. */
function within(promise, deadline, path) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no connection to ${path}`)), Math.max(deadline - Date.now(), 1))
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

function dial(path, deadline) {
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

/** Says that hookd is there and does nothing. */
class Stopped extends Error {
  constructor(path) {
    super(`hookd takes connections and answers nothing, is it stopped? (socket ${path})`)
  }
}

/**
 * The answer of a hookd that is alive. One that is stopped takes connections and
 * never answers, while one whose hooks take their time answers a ping at once.
 */
async function whileAlive(answer, deadline) {
  const path = socketPath()
  let timer
  let ended = false
  const stopped = new Promise((_, reject) => {
    const look = async () => {
      try {
        await ping(path, Math.min(deadline, Date.now() + pingTime))
        if (!ended) timer = setTimeout(look, askAgain)
      } catch {
        reject(new Stopped(path))
      }
    }
    timer = setTimeout(look, pingTime)
  })
  try {
    return await Promise.race([answer, stopped])
  } finally {
    ended = true
    clearTimeout(timer)
  }
}

async function ping(path, deadline) {
  const socket = await open(path, deadline)
  try {
    await ask(socket, `{"ping":true}\n`, deadline)
  } finally {
    socket.destroy()
  }
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

/** Makes an object equal to another, in its place. */
function become(object, other) {
  for (const key of Object.keys(object)) if (!(key in other)) delete object[key]
  Object.assign(object, other)
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
