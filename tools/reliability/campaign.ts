/** One run: starts the hub and its clients, lets faults happen, repairs everything, and judges the history. */
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createSeededRandom } from "@flotilla/base";
import { connectApi } from "./api.ts";
import type { Api } from "./api.ts";
import { checkHistory } from "./check-history.ts";
import type { Violation } from "./check-history.ts";
import { createFaults } from "./faults.ts";
import type { Fault, FaultKind } from "./faults.ts";
import type { History, Item } from "./history.ts";
import { startHub } from "./hub.ts";
import type { Hub } from "./hub.ts";
import { itemOf, itemsIn, MAPS, NAMESPACE, operationOf, runClient, runWatcher } from "./load.ts";
import type { Recorder } from "./load.ts";
import { expectDone, prepareReleases, runReleases } from "./run-releases.ts";
import type { Deliveries } from "./run-releases.ts";

const CLIENTS = 6;
const QUIET_MS = { least: 1_000, most: 4_000 };
const FAULT_MS = { least: 1_000, most: 10_000 };
/** How often a second fault happens at the same time. */
const DOUBLE_SHARE = 0.25;
const WARM_UP_MS = 2_000;
const END_LIMIT_MS = 60_000;
/** Supervisors start a program that has ended again. */
const RESTART_TRIES = 5;

export interface CampaignOptions {
  minutes: number;
  seed: number;
  binaries: string;
  entry: string;
  only?: readonly FaultKind[];
  /** Keeps the folder with the logs. */
  keep: boolean;
  progress(text: string): void;
}

export interface HappenedFault {
  kind: FaultKind;
  target: string;
  fromMs: number;
  toMs: number;
}

export interface CampaignResult {
  seed: number;
  minutes: number;
  operations: number;
  acknowledged: number;
  unknown: number;
  events: number;
  spans: number;
  faults: readonly HappenedFault[];
  /** When writes were acknowledged. */
  acknowledgedMs: readonly number[];
  /** From the first fault to the last repair. */
  fromMs: number;
  toMs: number;
  violations: readonly Violation[];
  deliveries: Deliveries;
  /** Processes that ended although no fault has ended them. */
  ends: readonly string[];
  /** Other things that should not happen. */
  problems: readonly string[];
}

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { minutes, seed, progress, keep } = options;
  const folder = mkdtempSync(join(tmpdir(), "flotilla-reliability-"));
  const ends: string[] = [];
  let isFilling = false;
  const hub = await startHub({
    ...options,
    folder,
    onEnd(name, how) {
      // An etcd that cannot write its log ends itself, and an API server that starts without etcd says so and ends.
      const isOwnDecision =
        (name.startsWith("etcd") && isFilling) || /none of the etcd endpoints|etcd is not available/.test(how);
      if (!isOwnDecision) ends.push(`${name} ${how}`);
      progress(`${name} ${how.slice(0, 200)}`);
    },
  });
  try {
    return await measure(hub, { ...options, onFilling: (value) => (isFilling = value) }, ends);
  } finally {
    await hub.stop();
    if (keep) progress(`the logs of all processes are in ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
    progress(`${minutes} minutes with seed ${seed} are over`);
  }
}

async function measure(
  hub: Hub,
  options: CampaignOptions & { onFilling(value: boolean): void },
  ends: readonly string[],
): Promise<CampaignResult> {
  const { minutes, seed, only, progress, onFilling } = options;
  const random = createSeededRandom(seed);
  const ports = hub.clientLinks.map(({ port }) => port);
  const { kubeconfig, member } = hub;
  const recorder: Recorder = { operations: [], spans: [], unexpected: [], acknowledgedMs: [] };
  const direct = await Promise.all(ports.map((port) => connectApi(kubeconfig, port)));
  await expectDone(direct[0] as Api, "POST", "/api/v1/namespaces", { metadata: { name: NAMESPACE } });
  await prepareReleases(direct[0] as Api);

  const stopping = new AbortController();
  let lastRevision = Infinity;
  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    runClient(
      { name: `client${index}`, seed: seed * 1000 + index, kubeconfig, ports, first: index, recorder },
      stopping.signal,
    ),
  );
  const watchers = [...ports.keys(), "moving" as const].map((index) =>
    runWatcher(
      {
        name: index === "moving" ? "moving watcher" : `watcher of apiserver${index}`,
        kubeconfig,
        ports: index === "moving" ? ports : [ports[index] ?? 0],
        first: 0,
        moves: index === "moving",
        recorder,
      },
      { signal: stopping.signal, upTo: () => lastRevision },
    ),
  );
  const releases = runReleases({ kubeconfig, ports, member }, stopping.signal);

  await delay(WARM_UP_MS);
  const fromMs = performance.now();
  const faults: HappenedFault[] = [];
  const next = createFaults(hub, random, only);
  const between = ({ least, most }: { least: number; most: number }): number => least + random.next() * (most - least);
  while (performance.now() < fromMs + minutes * 60_000) {
    await delay(between(QUIET_MS));
    const chosen = [await next()];
    if (random.next() < DOUBLE_SHARE) chosen.push(await next());
    onFilling(chosen.some(({ kind }) => kind === "full disk of an etcd"));
    const startedMs = performance.now();
    for (const fault of chosen) {
      progress(`${Math.round((startedMs - fromMs) / 1000)} s: ${fault.kind} (${fault.target})`);
      noteFault(hub, fault);
      await fault.inject();
    }
    await delay(between(FAULT_MS));
    await Promise.all(chosen.map((fault) => fault.heal()));
    await restartAll(hub);
    onFilling(false);
    for (const { kind, target } of chosen) faults.push({ kind, target, fromMs: startedMs, toMs: performance.now() });
  }

  progress("everything is repaired; waiting for the last events");
  const toMs = performance.now();
  stopping.abort();
  await Promise.all(clients);
  const problems: string[] = [...new Set(recorder.unexpected)].map((text) => `unexpected answer: ${text}`);
  const last = await lastWrite(direct, recorder);
  lastRevision = last;
  const areDone = await Promise.race([
    Promise.all(watchers).then(() => true),
    delay(END_LIMIT_MS, false, { ref: false }),
  ]);
  if (!areDone)
    problems.push(`after ${END_LIMIT_MS / 1000} s not every watch has reached the last write, revision ${last}`);
  const deliveries = await releases;
  const history: History = { ...recorder, ends: await readEnds(hub, direct) };
  for (const api of direct) api.close();
  const count = (outcome: string): number => recorder.operations.filter((each) => each.outcome === outcome).length;
  return {
    seed,
    minutes,
    operations: recorder.operations.length,
    acknowledged: recorder.acknowledgedMs.length,
    unknown: count("unknown"),
    events: recorder.spans.reduce((sum, { events }) => sum + events.length, 0),
    spans: recorder.spans.length,
    faults,
    acknowledgedMs: recorder.acknowledgedMs.toSorted((a, b) => a - b),
    fromMs,
    toMs,
    violations: checkHistory(history),
    deliveries,
    ends,
    problems,
  };
}

/** So that the log of a process shows what happened to it. */
function noteFault(hub: Hub, { kind, target }: Fault): void {
  for (const { name } of hub.machines) appendFileSync(hub.logFile(name), `--- ${kind} (${target})\n`);
}

async function restartAll(hub: Hub): Promise<void> {
  // etcd before those that need it.
  for (const machines of [hub.etcd, hub.apiservers, hub.controllers])
    for (let tries = 0; tries < RESTART_TRIES && machines.some(({ pid }) => pid === undefined); tries++)
      await Promise.all(machines.map((machine) => machine.start()));
}

/** A write through each server after everything was repaired; the highest revision. */
async function lastWrite(servers: readonly Api[], { operations }: Recorder): Promise<number> {
  let last = 0;
  for (const [index, api] of servers.entries()) {
    for (let tries = 0; ; tries++) {
      const [key, value] = ["object-0", `end.${index}.${tries}`];
      const common = { client: "end", server: `apiserver${index}`, key, value, outcome: "unknown" } as const;
      const invokedMs = performance.now();
      const patched = await api.call("PATCH", `${MAPS}/${key}`, { data: { value } }, "application/merge-patch+json");
      const patch = operationOf({ ...common, kind: "patch", invokedMs, completedMs: performance.now() }, patched);
      operations.push(patch);
      last = Math.max(last, patch.outcome === "ok" ? (patch.revision ?? 0) : 0);
      if (patch.outcome === "ok") break;
      if (patched?.status === 404) {
        const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: key }, data: { value: `${value}.new` } };
        const againMs = performance.now();
        const created = await api.call("POST", MAPS, body);
        operations.push(
          operationOf(
            { ...common, kind: "create", value: `${value}.new`, invokedMs: againMs, completedMs: performance.now() },
            created,
          ),
        );
      }
      if (tries === 100) throw new Error(`apiserver${index} accepts no write after everything was repaired`);
      await delay(200);
    }
  }
  return last;
}

async function readEnds(hub: Hub, servers: readonly Api[]): Promise<History["ends"]> {
  const ends: { reader: string; items: readonly Item[] }[] = [];
  for (const [index, api] of servers.entries()) {
    const answer = await api.call("GET", MAPS);
    if (answer?.status !== 200) throw new Error(`apiserver${index} does not list after everything was repaired`);
    ends.push({ reader: `apiserver${index}`, items: itemsIn(answer.body) });
  }
  ends.push({ reader: "etcd", items: await readEtcd(hub.etcdUrls[0] ?? "") });
  return ends;
}

/** Without any code of ours: etcd's own JSON gateway. */
async function readEtcd(url: string): Promise<Item[]> {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const prefix = `/flotilla/core/configmaps/hub/${NAMESPACE}/`;
  const answer = await fetch(`${url}/v3/kv/range`, {
    method: "POST",
    body: JSON.stringify({ key: base64(`${prefix}object-`), range_end: base64(`${prefix}object.`) }),
  });
  const { kvs = [] } = (await answer.json()) as { kvs?: { value: string; mod_revision: string }[] };
  return kvs.map(({ value, mod_revision: revision }) => {
    const object = JSON.parse(Buffer.from(value, "base64").toString()) as Parameters<typeof itemOf>[0];
    return { ...itemOf(object), revision: Number(revision) };
  });
}
