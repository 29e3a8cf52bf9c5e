/**
 * `flotilla demo`: a guided story on a throw-away fleet. Every step runs the real kubectl and waits until what it promises
 * is seen; a step that is not observed in time fails the demo, so exit code 0 means that all of it happened.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FlotillaError, sleep } from "../../base/index.ts";
import { defineCommand } from "../command.ts";
import { findKubectl } from "../kubectl.ts";
import type { Stage, Step } from "../demo/story.ts";
import { tellStory } from "../demo/story.ts";

/** How long a step may take to become true. Generous: a loaded machine must not fail an honest story. */
const STEP_LIMIT_MS = 120_000;
const POLL_MS = 200;

export const demoCommand = defineCommand({
  name: "demo",
  summary: "show the whole idea on a throw-away fleet, with the real kubectl",
  example: ["flotilla demo"],
  args: [],
  flags: {},
  async run({ output, signal, clock, startFleet, environment }) {
    const kubectl = findKubectl(environment);
    const data = mkdtempSync(join(tmpdir(), "flotilla-demo-"));
    try {
      output.say("Starting a hub and three simulated members in this process…");
      const fleet = await startFleet(
        { members: 3, nodes: 3, kruise: "installed", data, port: 0, ephemeral: false, logLevel: "error" },
        (text) => output.progress(text),
        signal,
      );
      output.progress("");
      try {
        const kubeconfigOf = (cluster: string): string => fleet.kubeconfigs.get(cluster) ?? join(data, `${cluster}.kubeconfig`);
        const stage: Stage = {
          examples: fileURLToPath(new URL("../../../examples/shop", import.meta.url)),
          say: (text) => output.say(text),
          async kubectl(cluster, ...args) {
            return kubectl(args, kubeconfigOf(cluster), signal);
          },
          async show(cluster, ...args) {
            output.say(`\n  $ kubectl --kubeconfig ${cluster}.kubeconfig ${args.join(" ")}`);
            const text = await kubectl(args, kubeconfigOf(cluster), signal);
            for (const line of text.trimEnd().split("\n")) output.say(`  ${line}`);
          },
        };
        const story = tellStory();
        for (const [index, step] of story.entries()) {
          output.say(`\n${index + 1}. ${step.title}`);
          await step.act(stage);
          const seen = await observed(step, stage);
          output.say(`\n  ✓ ${seen}`);
        }
        output.result({ observed: story.map(({ title }) => title) }, () => "\nAll steps were observed. Your turn: flotilla up");
      } finally {
        await fleet.stop();
      }
    } finally {
      rmSync(data, { recursive: true, force: true });
    }

    async function observed(step: Step, stage: Stage): Promise<string> {
      const deadline = clock.now() + STEP_LIMIT_MS;
      for (;;) {
        const verdict = await step.observe(stage);
        if (verdict.seen) {
          output.progress("");
          return verdict.text;
        }
        output.progress(`waiting: ${verdict.text}`);
        if (clock.now() > deadline) throw new FlotillaError("NotObserved", `step "${step.title}" was not observed within ${STEP_LIMIT_MS / 1000} s: ${verdict.text}`);
        await sleep(clock, POLL_MS, signal);
      }
    }
  },
});
