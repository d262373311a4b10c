import { emit, decide, subscribe, HookdError } from "./hookd.mjs";

try {
  const first = (await emit("my:own", { a: "\ud800\u2028" }, { id: String(process.pid) })).event_id;
  console.log(first === (await emit("my:own", { a: "\ud800\u2028" }, { id: String(process.pid) })).event_id);
  for (const command of ["ls", "sudo ls"]) {
    const verdict = await decide("PreToolUse", { tool_name: "Bash", tool_input: { command } }, { ms: 30000 });
    console.log(verdict.allowed, verdict.message ?? "");
  }
  for await (const record of subscribe(["my:*"], { since: 0 })) {
    if (record.event_id !== first) continue;
    console.log(true);
    break;
  }
  await emit("a b");
} catch (e) {
  if (!(e instanceof HookdError)) throw e;
  console.log(e.code);
}
