/**
 * The load of the deployments benchmark: many workloads under one policy with static weights on two members. It uses the plain
 * Kubernetes API, so it can measure any hub with Karmada's kinds.
 */
import { Deployment, Namespace } from "@flotilla/kubernetes";
import { PropagationPolicy } from "@flotilla/karmada";
import { dynamicKind, isAlreadyExists, isNotFound } from "@flotilla/apimachinery";
import { systemClock, sleep } from "@flotilla/base";
import { connectionOf, createClient, createHttp2Transport, loadKubeconfig } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { makePolicy } from "@flotilla/testing/builders.ts";
import { deploymentBody } from "./objects.ts";

export interface Endpoint {
  name: string;
  client: Client;
  close(): Promise<void>;
}

export async function connect(name: string, kubeconfig: string): Promise<Endpoint> {
  const connection = await connectionOf(await loadKubeconfig(kubeconfig));
  const transport = createHttp2Transport({ ...connection, cluster: { only: name }, userAgent: "flotilla-bench" });
  return { name, client: createClient({ transport, fieldManager: "flotilla-bench" }), close: () => transport.close() };
}

export interface LoadResult {
  /** From the first create until every member has the last object. */
  toMembersMs: number;
  /** From the first status on a member until the hub shows every aggregated status. */
  statusBackMs: number;
}

const WIDTH = 16;
const LIMIT_MS = 900_000;
const REPLICAS = 6;
const WEIGHTS = [1, 2];

export async function runLoad(
  hub: Endpoint,
  members: readonly Endpoint[],
  namespace: string,
  count: number,
): Promise<LoadResult> {
  const stopping = new AbortController();
  try {
    await prepare(hub, members, namespace);
    const arrived = members.map((member) => follow(member, namespace, stopping.signal, () => true));
    const names = Array.from({ length: count }, (_, index) => `web-${String(index).padStart(5, "0")}`);

    const started = performance.now();
    await pooled(names, (name) =>
      hub.client.create(Deployment, hub.name, JSON.parse(deploymentBody(namespace, name, REPLICAS)) as Deployment),
    );
    await until(() => arrived.every((seen) => seen.size >= count), "every object on every member");
    const toMembersMs = performance.now() - started;

    const summed = follow(
      hub,
      namespace,
      stopping.signal,
      ({ status, metadata }) => status?.readyReplicas === REPLICAS && status.observedGeneration === metadata.generation,
    );
    const reporting = performance.now();
    await Promise.all(members.map((member) => reportReady(member, namespace)));
    await until(() => summed.size >= count, "every status on the hub");
    return { toMembersMs, statusBackMs: performance.now() - reporting };
  } finally {
    stopping.abort();
  }
}

async function prepare(hub: Endpoint, members: readonly Endpoint[], namespace: string): Promise<void> {
  await ignoring(
    isAlreadyExists,
    hub.client.create(Namespace, hub.name, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }),
  );
  for (const member of members) {
    for (;;) {
      if (await ignoring(isNotFound, member.client.get(Namespace, { cluster: member.name, name: namespace }))) break;
      await sleep(systemClock, 100);
    }
  }
  const weights = Object.fromEntries(members.map(({ name }, index) => [name, WEIGHTS[index] ?? 1]));
  await hub.client.create(
    PropagationPolicy,
    hub.name,
    makePolicy(`${namespace}/all`).selects("apps/v1", "Deployment").weights(weights).build(),
  );
}

/** Names of the matching Deployments seen so far, from a list and then a watch. */
function follow(
  { name: cluster, client }: Endpoint,
  namespace: string,
  signal: AbortSignal,
  fits: (
    deployment: Readonly<{
      metadata: { generation?: number };
      status?: { readyReplicas?: number; observedGeneration?: number };
    }>,
  ) => boolean,
): Set<string> {
  const seen = new Set<string>();
  // A kind without our schema: objects are read unchanged.
  const kind = dynamicKind({
    group: Deployment.group,
    version: Deployment.storageVersion,
    kind: Deployment.kind,
    plural: Deployment.plural,
    scope: "Namespaced",
  });
  void (async () => {
    try {
      for await (const events of client.watch(kind, { cluster, namespace, sendInitialEvents: true, signal })) {
        for (const event of events)
          if (event.type !== "BOOKMARK" && event.type !== "DELETED" && fits(event.object))
            seen.add(event.object.metadata.name);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  })();
  return seen;
}

/** Writes the status that a member's own controllers would write once every replica is ready. */
async function reportReady({ name: cluster, client }: Endpoint, namespace: string): Promise<void> {
  const { items } = await client.list(Deployment, { cluster, namespace });
  await pooled(items, async ({ metadata, spec }) => {
    const n = spec.replicas ?? 0;
    const status = {
      observedGeneration: metadata.generation ?? 0,
      replicas: n,
      updatedReplicas: n,
      readyReplicas: n,
      availableReplicas: n,
    };
    await client.patch(
      Deployment,
      { cluster, namespace, name: metadata.name },
      { status },
      { type: "merge", subresource: "status" },
    );
  });
}

async function pooled<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: WIDTH }, async () => {
      for (const item of waiting) await work(item);
    }),
  );
}

async function until(isDone: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!isDone()) {
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${what}`);
    await sleep(systemClock, 5);
  }
}

async function ignoring<T>(isExpected: (error: unknown) => boolean, promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (isExpected(error)) return undefined;
    throw error;
  }
}
