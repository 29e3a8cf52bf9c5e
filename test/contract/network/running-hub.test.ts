import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { noteRunning, refuseSecondStart } from "../../../packages/server/src/process/running.ts";

let data: string;
let listener: Server;
let url: string;
beforeEach(async () => {
  data = mkdtempSync(join(tmpdir(), "flotilla-running-"));
  listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  url = `https://127.0.0.1:${(listener.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await new Promise((resolve) => listener.close(resolve));
  rmSync(data, { recursive: true, force: true });
});

/** An existing process that is not this one. */
const OTHER = process.ppid;

test("a directory with a running fleet is rejected, with its process, its address and what to do", async () => {
  await noteRunning(data, { pid: OTHER, url, command: "apiserver" });

  await expect(refuseSecondStart(data)).rejects.toMatchObject({
    code: "AlreadyRunning",
    message:
      `'flotilla apiserver' is already running in ${data} (pid ${OTHER}, ${url}); use that one, stop it with ` +
      `'kill ${OTHER}', or choose another directory with --data DIR`,
  });
});

test("a stopped fleet leaves no note behind", async () => {
  const forget = await noteRunning(data, { pid: OTHER, url, command: "up" });

  await forget();

  expect(readdirSync(data)).toEqual([]);
  await refuseSecondStart(data);
});

const left: Record<string, () => string> = {
  "a note of a process that was killed": () => JSON.stringify({ pid: 2 ** 30, url }),
  "a note whose pid belongs to another process": () => JSON.stringify({ pid: OTHER, url: "https://127.0.0.1:1" }),
  "a truncated note": () => '{"pid": 12',
  "an unrelated file": () => "[]",
  "a note with an invalid address": () => JSON.stringify({ pid: OTHER, url: "here" }),
};
for (const [what, text] of Object.entries(left)) {
  test(`${what} does not prevent a start`, async () => {
    writeFileSync(join(data, "up.json"), text());

    await expect(refuseSecondStart(data)).resolves.toBeUndefined();
  });
}
