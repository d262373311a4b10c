import { run, deny } from "./hookd.mjs";

run((event) => {
  const all = event.commands;
  return deny(JSON.stringify({
    commands: all, computed: all.map((c) => c.computed), programs: all.map((c) => c.program), via: all.map((c) => c.via),
    guess: all.map((c) => c.guess), env: all.flatMap((c) => c.env.map((e) => e.name)),
    to: all.flatMap((c) => c.redirects.map((r) => r.target.text)),
    effects: event.effects.map((e) => [e.kind, e.target, e.certain, e.why, e.command, e.span.from]),
    doubts: event.doubts.map((d) => [d.kind, d.text, d.command, d.span.from]),
  }));
});
