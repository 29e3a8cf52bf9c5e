import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { noteRunning, refuseSecondStart } from "./running.ts";

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

/** A process that is there and is not this one. */
const OTHER = process.ppid;

test("a directory in which a fleet runs is refused, with its process, its address and what to do", async () => {
  await noteRunning(data, { pid: OTHER, url });

  await expect(refuseSecondStart(data)).rejects.toMatchObject({
    code: "AlreadyRunning",
    message: `'flotilla up' runs already in ${data} (pid ${OTHER}, ${url}); use that one, stop it with 'kill ${OTHER}', or choose another directory with --data DIR`,
  });
});

test("one that ended leaves nothing behind", async () => {
  const forget = await noteRunning(data, { pid: OTHER, url });

  await forget();

  expect(readdirSync(data)).toEqual([]);
  await refuseSecondStart(data);
});

const left: Record<string, () => string> = {
  "a note of a process that was killed": () => JSON.stringify({ pid: 2 ** 30, url }),
  "a note whose number another process has by now": () => JSON.stringify({ pid: OTHER, url: "https://127.0.0.1:1" }),
  "a note that was cut off in the middle": () => '{"pid": 12',
  "a note of something else": () => "[]",
  "a note with an address that is none": () => JSON.stringify({ pid: OTHER, url: "here" }),
};
for (const [what, text] of Object.entries(left)) {
  test(`${what} keeps nobody from starting`, async () => {
    writeFileSync(join(data, "up.json"), text());

    await expect(refuseSecondStart(data)).resolves.toBeUndefined();
  });
}
