/** The requests of an idle agent to its hub: `flotilla agent` as a separate process, joined as a user would. */
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { connectApi } from "../../test/programs/api-client.ts";
import type { ApiConnection } from "../../test/programs/api-client.ts";
import type { Figure } from "./benchmark.ts";
import { costOf, SOURCE, startFlotilla } from "./process.ts";
import type { RunningFleet } from "./process.ts";

const run = promisify(execFile);
/** After it was accepted it checks its permissions a few times. */
const SETTLE_MS = 15_000;
const NAME = "bench";

export async function measureStandaloneAgent(idleMs: number, progress: (text: string) => void): Promise<Figure[]> {
  progress(`an agent of its own: idle for ${idleMs / 1000} s`);
  const folder = mkdtempSync(join(tmpdir(), "flotilla-bench-"));
  const fleets: RunningFleet[] = [];
  let stopAgent = async (): Promise<void> => {};
  try {
    const hub = await startFlotilla(["--members", "0", "--ephemeral"]);
    fleets.push(hub);
    const member = await startFlotilla(["--members", "1", "--nodes", "0", "--ephemeral"]);
    fleets.push(member);
    const bootstrap = join(folder, "bootstrap.kubeconfig");
    await flotilla("token", "--kubeconfig", hub.kubeconfig("hub"), "--bootstrap-kubeconfig", bootstrap);
    const child = spawn(
      process.execPath,
      [
        "--disable-warning=ExperimentalWarning",
        SOURCE,
        "agent",
        "--bootstrap-kubeconfig",
        bootstrap,
        "--cluster-kubeconfig",
        member.kubeconfig("member1"),
        "--cluster-name",
        NAME,
        "--state",
        join(folder, "state"),
        "--log-level",
        "warn",
      ],
      { stdio: ["ignore", "ignore", "inherit"] },
    );
    const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    stopAgent = async () => {
      child.kill("SIGTERM");
      await exited;
    };
    await flotilla("accept", NAME, "--kubeconfig", hub.kubeconfig("hub"));
    await delay(SETTLE_MS);
    const api = await connectApi(hub.kubeconfig("hub"));
    try {
      const before = { cost: costOf([child.pid ?? 0]), requests: await countRequests(api) };
      await delay(idleMs);
      const after = { cost: costOf([child.pid ?? 0]), requests: await countRequests(api) };
      // The first scrape is counted in the second.
      const requests = after.requests - before.requests - 1;
      return [
        {
          name: "an agent of its own, requests",
          unit: "per minute",
          better: "less",
          value: (requests * 60_000) / idleMs,
        },
        {
          name: "an agent of its own, CPU",
          unit: "µs/s",
          better: "less",
          value: ((after.cost.cpuSeconds - before.cost.cpuSeconds) * 1e9) / idleMs,
        },
        { name: "an agent of its own, resident", unit: "MiB", better: "less", value: after.cost.memoryMiB },
      ];
    } finally {
      api.close();
    }
  } finally {
    await stopAgent();
    for (const fleet of fleets) await fleet.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const flotilla = (...args: string[]): Promise<unknown> =>
  run(process.execPath, ["--disable-warning=ExperimentalWarning", SOURCE, ...args]);

async function countRequests(api: ApiConnection): Promise<number> {
  const { status, text } = await api.call("GET", "/metrics");
  if (status !== 200) throw new Error(`GET /metrics returned ${status}: ${text().slice(0, 300)}`);
  return [...text().matchAll(/^apiserver_request_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  );
}
