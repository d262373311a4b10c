// Reads JSON texts, one a line, and prints what commands says of each.
import { readFileSync } from "node:fs";
import { commands, Unread } from "./hookd.mjs";

for (const text of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  let said;
  try {
    said = { commands: commands(JSON.parse(text)) };
  } catch (e) {
    if (!(e instanceof Unread)) throw e;
    said = { commands: e.commands, unread: e.reason };
  }
  said.computed = said.commands.map((words) => words.computed);
  console.log(JSON.stringify(said));
}
