/**
 * How long a hub is without controllers when their process ends: from the signal until the standby has written the
 * binding of an object that was created at the same time, seen by a client that asks every 10 ms. `kill -9` and a
 * clean stop. One API server on SQLite, two processes of controllers, no members' workloads.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HUB } from "@flotilla/apimachinery";
import { connectionOf, createClient, createHttp2Transport, find, loadKubeconfig } from "@flotilla/client";
import { PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { ConfigMap, Namespace } from "@flotilla/kubernetes";
import type { Benchmark, Figure } from "./benchmark.ts";
import { SOURCE } from "./process.ts";

const ENDS = { "kill -9": "SIGKILL", "clean stop": "SIGTERM" } as const;
const LIMIT_MS = 60_000;
const POLL_MS = 10;

export const takeover: Benchmark = {
  name: "takeover",
  summary: "the end of the leading controllers until the standby has written",
  counts: { full: 50, short: 5 },
  async run({ count, only, progress }) {
    const data = mkdtempSync(join(tmpdir(), "flotilla-takeover-"));
    const running: ChildProcess[] = [];
    const start = async (...args: string[]): Promise<ChildProcess> => {
      const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", SOURCE, ...args], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      running.push(child);
      let printed = "";
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
      for (const endMs = performance.now() + LIMIT_MS; !/^ready/m.test(printed); await delay(POLL_MS))
        if (performance.now() > endMs || child.exitCode !== null)
          throw new Error(`flotilla ${args[0] ?? ""} was not ready`);
      return child;
    };
    const startControllers = (): Promise<ChildProcess> =>
      start("controllers", "--kubeconfig", join(data, "controllers.kubeconfig"));
    try {
      await start("apiserver", "--port", "0", "--data", data);
      const transport = createHttp2Transport({
        ...(await connectionOf(await loadKubeconfig(join(data, "hub.kubeconfig")))),
        cluster: { root: HUB },
      });
      const client = createClient({ transport, fieldManager: "bench" });
      await client.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name: "takeover" } });
      await client.create(PropagationPolicy, HUB, {
        apiVersion: "policy.karmada.io/v1alpha1",
        kind: "PropagationPolicy",
        metadata: { namespace: "takeover", name: "all" },
        spec: { resourceSelectors: [{ apiVersion: "v1", kind: "ConfigMap" }], placement: {} },
      });
      let made = 0;
      /** Milliseconds until the controllers have matched a new object. */
      const untilWritten = async (): Promise<number> => {
        const name = `object-${made++}`;
        const startedMs = performance.now();
        await client.create(ConfigMap, HUB, {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { namespace: "takeover", name },
        });
        const key = { cluster: HUB, namespace: "takeover", name: `${name}-configmap` };
        while (!(await find(client, ResourceBinding, key))) {
          if (performance.now() - startedMs > LIMIT_MS) throw new Error("no process took over");
          await delay(POLL_MS);
        }
        return performance.now() - startedMs;
      };
      let leader = await startControllers();
      let standby = await startControllers();
      await untilWritten();
      const figures: Figure[] = [];
      for (const [name, signal] of Object.entries(ENDS)) {
        if (only && !only.includes(name)) continue;
        const times: number[] = [];
        for (let round = 1; round <= count; round++) {
          // At any time between two renewals.
          await delay(Math.random() * 2_000);
          leader.kill(signal);
          times.push(await untilWritten());
          progress(`${name} ${round} of ${count}: ${Math.round(times.at(-1) ?? 0)} ms`);
          [leader, standby] = [standby, await startControllers()];
        }
        figures.push(...figuresOf(name, times));
      }
      await transport.close();
      return figures;
    } finally {
      for (const child of running.toReversed()) child.kill("SIGKILL");
      rmSync(data, { recursive: true, force: true });
    }
  },
};

function figuresOf(name: string, times: readonly number[]): Figure[] {
  const sorted = times.toSorted((a, b) => a - b);
  return [
    { name: `${name}, median`, unit: "ms", better: "less", value: sorted[Math.floor(sorted.length / 2)] ?? NaN },
    { name: `${name}, worst`, unit: "ms", better: "less", value: sorted.at(-1) ?? NaN },
  ];
}
