import { run, deny } from "./hookd.ts";

run<"PreToolUse">((event) => {
  console.log("seen", event.name); // goes to stderr
  for (const words of event.command) {
    if (words.program === "sudo") return deny("no sudo");
  }
});
