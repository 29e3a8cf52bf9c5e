/** `flotilla up` as a user sees it: its output and files, a second start, a port in use, unusable directories. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { flotilla, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";

let folder: ReturnType<typeof temporaryDirectory>;
let running: Up | undefined;
beforeEach(() => (folder = temporaryDirectory()));
afterEach(async () => {
  await running?.stop("SIGKILL");
  running = undefined;
  folder.remove();
});

const SMALL = ["--members", "1", "--nodes", "1"];
const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

test(
  "flotilla up prints the next commands, writes a structured log, and removes up.json on exit",
  { timeout: 60_000 },
  async () => {
    const data = join(folder.path, "fleet");
    running = await up(data, ...SMALL);
    const noted = JSON.parse(readFileSync(join(data, "up.json"), "utf8")) as { pid: number; url: string };

    const { code, stdout, stderr } = await running.stop("SIGTERM");
    running = undefined;

    expect(noted.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(stdout).toContain(`export KUBECONFIG=${join(data, "hub.kubeconfig")}`);
    expect(stdout).toContain(`log       ${join(data, "flotilla.log")}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(existsSync(join(data, "up.json"))).toBe(false);
    const log = lines(readFileSync(join(data, "flotilla.log"), "utf8")).map(
      (line) => JSON.parse(line) as { time: string; level: string; message: string },
    );
    expect(log.map(({ message }) => message)).toContain("ready");
    expect(log.every(({ time, level }) => time !== "" && ["info", "warn", "error"].includes(level))).toBe(true);
  },
);

test(
  "a second start on the same directory reports the first in one line, and the first keeps running",
  { timeout: 60_000 },
  async () => {
    running = await up(folder.path, ...SMALL);

    const second = await flotilla("up", "--data", folder.path, "--port", "0", ...SMALL);
    const status = await flotilla("status", "--data", folder.path);

    expect(second.code).toBe(1);
    expect(lines(second.stderr)).toHaveLength(1);
    expect(second.stderr).toContain(running.url);
    expect(second.stderr).toMatch(/pid \d+.*--data DIR/);
    expect(status).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("components 4/4 in karmada-system, 4/4 in open-cluster-management-hub") as string,
    });
  },
);

test("after kill -9 flotilla up resumes with its data", { timeout: 60_000 }, async () => {
  running = await up(folder.path, ...SMALL);
  await running.stop("SIGKILL");

  running = await up(folder.path, ...SMALL);

  expect((await running.stop("SIGTERM")).code).toBe(0);
  running = undefined;
});

test("a port in use is reported in one line with a remedy", { timeout: 60_000 }, async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;

  const { code, stderr } = await flotilla("up", "--data", folder.path, "--port", String(port), ...SMALL);
  await new Promise((resolve) => other.close(resolve));

  expect(code).toBe(1);
  expect(lines(stderr)).toEqual([
    `flotilla up: port ${port} of 127.0.0.1 is taken; choose another with --port P (0 takes any that is free), or stop what listens there`,
  ]);
  expect(readdirSync(folder.path)).toEqual([]);
});

const unusable: Record<string, { prepare(data: string): void; says: RegExp }> = {
  "a file instead of the directory": {
    prepare: (data) => writeFileSync(data, ""),
    says: /a file of that name exists; choose another with --data DIR/,
  },
  "a store that cannot be opened": {
    prepare: (data) => mkdirSync(join(data, "flotilla.db"), { recursive: true }),
    says: /cannot use the store .*flotilla\.db: .*choose another/,
  },
  "a file that is not a store": {
    prepare(data) {
      mkdirSync(data);
      writeFileSync(
        join(data, "flotilla.db"),
        "this is not a database, and long enough to be taken for one by its size alone",
      );
    },
    says: /cannot use the store .*damaged or not a Flotilla store\. Run .flotilla fsck --data .* to see what can be restored/,
  },
  "the store of a newer version": {
    prepare(data) {
      mkdirSync(data);
      const database = new DatabaseSync(join(data, "flotilla.db"));
      database.exec("PRAGMA application_id = 1181511540; PRAGMA user_version = 999; CREATE TABLE later (x)");
      database.close();
    },
    says: /it was written by a newer Flotilla \(format 999\); use that version or a newer one/,
  },
};
for (const [what, { prepare, says }] of Object.entries(unusable)) {
  test(`${what} is reported in one line and left unchanged`, { timeout: 60_000 }, async () => {
    const data = join(folder.path, "fleet");
    prepare(data);

    const { code, stderr } = await flotilla("up", "--data", data, "--port", "0", ...SMALL);

    expect(code).toBe(1);
    expect(lines(stderr)).toHaveLength(1);
    expect(stderr).toMatch(says);
  });
}
