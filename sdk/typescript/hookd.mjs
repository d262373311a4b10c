// This is hookd.ts without its types. what is exported has types; what is inside is plain JavaScript.
//
// hookd for TypeScript and JavaScript: hooks and senders, in one file without
// dependencies, for node 18 and newer, bun and deno.
//
// A hook is a function that is given an event and returns an answer:
//
//   import { run, deny } from "./hookd.ts"; // from "./hookd.mjs" where there are no types
//
//   run((event) => {
//     for (const words of event.command) {
//       if (words.program === "sudo") return deny("no sudo: ask me to do it");
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
class HookEvent {
  data;
  name;
  id;
  sessionId;
  cwd;

  constructor(data) {
    if (!isObject(data)) throw new TypeError("an event is a JSON object");
    this.data = data;
    this.name = text(data.hook_event_name);
    this.id = text(data.event_id);
    this.sessionId = text(data.session_id);
    this.cwd = text(data.cwd);
  }

  /** What the event stands for in every agent's words, such as "tool.before"; its name if no table has it. */
  get kind() {
    return rowOf(this.name).kind;
  }

  /** The tool's name, "" for an event without one. Under Claude Code's names of events it is Claude Code's. */
  get tool() {
    const row = rowOf(this.name);
    return atAll(this.data, row.tool).find((v) => typeof v === "string" && v) ?? row.fixed;
  }

  /** The arguments of the tool, {} for an event without. */
  get input() {
    return atAll(this.data, rowOf(this.name).input).map(fromText).find(isObject) ?? {};
  }

  /**
   * Each command that the call of a shell's tool runs; [] where the event is no such call. Throws Unread where that
   * cannot be told. See commands.
   */
  get command() {
    const found = new Found();
    for (const line of this.lines(rowOf(this.name))) {
      if (line instanceof Unread) found.unread(line.reason);
      else if (typeof line === "string") found.line(line, 0);
      else if (line.length) found.command(line.map((word) => new Word(word)), null, 0);
    }
    return found.all();
  }

  /** What a shell's tool is told to run: lines, and lists of the words of one command. */
  lines(row) {
    const tool = this.tool.toLowerCase(), table = tables();
    const direct = atAll(this.data, row.command);
    const isShell = table.shell_tools.includes(tool) || direct.length > 0;
    if (table.other_tools.includes(tool) && !direct.length) return [];
    if (own(table.code_tools, tool)) {
      return [new Unread(`${tool} takes ${table.code_tools[tool]}, not a shell's line`)];
    }
    const inputs = atAll(this.data, row.input).map(fromText).filter(isObject);
    const lines = direct.flatMap((value) => commandLines(value, false));
    for (const names of [COMMAND, isShell ? LIKE_COMMAND_NAME : []]) {
      for (const value of inputs) {
        for (const [key, of] of Object.entries(value)) {
          const folded = key.replaceAll("_", "").toLowerCase();
          if (names.includes(folded)) lines.push(...commandLines(of, folded.endsWith("s") && folded !== "args"));
        }
      }
      if (lines.length) return lines;
    }
    return isShell ? [new Unread("the call has no command")] : [];
  }
}

const COMMAND = ["cmd", "command", "commands", "cmds", "commandline", "commandlines", "shellcommand"];
const LIKE_COMMAND_NAME = ["script", "code", "input", "chars", "args", "argv"];

/** A command is a line, or a list of words; of several each element is one. */
function commandLines(value, several) {
  value = fromText(value);
  if (typeof value === "string") return [value];
  if (isObject(value) && typeof value.command === "string") {
    return commandLines([value.command, ...(Array.isArray(value.args) ? value.args : [])], false);
  }
  if (several && Array.isArray(value)) return value.flatMap((one) => commandLines(one, false));
  if (Array.isArray(value) && value.every((word) => typeof word === "string")) return [value];
  return [new Unread("a command is no text")];
}

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

/** What a hook says; made by deny, ask, allow, context and rewrite. */
class Answer {
  word;
  value;
  reason;

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
function deny(reason) {
  return new Answer("deny", mustBeText(reason));
}

/** The answer that a person has to decide. */
function ask(reason) {
  return new Answer("ask", mustBeText(reason));
}

/** The answer yes, which switches off the agent's own question. No opinion is undefined. */
function allow(reason = "") {
  return new Answer("allow", mustBeText(reason));
}

/** Text for the model. */
function context(value) {
  return new Answer("context", mustBeText(value));
}

/** What takes the place of a tool's input (members of an object), of its result, or of the list of messages. */
function rewrite(value, reason = "") {
  return new Answer("rewrite", value, mustBeText(reason));
}

/**
 * Gives each event to handle and answers it. A handler returns nothing, an Answer, or an object with the members of an
 * answer as docs/running-hooks.md has them; or a promise of that. A spawned hook ends with status 1 after a failure.
 */
async function run(
  handle,
) {
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
  if (word === "deny" && can("b")) return { decision: "block", reason: value };
  if ((["deny", "ask", "allow"].includes(word) && can("v")) || (["deny", "allow"].includes(word) && can("p"))) {
    specific = { permission_decision: word, permission_decision_reason: value };
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

// What a shell line runs.

/** What a command line would run cannot be told from its text. reason says why; commands has what could be read. */
class Unread extends Error {
  reason;
  commands;

  constructor(reason, commands = []) {
    super("what this command would run cannot be told: " + reason);
    this.name = "Unread";
    this.reason = reason;
    this.commands = commands;
  }
}

/**
 * One command: its words as the shell sees them, without quotes. computed has the indexes of the words that are known
 * only when the line runs ($x, $(…), *.txt); these stand here as they are written.
 */
class Words extends Array {
  
  static get [Symbol.species]() {
    return Array;
  }

  /** The program's name, without its folder and in small letters. */
  get program() {
    const name = this[0].replace(/\/+$/, "").split("/").pop().toLowerCase();
    return name.endsWith(".exe") ? name.slice(0, -4) : name;
  }
}

function wordsOf(list, computed = []) {
  const words = new Words();
  for (const word of list) words.push(word); // there may be too many for one call
  Object.defineProperty(words, "computed", { value: computed });
  return words;
}

/**
 * Each command that a shell line runs, also those in $(…), functions and loops, behind sudo, env, xargs, find -exec and
 * the like, and in the text given to sh -c, eval or ssh. A wrapper and what it runs are both listed. What a program does
 * with its own arguments (python -c, awk) is not looked at, and neither are files that it runs. Throws Unread.
 */
function commands(line) {
  const found = new Found();
  found.line(line, 0);
  return found.all();
}

const MAX_LINE = 256 << 10, MAX_DEPTH = 8, MAX_COMMANDS = 10000, MAX_BRACES = 256, MAX_NESTED = 64;
const SYSTEM = ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin",
  "/run/current-system/sw/bin"];
const ASSIGNMENT = /[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]\n]{0,100}\])?\+?=/y;
const ODD_INDEX = /[A-Za-z_][A-Za-z0-9_]*\[[^\]]{0,100}[ \t\n;&|<>()'"\\]/y;
const REDIRECT =
  /&>>?|(?:[0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\})?(<<<|<<-|<<|<>|<&|>>|>&|>\||<(?!\()|>(?!\())/y;
const OPERATOR = /;;&|;;|;&|;|&&|&|\|\||\|&|\||\n/y;
const RESERVED = /;;&|;;|;&|\)|(?:[a-z]+|-p|--|!|[{}]|\[\[|\]\])(?=[ \t\n;&|()<>]|$)/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!_-]/y;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f]/;
const PLAIN = /[^ \t\n;&|()<>\\'"$`{},*?[#]+/y;
const PLAIN_QUOTED = /[^$`"\\]+/y;
const HOME = /(?<!\$)(?<!\$\{)\bHOME\b/;
const LIKE_COMMAND = /^\s*[A-Za-z_./~][\w./~-]*\s*(?:$|(?<=\s)[^\s=+\-*/%<>&|^!?:,)])/;
const PIPE = /\|&|\|(?!\|)/y;
const PARENTHESES = /\([ \t]*\)/y;
const TERM_ENDS = /\]\]|&&|\|\||\)/y;
const RUNS_VALUE = /@(?![QUuLEAKka]\})[A-Za-z]\}$/;
const RUN_LATER = /^(?:BASH_ENV=|PS[0-4]=.*(?:\$\(|`))/s;
const BINARY = /(?:==?|!=|=~|-[a-z][a-z])(?=[ \t\n])/y;
const TEST = /=~|==?|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef)/y;
const NO_INPUT = ["-l", "-d", "-r", "-c", "-f", "-V", ":::"]; // with these at and parallel read no commands
const PLAIN_WORDS = /^[A-Za-z0-9_ .\/:=@%+,'"-]*$/;
const DECLARES = ["declare", "typeset", "local", "export", "readonly"];
const ESCAPES = {
  a: "\x07", b: "\b", e: "\x1b", E: "\x1b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
};
const ANSI_C = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))/gsu;

function matchAt(pattern, s, i) {
  pattern.lastIndex = i;
  return pattern.exec(s);
}

class Syntax extends Error {}

/** One word. text: what it is, or how it is written if it is computed. */
class Word {
  constructor(text, computed = false, splits = false, pattern = false, assigns = false, tail = "") {
    Object.assign(this, { text, computed, splits, pattern, assigns, tail });
  }
}

/** What has been found in a line and in those within it. */
class Found {
  commands = [];
  reason = "";
  home = true; // $HOME is what it was
  written = new Set(); // names of files, null = any
  ran = new Set();
  path = false; // PATH may be set

  unread(reason) {
    this.reason ||= reason;
  }

  /** The commands, once all lines have been read. */
  all() {
    if ((this.ran.size && this.written.has(null)) || [...this.ran].some((file) => this.written.has(file))) {
      this.unread("it may run a file that it writes");
    }
    if (this.reason) throw new Unread(this.reason, this.commands);
    return this.commands;
  }

  /** Notes a file that is written or run, by its name without the folder. */
  file(to, word) {
    to.add(word.computed || word.pattern ? null : word.text.slice(word.text.lastIndexOf("/") + 1));
  }

  line(text, depth) {
    if (text.length > MAX_LINE) return this.unread("the line is too long");
    if (depth > MAX_DEPTH) return this.unread("there are too many lines within lines");
    if (CONTROL.test(text)) this.unread("the line has control characters");
    try {
      new Reader(text, this, depth).all();
    } catch (e) {
      if (e instanceof Syntax) this.unread(e.message);
      else if (e instanceof RangeError) this.unread("the line is nested too deeply");
      else throw e;
    }
  }

  /** Words that become a line of their own. */
  text(words, depth, what) {
    if (words.some((w) => w.computed)) return this.unread(`${what} runs text that is computed`);
    this.line(words.map((w) => w.text).join(" "), depth + 1);
  }

  /** One command. stdin: the text that it reads; null = not known. */
  command(words, stdin, depth) {
    const name = words[0];
    const known = name.computed ? name.tail : name.text;
    if (depth > MAX_DEPTH) return this.unread("there are too many commands within commands");
    if (this.commands.length >= MAX_COMMANDS) throw new Syntax("the line has too many commands");
    const computed = words.flatMap((w, i) => (w.computed || w.pattern ? [i] : []));
    const listed = wordsOf(words.map((w) => w.text), computed);
    const slash = known.lastIndexOf("/");
    if (!name.computed && slash > 0 && SYSTEM.includes(known.slice(0, slash))) listed[0] = known.slice(slash + 1);
    else if (slash >= 0 || this.path) this.file(this.ran, new Word(known));
    this.commands.push(listed);
    if (!known || (name.pattern && known !== "[" && known !== "[[")) {
      return this.unread("the name of a program is computed: " + name.text.slice(0, 60));
    }
    if (known[0] === "=" || known === "-") return this.unread(`zsh reads ${known.slice(0, 60)} in another way`);
    this.inside(wordsOf([known]).program, words.slice(1), stdin, depth);
  }

  /** What a command runs by its arguments. */
  inside(program, args, stdin, depth) {
    const table = tables();
    if (table.shells.includes(program)) return this.shell(program, args, stdin, depth);
    if (program === "eval") return this.text(args[0]?.text === "--" ? args.slice(1) : args, depth, "eval");
    if (program === "source" || program === ".") {
      const reads = args.length && (args[0].computed || args[0].text.startsWith("/dev/"));
      for (const a of args.slice(0, 1)) this.file(this.ran, a);
      return reads ? this.unread(program + " runs what it reads") : undefined;
    }
    if (program === "trap") {
      if (args.length && args[0].text === "--") args = args.slice(1);
      if (args.length > 1 && args[0].text !== "-") this.text(args.slice(0, 1), depth, "trap");
      return;
    }
    if (program === "alias") {
      for (const a of args) {
        this.text([new Word(after(a.text, "="), a.computed)], depth, "alias");
        if (a.text.includes("<<")) this.unread("an alias begins a here-document");
      }
      return;
    }
    if (["at", "batch", "parallel"].includes(program) && !args.some((a) => NO_INPUT.includes(a.text))) {
      if (stdin === null) return this.unread(program + " runs what it reads");
      this.line(stdin, depth + 1);
    }
    if (program === "tee") for (const a of args) this.file(this.written, a);
    if (["find", "fd", "fdfind"].includes(program)) return this.eachFile(program, args, depth);
    if (["hash", "enable"].includes(program) && args.some((a) => ["-p", "-f"].includes(a.text.slice(0, 2)))) {
      return this.unread(program + " changes what a name runs");
    }
    if (["mapfile", "readarray"].includes(program) && args.some((a) => a.text.startsWith("-C"))) {
      this.unread(program + " adds words to a command");
    }
    const flag = { mapfile: "-C", readarray: "-C", compgen: "-C", complete: "-C", bind: "-x" };
    args.forEach((a, i) => {
      if (own(flag, program) && a.text.startsWith(flag[program])) {
        const rest = a.text.slice(2);
        this.text(rest ? [new Word(rest, a.computed)] : args.slice(i + 1, i + 2), depth, program);
      }
      if (program === "git" && a.text.toLowerCase().startsWith("alias.") && a.text.includes("=!")) {
        this.text([new Word(after(a.text, "=!"), a.computed)], depth, "a git alias");
      }
    });
    for (const [rule, rest] of this.rules(table, program, args)) this.wrapped(program, rule, rest, stdin, depth);
  }

  /** The wrappers that a command is, with the words that they look at. */
  rules(table, program, args) {
    const list = [];
    if (own(table.wrappers, program)) {
      const rule = table.wrappers[program];
      const first = indexOr(args, (a) => !a.text.startsWith("-"), args.length);
      const isSub = (a) => rule.sub.includes(a.text);
      if (!rule.sub) list.push([rule, args]);
      else if (args.slice(first, first + 2).some(isSub)) list.push([rule, args.slice(args.findIndex(isSub) + 1)]);
    }
    const [name, ...known] = (own(table.aliases, program) ? table.aliases[program] : program).split(" ");
    for (const carrier of own(table.carriers, name) ? table.carriers[name] : []) {
      if (known.some((word, i) => carrier.path[i] !== word)) continue;
      let rest = args;
      for (const word of carrier.path.slice(known.length)) {
        const at = rest ? rest.findIndex((a) => a.text.toLowerCase() === word) : -1;
        rest = at < 0 ? null : rest.slice(at + 1);
      }
      if (rest) list.push([carrier, rest]);
    }
    return list;
  }

  /** The command that a wrapper runs, after its flags and their values. */
  wrapped(program, rule, args, stdin, depth) {
    const skips = rule.skip ?? 0, valued = rule.valued ?? [], texts = rule.text ?? [], also = [], marks = [];
    let skip = skips, i = 0;
    while (i < args.length) {
      const a = args[i], text = a.text;
      if (a.computed && (a.splits || (text[0] === "-" && !text.includes("=")))) {
        return this.unread(`${program} has arguments that are computed`);
      }
      if (text === "--") {
        i++;
        if (skip === 0) break;
        continue;
      }
      if (text.length < 2 || text[0] !== "-") {
        if (skip === 0) break;
        skip--;
        i++;
        continue;
      }
      if (rule.lookup?.includes(text)) return;
      const hasValue = text.includes("="), name = text.split("=")[0], value = after(text, "=");
      i++;
      let given = flagValue(text, texts);
      let line = null;
      if (texts.includes(name) && hasValue) {
        line = [new Word(value, a.computed)];
      } else if (given !== null) {
        line = given ? [new Word(given, a.computed)] : args.slice(i, i + 1);
        i += given ? 0 : 1;
      }
      if (line) {
        this.text(line, depth, program);
        if (program === "env" && (i < args.length || (line.length && !PLAIN_WORDS.test(line[0].text)))) {
          return this.unread("env splits text in a way of its own");
        }
        continue;
      }
      given = flagValue(text, valued);
      if (rule.feeds && "Ii".includes(text[1])) {
        marks.push(text.slice(2) || (text[1] === "I" && i < args.length ? args[i].text : "{}"));
      } else if (rule.feeds && name === "--replace") {
        marks.push(value || "{}");
      }
      if (given === "") i++;
      else if (given === null && text.startsWith("--") && !hasValue) also.push(i + 1); // it may take the next word
    }
    for (let j = i; skips && texts.length && j < args.length; j++) { // su - user -c 'line'
      const given = flagValue(args[j].text, texts);
      if (given !== null) {
        this.text(given ? [new Word(given, args[j].computed)] : args.slice(j + 1, j + 2), depth, program);
      }
    }
    let starts = [i, ...also.filter((n) => n > i)];
    if (rule.opaque) starts = args.flatMap((a, n) => (a.text[0] === "-" ? [] : [n]));
    if (starts.length > MAX_NESTED) return this.unread(program + " has too many words");
    for (const start of starts) this.inner(program, rule, args.slice(start), marks, stdin, depth);
  }

  inner(program, rule, rest, marks, stdin, depth) {
    while (rest.length && (rule.assigns || rule.changes) && matchAt(ASSIGNMENT, rest[0].text, 0)) rest = rest.slice(1);
    if (rule.stop) rest = rest.slice(0, indexOr(rest, (a) => a.text.startsWith(rule.stop), rest.length));
    if (!rest.length) return;
    if (rule.feeds) {
      stdin = null;
      if (!marks.length) rest = [...rest, new Word("…", true, true)];
      rest = rest.map((a) => (marks.some((m) => m && a.text.includes(m)) ? new Word(a.text, true, true) : a));
    }
    if (rule.joined) this.text(rest, depth, program);
    else this.command(rest, stdin, depth + 1);
  }

  /** find -exec and fd -x: their command, in which {} is computed. */
  eachFile(program, args, depth) {
    const runs = program === "find" ? ["-exec", "-execdir", "-ok", "-okdir"] : ["-x", "--exec", "-X", "--exec-batch"];
    let i = 0;
    while (i < args.length) {
      if (args[i].splits && program === "find") this.unread("find has arguments that are computed");
      i++;
      if (!runs.includes(args[i - 1].text)) continue;
      let end = i;
      while (end < args.length && args[end].text !== ";" && (args[end].text !== "+" || program !== "find")) end++;
      const inner = args.slice(i, end).map((a) => (a.text.includes("{}") ? new Word(a.text, true) : a));
      if (inner.length) this.command(inner, null, depth + 1);
      i = end;
    }
  }

  /** What a shell is told to run: the text after -c, a file, or what it reads. */
  shell(program, args, stdin, depth) {
    let i = 0, command = false;
    while (i < args.length) {
      const a = args[i], text = a.text;
      if (a.computed && (a.splits || "-+$`<".includes(text[0]))) {
        return this.unread(`${program} has arguments that are computed`);
      }
      if (text === "--version" || text === "--help") return;
      if (text === "-" || text === "--") {
        i++;
        continue;
      }
      if (text[0] !== "-" && text[0] !== "+") break;
      i++;
      const long = text.startsWith("--");
      if (!long && text.slice(1).includes("c") && text[0] === "-") command = true;
      if (text === "--rcfile" || text === "--init-file" || (!long && "oO".includes(text[text.length - 1]))) i++;
    }
    if (command) return i < args.length ? this.text(args.slice(i, i + 1), depth, program) : undefined;
    const reads = args.slice(0, i).some((a) => !a.text.startsWith("--") && a.text.includes("s")); // -s
    if (i < args.length && !reads && !args[i].text.startsWith("/dev/")) return this.file(this.ran, args[i]);
    if (stdin === null) return this.unread(program + " runs what it reads");
    this.line(stdin, depth + 1);
  }
}

function after(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? "" : text.slice(at + mark.length);
}

function indexOr(list, fits, otherwise) {
  const i = list.findIndex(fits);
  return i < 0 ? otherwise : i;
}

/** What a flag has as its value in the same word; "" = the next word; null = it is not one of flags. */
function flagValue(text, flags) {
  if (flags.includes(text)) return "";
  if (!text.startsWith("--")) {
    for (let j = 1; j < text.length; j++) { // -nu root, -uroot
      if (flags.includes("-" + text[j])) return text.slice(j + 1);
    }
  }
  return null;
}

/** Reads one line as bash does. */
class Reader {
  constructor(text, found, depth) {
    Object.assign(this, { s: text, i: 0, found, depth, heredocs: [], nested: 0 });
    found.home = found.home && !HOME.test(text);
    found.path = found.path || text.includes("PATH");
  }

  all() {
    this.commands([]);
  }

  is(mark) {
    return this.s.startsWith(mark, this.i);
  }

  get ended() {
    return this.i >= this.s.length;
  }

  /** Whether what stands here is one of these characters, or the end of the line. */
  stops(characters) {
    return this.ended || characters.includes(this.s[this.i]);
  }

  fail() {
    throw new Syntax("it cannot be parsed at: " + this.s.slice(this.i, this.i + 20));
  }

  // Blanks, and what ends a command.

  blanks(newlines = false) {
    const s = this.s;
    while (this.i < s.length) {
      const c = s[this.i];
      if (c === " " || c === "\t") this.i++;
      else if (c === "\\" && s[this.i + 1] === "\n") this.i += 2;
      else if (c === "#") this.i = indexOf(s, "\n", this.i);
      else if (c === "\n" && newlines) this.newline();
      else return;
    }
  }

  newline() {
    this.i++;
    const pending = this.heredocs;
    this.heredocs = [];
    for (const doc of pending) this.heredoc(doc);
  }

  /** Reads commands up to one of ends, and returns it. [] = up to the end of the line. */
  commands(ends) {
    if (++this.nested > MAX_NESTED) throw new Syntax("it is nested too deeply");
    const end = this.until(ends);
    this.nested--;
    return end;
  }

  until(ends) {
    for (;;) {
      this.blanks(true);
      if (this.ended) {
        if (this.heredocs.length) throw new Syntax("a here-document has no end");
        if (ends.length) throw new Syntax("there is no " + ends.join(" or "));
        return "";
      }
      const end = this.at(ends);
      if (end) return end;
      this.pipeline();
      this.blanks();
      const m = matchAt(OPERATOR, this.s, this.i);
      if (!m) {
        if (!this.ended && !(this.is(")") && ends.includes(")"))) this.fail();
        continue;
      }
      const op = m[0];
      if ([";;", ";&", ";;&"].includes(op)) {
        if (!ends.includes(";;")) throw new Syntax("it cannot be parsed at: " + op);
        this.i += op.length;
        return ";;";
      }
      if (op !== "\n") this.i += op.length;
      if (op === "&&" || op === "||") {
        this.blanks(true);
        if (this.ended) throw new Syntax("a command is missing after " + op);
      }
    }
  }

  /** The one of ends that stands here, which is then passed; "" = none. */
  at(ends) {
    const m = matchAt(RESERVED, this.s, this.i);
    if (!m) return "";
    const end = m[0] === ";&" || m[0] === ";;&" ? ";;" : m[0];
    if (!ends.includes(end)) return "";
    this.i += m[0].length;
    return end;
  }

  pipeline() {
    let stdin = null, more = true;
    while (more) {
      this.blanks(true);
      while (this.at(["!"])) this.blanks();
      if (this.ended) throw new Syntax("a command is missing after |");
      stdin = this.one(stdin);
      this.blanks();
      const m = matchAt(PIPE, this.s, this.i);
      more = m !== null;
      if (m) this.i += m[0].length;
    }
  }

  // One command of a pipeline. Each returns the text that it prints, where that is sure.

  one(stdin) {
    const s = this.s;
    if (this.is("((") && this.arithmetic(this.i + 2) >= 0) {
      const start = this.i + 2;
      this.arithmetic(start, true);
      const inside = s.slice(start, this.i - 2);
      if (inside.includes(";")) throw new Syntax("it may be arithmetic or commands");
      if (LIKE_COMMAND.test(inside)) this.found.line(inside, this.depth + 1); // a shell without (( runs it
      return this.redirects();
    }
    if (this.is("(")) {
      this.i++;
      this.commands([")"]);
      return this.redirects();
    }
    const word = this.at(["{", "if", "while", "until", "for", "select", "case", "function", "[[", "time", "coproc"]);
    switch (word) {
      case "{":
        this.commands(["}"]);
        break;
      case "if": {
        let end = "elif";
        while (end === "elif") {
          this.commands(["then"]);
          end = this.commands(["elif", "else", "fi"]);
        }
        if (end === "else") this.commands(["fi"]);
        break;
      }
      case "while":
      case "until":
        this.commands(["do"]);
        this.commands(["done"]);
        break;
      case "for":
      case "select":
        this.loop();
        break;
      case "case":
        this.cases();
        break;
      case "function":
        this.blanks();
        this.word();
        this.blanks();
        this.parentheses();
        this.blanks(true);
        return this.body();
      case "[[":
        this.test();
        break;
      case "time":
        this.blanks();
        while (this.at(["-p", "--", "!"])) this.blanks();
        if (matchAt(OPERATOR, s, this.i) || this.ended) return null;
        return this.one(stdin);
      case "coproc":
        throw new Syntax("coproc runs beside the line");
      default:
        return this.simple(stdin);
    }
    return this.redirects();
  }

  body() {
    if (this.ended) throw new Syntax("a function has no body");
    this.pipeline();
    return null;
  }

  /** () after the name of a function. */
  parentheses() {
    const m = matchAt(PARENTHESES, this.s, this.i);
    if (m) this.i += m[0].length;
    return m !== null;
  }

  loop() {
    this.blanks();
    if (this.is("((")) {
      if (this.arithmetic(this.i + 2, true) < 0) throw new Syntax("a loop cannot be parsed");
    } else {
      this.word();
      this.blanks(true);
      if (this.at(["in"])) this.words();
    }
    this.blanks();
    if (this.is(";")) this.i++;
    this.blanks(true);
    if (this.at(["{"])) this.commands(["}"]);
    else if (this.at(["do"])) this.commands(["done"]);
    else throw new Syntax("a loop has no do");
  }

  words() {
    for (;;) {
      this.blanks();
      if (this.stops(";&|()<>\n")) return;
      this.word();
    }
  }

  cases() {
    this.blanks();
    this.word();
    this.blanks(true);
    if (!this.at(["in"])) throw new Syntax("a case has no in");
    for (;;) {
      this.blanks(true);
      if (this.at(["esac"])) return;
      if (this.is("(")) this.i++;
      for (;;) {
        this.blanks();
        if (this.stops(";&()<>\n")) throw new Syntax("a case cannot be parsed");
        if (!this.is("|")) this.word();
        this.blanks();
        if (this.is("|")) {
          this.i++;
        } else if (this.is(")")) {
          this.i++;
          break;
        } else {
          throw new Syntax("a case cannot be parsed");
        }
      }
      if (this.commands([";;", "esac"]) === "esac") return;
    }
  }

  /** [[ … ]]: terms, which a shell without [[ would take for commands. */
  test() {
    let after = false;
    for (;;) {
      this.blanks(true);
      if (this.at(["]]"])) return;
      if (this.ended) throw new Syntax("[[ has no ]]");
      if (this.at(["!"])) continue;
      if (this.is("(")) {
        this.i++;
        continue;
      }
      this.term(after);
      this.blanks(true);
      while (this.is(")")) {
        this.i++;
        this.blanks(true);
      }
      if (this.is("&&") || this.is("||")) {
        this.i += 2;
        after = true;
      } else if (!this.is("]]")) {
        throw new Syntax("[[ cannot be parsed");
      }
    }
  }

  term(after) {
    const first = this.word();
    this.blanks();
    const unary = first[0].text.length === 2 && first[0].text[0] === "-";
    if (unary && !matchAt(TERM_ENDS, this.s, this.i) && !matchAt(BINARY, this.s, this.i)) {
      this.word();
      return;
    }
    const m = matchAt(TEST, this.s, this.i);
    if (!m) {
      if (after && first[0].text && !"-$".includes(first[0].text[0])) this.found.command(first, null, this.depth);
      return;
    }
    this.i += m[0].length;
    this.blanks();
    if (m[0] === "=~") this.regex();
    else this.word(false, true);
  }

  /** The right side of =~, which ends at a blank outside of parentheses. */
  regex() {
    let depth = 0;
    while (!this.ended) {
      const c = this.s[this.i];
      if (depth === 0 && " \t\n;&".includes(c)) return;
      if (c === "(" || c === ")") {
        depth += c === "(" ? 1 : -1;
        this.i++;
      } else if (" \t|<>".includes(c)) {
        this.i++;
      } else {
        this.word();
      }
      if (depth < 0) {
        this.i--;
        return;
      }
    }
  }

  redirects() {
    for (;;) {
      this.blanks();
      const m = matchAt(REDIRECT, this.s, this.i);
      if (!m) return null;
      this.redirect(m);
    }
  }

  /** A redirection; returns the text that it gives to stdin, null = it does not, or that is not known. */
  redirect(m) {
    this.i += m[0].length;
    this.blanks();
    const op = m[1];
    if (op === "<<" || op === "<<-") {
      const start = this.i, mark = this.word();
      if (mark.length !== 1) throw new Syntax("a here-document cannot be parsed");
      const quoted = /['"\\]/.test(this.s.slice(start, this.i).replaceAll("\\\n", ""));
      const doc = { end: mark[0].text, quoted, tabs: op === "<<-", use: null };
      this.heredocs.push(doc);
      return doc;
    }
    if (this.stops(";&|()\n")) throw new Syntax("a redirection has no target");
    const target = this.word();
    if (m[0].includes(">")) this.found.file(this.found.written, target[0]);
    return op !== "<<<" || target.length !== 1 || target[0].computed ? null : target[0].text;
  }

  simple(piped) {
    const words = [], started = this.i;
    let given = false, fed = null;
    for (;;) {
      this.blanks();
      const m = matchAt(REDIRECT, this.s, this.i);
      if (m) {
        const result = this.redirect(m);
        if (m[1]?.[0] === "<" && ("<0".includes(m[0][0]) || result !== null)) [given, fed] = [true, result];
        continue;
      }
      if (this.stops(";&|)\n")) break;
      if (this.is("(")) {
        if (words.length === 1 && this.parentheses()) {
          this.blanks(true);
          return this.body();
        }
        this.fail();
      }
      const more = this.word(!words.length || DECLARES.includes(words[0].text));
      if (words.length || !more[0].assigns) words.push(...more);
    }
    if (this.i === started) this.fail();
    const stdin = given ? fed : piped;
    if (!words.length) return null;
    if (isObject(stdin)) { // a here-document, whose text comes later
      stdin.use = words;
      return null;
    }
    this.found.command(words, stdin, this.depth);
    return given ? null : printed(words);
  }

  /** The lines up to the mark; without quotes around that, $(…) in them runs. */
  heredoc(doc) {
    const lines = [];
    for (;;) {
      if (this.ended) throw new Syntax("a here-document has no end");
      const end = indexOf(this.s, "\n", this.i);
      let line = this.s.slice(this.i, end);
      this.i = Math.min(end + 1, this.s.length);
      if (doc.tabs) line = line.replace(/^\t+/, "");
      if (line === doc.end) break;
      lines.push(line + "\n");
    }
    let text = lines.join(""), computed = false;
    if (!doc.quoted) ({ text, computed } = new Reader(text, this.found, this.depth).quotedText());
    if (doc.use) this.found.command(doc.use, computed ? null : text, this.depth);
  }

  /** All of the line as if it stood in double quotes. */
  quotedText() {
    const pieces = [];
    while (!this.ended) this.quotedChar(pieces, "$`\\");
    return this.joined(pieces, 0);
  }

  // Words.

  /** Reads a word, which braces may make several of. */
  word(assignment = false, pattern = false) {
    const s = this.s, start = this.i, pieces = [];
    if (assignment && matchAt(ODD_INDEX, s, start)) {
      throw new Syntax("an index cannot be read: " + s.slice(start, start + 20));
    }
    while (this.i < s.length) {
      const c = s[this.i];
      if (" \t\n;&|)".includes(c)) break;
      if (c === "(") {
        const before = s.slice(start, this.i);
        if (assignment && matchAt(ASSIGNMENT, before, 0)?.[0] === before) {
          const from = this.i;
          this.array();
          pieces.push({ kind: "dyn", text: s.slice(from, this.i), quoted: true });
          continue;
        }
        if (before && "?*+@!$=".includes(before[before.length - 1])) {
          throw new Syntax("a pattern of one shell: " + s.slice(start, this.i + 10));
        }
        break;
      }
      if (c === "<" || c === ">") {
        if (s[this.i + 1] !== "(") break;
        const begin = this.i;
        this.i += 2;
        this.commands([")"]);
        pieces.push({ kind: "dyn", text: s.slice(begin, this.i), quoted: true });
      } else {
        this.char(pieces, pattern);
      }
    }
    if (this.i === start) this.fail();
    const words = braces(pieces), there = words.filter((p) => p.length);
    return (there.length ? there : words.slice(0, 1)).map((p) => this.joined(p, start));
  }

  array() {
    this.i++;
    for (;;) {
      this.blanks(true);
      if (this.is(")")) {
        this.i++;
        return;
      }
      if (this.ended) throw new Syntax("a list has no end");
      this.word();
    }
  }

  /** Reads what stands outside of double quotes: a character, or a quoted part. */
  char(pieces, pattern = false) {
    const s = this.s, c = s[this.i];
    let m;
    if (c === "\\") {
      if (s[this.i + 1] !== "\n") pieces.push({ kind: "lit", text: s[this.i + 1] ?? "\\", quoted: true });
      this.i += 2;
    } else if (c === "'") {
      const end = s.indexOf("'", this.i + 1);
      if (end < 0) throw new Syntax("a quote is not closed");
      pieces.push({ kind: "lit", text: s.slice(this.i + 1, end), quoted: true });
      this.i = end + 1;
    } else if (c === '"') {
      this.double(pieces);
    } else if (this.is("$'")) {
      let end = this.i + 2;
      while (end < s.length && s[end] !== "'") end += s[end] === "\\" ? 2 : 1;
      if (end >= s.length) throw new Syntax("a quote is not closed");
      pieces.push({ kind: "lit", text: s.slice(this.i + 2, end).replace(ANSI_C, ansiC), quoted: true });
      this.i = end + 1;
    } else if (this.is('$"')) {
      this.i++;
      this.double(pieces);
    } else if (c === "$" || c === "`") {
      this.dollar(pieces, false);
    } else if ((m = matchAt(PLAIN, s, this.i))) {
      pieces.push({ kind: "lit", text: m[0], quoted: false });
      this.i += m[0].length;
    } else {
      const kind = "{,}".includes(c) ? "brace" : "*?[".includes(c) && !pattern ? "glob" : "lit";
      pieces.push({ kind, text: c, quoted: false });
      this.i++;
    }
  }

  double(pieces) {
    this.i++;
    pieces.push({ kind: "lit", text: "", quoted: true });
    for (;;) {
      if (this.ended) throw new Syntax("a quote is not closed");
      if (this.is('"')) {
        this.i++;
        return;
      }
      this.quotedChar(pieces, '$`"\\');
    }
  }

  /** Reads a character, or a computed part, within double quotes. special: what a backslash quotes. */
  quotedChar(pieces, special) {
    const s = this.s, c = s[this.i];
    if (c === "\\") {
      const next = s[this.i + 1] ?? "";
      const both = next && special.includes(next) ? next : "\\" + next;
      if (next !== "\n") pieces.push({ kind: "lit", text: both, quoted: true });
      this.i += 2;
    } else if (c === "$" || c === "`") {
      this.dollar(pieces, true);
    } else {
      const m = matchAt(PLAIN_QUOTED, s, this.i);
      const end = m ? this.i + m[0].length : this.i + 1;
      pieces.push({ kind: "lit", text: s.slice(this.i, end), quoted: true });
      this.i = end;
    }
  }

  /** Reads $x, ${…}, $(…), $((…)), $[…] or `…`. What is computed counts as one piece. */
  dollar(pieces, quoted) {
    const s = this.s, start = this.i;
    if (s[start] === "`") {
      let end = start + 1, inside = "";
      while (end < s.length && s[end] !== "`") {
        if (s[end] === "\\" && s[end + 1] && (quoted ? '$`\\"' : "$`\\").includes(s[end + 1])) end++;
        inside += s[end] ?? "";
        end++;
      }
      if (end >= s.length) throw new Syntax("a ` is not closed");
      this.i = end + 1;
      this.found.line(inside, this.depth + 1);
    } else if (this.is("$((") && this.arithmetic(start + 3) >= 0) {
      this.arithmetic(start + 3, true);
    } else if (this.is("$(")) {
      this.i += 2;
      if (this.depth >= MAX_DEPTH) throw new Syntax("there are too many lines within lines");
      this.depth++;
      this.commands([")"]);
      this.depth--;
    } else if (this.is("${")) {
      this.parameter(quoted);
    } else if (this.is("$[")) {
      this.i += 2;
      while (!this.is("]")) {
        if (this.ended) throw new Syntax("a $[ is not closed");
        this.skipOrRun();
      }
      this.i++;
    } else {
      const m = matchAt(NAME, s, start + 1);
      if (!m) {
        pieces.push({ kind: "lit", text: "$", quoted });
        this.i++;
        return;
      }
      this.i = start + 1 + m[0].length;
    }
    pieces.push({ kind: "dyn", text: s.slice(start, this.i), quoted });
  }

  /** Passes a character, or what runs in its place. */
  skipOrRun() {
    const c = this.s[this.i];
    if (c === "$" || c === "`") this.dollar([], true);
    else this.i += c === "\\" ? 2 : 1;
  }

  /** Reads ${…}; its words may run commands, and @P runs what the variable holds. */
  parameter(quoted) {
    const s = this.s, start = this.i;
    this.i += 2;
    if (this.is(" ") || this.is("|")) throw new Syntax("a substitution of one shell");
    while (!this.is("}")) {
      if (this.ended) throw new Syntax("a ${ is not closed");
      const c = s[this.i];
      if (c === '"' || (c === "'" && !quoted)) this.char([]);
      else if ("<>".includes(c) && !quoted && s[this.i + 1] === "(") {
        this.i += 2;
        this.commands([")"]);
      } else this.skipOrRun();
    }
    this.i++;
    const all = s.slice(start, this.i);
    if (RUNS_VALUE.test(all) || all.startsWith("${(")) {
      throw new Syntax("a variable's text may be run: " + all.slice(0, 30));
    }
  }

  /** Where the arithmetic ends that begins at start, -1 = it is none. reads: what runs in it is found. */
  arithmetic(start, reads = false) {
    const s = this.s;
    let depth = 2;
    for (let i = start; i < s.length; i++) {
      const c = s[i];
      if (reads && (c === "$" || c === "`")) {
        this.i = i;
        this.dollar([], true);
        i = this.i - 1;
      } else if (c === "\\") {
        i++;
      } else if ((c === '"' || c === "'") && !reads) {
        i = indexOf(s, c, i + 1);
      } else if (c === "(") {
        if (++depth > MAX_NESTED) return -1;
      } else if (c === ")") {
        depth--;
        if (depth === 1 && s[i + 1] !== ")") return -1;
        if (depth === 0) {
          if (reads) this.i = i + 1;
          return i + 1;
        }
      }
    }
    return -1;
  }

  joined(pieces, start) {
    const textOf = (list) => list.map((p) => p.text).join("");
    const text = textOf(pieces);
    const literal = textOf(pieces.filter((p) => p.kind !== "dyn" && p.quoted));
    if (literal.split("[").slice(1).some((part) => /\$\(|`/.test(part.split("]")[0]))) {
      this.found.unread("an index may run commands: " + text.slice(0, 60));
    }
    if (RUN_LATER.test(text)) this.found.unread("a variable's text may be run: " + text.slice(0, 60));
    const last = pieces.findLastIndex((p) => p.kind === "dyn" || p.kind === "glob");
    const computed = pieces.some((p) => p.kind === "dyn");
    const splits = pieces.some((p) => p.kind === "dyn" && !p.quoted);
    let tail = "";
    if (computed && pieces[last].kind === "dyn") {
      const rest = textOf(pieces.slice(last + 1));
      const home = this.found.home && ["$HOME", "${HOME}"].includes(pieces[0].text) && last === 0;
      if (rest.includes("/") && (!splits || home)) tail = rest.slice(rest.indexOf("/"));
    }
    const assigns = matchAt(ASSIGNMENT, this.s, start) !== null;
    return new Word(text, computed, splits, pieces.some((p) => p.kind === "glob"), assigns, tail);
  }
}

function indexOf(s, mark, from) {
  const at = s.indexOf(mark, from);
  return at < 0 ? s.length : at;
}

/** What echo or printf writes, if no shell changes it. */
function printed(words) {
  const args = words.slice(1);
  if (args.some((w) => w.computed || w.pattern || w.text.includes("\\")) || !args.length) return null;
  if (args[0].text[0] === "-") return null;
  if (words[0].text === "echo") return args.map((w) => w.text).join(" ");
  if (words[0].text === "printf" && args.length === 1 && !args[0].text.includes("%")) return args[0].text;
  return null;
}

function ansiC(all, x, u, U, octal, control, other) {
  const digits = x ?? u ?? U ?? octal;
  if (digits !== undefined) {
    const code = parseInt(digits, octal === undefined ? 16 : 8) & (octal === undefined ? -1 : 0xff);
    return code >= 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  }
  if (control !== undefined) return String.fromCodePoint(control.codePointAt(0) & 0x1f);
  return own(ESCAPES, other) ? ESCAPES[other] : all;
}

/** The words that {a,b} makes of one. */
function braces(pieces) {
  const todo = [pieces], out = [];
  if (pieces.filter((p) => p.kind === "brace").length > MAX_BRACES) throw new Syntax("braces make too many words");
  while (todo.length) {
    const word = todo.pop(), parts = alternatives(word);
    if (parts === null) out.push(word);
    else todo.push(...parts.reverse());
    if (todo.length + out.length > MAX_BRACES) throw new Syntax("braces make too many words");
  }
  return out;
}

/** The words that the first braces make; null = there are none. */
function alternatives(pieces) {
  for (let i = 0; i < pieces.length; i++) {
    if (pieces[i].kind !== "brace" || pieces[i].text !== "{") continue;
    const commas = [i];
    for (let j = i, depth = 0; j < pieces.length; j++) {
      const { kind, text } = pieces[j];
      if (kind !== "brace") continue;
      depth += text === "{" ? 1 : text === "}" ? -1 : 0;
      if (text === "," && depth === 1) commas.push(j);
      if (depth > 0) continue;
      const inside = pieces.slice(i + 1, j).map((p) => p.text).join("");
      const before = pieces.slice(0, i), rest = pieces.slice(j + 1);
      if (commas.length > 1) {
        return commas.map((from, k) => [...before, ...pieces.slice(from + 1, commas[k + 1] ?? j), ...rest]);
      }
      if (inside.includes("..")) return [[...before, { kind: "dyn", text: `{${inside}}`, quoted: false }, ...rest]];
      break;
    }
  }
  return null;
}

// Senders.

/** There is no answer of hookd. code: not_running, no_answer, or hookd's own for what it refused. */
class HookdError extends Error {
  code;
  hint;

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
function socketPath() {
  const env = process.env;
  return env.HOOKD_SOCKET || (env.LIBREFANG_HOME || (env.HOME ?? "") + "/.librefang") + "/hookd.sock";
}

/** Sends an event and gives hookd's answer: at once, with wait: true when its hooks have ended. Throws HookdError. */
async function emit(
  event, data = {},
  { ms = 60000, ...envelope } = {},
) {
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
  event, data = {},
  options = {},
) {
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
  globs = ["*"],
  { since, epoch, starts = false } = {},
) {
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

// What hookd knows of events and of tools, from its contract table.

let cache;

function tables() {
  if (cache) return cache;
  cache = JSON.parse(TABLES);
  cache.rows = new Map();
  const list = (words) => words.split(" ").filter(Boolean);
  for (const [names, kind, can, rewrite, tool, input, command, fixed] of cache.events) {
    for (const name of list(names)) {
      const row = { kind, can, rewrite, tool: list(tool), input: list(input), command: list(command), fixed };
      cache.rows.set(name, row);
    }
  }
  return cache;
}

function rowOf(name) {
  return tables().rows.get(name) ??
    { kind: name, can: "", rewrite: "", tool: ["tool_name"], input: ["tool_input"], command: [], fixed: "" };
}

// generated: tables
const TABLES = '{"aliases":{"docker-compose":"docker compose","nerdctl":"docker","oc":"kubectl","podman":"docker","podman-compose":"docker compose"},"carriers":{"direnv":[{"changes":true,"path":["exec"],"skip":1}],"docker":[{"changes":true,"path":["compose","exec"],"skip":1,"valued":["-e","--env","-u","--user","-w","--workdir","--index"]},{"changes":true,"path":["compose","run"],"skip":1,"valued":["-e","--env","-u","--user","-w","--workdir","-v","--volume","-p","--publish","--name","--entrypoint"]},{"changes":true,"path":["container","exec"],"skip":1,"valued":["-e","--env","--env-file","-u","--user","-w","--workdir"]},{"changes":true,"path":["exec"],"skip":1,"valued":["-e","--env","--env-file","-u","--user","-w","--workdir","--detach-keys"]},{"changes":true,"path":["run"],"skip":1,"valued":["-a","--attach","--add-host","--cap-add","--cap-drop","-c","--cpu-shares","--cpus","--device","--dns","-e","--env","--env-file","--entrypoint","--gpus","-h","--hostname","-l","--label","--link","-m","--memory","--mount","--name","--net","--network","-p","--publish","--platform","--pull","--restart","--runtime","--security-opt","--shm-size","--tmpfs","-u","--user","--ulimit","-v","--volume","--volumes-from","-w","--workdir"]}],"git":[{"changes":true,"path":["bisect","run"]},{"changes":true,"joined":true,"path":["submodule","foreach"]},{"changes":true,"joined":true,"path":["worktree","foreach"]}],"go":[{"changes":true,"opaque":true,"path":["run"],"skip":1}],"kubectl":[{"changes":true,"path":["exec"],"skip":1,"valued":["-c","--container","-n","--namespace"]},{"changes":true,"path":["run"],"skip":1,"valued":["--image","--restart","-n","--namespace"]}],"npm":[{"changes":true,"path":["exec"],"valued":["-p","--package"]}],"tmux":[{"changes":true,"joined":true,"path":["new-session"],"valued":["-s","-n","-c","-x","-y","-t"]},{"changes":true,"joined":true,"path":["send-keys"],"valued":["-t","-N"]}]},"code_tools":{"execute_code":"Python","powershell":"PowerShell","write_powershell":"PowerShell"},"events":[["agent:start userPromptSubmitted user.prompt","prompt.submit","","","","","",""],["agent:end session.idle task.complete","turn.stop","","","","","",""],["agent:step","turn.step","","","","","",""],["session:start on_session_start","session.start","","","","","",""],["session:end session_end SessionEnd sessionEnd TaskCancel TaskComplete on_session_end session.deleted session_shutdown session.end","session.end","","","","","",""],["session:reset on_session_reset before_reset","session.reset","","","","","",""],["gateway:startup gateway_start","daemon.start","","","","","",""],["transform_tool_result","tool.transform","r","updated_tool_response","tool_call tool_name","tool_input","",""],["pre_tool_use BeforeTool pre_tool_call","tool.before","bv","updated_input","tool_name","tool_input","",""],["tool_input_transform","tool_input_transform","b","updated_input","tool_name","tool_input","",""],["tool_guard","tool_guard","bv","","tool_name","tool_input","",""],["permission_request PermissionRequest","permission.request","bp","updated_input","tool_name","tool_input","",""],["tool_response_transform","tool.transform","","updated_tool_response","tool_name","tool_input","",""],["post_tool_use AfterTool","tool.after","bc","","tool_name","tool_input","",""],["on_tool_approval_decision","on_tool_approval_decision","","","tool_name","tool_input","",""],["user_prompt_submit UserPromptSubmit UserPromptExpansion BeforeAgent chat.message before_prompt_build input","prompt.submit","bc","","","","",""],["user_steering_messages_submit","user_steering_messages_submit","bc","","","","",""],["user_followup_submit","user_followup_submit","bc","","","","",""],["turn_start","turn_start","c","","","","",""],["turn_end","turn_end","","","","","",""],["before_llm_call","model.before","b","updated_messages","","","",""],["after_llm_call afterAgentResponse afterAgentThought post_cascade_response PostInvocation post_api_request model_call_ended","model.after","","","","","",""],["stop","turn.stop","cb","","","","",""],["subagent_stop subagent.idle subagent_ended","subagent.stop","","","","","",""],["notification","notification","c","","","","",""],["on_error StopFailure errorOccurred TaskError api_request_error session.error","error","","","","","",""],["on_max_iterations","on_max_iterations","","","","","",""],["session_start sessionStart session.created agentSpawn session.start","session.start","c","","","","",""],["pre_compact PreCompact","compact.before","bc","","","","",""],["before_compaction","before_compaction","b","","","","",""],["after_compaction session.compacted session_compact PostCompaction","compact.after","","","","","",""],["on_user_input","on_user_input","","","","","",""],["on_agent_switch","on_agent_switch","","","","","",""],["on_session_resume","on_session_resume","","","","","",""],["worktree_create","worktree_create","bc","","","","",""],["skill_content_guard","skill_content_guard","be","","","","",""],["prompt_file_guard","prompt_file_guard","be","","","","",""],["onStart TaskStart TaskResume","session.start","bc","","","","",""],["onStop Stop","turn.stop","bc","","","","",""],["beforeToolCall","tool.before","bvc","","tool_name last_tool","tool_args","",""],["afterToolCall","tool.after","c","","tool_name last_tool","tool_args","",""],["onError","error","c","","","","",""],["beforeMessage","model.before","bc","","","","",""],["afterMessage","model.after","c","","","","",""],["PreToolUse","tool.before","bvc","updated_input","tool_name tool_call.name preToolUse.toolName toolCall.name toolName","tool_input tool_call.input preToolUse.parameters toolCall.args toolInput","",""],["PermissionDenied","PermissionDenied","","","tool_name toolName","tool_input toolInput","",""],["PostToolUse","tool.after","bc","updated_tool_response","tool_name tool_result.name postToolUse.toolName toolCall.name toolName","tool_input tool_result.input postToolUse.parameters toolCall.args toolInput","",""],["PostToolUseFailure","tool.after","c","","tool_name toolName","tool_input toolInput","",""],["PostToolBatch","PostToolBatch","bc","","","","",""],["MessageDisplay","MessageDisplay","","","","","",""],["SubagentStart","subagent.start","c","","","","",""],["SubagentStop","subagent.stop","bc","","","","",""],["Notification input.required","notification","","","","","",""],["SessionStart","session.start","cb","","","","",""],["Setup","Setup","c","","","","",""],["PostCompact","compact.after","b","","","","",""],["InstructionsLoaded","InstructionsLoaded","","","","","",""],["ConfigChange","ConfigChange","b","","","","",""],["CwdChanged","CwdChanged","","","","","",""],["DirectoryAdded","DirectoryAdded","","","","","",""],["FileChanged file.edited","file.changed","","","","","",""],["TaskCreated","TaskCreated","b","","","","",""],["TaskCompleted","TaskCompleted","b","","","","",""],["TeammateIdle","TeammateIdle","b","","","","",""],["WorktreeCreate","WorktreeCreate","b","","","","",""],["WorktreeRemove","WorktreeRemove","","","","","",""],["Elicitation","Elicitation","b","","","","",""],["ElicitationResult","ElicitationResult","b","","","","",""],["Interrupt StopCancelled","turn.interrupt","","","","","",""],["AfterAgent agentStop pre_verify before_agent_finalize agent.end","turn.stop","b","","","","",""],["BeforeModel","model.before","b","","","","",""],["BeforeToolSelection","BeforeToolSelection","","","","","",""],["AfterModel","model.after","b","","","","",""],["PreCompress preCompact context.compact","compact.before","","","","","",""],["preToolUse","tool.before","bv","updated_input","tool_name toolName","tool_input toolArgs","",""],["beforeShellExecution","tool.before","bv","","","","command","Shell"],["beforeMCPExecution","tool.before","bv","","tool_name","tool_input","",""],["postToolUse","tool.after","c","updated_tool_response","tool_name toolName","tool_input toolArgs","",""],["postToolUseFailure","tool.after","c","","tool_name toolName","tool_input toolArgs","",""],["afterShellExecution","tool.after","","","","","command","Shell"],["afterMCPExecution post_tool_call","tool.after","","","tool_name","tool_input","",""],["beforeReadFile beforeTabFileRead","tool.before","bv","","","","","Read"],["afterFileEdit afterTabFileEdit","tool.after","","","","","","Write"],["beforeSubmitPrompt pre_user_prompt","prompt.submit","b","","","","",""],["subagentStart","subagent.start","bvc","","","","",""],["subagentStop","subagent.stop","b","","","","",""],["workspaceOpen","workspaceOpen","","","","","",""],["userPromptTransformed","userPromptTransformed","","","","","",""],["preMcpToolCall","preMcpToolCall","","","","","",""],["permissionRequest","permission.request","bp","","toolName","toolArgs","",""],["SessionHeartbeat","SessionHeartbeat","","","","","",""],["UserPromptQueued","UserPromptQueued","","","","","",""],["TurnStarted","TurnStarted","","","","","",""],["PermissionResult","PermissionResult","","","tool_name","tool_input","",""],["TaskStarted","TaskStarted","","","","","",""],["pre_read_code","tool.before","bv","","","","","read_code"],["pre_write_code","tool.before","bv","","","","","write_code"],["pre_run_command","tool.before","bv","","","","tool_info.command_line","run_command"],["pre_mcp_tool_use","tool.before","bv","","","tool_info.mcp_tool_arguments","",""],["post_read_code","tool.after","","","","","","read_code"],["post_write_code","tool.after","","","","","","write_code"],["post_run_command","tool.after","","","","","tool_info.command_line","run_command"],["post_mcp_tool_use","tool.after","","","","tool_info.mcp_tool_arguments","",""],["post_cascade_response_with_transcript","post_cascade_response_with_transcript","","","","","",""],["post_setup_worktree","post_setup_worktree","","","","","",""],["SessionShutdown","SessionShutdown","","","","","",""],["PreInvocation","model.before","c","","","","",""],["session:compress","session:compress","","","","","",""],["reaction:added","reaction:added","","","","","",""],["reaction:removed","reaction:removed","","","","","",""],["message:pre_route","message:pre_route","","","","","",""],["on_session_finalize","on_session_finalize","","","","","",""],["pre_llm_call userPromptSubmit agent.start","prompt.submit","c","","","","",""],["post_llm_call","post_llm_call","","","","","",""],["pre_api_request model_call_started","model.before","","","","","",""],["transform_llm_output","transform_llm_output","","","","","",""],["transform_terminal_output","transform_terminal_output","","","tool_name","tool_input","",""],["subagent_start subagent.created subagent_spawned","subagent.start","","","","","",""],["tool.execute.before","tool.before","bv","updated_input","tool","args","",""],["tool.execute.after","tool.after","bc","","tool","args","",""],["experimental.session.compacting","compact.before","c","","","","",""],["permission.asked permission.request","permission.request","","","","","",""],["permission.replied","permission.replied","","","","","",""],["command.executed","command.executed","","","","","",""],["gateway_stop","gateway_stop","","","","","",""],["before_tool_call","tool.before","bv","updated_input","toolName","params","",""],["after_tool_call","tool.after","bc","","toolName","params","",""],["agent_end","agent_end","","","","","",""],["message_received","message_received","","","","","",""],["message_sending","message_sending","b","","","","",""],["message_sent","message_sent","","","","","",""],["SessionDelete","SessionDelete","","","","","",""],["TodoCreated","TodoCreated","b","","","","",""],["TodoCompleted","TodoCompleted","b","","","","",""],["tool_call","tool.before","bv","updated_input","toolName","input","",""],["tool_result","tool.after","bc","","toolName","input","",""],["session_before_compact","compact.before","b","","","","",""],["PreToolUseResult","PreToolUseResult","","","tool_name","tool_input","",""],["BeforeReadFile","BeforeReadFile","","","tool_name","tool_input","",""],["AfterFileEdit","AfterFileEdit","","","tool_name","tool_input","",""],["BeforeShellExecution","BeforeShellExecution","","","tool_name","tool_input","",""],["AfterShellExecution","AfterShellExecution","","","tool_name","tool_input","",""],["tool.call","tool.before","bv","updated_input","tool","input","",""],["tool.result","tool.after","bc","","tool","input","",""],["tool.use","tool.use","","","","","",""],["tool.error","tool.error","","","","","",""],["hookd:reload","hookd:reload","","","","","",""],["hookd:hook-changed","hookd:hook-changed","","","","","",""],["hookd:guard-gone","hookd:guard-gone","","","","","",""],["hookd:ask","hookd:ask","","","","","",""],["hookd:answered","hookd:answered","","","","","",""],["hookd:stop","hookd:stop","","","","","",""]],"other_tools":["agent","agentic_fetch","apply_patch","applypatch","ask_followup_question","ask_question","ask_user","ask_user_question","askuserquestion","browser_navigate","create","create_file","delegate","delegate_task","developer__edit","developer__read_image","developer__text_editor","developer__tree","developer__write","download","edit","edit_file","editfiles","editor","fetch","fetch_web_content","fetch_webpage","fetchurl","file_editor","file_list","file_read","file_search","file_write","find","fs_read","fs_write","glob","google_web_search","grep","grep_search","insert_edit_into_file","list","list_dir","list_directory","list_files","ls","manage_todo_list","multi_replace_file_content","multi_replace_string_in_file","multiedit","new_task","notebook_edit","notebook_read","patch","question","read","read_code","read_file","read_files","read_many_files","read_multiple_files","read_web_page","readfile","replace","replace_file_content","replace_in_file","replace_string_in_file","rg","run_subagent","runsubagent","search_codebase","search_file_content","search_files","search_files_content","search_replace","searchweb","sessions_spawn","settodolist","spawn_agent","str_replace_editor","strreplacefile","subagent","task","task_tracker","todo","todo_list","todo_write","todos","todowrite","transfer_task","tree","update_plan","update_todo","use_subagent","view","view_file","web_extract","web_fetch","web_search","webfetch","websearch","write","write_code","write_file","write_to_file","write_todos","writefile"],"shell_tools":["bash","create_and_run_task","developer__shell","exec","exec_command","execute","execute_bash","execute_cmd","execute_command","local_shell","monitor","run_background_job","run_command","run_commands","run_in_terminal","run_shell_command","run_terminal_cmd","run_terminal_command","runterminalcommand","send_command_input","shell","shell_command","shell_exec","terminal","write_bash","write_stdin","write_to_process"],"shells":["sh","bash","dash","ash","zsh","ksh","mksh","pdksh","fish","rbash","csh","tcsh","yash","elvish","nu"],"wrappers":{"alacritty":{"changes":true,"opaque":true},"arch":{"changes":true,"opaque":true},"asdf":{"changes":true,"opaque":true},"at":{"changes":true,"opaque":true},"aws-vault":{"changes":true,"opaque":true},"batch":{"changes":true,"opaque":true},"builtin":{},"bundle":{"changes":true,"sub":["exec"]},"bunx":{"changes":true},"busybox":{},"bwrap":{"changes":true,"opaque":true},"caffeinate":{"changes":true,"valued":["-t","-w"]},"capsh":{"changes":true,"opaque":true},"catchsegv":{"changes":true},"cgexec":{"changes":true,"opaque":true},"chamber":{"changes":true,"opaque":true},"chpst":{"changes":true,"opaque":true},"chronic":{"changes":true,"opaque":true},"chroot":{"changes":true,"skip":1},"chrt":{"changes":true,"opaque":true,"skip":1},"command":{"lookup":["-v","-V"]},"conda":{"changes":true,"opaque":true},"coverage":{"changes":true,"opaque":true},"cpulimit":{"changes":true,"opaque":true},"daemonize":{"changes":true,"opaque":true},"dbus-launch":{"changes":true,"opaque":true},"dbus-run-session":{"changes":true,"opaque":true},"distrobox":{"changes":true,"opaque":true},"doas":{"changes":true,"valued":["-u","-C"]},"doppler":{"changes":true,"opaque":true},"dotenv":{"changes":true,"opaque":true},"dotenvx":{"changes":true,"opaque":true},"eatmydata":{"changes":true},"entr":{"changes":true},"env":{"assigns":true,"text":["-S","--split-string"],"valued":["-u","--unset","-C","--chdir","-a","--argv0"]},"envdir":{"changes":true,"opaque":true},"exec":{"valued":["-a"]},"expect":{"changes":true,"opaque":true,"text":["-c"]},"fakeroot":{"changes":true},"faketime":{"changes":true,"opaque":true},"firejail":{"changes":true,"opaque":true},"flock":{"changes":true,"skip":1,"text":["-c","--command"],"valued":["-w","--timeout","-E"]},"gdb":{"changes":true,"opaque":true},"gnome-terminal":{"changes":true,"opaque":true},"gosu":{"changes":true,"opaque":true},"gtime":{"changes":true,"opaque":true},"gtimeout":{"skip":1,"valued":["-k","--kill-after","-s","--signal"]},"hatch":{"changes":true,"opaque":true},"hyperfine":{"changes":true,"opaque":true},"ionice":{"valued":["-c","--class","-n","--classdata"]},"konsole":{"changes":true,"opaque":true},"limactl":{"changes":true,"opaque":true},"linux32":{"changes":true,"opaque":true},"linux64":{"changes":true,"opaque":true},"ltrace":{"changes":true,"opaque":true,"valued":["-e","-o","-p","-u"]},"mamba":{"changes":true,"opaque":true},"mise":{"changes":true,"sub":["exec","x"]},"mosh":{"changes":true,"skip":1,"valued":["-p"]},"nice":{"valued":["-n","--adjustment"]},"nix":{"changes":true,"opaque":true},"nix-shell":{"changes":true,"opaque":true,"text":["--run","--command"]},"nocorrect":{"changes":true},"nodemon":{"changes":true,"opaque":true},"noglob":{"changes":true},"nohup":{},"npx":{"changes":true,"valued":["-p","--package"]},"nsenter":{"changes":true,"opaque":true,"valued":["-t","--target"]},"numactl":{"changes":true,"opaque":true},"op":{"changes":true,"opaque":true},"parallel":{"changes":true,"feeds":true,"joined":true,"stop":":::","valued":["-j","--jobs","-a","--arg-file","-I","-n","-N","--colsep","-d","--delay","--timeout"]},"pdm":{"changes":true,"opaque":true},"perf":{"changes":true,"opaque":true},"pipenv":{"changes":true,"sub":["run"]},"pkexec":{"changes":true,"valued":["--user","-u"]},"pnpm":{"changes":true,"sub":["exec","dlx"]},"pnpx":{"changes":true},"poetry":{"changes":true,"sub":["run"]},"prlimit":{"changes":true,"opaque":true},"proot":{"changes":true,"opaque":true},"proxychains":{"changes":true},"proxychains4":{"changes":true,"opaque":true},"pyenv":{"changes":true,"opaque":true},"rbenv":{"changes":true,"opaque":true},"rtk":{"changes":true},"run0":{"changes":true,"valued":["-u","--user","-g","--group","-D","--chdir"]},"runuser":{"changes":true,"text":["-c","--command"],"valued":["-u","-g","-G"]},"rush":{"changes":true,"opaque":true},"screen":{"changes":true,"opaque":true},"script":{"changes":true,"opaque":true,"text":["-c","--command"],"valued":["-T","-o","-O","-I","-B","-E"]},"setarch":{"changes":true,"opaque":true},"setpriv":{"changes":true,"opaque":true,"valued":["--reuid","--regid"]},"setsid":{},"setuidgid":{"changes":true,"opaque":true},"softlimit":{"changes":true,"opaque":true},"ssh":{"changes":true,"joined":true,"skip":1,"valued":["-b","-c","-D","-E","-e","-F","-I","-i","-J","-L","-l","-m","-O","-o","-p","-Q","-R","-S","-W","-w","-B"]},"sshpass":{"changes":true,"opaque":true},"start-stop-daemon":{"changes":true,"opaque":true},"stdbuf":{"valued":["-i","--input","-o","--output","-e","--error"]},"strace":{"changes":true,"opaque":true,"valued":["-e","-o","-p","-s","-u","-E"]},"su":{"changes":true,"skip":1,"text":["-c","--command"],"valued":["-s","--shell","-g","-G","-w"]},"su-exec":{"changes":true,"opaque":true},"sudo":{"changes":true,"valued":["-u","--user","-g","--group","-h","--host","-p","--prompt","-C","--close-from","-D","--chdir","-r","--role","-t","--type","-T","-U","-R","--chroot"]},"systemd-inhibit":{"changes":true,"opaque":true},"systemd-run":{"changes":true,"opaque":true,"valued":["-p","--property","-u","--unit","-E","--setenv","-M","-H","--on-active","--on-calendar","--uid","--gid","--description","--slice"]},"taskset":{"changes":true,"skip":1},"time":{"valued":["-f","--format","-o","--output"]},"timeout":{"skip":1,"valued":["-k","--kill-after","-s","--signal"]},"torify":{"changes":true},"torsocks":{"changes":true,"opaque":true},"toybox":{},"unbuffer":{"changes":true},"unshare":{"changes":true,"opaque":true,"valued":["-R","--root","-w","--wd","-S","-G"]},"uv":{"changes":true,"sub":["run"]},"uvx":{"changes":true,"valued":["--from"]},"valgrind":{"changes":true,"opaque":true},"watch":{"changes":true,"joined":true,"valued":["-n","--interval"]},"watchexec":{"changes":true,"opaque":true},"wsl":{"changes":true,"opaque":true},"xargs":{"feeds":true,"valued":["-a","--arg-file","-d","--delimiter","-E","-I","-L","-n","--max-args","-P","--max-procs","-s","--max-chars","-R","-S","-J"]},"xterm":{"changes":true,"opaque":true},"xvfb-run":{"changes":true,"opaque":true},"yarn":{"changes":true,"sub":["exec","dlx","run"]}}}';
// end

export {
  HookEvent, Answer, Words, Unread, HookdError,
  run, deny, ask, allow, context, rewrite, commands, emit, decide, subscribe, socketPath,
};

