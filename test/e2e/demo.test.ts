/**
 * The demo is what new users see first: it passes with and without kubectl, within its time limit, and leaves nothing
 * behind.
 */
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryDirectory } from "../programs/flotilla-process.ts";
import { SHIPPED_MAIN } from "../shipped.ts";

const STEPS = 12;

let folder: ReturnType<typeof temporaryDirectory>;
beforeEach(() => (folder = temporaryDirectory()));
afterEach(() => folder.remove());

/** Runs in its own directories, so that leftovers are detected. `onText` is called with all output so far. */
function demo(
  args: readonly string[],
  environment: Record<string, string>,
  onText: (text: string, stop: () => void) => void = () => {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const [temporary, home] = [join(folder.path, "tmp"), join(folder.path, "home")];
  for (const path of [temporary, home]) mkdirSync(path);
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", SHIPPED_MAIN, "demo", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, TMPDIR: temporary, HOME: home, ...environment },
  });
  let [stdout, stderr] = ["", ""];
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => onText((stdout += chunk), () => child.kill("SIGINT")));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
}
const leftBehind = (): string[] =>
  ["tmp", "home"]
    .flatMap((name) => readdirSync(join(folder.path, name), { recursive: true }).map(String))
    .filter((path) => !path.startsWith("node-compile-cache"));

test("every step is verified, with output suitable for a log", { timeout: 180_000 }, async () => {
  const { code, stdout, stderr } = await demo([], {});

  expect(stderr).toBe("");
  expect(stdout.match(/^✓ /gm)).toHaveLength(STEPS);
  expect(stdout).toMatch(
    /All 12 steps were observed, in [\d.]+ s\. Your turn: flotilla up\n\(flotilla demo --files DIR keeps its manifests in a folder, to try them there\.\)\n$/,
  );
  // oxlint-disable-next-line no-control-regex -- Escapes are what must not be there.
  expect(stdout).not.toMatch(/[\u001b\r]/);
  expect(code).toBe(0);
  expect(leftBehind()).toEqual([]);
});

test(
  "without kubectl the demo runs the same steps, prints data on request, and keeps its files where requested",
  { timeout: 180_000 },
  async () => {
    const kept = join(folder.path, "kept");
    const { code, stdout, stderr } = await demo(["-o", "json", "--files", kept], { KUBECTL: "" });

    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as { observed: unknown[] }).observed).toHaveLength(STEPS);
    expect(readdirSync(kept).sort()).toEqual([
      "failover.yaml",
      "mirror.yaml",
      "rebalance.yaml",
      "shop.yaml",
      "work.yaml",
    ]);
  },
);

test("Ctrl-C in the middle leaves nothing behind", { timeout: 60_000 }, async () => {
  const { code } = await demo([], { KUBECTL: "" }, (text, stop) => {
    if (text.includes("2/12")) stop();
  });

  expect(code).not.toBe(0);
  expect(leftBehind()).toEqual([]);
});
