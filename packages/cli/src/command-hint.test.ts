import { expect, test } from "vitest";
import { commandHint } from "./command-hint.ts";

test("a command that only kubectl has is answered with what to use instead", () => {
  expect(commandHint("rollout")).toMatch(/^; use 'flotilla kubectl rollout' .* 'flotilla wait' to wait for one$/);
  expect(commandHint("scale")).toBe("; use 'flotilla kubectl scale'");
  expect(commandHint("restart")).toBe("");
});
