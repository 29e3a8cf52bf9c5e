import { expect, test } from "vitest";
import { commands } from "./commands.ts";

test("the list of commands says what the commands say about themselves", async () => {
  for (const { name, summary, load } of commands) expect(await load()).toMatchObject({ name, summary });
});
