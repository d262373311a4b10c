import { run, deny } from "./hookd.ts";

run<"PreToolUse">((event) => {
  console.log("seen", event.name); // goes to stderr
  for (const command of event.commands) {
    if (command.program === "sudo") return deny("no sudo");
  }
});
