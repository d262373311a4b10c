// @ts-nocheck: what is exported has types; what is inside is plain JavaScript.
//
// hookd for TypeScript and JavaScript: hooks and senders, in one file without
// dependencies, for node 18 and newer, bun and deno.
//
// A hook is a function that is given an event and returns an answer:
//
//   import { run, deny } from "./hookd.ts"; // from "./hookd.mjs" where there are no types
//
//   run((event) => {
//     for (const command of event.commands) { // of a hook with `facts: true`
//       if (command.program === "sudo") return deny("no sudo: ask me to do it");
//     }
//   });
//
// The same file works with `mode: spawn` and `mode: persistent`. undefined is no
// opinion. An exception, an answer that the event has no use for, and an event that
// cannot be read are failures, which deny where a guard's failures deny; nothing of
// that is silent.
//
// A sender: emit tells, decide asks, subscribe follows.
//
//   const verdict = await decide("PreToolUse", { tool_name: "Bash", tool_input: { command: "ls" } });
//   console.log(verdict.allowed ? "call it" : verdict.message);
//
// This file is hookd's sdk/typescript/hookd.ts, and hookd.mjs is the same without
// types. `hookd new NAME --lang typescript` or node puts it beside a hook.
import * as fs from "node:fs";

// Hooks.

/** What a hook is given. data is the payload. */
class HookEvent/*types*/<N extends string = string>/*end*/ {
  data/*types*/: Payload<N>/*end*/;
  name/*types*/: N/*end*/;
  id/*types*/: string/*end*/;
  sessionId/*types*/: string/*end*/;
  cwd/*types*/: string/*end*/;

  constructor(data) {
    if (!isObject(data)) throw new TypeError("an event is a JSON object");
    this.data = data;
    this.name = text(data.hook_event_name);
    this.id = text(data.event_id);
    this.sessionId = text(data.session_id);
    this.cwd = text(data.cwd);
  }

  /** What the event stands for in every agent's words, such as "tool.before"; its name if no table has it. */
  get kind()/*types*/: string/*end*/ {
    return rowOf(this.name).kind;
  }

  /** The tool's name, "" for an event without one. Under Claude Code's names of events it is Claude Code's. */
  get tool()/*types*/: string/*end*/ {
    const row = rowOf(this.name);
    return atAll(this.data, row.tool).find((v) => typeof v === "string" && v) ?? row.fixed;
  }

  /** The arguments of the tool, {} for an event without. */
  get input()/*types*/: Record<string, any>/*end*/ {
    return atAll(this.data, rowOf(this.name).input).map(fromText).find(isObject) ?? {};
  }

  /** What hookd knows of the call, as it is in the payload. Throws for a hook without `facts: true`. */
  get facts()/*types*/: Facts/*end*/ {
    if (!isObject(this.data.facts)) throw new Error("the payload has no facts: write `facts: true` in HOOK.yaml");
    return this.data.facts;
  }

  /**
   * Each command that the call runs, also those behind sudo, env, xargs, bash -c and ssh; [] where it runs none. Throws
   * Unread where others may run that hookd cannot tell.
   */
  get commands()/*types*/: Command[]/*end*/ {
    const found = (this.facts.commands ?? []).map((facts) => commandOf(mustBeObject(facts)));
    const doubt = this.doubts.find((d) => HIDING.includes(d.kind));
    if (doubt) throw new Unread(doubt.text, found);
    const computed = found.find((command) => command.computed.includes(0));
    if (computed) throw new Unread("the name of a program is computed: " + computed.text, found);
    return found;
  }

  /** What the call does: it writes this file, deletes that, connects to a host. */
  get effects()/*types*/: Effect[]/*end*/ {
    return (this.facts.effects ?? []).map(mustBeObject);
  }

  /** What hookd cannot know of the call. */
  get doubts()/*types*/: Doubt[]/*end*/ {
    return (this.facts.doubts ?? []).map(mustBeObject);
  }
}

function mustBeObject(value) {
  if (!isObject(value)) throw new TypeError("the facts in the payload are not hookd's");
  return value;
}

const HIDING = ["parse", "eval", "open", "made", "variable", "limits"]; // doubts that may hide a command

/** The object or list that a text holds, where arguments came as JSON text. */
function fromText(value) {
  if (typeof value === "string" && (value[0] === "{" || value[0] === "[")) {
    try {
      return JSON.parse(value);
    } catch {
      return value;
    }
  }
  return value;
}

/** The values at the paths that data has. */
function atAll(data, paths) {
  const member = (value, key) => (isObject(value) && own(value, key) ? value[key] : null);
  return paths.map((path) => path.split(".").reduce(member, data)).filter((value) => value !== null);
}

const own = (object, key) => Object.prototype.hasOwnProperty.call(object, key);
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value) => (typeof value === "string" ? value : "");

/** What a hook says; made by deny, ask, contain, allow, context and rewrite. */
class Answer {
  word/*types*/: string/*end*/;
  value/*types*/: unknown/*end*/;
  reason/*types*/: string/*end*/;

  constructor(word, value, reason = "") {
    this.word = word;
    this.value = value;
    this.reason = reason;
  }
}

function mustBeText(value) {
  if (typeof value !== "string") throw new TypeError("this is not a text: " + String(value));
  return value;
}

/** The answer no. The model reads the reason: say what to do instead. */
function deny(reason/*types*/: string/*end*/)/*types*/: Answer/*end*/ {
  return new Answer("deny", mustBeText(reason));
}

/** The answer that a person has to decide. */
function ask(reason/*types*/: string/*end*/)/*types*/: Answer/*end*/ {
  return new Answer("ask", mustBeText(reason));
}

/** The answer that the call runs in a box; where it cannot, a person is asked. "" is the usual profile. */
function contain(reason/*types*/: string/*end*/, profile/*types*/: string/*end*/ = "")/*types*/: Answer/*end*/ {
  return new Answer("contain", mustBeText(reason), mustBeText(profile));
}

/** The answer yes, which switches off the agent's own question. No opinion is undefined. */
function allow(reason/*types*/: string/*end*/ = "")/*types*/: Answer/*end*/ {
  return new Answer("allow", mustBeText(reason));
}

/** Text for the model. */
function context(value/*types*/: string/*end*/)/*types*/: Answer/*end*/ {
  return new Answer("context", mustBeText(value));
}

/** What takes the place of a tool's input (members of an object), of its result, or of the list of messages. */
function rewrite(value/*types*/: unknown/*end*/, reason/*types*/: string/*end*/ = "")/*types*/: Answer/*end*/ {
  return new Answer("rewrite", value, mustBeText(reason));
}

/**
 * Gives each event to handle and answers it. A handler returns nothing, an Answer, or an object with the members of an
 * answer as docs/reference/running-hooks.md has them; or a promise of that. A spawned hook ends with status 1 after a failure.
 */
async function run/*types*/<N extends string = any>/*end*/(
  handle/*types*/: (event: HookEvent<N>) => Said | Promise<Said>/*end*/,
)/*types*/: Promise<void>/*end*/ {
  // What is printed meanwhile goes to stderr: stdout is for answers.
  Object.defineProperty(process, "stdout", { configurable: true, get: () => process.stderr });
  const { Console } = console.Console ? console : await import("node:console");
  globalThis.console = new Console(process.stderr, process.stderr);
  let owes = true;
  process.on("exit", (code) => {
    if (owes && !code) process.exitCode = 1; // an end before the answer is no opinion, but a failure
  });
  if (process.env.HOOK_EVENT !== undefined) {
    const { said, why } = await answer(readAll(), handle);
    if (why) return process.exit(1);
    if (said !== "{}") write(1, said);
    owes = false;
    return;
  }
  owes = false;
  for await (const line of linesOf(process.stdin)) {
    owes = true;
    let { said, id, why } = await answer(line, handle);
    if (why) said = JSON.stringify({ hook_failed: why.slice(-2000) });
    write(1, `{"event_id":${JSON.stringify(id || eventID(line))}${said === "{}" ? "" : ","}${said.slice(1)}\n`);
    owes = false;
  }
}

/** The lines of a stream as bytes, without those that are blank. */
async function* linesOf(stream) {
  let parts = [];
  for await (let chunk of stream) {
    for (let end; (end = chunk.indexOf(10)) >= 0; chunk = chunk.subarray(end + 1)) {
      const line = Buffer.concat([...parts, chunk.subarray(0, end)]);
      parts = [];
      if (line.some((c) => c > 32)) yield line;
    }
    if (chunk.length) parts.push(chunk);
  }
  if (parts.length) yield Buffer.concat(parts);
}

function readAll() {
  const parts = [];
  for (;;) {
    const part = Buffer.allocUnsafe(1 << 16);
    const n = again(() => fs.readSync(0, part, 0, part.length, null));
    if (!n) return Buffer.concat(parts);
    parts.push(part.subarray(0, n));
  }
}

function write(fd, line) {
  let bytes = Buffer.from(line);
  while (bytes.length) bytes = bytes.subarray(again(() => fs.writeSync(fd, bytes, 0, bytes.length)));
}

/** Calls until there is room, or something to read: others may have made the descriptor one that does not wait. */
function again(call) {
  for (;;) {
    try {
      return call();
    } catch (e) {
      if (e.code === "EOF") return 0;
      if (e.code !== "EAGAIN") throw e;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/** The answer to one event as JSON, the id of the event, and why there is no answer. */
async function answer(line, handle) {
  let id = "";
  try {
    const event = new HookEvent(JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line)));
    let said;
    id = event.id;
    try {
      said = await handle(event);
    } catch (e) {
      if (!(e instanceof Unread) || !rowOf(event.name).can.includes("b")) throw e;
      write(2, `hookd: ${e.message}\n`);
      said = deny(e.message);
    }
    said = inWords(event.name, said);
    delete said.event_id;
    sameInJSON(said);
    return { said: JSON.stringify(said), id, why: "" };
  } catch (e) {
    write(2, String(e?.stack ?? e).slice(0, 8000) + "\n");
    return { said: "", id, why: String(e) || "it threw nothing" };
  }
}

/** Throws where JSON would change a value in silence. */
function sameInJSON(value) {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`JSON has no ${value}`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new TypeError(`${value} is too large a number to be given back as it came: make it a text, or leave it out`);
  }
  if (["undefined", "function", "symbol", "bigint"].includes(typeof value)) {
    throw new TypeError(`JSON has no ${typeof value}`);
  }
  if (typeof value === "object" && value !== null && typeof value.toJSON !== "function") {
    Object.values(value).forEach(sameInJSON);
  }
}

/** The event_id of a line, however strange the rest of it is. */
function eventID(line) {
  const s = line.toString();
  try {
    const value = JSON.parse(s);
    if (isObject(value) && typeof value.event_id === "string") return value.event_id;
  } catch {
    // look for it below
  }
  let depth = 0, key = "", found = "";
  for (const m of s.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/gs)) {
    const token = m[0];
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (depth === 1 && token[0] === '"') {
      if (key === "event_id") found = JSON.parse(token);
      key = /^\s*:/.test(s.slice(m.index + token.length, m.index + token.length + 16)) ? token.slice(1, -1) : "";
    }
  }
  if (!found) {
    write(2, "hookd: a line on stdin has no event_id\n");
    process.exit(1);
  }
  return found;
}

/** An answer in the words that the event takes. One that it has no use for is an error. */
function inWords(name, said) {
  if (said === undefined || said === null) return {};
  if (isObject(said) && Object.getPrototypeOf(said) === Object.prototype) return { ...said };
  if (!(said instanceof Answer)) {
    throw new TypeError(`a handler returns an answer such as deny(reason), or nothing, not ${String(said)}`);
  }
  const row = rowOf(name), { word, value, reason } = said, can = (letter) => row.can.includes(letter);
  let specific;
  if (word === "deny" && can("b")) return { decision: "deny", reason: value };
  if ((["deny", "ask", "allow"].includes(word) && can("v")) || (["deny", "allow"].includes(word) && can("p"))) {
    specific = { permission_decision: word, permission_decision_reason: value };
  } else if (word === "contain" && can("v")) {
    specific = { permission_decision: word, permission_decision_reason: value, ...(reason && { profile: reason }) };
  } else if (word === "allow" && can("e")) {
    return { continue: true };
  } else if (word === "context" && can("c")) {
    specific = { additional_context: value };
  } else if (word === "rewrite" && row.rewrite) {
    const fits = can("r") ? typeof value === "string"
      : row.rewrite === "updated_input" ? isObject(value)
      : row.rewrite === "updated_messages" ? Array.isArray(value) : true;
    if (!fits) throw new TypeError(`${name} takes another kind of value for ${row.rewrite}`);
    if (can("r")) return { tool_output: value };
    specific = { [row.rewrite]: value };
    if (reason && can("v")) specific.permission_decision_reason = reason;
  }
  if (!specific) throw new Error(`${name || "an event without a name"} has no use for the answer ${word}`);
  return { hook_specific_output: specific };
}

// What a call does.

/** What a call would run cannot be told. reason says why; commands has what could be read. */
class Unread extends Error {
  reason/*types*/: string/*end*/;
  commands/*types*/: Command[]/*end*/;

  constructor(reason, commands = []) {
    super("what this command would run cannot be told: " + reason);
    this.name = "Unread";
    this.reason = reason;
    this.commands = commands;
  }
}

/**
 * One command: its words as the shell sees them, without quotes. computed has the indexes of the words that are known
 * only when the line runs, such as $x and *.txt. via is what the command is behind, such as sudo; guess says that it only
 * may be what runs.
 */
class Command extends Array/*types*/<string>/*end*/ {
  /*types*/declare readonly computed: number[];
  declare readonly text: string;
  declare readonly guess: boolean;
  declare readonly via: string[];
  declare readonly env: FactsOfCommand["env"];
  declare readonly redirects: FactsOfCommand["redirects"];
  declare readonly span: Span;/*end*/
  static get [Symbol.species]() {
    return Array;
  }

  /** The program's name, without its folder and in small letters. */
  get program()/*types*/: string/*end*/ {
    const name = (this[0] ?? "").replaceAll("\\", "/").replace(/\/+$/, "").split("/").pop().toLowerCase();
    return name.replace(/(.)\.(?:exe|cmd|bat)$/, "$1");
  }
}

function commandOf({ words = [], text = "", guess = false, via = [], env = [], redirects = [], span = { from: 0, to: 0 } }) {
  const command = new Command();
  for (const word of words) command.push(word.text); // there may be too many for one call
  const computed = words.flatMap((word, i) => (word.kind && word.kind !== "literal" ? [i] : []));
  for (const [name, value] of Object.entries({ computed, text, guess, via, env, redirects, span })) {
    Object.defineProperty(command, name, { value });
  }
  return command;
}

// Senders.

/** There is no answer of hookd. code: not_running, no_answer, or hookd's own for what it refused. */
class HookdError extends Error {
  code/*types*/: string/*end*/;
  hint/*types*/: string/*end*/;

  constructor(code, message, hint = "") {
    super(hint ? `${message}; ${hint}` : message);
    this.name = "HookdError";
    this.code = code;
    this.hint = hint;
  }
}

const notRunning = (path, e) => new HookdError("not_running", `hookd is not running (socket ${path}: ${e.message})`);
const refusal = (error) => new HookdError(error?.code ?? "", error?.message ?? "hookd refused", error?.hint ?? "");

/** $HOOKD_SOCKET, else hookd.sock in $LIBREFANG_HOME, else in ~/.librefang. */
function socketPath()/*types*/: string/*end*/ {
  const env = process.env;
  return env.HOOKD_SOCKET || (env.LIBREFANG_HOME || (env.HOME ?? "") + "/.librefang") + "/hookd.sock";
}

/** Sends an event and gives hookd's answer: at once, with wait: true when its hooks have ended. Throws HookdError. */
async function emit(
  event/*types*/: string/*end*/, data/*types*/: Record<string, any>/*end*/ = {},
  { ms = 60000, ...envelope }/*types*/: Sending/*end*/ = {},
)/*types*/: Promise<Record<string, any>>/*end*/ {
  const connection = await connect(ms);
  try {
    connection.send({ ...envelope, event, data });
    const answer = await connection.receive();
    if (answer === null) throw new HookdError("no_answer", "hookd closed the connection");
    if (answer.ok !== true) throw refusal(answer.error);
    return answer;
  } finally {
    connection.close();
  }
}

/**
 * Asks the hooks, which have nine tenths of the time, and gives their verdict. Throws HookdError where there is none:
 * whether that means yes or no is yours to say.
 */
async function decide(
  event/*types*/: string/*end*/, data/*types*/: Record<string, any>/*end*/ = {},
  options/*types*/: Sending/*end*/ = {},
)/*types*/: Promise<Verdict>/*end*/ {
  const ms = options.ms ?? 60000;
  const timeout_ms = Math.max(1, Math.floor(ms * 0.9));
  const { verdict } = await emit(event, data, { timeout_ms, ...options, wait: true });
  if (typeof verdict?.allowed !== "boolean") throw new HookdError("no_answer", "hookd answered without a verdict");
  return verdict;
}

/**
 * The records of the stream, for ever: it comes back after hookd was restarted. To go on later, keep seq (of a gap: to)
 * and epoch of the last record. Throws HookdError where hookd refuses.
 */
async function* subscribe(
  globs/*types*/: string[]/*end*/ = ["*"],
  { since, epoch, starts = false }/*types*/: { since?: number; epoch?: string; starts?: boolean }/*end*/ = {},
)/*types*/: AsyncGenerator<Record<string, any>>/*end*/ {
  for (;;) {
    let connection, here;
    try {
      connection = await connect(60000);
      connection.send({ subscribe: globs, starts, ...(since === undefined ? {} : { since, epoch }) });
      for (let record; (record = await connection.receive(60000)) !== null; ) { // a quiet stream has a ping every 15 s
        if (record.ok === false) throw refusal(record.error);
        if (record.type === "epoch") {
          here = record.epoch;
          if (since === undefined) [since, epoch] = [record.seq, here];
        } else if (record.type !== "ping") {
          if (record.seq !== undefined || record.to !== undefined) [since, epoch] = [record.seq ?? record.to, here];
          yield { ...record, epoch: here };
        }
      }
    } catch (e) {
      if (!(e instanceof HookdError) || !["not_running", "no_answer"].includes(e.code)) throw e;
    } finally {
      connection?.close();
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** A connection to the daemon of this user, or of root. */
async function connect(ms) {
  const net = await import("node:net");
  const path = socketPath(), lines = [];
  let rest = [], until = Date.now() + ms, ended = null, wake = () => {};
  const before = trusted(path);
  const socket = net.createConnection(path);
  socket.on("data", (chunk) => {
    for (let end; (end = chunk.indexOf(10)) >= 0; chunk = chunk.subarray(end + 1)) {
      lines.push(Buffer.concat([...rest, chunk.subarray(0, end)]));
      rest = [];
    }
    if (chunk.length) rest.push(chunk);
    wake();
  });
  socket.on("error", (e) => {
    ended ??= new HookdError("no_answer", String(e.message));
    wake();
  });
  socket.on("close", () => {
    ended ??= rest.length ? new HookdError("no_answer", "hookd closed the connection") : "closed";
    wake();
  });
  /** Waits until something has happened; false = not in time. */
  const happens = () => new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), Math.max(0, until - Date.now()));
    wake = () => {
      clearTimeout(timer);
      resolve(true);
    };
  });
  const late = () => {
    socket.destroy();
    return new HookdError("no_answer", "no answer from hookd in time");
  };
  socket.once("connect", () => wake());
  while (socket.connecting && ended === null) if (!(await happens())) throw late();
  if (ended instanceof Error) throw notRunning(path, ended);
  if (trusted(path) !== before) {
    socket.destroy();
    throw new HookdError("not_running", `the socket ${path} was replaced while it was opened`);
  }
  return {
    send: (value) => socket.write(JSON.stringify(value) + "\n"),
    close: () => socket.destroy(),
    async receive(more) {
      if (more !== undefined) until = Date.now() + more;
      while (!lines.length) {
        if (ended === "closed") return null;
        if (ended) throw ended;
        if (!(await happens())) throw late();
      }
      try {
        const value = JSON.parse(lines.shift().toString());
        if (isObject(value)) return value;
      } catch {
        // as below
      }
      throw new HookdError("no_answer", "hookd's answer cannot be read");
    },
  };
}

/**
 * Throws unless the socket can only be this user's or root's: it is theirs, and so is
 * each folder on the way, which no other user may change. Node cannot ask the kernel
 * who listens. Returns which file it is.
 */
function trusted(path) {
  const me = process.geteuid(), refuse = (why) => new HookdError("not_running", why);
  let real, socket;
  try {
    real = fs.realpathSync(path);
    socket = fs.statSync(real);
  } catch (e) {
    throw notRunning(path, e);
  }
  if (socket.uid !== 0 && socket.uid !== me) throw refuse(`another user's process listens on ${path}`);
  for (let folder = real; folder !== "/"; ) {
    folder = folder.slice(0, folder.lastIndexOf("/")) || "/";
    const { uid, gid, mode } = fs.statSync(folder);
    const others = (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== process.getegid());
    if ((uid !== 0 && uid !== me) || (others && (mode & 0o1000) === 0)) {
      throw refuse(`another user could have put the socket there: ${folder} is theirs to change`);
    }
  }
  return `${socket.dev}:${socket.ino}`;
}

// What hookd knows of events, from its contract table.

let cache;

function tables() {
  if (cache) return cache;
  cache = new Map();
  const list = (words) => words.split(" ").filter(Boolean);
  for (const [names, kind, can, rewrite, tool, input, fixed] of JSON.parse(TABLES).events) {
    for (const name of list(names)) cache.set(name, { kind, can, rewrite, tool: list(tool), input: list(input), fixed });
  }
  return cache;
}

function rowOf(name) {
  return tables().get(name) ??
    { kind: name, can: "", rewrite: "", tool: ["tool_name"], input: ["tool_input"], fixed: "" };
}

// generated: tables
const TABLES = '{"events":[["agent:start userPromptSubmitted user.prompt","prompt.submit","","","","",""],["agent:end session.idle task.complete","turn.stop","","","","",""],["agent:step","turn.step","","","","",""],["session:start on_session_start","session.start","","","","",""],["session:end session_end SessionEnd sessionEnd TaskCancel TaskComplete on_session_end session.deleted session_shutdown session.end","session.end","","","","",""],["session:reset on_session_reset before_reset","session.reset","","","","",""],["gateway:startup gateway_start","daemon.start","","","","",""],["transform_tool_result","tool.transform","r","updated_tool_response","tool_call tool_name","tool_input",""],["pre_tool_use BeforeTool pre_tool_call","tool.before","bv","updated_input","tool_name","tool_input",""],["tool_input_transform","tool_input_transform","b","updated_input","tool_name","tool_input",""],["tool_guard","tool_guard","bv","","tool_name","tool_input",""],["permission_request PermissionRequest","permission.request","bp","updated_input","tool_name","tool_input",""],["tool_response_transform","tool.transform","","updated_tool_response","tool_name","tool_input",""],["post_tool_use AfterTool","tool.after","bc","","tool_name","tool_input",""],["on_tool_approval_decision","on_tool_approval_decision","","","tool_name","tool_input",""],["user_prompt_submit UserPromptSubmit UserPromptExpansion BeforeAgent chat.message before_prompt_build input","prompt.submit","bc","","","",""],["user_steering_messages_submit","user_steering_messages_submit","bc","","","",""],["user_followup_submit","user_followup_submit","bc","","","",""],["turn_start","turn_start","c","","","",""],["turn_end","turn_end","","","","",""],["before_llm_call","model.before","b","updated_messages","","",""],["after_llm_call afterAgentResponse afterAgentThought post_cascade_response PostInvocation post_api_request model_call_ended","model.after","","","","",""],["stop","turn.stop","cb","","","",""],["subagent_stop subagent.idle subagent_ended","subagent.stop","","","","",""],["notification Notification","notification","c","","","",""],["on_error StopFailure errorOccurred TaskError api_request_error session.error","error","","","","",""],["on_max_iterations","on_max_iterations","","","","",""],["session_start sessionStart session.created agentSpawn session.start","session.start","c","","","",""],["pre_compact PreCompact","compact.before","bc","","","",""],["before_compaction","before_compaction","b","","","",""],["after_compaction session.compacted session_compact PostCompaction","compact.after","","","","",""],["on_user_input","on_user_input","","","","",""],["on_agent_switch","on_agent_switch","","","","",""],["on_session_resume","on_session_resume","","","","",""],["worktree_create","worktree_create","bc","","","",""],["skill_content_guard","skill_content_guard","be","","","",""],["prompt_file_guard","prompt_file_guard","be","","","",""],["onStart TaskStart TaskResume","session.start","bc","","","",""],["onStop Stop","turn.stop","bc","","","",""],["beforeToolCall","tool.before","bvc","","tool_name last_tool","tool_args",""],["afterToolCall","tool.after","c","","tool_name last_tool","tool_args",""],["onError","error","c","","","",""],["beforeMessage","model.before","bc","","","",""],["afterMessage","model.after","c","","","",""],["PreToolUse","tool.before","bvc","updated_input","tool_name tool_call.name preToolUse.toolName toolCall.name toolName","tool_input tool_call.input preToolUse.parameters toolCall.args toolInput",""],["PreSkillShellCommand beforeMCPExecution","tool.before","bv","","tool_name","tool_input",""],["PermissionDenied","PermissionDenied","","","tool_name toolName","tool_input toolInput",""],["PostToolUse","tool.after","bc","updated_tool_response","tool_name tool_result.name postToolUse.toolName toolCall.name toolName","tool_input tool_result.input postToolUse.parameters toolCall.args toolInput",""],["PostToolUseFailure","tool.after","c","","tool_name toolName","tool_input toolInput",""],["PostToolBatch","PostToolBatch","bc","","","",""],["MessageDisplay","MessageDisplay","","","","",""],["SubagentStart","subagent.start","c","","","",""],["SubagentStop","subagent.stop","bc","","","",""],["SessionStart","session.start","cb","","","",""],["Setup","Setup","c","","","",""],["PostCompact","compact.after","b","","","",""],["InstructionsLoaded","InstructionsLoaded","","","","",""],["ConfigChange","ConfigChange","b","","","",""],["CwdChanged","CwdChanged","","","","",""],["DirectoryAdded","DirectoryAdded","","","","",""],["FileChanged file.edited","file.changed","","","","",""],["PreModelSwitch","PreModelSwitch","bv","","","",""],["PostModelSwitch","PostModelSwitch","c","","","",""],["TaskCreated","TaskCreated","b","","","",""],["TaskCompleted","TaskCompleted","b","","","",""],["TeammateIdle","TeammateIdle","b","","","",""],["WorktreeCreate","WorktreeCreate","b","","","",""],["WorktreeRemove","WorktreeRemove","","","","",""],["Elicitation","Elicitation","b","","","",""],["ElicitationResult","ElicitationResult","b","","","",""],["Interrupt StopCancelled","turn.interrupt","","","","",""],["AfterAgent agentStop pre_verify before_agent_finalize agent.end","turn.stop","b","","","",""],["BeforeModel","model.before","b","","","",""],["BeforeToolSelection","BeforeToolSelection","","","","",""],["AfterModel","model.after","b","","","",""],["PreCompress preCompact context.compact","compact.before","","","","",""],["preToolUse","tool.before","bv","updated_input","tool_name toolName","tool_input toolArgs",""],["beforeShellExecution","tool.before","bv","","","","Shell"],["postToolUse","tool.after","c","updated_tool_response","tool_name toolName","tool_input toolArgs",""],["postToolUseFailure","tool.after","c","","tool_name toolName","tool_input toolArgs",""],["afterShellExecution","tool.after","","","","","Shell"],["afterMCPExecution post_tool_call","tool.after","","","tool_name","tool_input",""],["beforeReadFile beforeTabFileRead","tool.before","bv","","","","Read"],["afterFileEdit afterTabFileEdit","tool.after","","","","","Write"],["beforeSubmitPrompt pre_user_prompt","prompt.submit","b","","","",""],["subagentStart","subagent.start","bvc","","","",""],["subagentStop","subagent.stop","b","","","",""],["workspaceOpen","workspaceOpen","","","","",""],["userPromptTransformed","userPromptTransformed","","","","",""],["preMcpToolCall","preMcpToolCall","","","","",""],["permissionRequest","permission.request","bp","","toolName","toolArgs",""],["SessionHeartbeat","SessionHeartbeat","","","","",""],["UserPromptQueued","UserPromptQueued","","","","",""],["TurnStarted","TurnStarted","","","","",""],["PermissionResult","PermissionResult","","","tool_name","tool_input",""],["TaskStarted","TaskStarted","","","","",""],["pre_read_code","tool.before","bv","","","","read_code"],["pre_write_code","tool.before","bv","","","","write_code"],["pre_run_command","tool.before","bv","","","","run_command"],["pre_mcp_tool_use","tool.before","bv","","","tool_info.mcp_tool_arguments",""],["post_read_code","tool.after","","","","","read_code"],["post_write_code","tool.after","","","","","write_code"],["post_run_command","tool.after","","","","","run_command"],["post_mcp_tool_use","tool.after","","","","tool_info.mcp_tool_arguments",""],["post_cascade_response_with_transcript","post_cascade_response_with_transcript","","","","",""],["post_setup_worktree","post_setup_worktree","","","","",""],["SessionShutdown","SessionShutdown","","","","",""],["PreInvocation","model.before","c","","","",""],["session:compress","session:compress","","","","",""],["reaction:added","reaction:added","","","","",""],["reaction:removed","reaction:removed","","","","",""],["message:pre_route","message:pre_route","","","","",""],["on_session_finalize","on_session_finalize","","","","",""],["pre_llm_call userPromptSubmit agent.start","prompt.submit","c","","","",""],["post_llm_call","post_llm_call","","","","",""],["pre_api_request model_call_started","model.before","","","","",""],["transform_llm_output","transform_llm_output","","","","",""],["transform_terminal_output","transform_terminal_output","","","tool_name","tool_input",""],["subagent_start subagent.created subagent_spawned","subagent.start","","","","",""],["tool.execute.before","tool.before","bv","updated_input","tool","args",""],["tool.execute.after","tool.after","bc","","tool","args",""],["experimental.session.compacting","compact.before","c","","","",""],["permission.asked permission.request","permission.request","","","","",""],["permission.replied","permission.replied","","","","",""],["command.executed","command.executed","","","","",""],["gateway_stop","gateway_stop","","","","",""],["before_tool_call","tool.before","bv","updated_input","toolName","params",""],["after_tool_call","tool.after","bc","","toolName","params",""],["agent_end","agent_end","","","","",""],["message_received","message_received","","","","",""],["message_sending","message_sending","b","","","",""],["message_sent","message_sent","","","","",""],["SessionDelete","SessionDelete","","","","",""],["TodoCreated","TodoCreated","b","","","",""],["TodoCompleted","TodoCompleted","b","","","",""],["tool_call","tool.before","bv","updated_input","toolName","input",""],["tool_result","tool.after","bc","","toolName","input",""],["session_before_compact","compact.before","b","","","",""],["PreToolUseResult","PreToolUseResult","","","tool_name","tool_input",""],["BeforeReadFile","BeforeReadFile","","","tool_name","tool_input",""],["AfterFileEdit","AfterFileEdit","","","tool_name","tool_input",""],["BeforeShellExecution","BeforeShellExecution","","","tool_name","tool_input",""],["AfterShellExecution","AfterShellExecution","","","tool_name","tool_input",""],["tool.call","tool.before","bv","updated_input","tool","input",""],["tool.result","tool.after","bc","","tool","input",""],["input.required","notification","","","","",""],["tool.use","tool.use","","","","",""],["tool.error","tool.error","","","","",""],["hookd:reload","hookd:reload","","","","",""],["hookd:hook-changed","hookd:hook-changed","","","","",""],["hookd:guard-gone","hookd:guard-gone","","","","",""],["hookd:ask","hookd:ask","","","","",""],["hookd:answered","hookd:answered","","","","",""],["hookd:disobeyed","hookd:disobeyed","","","","",""],["hookd:unguarded","hookd:unguarded","","","","",""],["hookd:decided","hookd:decided","","","","",""],["hookd:stop","hookd:stop","","","","",""]]}';
// end

export {
  HookEvent, Answer, Command, Unread, HookdError,
  run, deny, ask, contain, allow, context, rewrite, emit, decide, subscribe, socketPath,
};
/*types*/
/** What a handler returns. */
export type Said = Answer | Record<string, unknown> | void | undefined | null;

/** What an event's data is, as far as its table says. */
export type Payload<N extends string> = (N extends keyof Payloads ? Payloads[N] : {}) & Record<string, any>;

/** A place in Facts.text, in bytes. */
export interface Span { from: number; to: number }

/** What hookd knows of a call, in a hook with `facts: true`. */
export interface Facts {
  tool?: string; text?: string; commands?: FactsOfCommand[]; effects?: Effect[]; doubts?: Doubt[];
}

/** One word of a command. Where a part is known only when the line runs, kind says so. */
export interface Word { text: string; kind: "literal" | "pattern" | "unknown" }

/** One command as it is in the payload. */
export interface FactsOfCommand {
  words: Word[]; text: string; env?: { name: string; value: Word }[];
  redirects?: { op: string; target: Word; span: Span }[]; via?: string[]; guess?: boolean; span: Span;
}

/** One thing that a call does, such as a delete of /srv/data or a connect to host:example.org. */
export interface Effect {
  kind: "read" | "write" | "delete" | "move" | "connect" | "send" | "run" | "install" | "publish" | "history" | "escalate" |
    "kill" | "configure" | "guard" | "secret";
  target?: string; certain: boolean; span: Span; command: number; why?: string;
}

/** One thing that hookd cannot know of a call. */
export interface Doubt {
  kind: "program" | "option" | "subcommand" | "word" | "code" | "eval" | "open" | "made" | "variable" | "parse" | "tool" |
    "limits";
  text: string; span: Span; command: number;
}

/** What goes with an event: ms is how long to wait for the answer. */
export interface Sending {
  ms?: number; id?: string; session_id?: string; agent_id?: string; agent_name?: string; cwd?: string; sender?: string;
  dialect?: string; lane?: "default" | "preempt"; timeout_ms?: number; parent?: string; wait?: boolean;
}

/** What the hooks say together. */
export interface Verdict {
  allowed: boolean; continue: boolean; permission_decision?: "allow" | "ask" | "deny"; decision_reason?: string; contain?: string[];
  permission_allowed?: boolean; message?: string; system_message?: string; additional_context?: string;
  updated_input?: Record<string, any>; updated_tool_response?: any; updated_messages?: any[]; summary?: string;
  metadata?: Record<string, string>; specific?: Record<string, any>; skip?: boolean; stop_reason?: string; suppress_output?: boolean; exit_code?: number;
  stderr?: string; decided_by?: string[];
}

// generated: types
export interface Payloads {
  "agent:start": { agent_id?: string; session_id?: string; sender?: string; message_preview?: string; platform?: string; user_id?: string; chat_id?: string; thread_id?: string | null; chat_type?: string; message?: string };
  "agent:end": { agent_id?: string; session_id?: string; status?: string; tokens_used?: number; steps?: number; duration_ms?: number; response_preview?: string; platform?: string; user_id?: string; chat_id?: string; thread_id?: string | null; chat_type?: string; message?: string; response?: string; model?: string; provider?: string };
  "agent:step": { agent_id?: string; session_id?: string; step_index?: number; tool_call?: string | null; iteration?: number; tool_names?: any[] };
  "session:start": { agent_id?: string; session_id?: string };
  "session:end": { agent_id?: string; session_id?: string };
  "session:reset": { agent_id?: string; session_id?: string; reset_reason?: string; message_count_cleared?: number };
  "gateway:startup": { version?: string; started_at?: string; platforms?: any[] };
  "transform_tool_result": { agent_id?: string; tool_name?: string | null; tool_input?: Record<string, any> | null; tool_output?: string; hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null };
  "pre_tool_use": { session_id?: string; cwd?: string; hook_event_name?: string; agent_name?: string; tool_name?: string; tool_use_id?: string; tool_input?: Record<string, any>; tool_category?: string; safety_policy?: string };
  "tool_input_transform": { session_id?: string; cwd?: string; hook_event_name?: string; agent_name?: string; tool_name?: string; tool_use_id?: string; tool_input?: Record<string, any>; tool_category?: string; safety_policy?: string };
  "tool_guard": { session_id?: string; cwd?: string; hook_event_name?: string; agent_name?: string; tool_name?: string; tool_use_id?: string; tool_input?: Record<string, any>; tool_category?: string; safety_policy?: string };
  "permission_request": { session_id?: string; cwd?: string; hook_event_name?: string; agent_name?: string; tool_name?: string; tool_use_id?: string; tool_input?: Record<string, any>; tool_category?: string; safety_policy?: string };
  "tool_response_transform": { session_id?: string; cwd?: string; hook_event_name?: string; tool_name?: string; tool_use_id?: string; tool_category?: string; tool_input?: Record<string, any>; tool_response?: any; tool_error?: boolean };
  "post_tool_use": { session_id?: string; cwd?: string; hook_event_name?: string; agent_name?: string; tool_name?: string; tool_use_id?: string; tool_input?: Record<string, any>; tool_response?: any; tool_error?: boolean };
  "on_tool_approval_decision": { session_id?: string; cwd?: string; hook_event_name?: string; tool_name?: string; tool_use_id?: string; tool_input?: Record<string, any>; approval_decision?: string; approval_source?: string; safety_label?: string };
  "user_prompt_submit": { session_id?: string; cwd?: string; hook_event_name?: string; prompt?: string };
  "user_steering_messages_submit": { session_id?: string; cwd?: string; hook_event_name?: string; steering_messages?: any[] };
  "user_followup_submit": { session_id?: string; cwd?: string; hook_event_name?: string; prompt?: string };
  "turn_start": { session_id?: string; cwd?: string; hook_event_name?: string };
  "turn_end": { session_id?: string; cwd?: string | null; hook_event_name?: string; agent_name?: string; reason?: string; type?: string; sessionId?: string | null; turnIndex?: number | null };
  "before_llm_call": { session_id?: string; cwd?: string; hook_event_name?: string; iteration?: number; model_id?: string; messages?: any[] };
  "after_llm_call": { session_id?: string; cwd?: string; hook_event_name?: string; agent_name?: string; stop_response?: string; last_user_message?: string; model_id?: string; usage?: Record<string, any>; cost?: number };
  "stop": { session_id?: string; cwd?: string; hook_event_name?: string; agent_name?: string; stop_response?: string; last_user_message?: string; conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; status?: string; loop_count?: number; assistant_response?: string };
  "subagent_stop": { session_id?: string; cwd?: string; hook_event_name?: string; agent_name?: string; parent_session_id?: string; stop_response?: string; profile?: string | null; extra?: Record<string, any> | null };
  "notification": { session_id?: string; cwd?: string; hook_event_name?: string; notification_level?: string; notification_message?: string; sessionId?: string; timestamp?: any; message?: string; title?: string; notification_type?: string };
  "on_error": { session_id?: string; cwd?: string; hook_event_name?: string; notification_level?: string; notification_message?: string };
  "on_max_iterations": { session_id?: string; cwd?: string; hook_event_name?: string; notification_level?: string; notification_message?: string };
  "session_start": { session_id?: string; cwd?: string | null; hook_event_name?: string; source?: string; sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null; type?: string; reason?: string | null };
  "session_end": { session_id?: string; cwd?: string; hook_event_name?: string; reason?: string | null; sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null };
  "pre_compact": { session_id?: string; cwd?: string; hook_event_name?: string; source?: string };
  "before_compaction": { session_id?: string; cwd?: string; hook_event_name?: string; input_tokens?: number; output_tokens?: number; context_limit?: number; compaction_reason?: string; sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null };
  "after_compaction": { session_id?: string; cwd?: string; hook_event_name?: string; input_tokens?: number; output_tokens?: number; context_limit?: number; compaction_reason?: string; summary?: string; sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null };
  "on_user_input": { session_id?: string; cwd?: string; hook_event_name?: string };
  "on_agent_switch": { session_id?: string; cwd?: string; hook_event_name?: string; from_agent?: string; to_agent?: string; agent_switch_kind?: string; from_agent_models?: any[] };
  "on_session_resume": { session_id?: string; cwd?: string; hook_event_name?: string; previous_max_iterations?: number; new_max_iterations?: number };
  "worktree_create": { session_id?: string; cwd?: string; hook_event_name?: string; worktree_path?: string; worktree_branch?: string; worktree_source_dir?: string };
  "skill_content_guard": { session_id?: string; cwd?: string; hook_event_name?: string; agent_name?: string; skill?: Record<string, any> };
  "prompt_file_guard": { session_id?: string; cwd?: string; hook_event_name?: string; agent_name?: string; source?: string; prompt_file?: Record<string, any> };
  "onStart": { agent_name?: string; agent_id?: string; conversation_id?: string; workspace?: string; timestamp?: string; json_context?: string; trigger_type?: string; trigger_name?: string | null; parameters?: Record<string, any> | null; parent_agent?: string | null };
  "onStop": { agent_name?: string; agent_id?: string; conversation_id?: string; workspace?: string; timestamp?: string; json_context?: string; duration_ms?: number; message_count?: number; tool_call_count?: number; token_usage?: Record<string, any>; exit_reason?: string; files_modified?: any[]; hook_output?: string | null };
  "beforeToolCall": { agent_name?: string; agent_id?: string; conversation_id?: string; workspace?: string; timestamp?: string; json_context?: string; tool_name?: string; tool_args?: Record<string, any>; tool_call_index?: number };
  "afterToolCall": { agent_name?: string; agent_id?: string; conversation_id?: string; workspace?: string; timestamp?: string; json_context?: string; tool_name?: string; tool_result?: any; tool_error?: string | null; tool_success?: boolean; tool_duration_ms?: number };
  "onError": { agent_name?: string; agent_id?: string; conversation_id?: string; workspace?: string; timestamp?: string; json_context?: string; error_type?: string; error_message?: string; error_stack?: string | null; last_tool?: string | null; recoverable?: boolean };
  "beforeMessage": { agent_name?: string; agent_id?: string; conversation_id?: string; workspace?: string; timestamp?: string; json_context?: string };
  "afterMessage": { agent_name?: string; agent_id?: string; conversation_id?: string; workspace?: string; timestamp?: string; json_context?: string };
  "PreToolUse": { session_id?: string | null; prompt_id?: string; transcript_path?: string | null; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; tool_name?: string; tool_input?: any; tool_use_id?: string; model?: string; turn_id?: string; session_title?: string; client_type?: string; tool_call_id?: string; clineVersion?: string; hookName?: string; timestamp?: string; taskId?: string; workspaceRoots?: any[]; userId?: string; parent_agent_id?: string | null; preToolUse?: Record<string, any>; conversationId?: string; stepIdx?: number; modelName?: string; transcriptPath?: string; workspacePaths?: any[]; toolCall?: Record<string, any>; event?: string; matcher_context?: string | null; working_dir?: string | null; hookEventName?: string; sessionId?: string; workspaceRoot?: string; toolName?: string; toolInput?: Record<string, any>; event_type?: string; metadata?: Record<string, any> };
  "PreSkillShellCommand": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; tool_name?: string; tool_input?: Record<string, any>; tool_use_id?: string; command_name?: string; command_source?: string; invoked_by?: string };
  "PermissionRequest": { session_id?: string; prompt_id?: string; transcript_path?: string | null; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; tool_name?: string; tool_input?: Record<string, any>; permission_suggestions?: any[]; model?: string; turn_id?: string; session_title?: string; client_type?: string; tool_call_id?: string; timestamp?: string };
  "PermissionDenied": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; tool_name?: string; tool_input?: Record<string, any>; tool_use_id?: string; reason?: string; timestamp?: string; hookEventName?: string; sessionId?: string; workspaceRoot?: string; toolName?: string; toolInput?: Record<string, any> };
  "PostToolUse": { session_id?: string | null; prompt_id?: string; transcript_path?: string | null; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; tool_name?: string; tool_input?: Record<string, any>; tool_use_id?: string; tool_response?: any; duration_ms?: number; model?: string; turn_id?: string; exit_code?: number; session_title?: string; client_type?: string; tool_call_id?: string; tool_output?: any; clineVersion?: string; hookName?: string; timestamp?: string; taskId?: string; workspaceRoots?: any[]; userId?: string; parent_agent_id?: string | null; postToolUse?: Record<string, any>; conversationId?: string; stepIdx?: number; modelName?: string; transcriptPath?: string; workspacePaths?: any[]; toolCall?: Record<string, any>; event?: string; matcher_context?: string | null; working_dir?: string | null; hookEventName?: string; sessionId?: string; workspaceRoot?: string; toolName?: string; toolInput?: Record<string, any>; toolResponse?: any; event_type?: string; metadata?: Record<string, any> };
  "PostToolUseFailure": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; tool_name?: string; tool_input?: Record<string, any>; tool_use_id?: string; error?: any; is_interrupt?: boolean; duration_ms?: number; session_title?: string; client_type?: string; tool_call_id?: string; timestamp?: string; event?: string; matcher_context?: string | null; working_dir?: string; hookEventName?: string; sessionId?: string; workspaceRoot?: string; toolName?: string; toolInput?: Record<string, any> };
  "PostToolBatch": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; tool_calls?: any[]; timestamp?: string };
  "UserPromptSubmit": { session_id?: string | null; prompt_id?: string; transcript_path?: string | null; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; prompt?: any; model?: string; turn_id?: string; session_title?: string; client_type?: string; is_steer?: boolean; clineVersion?: string; hookName?: string; timestamp?: string; taskId?: string; workspaceRoots?: any[]; userId?: string; parent_agent_id?: string | null; userPromptSubmit?: Record<string, any>; event?: string; matcher_context?: string | null; message?: string; hookEventName?: string; sessionId?: string; workspaceRoot?: string; event_type?: string; working_dir?: string | null; metadata?: Record<string, any> };
  "UserPromptExpansion": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; expansion_type?: string; command_name?: string; command_args?: string; command_source?: string; prompt?: string; timestamp?: string };
  "MessageDisplay": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; turn_id?: string; message_id?: string; index?: number; final?: boolean; delta?: string; timestamp?: string; displayed_text?: string; is_final?: boolean };
  "Stop": { session_id?: string | null; prompt_id?: string; transcript_path?: string | null; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; stop_hook_active?: boolean; last_assistant_message?: string | null; background_tasks?: any[]; session_crons?: any[]; model?: string; turn_id?: string; session_title?: string; client_type?: string; conversationId?: string; stepIdx?: number; modelName?: string; transcriptPath?: string; workspacePaths?: any[]; timestamp?: string; event?: string; matcher_context?: string | null; hookEventName?: string; sessionId?: string; workspaceRoot?: string; event_type?: string; working_dir?: string | null; metadata?: Record<string, any> };
  "StopFailure": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; error?: string; error_details?: string; last_assistant_message?: string; session_title?: string; client_type?: string; error_type?: string; error_message?: string; timestamp?: string; hookEventName?: string; sessionId?: string; workspaceRoot?: string };
  "SubagentStart": { session_id?: string; prompt_id?: string; transcript_path?: string | null; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; model?: string; turn_id?: string; session_title?: string; client_type?: string; agent_name?: string; prompt?: string; timestamp?: string; hookEventName?: string; sessionId?: string; workspaceRoot?: string };
  "SubagentStop": { session_id?: string; prompt_id?: string; transcript_path?: string | null; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; stop_hook_active?: boolean; last_assistant_message?: string | null; background_tasks?: any[]; session_crons?: any[]; agent_transcript_path?: string | null; model?: string; turn_id?: string; session_title?: string; client_type?: string; agent_name?: string; response?: string; timestamp?: string; hookEventName?: string; sessionId?: string; workspaceRoot?: string };
  "Notification": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; message?: string; title?: string; notification_type?: string; timestamp?: string; details?: Record<string, any>; session_title?: string; client_type?: string; sink?: string; body?: string; severity?: string; clineVersion?: string; hookName?: string; taskId?: string; workspaceRoots?: any[]; userId?: string; parent_agent_id?: string | null; hookEventName?: string; sessionId?: string; workspaceRoot?: string };
  "SessionStart": { session_id?: string | null; prompt_id?: string; transcript_path?: string | null; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; source?: string; model?: string; session_title?: string; timestamp?: string; client_type?: string; profile?: string; conversationId?: string; stepIdx?: number; modelName?: string; transcriptPath?: string; workspacePaths?: any[]; event?: string; matcher_context?: string | null; hookEventName?: string; sessionId?: string; workspaceRoot?: string; event_type?: string; working_dir?: string | null; metadata?: Record<string, any> };
  "Setup": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; trigger?: string };
  "SessionEnd": { session_id?: string | null; prompt_id?: string; transcript_path?: string | null; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; reason?: string; model?: string; timestamp?: string; session_title?: string; client_type?: string; event?: string; matcher_context?: string | null; hookEventName?: string; sessionId?: string; workspaceRoot?: string; event_type?: string; working_dir?: string | null; metadata?: Record<string, any> };
  "PreCompact": { session_id?: string; prompt_id?: string; transcript_path?: string | null; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; trigger?: string; custom_instructions?: string | null; model?: string; turn_id?: string; session_title?: string; client_type?: string; clineVersion?: string; hookName?: string; timestamp?: string; taskId?: string; workspaceRoots?: any[]; userId?: string; parent_agent_id?: string | null; preCompact?: Record<string, any>; event?: string; tool_name?: string; tool_input?: Record<string, any>; hookEventName?: string; sessionId?: string; workspaceRoot?: string };
  "PostCompact": { session_id?: string; prompt_id?: string; transcript_path?: string | null; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; trigger?: string; compact_summary?: string; model?: string; turn_id?: string; session_title?: string; client_type?: string; timestamp?: string; hookEventName?: string; sessionId?: string; workspaceRoot?: string };
  "InstructionsLoaded": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; file_path?: string; memory_type?: string; load_reason?: string; timestamp?: string };
  "ConfigChange": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; source?: string; file_path?: string };
  "CwdChanged": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; old_cwd?: string; new_cwd?: string };
  "DirectoryAdded": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; directory?: string; source?: string };
  "FileChanged": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; file_path?: string; event?: string };
  "PreModelSwitch": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; from_model?: string; to_model?: string; requested_model?: string | null; source?: string; context_tokens?: number; prompt_cache_warm?: boolean; cache_ttl?: string; estimated_cache_write_usd?: number; pricing?: string };
  "PostModelSwitch": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; from_model?: string; to_model?: string; requested_model?: string | null; source?: string; context_tokens?: number; prompt_cache_warm?: boolean; cache_ttl?: string; estimated_cache_write_usd?: number; pricing?: string };
  "TaskCreated": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; task_id?: string; task_subject?: string; task_description?: string; teammate_name?: string; team_name?: string };
  "TaskCompleted": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; task_id?: string; task_subject?: string; task_description?: string; teammate_name?: string; team_name?: string };
  "TeammateIdle": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; teammate_name?: string; team_name?: string };
  "WorktreeCreate": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; name?: string };
  "WorktreeRemove": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; worktree_path?: string };
  "Elicitation": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; mcp_server_name?: string; message?: string; mode?: string; url?: string; elicitation_id?: string; requested_schema?: Record<string, any> };
  "ElicitationResult": { session_id?: string; prompt_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; effort?: Record<string, any>; hook_event_name?: string; agent_id?: string; agent_type?: string; mcp_server_name?: string; action?: string; content?: any; mode?: string; elicitation_id?: string };
  "Interrupt": { session_id?: string; transcript_path?: string | null; cwd?: string; hook_event_name?: string; model?: string; turn_id?: string; permission_mode?: string; session_title?: string; client_type?: string; reason?: string };
  "BeforeAgent": { session_id?: string; transcript_path?: string; cwd?: string; hook_event_name?: string; timestamp?: string; prompt?: string };
  "AfterAgent": { session_id?: string; transcript_path?: string; cwd?: string; hook_event_name?: string; timestamp?: string; prompt?: string; prompt_response?: string; stop_hook_active?: boolean };
  "BeforeTool": { session_id?: string; transcript_path?: string; cwd?: string; hook_event_name?: string; timestamp?: string; tool_name?: string; tool_input?: Record<string, any>; mcp_context?: Record<string, any>; original_request_name?: string };
  "AfterTool": { session_id?: string; transcript_path?: string; cwd?: string; hook_event_name?: string; timestamp?: string; tool_name?: string; tool_input?: Record<string, any>; mcp_context?: Record<string, any>; original_request_name?: string; tool_response?: Record<string, any> };
  "BeforeModel": { session_id?: string; transcript_path?: string; cwd?: string; hook_event_name?: string; timestamp?: string; llm_request?: Record<string, any> };
  "BeforeToolSelection": { session_id?: string; transcript_path?: string; cwd?: string; hook_event_name?: string; timestamp?: string; llm_request?: Record<string, any> };
  "AfterModel": { session_id?: string; transcript_path?: string; cwd?: string; hook_event_name?: string; timestamp?: string; llm_request?: Record<string, any>; llm_response?: Record<string, any> };
  "PreCompress": { session_id?: string; transcript_path?: string; cwd?: string; hook_event_name?: string; timestamp?: string; trigger?: string };
  "preToolUse": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; tool_name?: string; tool_input?: Record<string, any>; tool_use_id?: string; cwd?: string; agent_message?: string; sessionId?: string; timestamp?: any; toolName?: string; toolArgs?: any; session_id?: string };
  "beforeShellExecution": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; command?: string; cwd?: string; sandbox?: boolean };
  "beforeMCPExecution": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; tool_name?: string; tool_input?: string; mcp_server_name?: string; url?: string; mcp_server_url?: string; command?: string };
  "postToolUse": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; tool_name?: string; tool_input?: Record<string, any>; tool_use_id?: string; cwd?: string; tool_output?: string; duration?: number; sessionId?: string; timestamp?: any; toolName?: string; toolArgs?: any; toolResult?: Record<string, any>; session_id?: string; tool_response?: Record<string, any> };
  "postToolUseFailure": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; tool_name?: string; tool_input?: Record<string, any>; tool_use_id?: string; cwd?: string; error_message?: string; failure_type?: string; duration?: number; is_interrupt?: boolean; sessionId?: string; timestamp?: any; toolName?: string; toolArgs?: any; error?: any };
  "afterShellExecution": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; command?: string; cwd?: string; sandbox?: boolean; output?: string; duration?: number };
  "afterMCPExecution": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; tool_name?: string; tool_input?: string; result_json?: string; duration?: number };
  "beforeReadFile": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; file_path?: string; content?: string; attachments?: any[] };
  "beforeTabFileRead": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; file_path?: string; content?: string };
  "afterFileEdit": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; file_path?: string; edits?: any[] };
  "afterTabFileEdit": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; file_path?: string; edits?: any[] };
  "sessionStart": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; session_id?: string; is_background_agent?: boolean; composer_mode?: string; sessionId?: string; timestamp?: any; cwd?: string; source?: string; initialPrompt?: string };
  "sessionEnd": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; session_id?: string; is_background_agent?: boolean; reason?: string; duration_ms?: number; final_status?: string; error_message?: string; sessionId?: string; timestamp?: any; cwd?: string };
  "beforeSubmitPrompt": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; prompt?: string; attachments?: any[] };
  "afterAgentResponse": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; text?: string };
  "afterAgentThought": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; text?: string; duration_ms?: number };
  "subagentStart": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; subagent_type?: string; task?: string; subagent_id?: string; parent_conversation_id?: string; tool_call_id?: string; subagent_model?: string; is_parallel_worker?: boolean; git_branch?: string; sessionId?: string; timestamp?: any; cwd?: string; agentName?: string };
  "subagentStop": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; subagent_type?: string; task?: string; status?: string; description?: string; summary?: string; duration_ms?: number; message_count?: number; tool_call_count?: number; loop_count?: number; modified_files?: any[]; agent_transcript_path?: string | null; sessionId?: string; timestamp?: any; cwd?: string; agentId?: string; agentType?: string; response?: string };
  "preCompact": { conversation_id?: string; generation_id?: string; model?: string; model_id?: string; model_params?: any[]; hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null; transcript_path?: string | null; trigger?: string; context_usage_percent?: number; context_tokens?: number; context_window_size?: number; message_count?: number; messages_to_compact?: number; is_first_compaction?: boolean; sessionId?: string; timestamp?: any; cwd?: string; customInstructions?: string | null };
  "workspaceOpen": { hook_event_name?: string; cursor_version?: string; workspace_roots?: any[]; user_email?: string | null };
  "userPromptSubmitted": { sessionId?: string; timestamp?: any; cwd?: string; prompt?: string };
  "userPromptTransformed": { sessionId?: string; timestamp?: any; cwd?: string; prompt?: string };
  "preMcpToolCall": { sessionId?: string; timestamp?: any; cwd?: string };
  "permissionRequest": { sessionId?: string; timestamp?: any; cwd?: string; toolName?: string; toolArgs?: any };
  "agentStop": { sessionId?: string; timestamp?: any; cwd?: string; transcriptPath?: string; stopReason?: string; stop_hook_active?: boolean };
  "errorOccurred": { sessionId?: string; timestamp?: any; cwd?: string; error?: Record<string, any>; errorContext?: string; recoverable?: boolean };
  "SessionHeartbeat": { hook_event_name?: string; session_id?: string; session_title?: string; client_type?: string; cwd?: string; uptime_ms?: number };
  "UserPromptQueued": { hook_event_name?: string; session_id?: string; session_title?: string; client_type?: string; cwd?: string };
  "TurnStarted": { hook_event_name?: string; session_id?: string; session_title?: string; client_type?: string; cwd?: string };
  "PermissionResult": { hook_event_name?: string; session_id?: string; session_title?: string; client_type?: string; cwd?: string; tool_name?: string; tool_input?: Record<string, any>; tool_call_id?: string };
  "TaskStarted": { hook_event_name?: string; session_id?: string; session_title?: string; client_type?: string; cwd?: string };
  "pre_read_code": { agent_action_name?: string; trajectory_id?: string; execution_id?: string; timestamp?: string; model_name?: string; tool_info?: Record<string, any> };
  "pre_write_code": { agent_action_name?: string; trajectory_id?: string; execution_id?: string; timestamp?: string; model_name?: string; tool_info?: Record<string, any> };
  "pre_run_command": { agent_action_name?: string; trajectory_id?: string; execution_id?: string; timestamp?: string; model_name?: string; tool_info?: Record<string, any> };
  "pre_mcp_tool_use": { agent_action_name?: string; trajectory_id?: string; execution_id?: string; timestamp?: string; model_name?: string; tool_info?: Record<string, any> };
  "post_read_code": { agent_action_name?: string; trajectory_id?: string; execution_id?: string; timestamp?: string; model_name?: string; tool_info?: Record<string, any> };
  "post_write_code": { agent_action_name?: string; trajectory_id?: string; execution_id?: string; timestamp?: string; model_name?: string; tool_info?: Record<string, any> };
  "post_run_command": { agent_action_name?: string; trajectory_id?: string; execution_id?: string; timestamp?: string; model_name?: string; tool_info?: Record<string, any> };
  "post_mcp_tool_use": { agent_action_name?: string; trajectory_id?: string; execution_id?: string; timestamp?: string; model_name?: string; tool_info?: Record<string, any> };
  "pre_user_prompt": { agent_action_name?: string; trajectory_id?: string; execution_id?: string; timestamp?: string; model_name?: string; tool_info?: Record<string, any> };
  "post_cascade_response": { agent_action_name?: string; trajectory_id?: string; execution_id?: string; timestamp?: string; model_name?: string; tool_info?: Record<string, any> };
  "post_cascade_response_with_transcript": { agent_action_name?: string; trajectory_id?: string; execution_id?: string; timestamp?: string; model_name?: string; tool_info?: Record<string, any> };
  "post_setup_worktree": { agent_action_name?: string; trajectory_id?: string; execution_id?: string; timestamp?: string; model_name?: string; tool_info?: Record<string, any> };
  "TaskStart": { clineVersion?: string; hookName?: string; timestamp?: string; taskId?: string; workspaceRoots?: any[]; userId?: string; parent_agent_id?: string | null; taskStart?: Record<string, any> };
  "TaskResume": { clineVersion?: string; hookName?: string; timestamp?: string; taskId?: string; workspaceRoots?: any[]; userId?: string; parent_agent_id?: string | null; taskResume?: Record<string, any> };
  "TaskCancel": { clineVersion?: string; hookName?: string; timestamp?: string; taskId?: string; workspaceRoots?: any[]; userId?: string; parent_agent_id?: string | null; taskCancel?: Record<string, any> };
  "TaskComplete": { clineVersion?: string; hookName?: string; timestamp?: string; taskId?: string; workspaceRoots?: any[]; userId?: string; parent_agent_id?: string | null; taskComplete?: Record<string, any> };
  "TaskError": { clineVersion?: string; hookName?: string; timestamp?: string; taskId?: string; workspaceRoots?: any[]; userId?: string; parent_agent_id?: string | null; error?: Record<string, any> | null };
  "SessionShutdown": { clineVersion?: string; hookName?: string; timestamp?: string; taskId?: string; workspaceRoots?: any[]; userId?: string; parent_agent_id?: string | null; reason?: string | null };
  "PreInvocation": { conversationId?: string; stepIdx?: number; modelName?: string; transcriptPath?: string; workspacePaths?: any[] };
  "PostInvocation": { conversationId?: string; stepIdx?: number; modelName?: string; transcriptPath?: string; workspacePaths?: any[] };
  "session:compress": {  };
  "reaction:added": {  };
  "reaction:removed": {  };
  "message:pre_route": {  };
  "on_session_start": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null };
  "on_session_end": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null };
  "on_session_reset": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null };
  "on_session_finalize": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null };
  "pre_llm_call": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null };
  "post_llm_call": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null };
  "pre_api_request": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null };
  "post_api_request": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null };
  "transform_llm_output": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null };
  "api_request_error": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null };
  "pre_tool_call": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null; tool_name?: string | null; tool_input?: Record<string, any> | null };
  "post_tool_call": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null; tool_name?: string | null; tool_input?: Record<string, any> | null };
  "transform_terminal_output": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null; tool_name?: string | null; tool_input?: Record<string, any> | null };
  "pre_verify": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null };
  "subagent_start": { hook_event_name?: string; session_id?: string; cwd?: string; profile?: string | null; extra?: Record<string, any> | null };
  "session.created": { sessionID?: string | null; cwd?: string; parentID?: string | null; title?: string | null };
  "session.deleted": { sessionID?: string | null; cwd?: string; parentID?: string | null };
  "chat.message": { sessionID?: string | null; cwd?: string; parentID?: string | null; prompt?: string; agent?: string | null; messageID?: string | null };
  "tool.execute.before": { sessionID?: string | null; cwd?: string; parentID?: string | null; tool?: string; callID?: string; args?: Record<string, any> | null };
  "tool.execute.after": { sessionID?: string | null; cwd?: string; parentID?: string | null; tool?: string; callID?: string; args?: Record<string, any> | null; title?: string | null; output?: string; metadata?: any };
  "session.idle": { sessionID?: string | null; cwd?: string; parentID?: string | null };
  "session.error": { sessionID?: string | null; cwd?: string; parentID?: string | null; error?: any };
  "experimental.session.compacting": { sessionID?: string | null; cwd?: string; parentID?: string | null };
  "session.compacted": { sessionID?: string | null; cwd?: string; parentID?: string | null };
  "permission.asked": { sessionID?: string | null; cwd?: string; parentID?: string | null; permission?: any };
  "permission.replied": { sessionID?: string | null; cwd?: string; parentID?: string | null };
  "file.edited": { sessionID?: string | null; cwd?: string; parentID?: string | null; file?: string };
  "command.executed": { sessionID?: string | null; cwd?: string; parentID?: string | null; name?: string; arguments?: string | null };
  "subagent.created": { sessionID?: string | null; cwd?: string; parentID?: string | null; title?: string | null };
  "subagent.idle": { sessionID?: string | null; cwd?: string; parentID?: string | null };
  "gateway_start": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null };
  "gateway_stop": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null };
  "before_reset": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null; reason?: string | null };
  "before_prompt_build": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null; prompt?: string };
  "before_tool_call": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null; toolName?: string; params?: Record<string, any> | null; toolCallId?: string | null };
  "after_tool_call": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null; toolName?: string; params?: Record<string, any> | null; toolCallId?: string | null; result?: any; error?: string | null; durationMs?: number | null };
  "before_agent_finalize": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null };
  "agent_end": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null; success?: boolean | null; error?: string | null; durationMs?: number | null; type?: string; cwd?: string | null; answer?: string; status?: string };
  "model_call_started": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null; callId?: string | null; provider?: string | null; model?: string | null };
  "model_call_ended": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null; callId?: string | null; provider?: string | null; model?: string | null; outcome?: string | null; durationMs?: number | null };
  "message_received": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null; channelId?: string | null; content?: string; from?: string | null };
  "message_sending": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null; channelId?: string | null; content?: string; to?: string | null };
  "message_sent": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null; channelId?: string | null; content?: string; to?: string | null; success?: boolean | null };
  "subagent_spawned": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null; childSessionKey?: string | null };
  "subagent_ended": { sessionId?: string | null; sessionKey?: string | null; agentId?: string | null; runId?: string | null; workspaceDir?: string | null; childSessionKey?: string | null };
  "SessionDelete": { session_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; hook_event_name?: string; timestamp?: string; prompt_id?: string; deleted_session_id?: string };
  "TodoCreated": { session_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; hook_event_name?: string; timestamp?: string; prompt_id?: string; todo_id?: string; todo_content?: string; all_todos?: any[]; phase?: string };
  "TodoCompleted": { session_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; hook_event_name?: string; timestamp?: string; prompt_id?: string; todo_id?: string; todo_content?: string; all_todos?: any[]; phase?: string };
  "session_shutdown": { type?: string; sessionId?: string | null; cwd?: string | null; reason?: string | null };
  "input": { type?: string; sessionId?: string | null; cwd?: string | null; text?: string; source?: string | null };
  "tool_call": { type?: string; sessionId?: string | null; cwd?: string | null; toolName?: string; toolCallId?: string; input?: Record<string, any> };
  "tool_result": { type?: string; sessionId?: string | null; cwd?: string | null; toolName?: string; toolCallId?: string; input?: Record<string, any>; content?: any[]; isError?: boolean | null };
  "session_before_compact": { type?: string; sessionId?: string | null; cwd?: string | null; customInstructions?: string | null };
  "session_compact": { type?: string; sessionId?: string | null; cwd?: string | null };
  "PreToolUseResult": { event?: string; session_id?: string; matcher_context?: string | null; tool_name?: string; tool_input?: Record<string, any>; tool_call_id?: string; working_dir?: string; decision?: string; blocked_by?: string; reason?: string };
  "BeforeReadFile": { event?: string; session_id?: string; matcher_context?: string | null; tool_name?: string; tool_input?: Record<string, any>; tool_call_id?: string; working_dir?: string };
  "AfterFileEdit": { event?: string; session_id?: string; matcher_context?: string | null; tool_name?: string; tool_input?: Record<string, any>; tool_call_id?: string; working_dir?: string };
  "BeforeShellExecution": { event?: string; session_id?: string; matcher_context?: string | null; tool_name?: string; tool_input?: Record<string, any>; tool_call_id?: string; working_dir?: string };
  "AfterShellExecution": { event?: string; session_id?: string; matcher_context?: string | null; tool_name?: string; tool_input?: Record<string, any>; tool_call_id?: string; working_dir?: string };
  "agentSpawn": { hook_event_name?: string; session_id?: string; cwd?: string };
  "userPromptSubmit": { hook_event_name?: string; session_id?: string; cwd?: string; prompt?: string };
  "StopCancelled": { hookEventName?: string; sessionId?: string; cwd?: string; workspaceRoot?: string; timestamp?: string };
  "PostCompaction": { session_id?: string; transcript_path?: string; cwd?: string; permission_mode?: string; hook_event_name?: string };
  "session.start": { threadID?: string | null; cwd?: string; event?: string; thread_id?: string };
  "agent.start": { threadID?: string | null; cwd?: string; message?: string };
  "tool.call": { threadID?: string | null; cwd?: string; tool?: string; input?: Record<string, any>; toolUseID?: string };
  "tool.result": { threadID?: string | null; cwd?: string; tool?: string; input?: Record<string, any>; toolUseID?: string; status?: string; output?: any; error?: any; event?: string; thread_id?: string };
  "agent.end": { threadID?: string | null; cwd?: string; message?: string | null; status?: string | null };
  "session.end": { event?: string; thread_id?: string };
  "user.prompt": { event?: string; thread_id?: string };
  "input.required": { event?: string; thread_id?: string };
  "permission.request": { event?: string; thread_id?: string };
  "tool.use": { event?: string; thread_id?: string };
  "tool.error": { event?: string; thread_id?: string };
  "task.complete": { event?: string; thread_id?: string };
  "context.compact": { event?: string; thread_id?: string };
  "hookd:reload": {  };
  "hookd:hook-changed": {  };
  "hookd:guard-gone": { hook?: string; change?: string; digest?: string; layer?: string; by?: string; why?: string };
  "hookd:ask": { id?: string; event_id?: string; hook?: string; reason?: string; agent?: string; session_id?: string; cwd?: string; tool?: string; subject?: string; input?: Record<string, any>; card?: Record<string, any>; since?: string; until?: string; show?: string; allow?: string; deny?: string };
  "hookd:answered": { id?: string; event_id?: string; hook?: string; reason?: string; agent?: string; session_id?: string; cwd?: string; tool?: string; subject?: string; input?: Record<string, any>; card?: Record<string, any>; since?: string; until?: string; show?: string; allow?: string; deny?: string; answered?: Record<string, any> };
  "hookd:disobeyed": { agent?: string; session_id?: string; cwd?: string; call_id?: string; tool?: string; subject?: string; event_id?: string; why?: string; do?: string; denied?: string };
  "hookd:unguarded": { agent?: string; session_id?: string; cwd?: string; call_id?: string; tool?: string; subject?: string; event_id?: string; why?: string; do?: string };
  "hookd:decided": { event_id?: string; event?: string; dialect?: string; agent_name?: string; session_id?: string; cwd?: string; tool?: string; subject?: string; decision?: string; outcome?: string; reason?: string; decided_by?: any[]; answered?: Record<string, any>; why?: string; permit?: string };
  "hookd:stop": {  };
}
// end
/*end*/
