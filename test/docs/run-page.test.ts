/**
 * Tests the runner with synthetic pages, a stub for `flotilla` and no fleet: it executes pages, and fails when it
 * should.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withFastFlags, isUp } from "./fleets.ts";
import { runPage } from "./run-page.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "flotilla-docs-test-"));
  program(
    "flotilla",
    `echo $PPID > group; echo "$@" >> ${folder}/flotilla.calls; trap 'echo stopped >> ` +
      `${folder}/flotilla.calls; exit 0' INT; echo ready here; while :; do sleep 0.05; done`,
  );
  program("kubectl", `cat "$4" >> ${folder}/kubectl.input; test ! -e ${folder}/refuse || { echo refused; exit 1; }`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function program(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/bash\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

/** A page without a fleet, with ~~~ for the fences. */
const run = (...lines: string[]): Promise<unknown> => runWith("<!-- fleet: none -->", ...lines);
const runWith = (...lines: string[]): Promise<unknown> =>
  runPage("docs/example.md", lines.join("\n").replaceAll("~~~", "```"), {
    programs: { flotilla: join(folder, "flotilla"), kubectl: join(folder, "kubectl") },
  });
/** With short limits, for output that never arrives. */
const runWithShortLimits = (
  limits: { commandLimitMs?: number; matchLimitMs?: number },
  ...lines: string[]
): Promise<unknown> =>
  runPage("docs/example.md", ["<!-- fleet: none -->", ...lines].join("\n").replaceAll("~~~", "```"), {
    programs: {},
    ...limits,
  });
const calls = (): string[] => {
  const file = join(folder, "flotilla.calls");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  rmSync(file, { force: true });
  return text.split("\n").filter((line) => line !== "");
};

test("variables set by a command are available to the next, also in another block", async () => {
  const running = run(
    "~~~sh",
    "colour=blue",
    "mkdir inner && cd inner",
    "export SHAPE=round",
    "~~~",
    "~~~sh",
    'echo "$colour $SHAPE $(basename "$PWD")"',
    "~~~",
    "~~~text",
    "blue round inner",
    "~~~",
  );

  await expect(running).resolves.toEqual({ skipped: [] });
});

test("files of the page are available to later commands", async () => {
  const running = run(
    "~~~yaml deep/a.yaml",
    "a: 1",
    "~~~",
    "~~~sh",
    "cat deep/a.yaml",
    "~~~",
    "~~~text",
    "a: 1",
    "~~~",
  );

  await expect(running).resolves.toEqual({ skipped: [] });
});

test("the examples and a separate home directory are available", async () => {
  const running = run(
    "~~~sh",
    "test -f examples/shop/shop.yaml",
    'test -z "$(ls -A ~)"',
    'test "$KUBECONFIG" = ~/.flotilla/hub.kubeconfig',
    "~~~",
  );

  await expect(running).resolves.toEqual({ skipped: [] });
});

test("the last command is repeated until it prints the expected output", async () => {
  const running = run("~~~sh", "echo x >> log; wc -l < log", "~~~", "~~~text", "3", "~~~");

  await expect(running).resolves.toEqual({ skipped: [] });
});

test("output directly after a wait is compared once, and output after another change is repeated", async () => {
  const wait = "kubectl wait pod/web --for=condition=Ready /dev/null";
  const count = ["echo x >> log; wc -l < log", "~~~", "~~~text", "3", "~~~"];

  await expect(run("~~~sh", wait, ...count)).rejects.toThrow(/did not print this line: 3\n[^]*printed:\n {4}1/);
  await expect(run("~~~sh", wait, "true", ...count)).resolves.toEqual({ skipped: [] });
  await expect(run("~~~sh", wait.replace("wait", "delete --wait=false"), ...count)).resolves.toEqual({ skipped: [] });
});

test("a failing command fails the page, with its line and output", async () => {
  const running = run("text", "~~~sh", "echo fine", "echo broken >&2; exit 3", "echo never", "~~~");

  await expect(running).rejects.toThrow(
    /^docs\/example\.md:5: echo broken >&2; exit 3\n {2}ended with exit code 3, not 0\n {2}printed:\n {4}broken$/,
  );
});

test("a failing command in a pipe fails the page", async () => {
  await expect(run("~~~sh", "false | cat", "~~~")).rejects.toThrow(/exit code 1, not 0/);
});

test("a command that is expected to fail and does not fails the page", async () => {
  await expect(run("~~~sh", "true # exit 1", "~~~")).rejects.toThrow(/ended with exit code 0, not 1/);
});

test("a command that is expected to fail and does passes", async () => {
  const running = run("~~~sh", "echo no; exit 2 # exit 2", "~~~", "~~~text", "no", "~~~");

  await expect(running).resolves.toEqual({ skipped: [] });
});

test("unexpected output fails the page, with both texts", async () => {
  const running = runWithShortLimits({ matchLimitMs: 0 }, "~~~sh", "echo seen", "~~~", "~~~text", "wanted", "~~~");

  await expect(running).rejects.toThrow(
    /did not print this line: wanted\n {2}expected:\n {4}wanted\n {2}printed:\n {4}seen/,
  );
});

test("a command that does not terminate is killed, and fails the page", async () => {
  await expect(runWithShortLimits({ commandLimitMs: 500 }, "~~~sh", "sleep 60", "~~~")).rejects.toThrow(
    /did not terminate within 0.5 s/,
  );
});

test("a skipped block is not run, and is reported", async () => {
  const result = await run("<!-- not run: it needs a moon -->", "~~~sh", "exit 1", "~~~");

  expect(result).toEqual({ skipped: [{ type: "skipped", line: 3, reason: "it needs a moon" }] });
});

test("a long-running program runs in parallel with later commands, and ends with the page", async () => {
  await run(
    "~~~sh",
    // Without a trap for INT, bash ignores a signal that arrives while a sleep ends by itself.
    `trap 'touch ${folder}/ended; exit' INT; echo up; while :; do sleep 0.05; done   # Ctrl-C stops`,
    "~~~",
    "~~~text",
    "up",
    "~~~",
    "~~~sh",
    `test ! -e ${folder}/ended`,
    "~~~",
  );

  expect(existsSync(join(folder, "ended"))).toBe(true);
});

test("an error of the page fails it before anything is run", async () => {
  await expect(run("~~~sh", "true", "~~~", "~~~console", "$ true", "~~~")).rejects.toThrow(
    /^docs\/example\.md:5: is a block of console/,
  );
});

test("invalid YAML fails the page", async () => {
  await expect(run("~~~yaml", "a: [1", "~~~")).rejects.toThrow(/^docs\/example\.md:2: this is not YAML/);
});

test("a page runs on the fleet that it specifies, which is stopped at its end", async () => {
  await runWith("<!-- fleet: --members 2 -->", "~~~sh", "true", "~~~");

  expect(calls()).toEqual([expect.stringMatching(/^up --port 0 --start-ms 0 .*--members 2$/), "stopped"]);
});

test("a page that starts with a fleet uses its own, and another fleet on the same directory stops it", async () => {
  await runWith(
    "~~~sh",
    "flotilla up --members 1",
    "~~~",
    "~~~text",
    "ready …",
    "~~~",
    "~~~sh",
    "flotilla up --members 4   # Ctrl-C stops",
    "flotilla up --data other",
    "~~~",
  );

  const started = calls();
  expect(started.map((line) => line.replace(/ --port.*failure-threshold \d+/, ""))).toEqual([
    "up --members 1",
    "stopped",
    "up --members 4",
    "up --data other",
    "stopped",
    "stopped",
  ]);
});

test("a fleet that exits by itself is reported with the failure that follows", async () => {
  const running = runWith(
    "~~~sh",
    "flotilla up",
    "kill -- -$(cat group); while kill -0 -- -$(cat group); do sleep 0.02; done 2>/dev/null; false",
    "~~~",
  );

  await expect(running).rejects.toThrow(/exit code 1, not 0[^]*a fleet has ended; it printed:\n {4}ready here/);
  calls();
});

test("a page without commands starts no fleet", async () => {
  await runWith("# Title", "~~~ts", "const a = 1;", "~~~", "~~~yaml", "a: 1", "~~~");

  expect(calls()).toEqual([]);
});

test("a shown manifest is sent to the hub, and one that the hub rejects fails the page", async () => {
  const manifest = ["~~~yaml", "apiVersion: v1", "kind: ConfigMap", "metadata: { name: a }", "~~~"];

  await runWith(...manifest);
  writeFileSync(join(folder, "refuse"), "");
  const refused = runWith(...manifest);

  await expect(refused).rejects.toThrow(/^docs\/example\.md:1: the hub does not take this manifest\n {4}refused/);
  expect(readFileSync(join(folder, "kubectl.input"), "utf8")).toContain('"kind":"ConfigMap"');
  rmSync(join(folder, "refuse"));
});

const starts: Record<string, boolean> = {
  "flotilla up": true,
  "bin/flotilla up --members 2   # Ctrl-C stops": true,
  "kubectl flotilla up": true,
  "flotilla apiserver --data hub": true,
  "flotilla controllers --kubeconfig FILE": false,
  "flotilla up --help": false,
  "flotilla upgrade": false,
  "echo flotilla up": false,
};
for (const [command, want] of Object.entries(starts)) {
  test(`${command} ${want ? "starts a fleet" : "starts no fleet"}`, () => {
    expect(isUp(command)).toBe(want);
  });
}

test("a page's fleet uses free ports and fast settings, unless the page sets them", () => {
  expect(withFastFlags("flotilla up --port 7443 --start-ms 500 --data a")).toBe(
    "flotilla up --port 0 --cluster-status-update-frequency 1 --cluster-success-threshold 1 --cluster-failure-threshold 2 --start-ms 500 --data a",
  );
});
