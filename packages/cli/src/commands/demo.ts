/**
 * `flotilla demo`: a guided tour on a temporary fleet. Every step acts as a user would and waits until the expected
 * effect is observed. A step whose effect is not observed in time fails the demo, so exit code 0 means that all of it
 * happened.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HUB } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import type { CommandContext } from "../command.ts";
import { kubeconfigPath } from "../data-directory.ts";
import { argumentsOf, clusterOf, commandLineOf } from "../demo/actions.ts";
import type { DemoAction } from "../demo/actions.ts";
import { createFleetView } from "../demo/fleet-view.ts";
import { FILES } from "../demo/manifests.ts";
import { performWithClient } from "../demo/client-actions.ts";
import { runCommand } from "../demo/run-command.ts";
import type { Stage } from "../demo/stage.ts";
import { MEMBERS, demoSteps } from "../demo/steps.ts";
import { runSteps } from "../demo/run-steps.ts";
import type { FleetOptions } from "../fleet-starter.ts";
import { makeTemporaryFolder, temporaryFolderError } from "../temporary-data.ts";
import { seekKubectl } from "../kubectl.ts";

const PAUSES = { slow: 6_000, normal: 1_500, fast: 0 } as const;

/**
 * All delays of a real fleet are shortened here: pods start almost at once, and an unreachable member is marked as such
 * soon.
 */
const FLEET: Omit<FleetOptions, "data"> = {
  members: MEMBERS.length,
  nodes: 3,
  kruise: "installed",
  startMs: 300,
  membership: { periodMs: 500, successMs: 1_000, failureMs: 2_000 },
  failover: { evictionsPerSecond: 10, evictionTimeoutMs: 600_000, allowNoExecuteTaintPolicy: true },
  port: 0,
  ephemeral: false,
  logLevel: "error",
};

/** Does not overwrite existing files, which may be the user's. */
function keepFiles(folder: string): void {
  try {
    // Not `recursive`: on a file system that rejects new folders, Node would retry forever.
    if (!existsSync(folder)) mkdirSync(folder);
    for (const [file, text] of Object.entries(FILES)) writeFileSync(join(folder, file), text, { flag: "wx" });
  } catch (error) {
    throw new FlotillaError("File", `writing the manifests to ${folder}; choose a new folder with --files DIR`, {
      cause: error,
    });
  }
}

/** A folder for this demo, with its manifests. */
function makeFolder(): string {
  const folder = makeTemporaryFolder("flotilla-demo-");
  try {
    for (const [file, text] of Object.entries(FILES)) writeFileSync(join(folder, file), text);
    return folder;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw temporaryFolderError(error);
  }
}

export const demoCommand = defineCommand({
  name: "demo",
  summary: "run a guided tour on a temporary fleet, and verify every step",
  details:
    "Starts a hub and three simulated members in a temporary folder, which is removed at the end. Each " +
    "step prints the command that you would type and what was observed; exit code 0 means that every step " +
    "succeeded. Uses kubectl if it is installed, and performs the same requests itself otherwise.",
  example: [
    { says: "Watch the whole tour.", run: "flotilla demo" },
    { says: "Leave time to read between steps.", run: "flotilla demo --speed slow" },
    { says: "Keep the manifests, to try them on your own fleet.", run: "flotilla demo --files ./demo" },
    { says: "Save the output as a log.", run: "flotilla demo --speed fast --no-color > demo.log" },
  ],
  args: [],
  flags: {
    speed: {
      type: "string",
      choices: Object.keys(PAUSES),
      description: "pause between steps: slow 6 s, normal 1.5 s, fast none (default: normal on a terminal, else fast)",
    },
    files: {
      type: "string",
      value: "DIR",
      description: "keep the manifests of the tour in this folder",
    },
  },
  async run(context) {
    const { flags, output, signal, clock, startFleet, environment } = context;
    if (flags.files !== undefined) keepFiles(flags.files);
    const startMs = clock.now();
    const data = makeFolder();
    try {
      output.say("Starting a hub and three simulated members in this process…");
      const fleet = await startFleet({ ...FLEET, data }, (text) => output.progress(text), signal);
      output.progress("");
      try {
        const kubeconfig = kubeconfigPath(data, HUB);
        const { client, close } = await context.connect({ kubeconfigs: [kubeconfig] });
        try {
          const kubectl = seekKubectl(environment);
          if (!kubectl) output.say("kubectl was not found; the demo performs the same requests itself.");
          showLine("export KUBECONFIG=hub.kubeconfig");
          const pauseMs =
            PAUSES[
              (flags.speed as keyof typeof PAUSES | undefined) ?? (output.width === undefined ? "fast" : "normal")
            ];
          const stage: Stage = {
            members: MEMBERS,
            view: createFleetView(client, signal),
            say: (text) => output.say(text),
            async perform(action) {
              showLine(commandLineOf(action));
              showText(
                await (kubectl
                  ? kubectl(kubectlLine(action), kubeconfigPath(data, clusterOf(action)), signal)
                  : performWithClient(client, action, signal)),
              );
            },
            async flotilla(...line): Promise<Json> {
              showLine(`flotilla ${line.join(" ")}`);
              const { value, text } = await runCommand(context as unknown as CommandContext<Record<string, never>>, [
                ...line.map(fileAt),
                "--kubeconfig",
                kubeconfig,
              ]);
              showText(text);
              return value;
            },
          };
          const completed = await runSteps({
            steps: demoSteps(() => clock.now()),
            stage,
            output,
            pauseMs,
            clock,
            signal,
          });
          const seconds = Math.round((clock.now() - startMs) / 100) / 10;
          output.result(
            { observed: completed as unknown as Json, seconds },
            () =>
              `\nAll ${completed.length} steps were observed, in ${seconds.toFixed(1)} s. Your turn: ` +
              output.called("flotilla up") +
              (flags.files === undefined
                ? `\n(${output.called("flotilla demo --files DIR")} keeps its manifests in a folder, to try them there.)`
                : ""),
          );
        } finally {
          await close();
        }
      } finally {
        output.progress("");
        await fleet.stop();
      }
    } finally {
      rmSync(data, { recursive: true, force: true });
    }

    function showLine(line: string): void {
      output.say(`\n${output.paint.cyan(`$ ${line}`)}`);
    }
    function showText(text: string): void {
      output.say(text.trimEnd());
    }
    function fileAt(word: string): string {
      return Object.hasOwn(FILES, word) ? join(data, word) : word;
    }
    /** kubectl's cache is inside the temporary folder and is removed with it. */
    function kubectlLine(action: DemoAction): string[] {
      return ["--cache-dir", join(data, "kubectl-cache"), ...argumentsOf(action).map(fileAt)];
    }
  },
});
