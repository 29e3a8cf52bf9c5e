/**
 * What the take-over of a standby hub loses and how long it takes, seen by a client that writes all the time at whichever of
 * the two hubs answers: the newest writes that were acknowledged and are not on the new hub, and the time from the signal or
 * the command to the next acknowledged write. `kill -9` of the primary with `flotilla promote --force`, and `flotilla
 * promote` of a primary that runs. Two API servers on SQLite.
 */
import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../../test/programs/kube.ts";
import { connectApi } from "../reliability/api.ts";
import type { Api } from "../reliability/api.ts";
import type { Benchmark, Figure } from "./benchmark.ts";
import { SOURCE } from "./process.ts";

const run = promisify(execFile);
const NODE = ["--disable-warning=ExperimentalWarning", SOURCE];
const MAPS = "/api/v1/namespaces/default/configmaps";
const LIMIT_MS = 60_000;
const LOAD_MS = 3_000;
const WRITERS = 4;

interface Round {
  /** Acknowledged writes that are missing. */
  lost: number;
  /** From the oldest of them to the end of the primary. */
  lostMs: number;
  /** Without an acknowledged write. */
  pauseMs: number;
}

export const standby: Benchmark = {
  name: "standby",
  summary: "what the take-over of a standby hub loses, and how long it takes",
  counts: { full: 10, short: 2 },
  async run({ count, only, progress }) {
    const figures: Figure[] = [];
    for (const kind of ["planned", "kill -9"] as const) {
      if (only && !only.includes(kind)) continue;
      const rounds: Round[] = [];
      for (let round = 1; round <= count; round++) {
        const measured = await measure(kind);
        rounds.push(measured);
        progress(
          `${kind} ${round} of ${count}: ${measured.lost} writes lost (${Math.round(measured.lostMs)} ms), ${Math.round(measured.pauseMs)} ms without a write`,
        );
      }
      const add = (name: string, unit: string, values: readonly number[]): void => {
        const sorted = values.toSorted((a, b) => a - b);
        figures.push(
          {
            name: `${kind}, ${name}, median`,
            unit,
            better: "less",
            value: sorted[Math.floor(sorted.length / 2)] ?? NaN,
          },
          { name: `${kind}, ${name}, worst`, unit, better: "less", value: sorted.at(-1) ?? NaN },
        );
      };
      add(
        "writes lost",
        "writes",
        rounds.map(({ lost }) => lost),
      );
      add(
        "age of the oldest lost write",
        "ms",
        rounds.map(({ lostMs }) => lostMs),
      );
      add(
        "without a write",
        "ms",
        rounds.map(({ pauseMs }) => pauseMs),
      );
    }
    return figures;
  },
};

async function measure(kind: "planned" | "kill -9"): Promise<Round> {
  const folder = mkdtempSync(join(tmpdir(), "flotilla-standby-"));
  const at = (...names: string[]): string => join(folder, ...names);
  const children: ChildProcess[] = [];
  try {
    await run(process.execPath, [...NODE, "keys", "create", "--keys", at("keys")]);
    const ports = [await freePort(), await freePort()] as const;
    const start = (name: string, port: number, ...flags: string[]): { child: ChildProcess; printed(): string } => {
      const args = [...NODE, "apiserver", "--data", at(name), "--keys", at("keys"), "--port", String(port), ...flags];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
      children.push(child);
      let printed = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
      return { child, printed: () => printed };
    };
    const primary = start("one", ports[0]);
    await until(() => /^ready/m.test(primary.printed()));
    start("two", ports[1], "--standby-of", at("one", "hub.kubeconfig"));
    await until(() => stateOf(at("two", "standby.json")).isComplete === true);

    const kubeconfig = at("one", "hub.kubeconfig");
    const servers = await Promise.all(ports.map((port) => connectApi(kubeconfig, port)));
    const acknowledged: { name: string; atMs: number; server: number }[] = [];
    const stopping = new AbortController();
    const writers = Array.from({ length: WRITERS }, (_, index) =>
      write(`w${index}`, servers, acknowledged, stopping.signal),
    );
    await delay(LOAD_MS * (0.5 + Math.random()));
    const endMs = performance.now();
    if (kind === "kill -9") primary.child.kill("SIGKILL");
    const force = kind === "kill -9" ? ["--force"] : [];
    await run(process.execPath, [...NODE, "promote", "--data", at("two"), ...force]);
    await until(() => acknowledged.some(({ server }) => server === 1));
    stopping.abort();
    await Promise.all(writers);

    const before = acknowledged.filter(({ server }) => server === 0);
    const listed = await servers[1]?.call("GET", MAPS);
    const names = new Set(
      ((listed?.body["items"] ?? []) as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name),
    );
    const lost = before.filter(({ name }) => !names.has(name));
    const first = acknowledged.find(({ server }) => server === 1)?.atMs ?? NaN;
    for (const server of servers) server.close();
    return {
      lost: lost.length,
      lostMs: lost.length === 0 ? 0 : endMs - Math.min(...lost.map(({ atMs }) => atMs)),
      pauseMs: first - Math.max(...before.map(({ atMs }) => atMs)),
    };
  } finally {
    for (const child of children) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function write(
  writer: string,
  servers: readonly Api[],
  acknowledged: { name: string; atMs: number; server: number }[],
  signal: AbortSignal,
): Promise<void> {
  let at = 0;
  for (let count = 0; !signal.aborted; count++) {
    const name = `${writer}-${count}`;
    const server = at % servers.length;
    const answer = await servers[server]?.call("POST", MAPS, { metadata: { name }, data: { value: name } });
    if (answer?.status === 201) acknowledged.push({ name, atMs: performance.now(), server });
    else {
      at++;
      await delay(10);
    }
  }
}

function stateOf(file: string): { isComplete?: boolean } {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as { isComplete?: boolean };
  } catch {
    return {}; // Not written yet.
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  for (const endMs = performance.now() + LIMIT_MS; !isTrue(); await delay(10))
    if (performance.now() > endMs) throw new Error("a hub was not ready in time");
}
