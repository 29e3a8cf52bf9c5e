/**
 * How long a change of status on a member takes until it is in the hub's summed status, seen by a watch of the hub: alone,
 * and while the statuses of many other objects change. The members run no workloads; the benchmark writes the statuses.
 */
import { setTimeout as delay } from "node:timers/promises";
import { connectApi } from "../../test/programs/api-client.ts";
import type { ApiConnection } from "../../test/programs/api-client.ts";
import type { Benchmark, Figure } from "./benchmark.ts";
import type { ClientTarget } from "./outside-client.ts";
import { measureEach, setUps } from "./set-ups.ts";
import { expect, rate } from "./target.ts";

const COUNTS = { full: 300, short: 60 };
const OBJECTS = { full: 2000, short: 200 };
/** Status changes of the other objects per second. */
const LOAD_PER_SECOND = 50;
/** Between changes, at random: independent of what the hub collects for a fixed time, and longer than that. */
const PAUSE_MS = { least: 250, most: 650 };
const NAMESPACE = "bench-status";
const CLONE_SETS = `/apis/apps.kruise.io/v1alpha1/namespaces/${NAMESPACE}/clonesets`;
const MERGE = "application/merge-patch+json";
const POLL_MS = 100;
const LIMIT_MS = 300_000;

interface Measured {
  alone: number[];
  loaded: number[];
}

export const statusLatency: Benchmark = {
  name: "status",
  summary: "a change of status on a member until it is in the hub's summed status",
  counts: COUNTS,
  async run({ count, shared, short, only, progress }) {
    const wanted = setUps(shared ?? "").filter(({ name }) => name !== "Karmada" && (!only || only.includes(name)));
    const objects = OBJECTS[short ? "short" : "full"];
    const measured = await measureEach(wanted, progress, ({ target }, report) =>
      measure(target, { count, objects, progress: report }),
    );
    return [...measured].flatMap(([name, { alone, loaded }]) => [
      ...figuresOf(`${name}, alone`, alone),
      ...figuresOf(`${name}, with ${objects} objects`, loaded),
    ]);
  },
};

function figuresOf(name: string, times: readonly number[]): Figure[] {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
  return [
    { name: `${name}, p50`, unit: "ms", better: "less", value: at(0.5) },
    { name: `${name}, p99`, unit: "ms", better: "less", value: at(0.99) },
  ];
}

async function measure(
  { hub, members }: ClientTarget,
  { count, objects, progress }: { count: number; objects: number; progress(text: string): void },
): Promise<Measured> {
  const api = await connectApi(hub);
  const member = await connectApi(Object.values(members)[0] ?? "");
  try {
    await createNamespace(api, Object.keys(members)[0] ?? "");
    await create(api, "web");
    await untilOn(member, ["web"]);
    progress(`${count} changes of one status`);
    const alone = await changes(api, member, { count, first: 1 });
    progress(`${objects} more objects`);
    const others = Array.from({ length: objects }, (_, index) => `other-${index}`);
    await rate(objects, (index) => create(api, others[index] ?? ""));
    await untilOn(member, others);
    progress(`${count} changes of one status, and ${LOAD_PER_SECOND} per second of others`);
    const ending = new AbortController();
    const load = changeOthers(member, others, ending.signal);
    try {
      return { alone, loaded: await changes(api, member, { count, first: count + 2 }) };
    } finally {
      ending.abort();
      await load;
    }
  } finally {
    api.close();
    member.close();
  }
}

async function createNamespace(api: ApiConnection, member: string): Promise<void> {
  const metadata = { name: NAMESPACE };
  await expect(api, 201, "POST", "/api/v1/namespaces", JSON.stringify({ metadata }));
  const policies = `/apis/policy.karmada.io/v1alpha1/namespaces/${NAMESPACE}/propagationpolicies`;
  const spec = {
    resourceSelectors: [{ apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" }],
    placement: { clusterAffinity: { clusterNames: [member] } },
  };
  const policy = {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "all" },
    spec,
  };
  await expect(api, 201, "POST", policies, JSON.stringify(policy));
}

async function create(api: ApiConnection, name: string): Promise<void> {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "web:1" }] } };
  const spec = { replicas: 2, selector: { matchLabels: labels }, template };
  const cloneSet = { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", metadata: { name }, spec };
  await expect(api, 201, "POST", CLONE_SETS, JSON.stringify(cloneSet));
}

async function untilOn(member: ApiConnection, names: readonly string[]): Promise<void> {
  const started = performance.now();
  for (const name of names)
    while ((await member.call("GET", `${CLONE_SETS}/${name}`)).status !== 200) {
      if (performance.now() - started > LIMIT_MS) throw new Error(`${name} has not reached the member`);
      await delay(POLL_MS);
    }
}

/** The generation is that of an object that was never changed. */
const setCount = (member: ApiConnection, name: string, availableReplicas: number): Promise<void> =>
  expect(
    member,
    200,
    "PATCH",
    `${CLONE_SETS}/${name}/status`,
    JSON.stringify({
      status: {
        observedGeneration: 1,
        replicas: 2,
        updatedReplicas: 2,
        readyReplicas: 2,
        updatedReadyReplicas: 2,
        availableReplicas,
      },
    }),
    MERGE,
  );

/** Every value is new. From before the write on the member until the hub's watch has delivered the number. */
async function changes(
  api: ApiConnection,
  member: ApiConnection,
  { count, first }: { count: number; first: number },
): Promise<number[]> {
  let awaited: { value: number; seen(): void } | undefined;
  const stop = api.watch(`${CLONE_SETS}?watch=true&fieldSelector=metadata.name%3Dweb`, (line) => {
    const { object } = JSON.parse(line) as { object?: { status?: { availableReplicas?: number } } };
    if (awaited && object?.status?.availableReplicas === awaited.value) awaited.seen();
  });
  const times: number[] = [];
  try {
    for (let change = 0; change <= count; change++) {
      await delay(PAUSE_MS.least + Math.random() * (PAUSE_MS.most - PAUSE_MS.least));
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited = { value: first + change, seen: resolve };
      const started = performance.now();
      await setCount(member, "web", awaited.value);
      await Promise.race([
        promise,
        delay(LIMIT_MS, undefined, { ref: false }).then(() => Promise.reject(new Error("no report"))),
      ]);
      // The first one may be delayed by the creation of the object.
      if (change > 0) times.push(performance.now() - started);
    }
  } finally {
    stop();
  }
  return times;
}

async function changeOthers(member: ApiConnection, names: readonly string[], signal: AbortSignal): Promise<void> {
  const started = performance.now();
  for (let change = 0; !signal.aborted; change++) {
    await setCount(member, names[change % names.length] ?? "", change);
    const dueMs = (change * 1000) / LOAD_PER_SECOND - (performance.now() - started);
    if (dueMs > 0) await delay(dueMs);
  }
}
