import { expect, test } from "vitest";
import { commands } from "./commands.ts";

test("the command list repeats each command's own summary", async () => {
  for (const { name, summary, load } of commands) expect(await load()).toMatchObject({ name, summary });
});
