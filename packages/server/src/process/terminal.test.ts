import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { FlotillaError } from "@flotilla/base";
import { createTerminal } from "./terminal.ts";
import type { TerminalHost } from "./terminal.ts";

/** A terminal with simulated typing. */
function makeTyped(interrupt: () => void) {
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => keys });
  const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  const host = { stdin: keys, stdout: screen, stderr: screen, interrupt } as unknown as TerminalHost;
  return { keys, terminal: createTerminal(host) };
}

test("an answer is the line that was typed", async () => {
  const { keys, terminal } = makeTyped(() => {});

  const answer = terminal.ask("Go on? ", new AbortController().signal);
  keys.write("yes\r");

  expect(await answer).toBe("yes");
});

test("Ctrl-C at a question interrupts the command", async () => {
  const stop = new AbortController();
  const { keys, terminal } = makeTyped(() => stop.abort(new FlotillaError("Stopped", "interrupted by Ctrl-C")));

  const answer = terminal.ask("Go on? ", stop.signal);
  keys.write("\u0003");

  await expect(answer).rejects.toMatchObject({ code: "Stopped", message: "interrupted by Ctrl-C" });
});

test("a terminal that disconnects gives no answer", async () => {
  const { keys, terminal } = makeTyped(() => {});

  const answer = terminal.ask("Go on? ", new AbortController().signal);
  keys.end();

  expect(await answer).toBeUndefined();
});

test("Ctrl-D gives no answer", async () => {
  const { keys, terminal } = makeTyped(() => {});

  const answer = terminal.ask("Go on? ", new AbortController().signal);
  keys.write("\u0004");

  expect(await answer).toBeUndefined();
});
