/** Runs the steps of `karmadactl-steps.ts` with the stock binary, and removes variable parts from the answers. */
import { spawn } from "node:child_process";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { sleep, systemClock } from "@flotilla/base";
import type { Step } from "./karmadactl-steps.ts";

const MANIFESTS = fileURLToPath(new URL("./testdata/karmadactl/manifests", import.meta.url));
/** No command takes longer unless it hangs. */
const COMMAND_MS = 60_000;
const UNTIL_MS = 60_000;
const AGAIN_MS = 250;

export interface Fleet {
  karmadactl: string;
  /** A home for discovery caches, isolated from the user who runs this. */
  home: string;
  kubeconfigs: { hub: string; member1: string; joining: string };
}

export interface Answer {
  code: number;
  stdout: string;
  stderr: string;
}

const wordsOf = ({ run }: Step): readonly string[] => (typeof run === "string" ? run.split(" ") : run);
/** The title of a step in reports. */
export const titleOf = (step: Step): string =>
  `${step.on ? `on ${step.on}: ` : ""}karmadactl ${wordsOf(step).join(" ")}`;

export async function runStep(fleet: Fleet, step: Step): Promise<Answer> {
  const untilMs = Date.now() + UNTIL_MS;
  for (;;) {
    const raw = await run(fleet, step);
    if (!step.until || step.until.test(raw.stdout)) return tidy(fleet, step, raw);
    if (Date.now() > untilMs)
      throw new Error(`${titleOf(step)}: still answers with exit code ${raw.code}: ${raw.stdout}${raw.stderr}`);
    await sleep(systemClock, AGAIN_MS);
  }
}

function run({ karmadactl, home, kubeconfigs }: Fleet, step: Step): Promise<Answer> {
  const files: Record<string, string> = { ...kubeconfigs };
  const words = wordsOf(step).map((word) =>
    word.replace(/^\{([a-z0-9.-]+)\}$/, (_, name: string) => files[name] ?? join(MANIFESTS, name)),
  );
  // Flags after `--` would belong to the executed command.
  const [command = "", ...rest] = words;
  const args = [command, "--kubeconfig", kubeconfigs[step.on ?? "hub"], ...rest];
  const child = spawn(karmadactl, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", HOME: home, EDITOR: "true" },
  });
  let [stdout, stderr] = ["", ""];
  const timeoutMs = setTimeout(() => child.kill("SIGKILL"), COMMAND_MS);
  const isEnough = (): boolean => step.endsAfter?.test(stdout.slice(0, stdout.lastIndexOf("\n") + 1)) === true;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
    if (isEnough()) child.kill("SIGKILL");
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  // A command that does not read its input may exit before it is written.
  child.stdin.on("error", () => {});
  child.stdin.end(step.stdin ?? "");
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timeoutMs);
      const wasEnough = isEnough();
      if (code === null && !wasEnough)
        reject(new Error(`${titleOf(step)}: did not end within ${COMMAND_MS} ms: ${stdout}${stderr}`));
      // Output between the last awaited line and the end is nondeterministic.
      else resolve({ code: code ?? 0, stdout: wasEnough ? cutAfter(stdout, step.endsAfter) : stdout, stderr });
    });
  });
}

function cutAfter(text: string, pattern: RegExp | undefined): string {
  const found = pattern?.exec(text);
  return found ? text.slice(0, text.indexOf("\n", found.index) + 1) : text;
}

/** Objects of Open Cluster Management and agent certificates, which Karmada was recorded without. */
const OTHERS = /open-cluster-management-(hub|agent)|^certificatesigningrequests /;
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>"],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000/g, "<time>"],
  [/https:\/\/(127\.0\.0\.1|localhost):\d+(\/clusters\/[a-z0-9-]+)?/g, "<server>"],
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, "<token>"],
  [/sha256:[0-9a-f]{64}/g, "sha256:<digest>"],
  [/register 127\.0\.0\.1:\d+/g, "register <server>"],
  [/\bnode-\d{3}\b/g, "<node>"],
  [/\b10\.\d+\.\d+\.\d+\b/g, "<address>"],
  [/[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ ([a-z_]+\.go):\d+\]/g, "<$1>"],
  [/(resourceVersion|generation)"?: "?\d+"?/g, "$1: <number>"],
  // How often it polls for the removal of a cluster is nondeterministic.
  [/^.*Waiting for the cluster object .* to be deleted\n/gm, ""],
  // Which events are emitted is a separate difference.
  [/^Events:[^]*/m, "Events:"],
  // Pods and ReplicaSets of a Deployment.
  [/\b(web|legacy)-(?!deployment|config|secret|reader)[a-z0-9]{6,10}(-[a-z0-9]{5})?\b/g, "$1-<suffix>"],
  [/ {2,}/g, "  "],
  [/[ \t]+$/gm, ""],
];

function tidy({ kubeconfigs }: Fleet, step: Step, { code, stdout, stderr }: Answer): Answer {
  const { only: _, ...whole } = step;
  return { code, stdout: tidyText(kubeconfigs, step, stdout), stderr: tidyText(kubeconfigs, whole, stderr) };
}

function tidyText(kubeconfigs: Fleet["kubeconfigs"], step: Step, given: string): string {
  const { only, anyOrder } = step;
  let text = given.replaceAll(`${MANIFESTS}/`, "");
  for (const [name, path] of Object.entries(kubeconfigs))
    text = text.replaceAll(path, `<${name}>`).replaceAll(basename(path), `<${name}>`);
  // An age of 250m elsewhere is a quarter of a CPU in `top`.
  if (wordsOf(step)[0] !== "top") text = text.replace(/(?<=\s)(\d+[smhd])+(?=\s|$)/gm, "<age>");
  for (const [pattern, by] of REPLACEMENTS) text = text.replace(pattern, by);
  const lines = text.split("\n").filter((line) => (only === undefined || only.test(line)) && !OTHERS.test(line));
  if (anyOrder) lines.sort();
  return lines.join("\n");
}
