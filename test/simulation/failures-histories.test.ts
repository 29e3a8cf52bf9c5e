/**
 * Arbitrary changes of a divided workload in progress (scaling, policy edits, tainted, unreachable or rebalanced
 * members, hub restarts): at every moment its shares add up and no orphaned copy runs, and once it is quiet the members
 * run the last requested state.
 */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Cluster, PropagationPolicy, ResourceBinding, WorkloadRebalancer } from "@flotilla/karmada";
import { ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import type { PropagationSpec } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { copy } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { isAlreadyExists, isNotFound } from "@flotilla/apimachinery";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { runs } from "@flotilla/testing/runs.ts";
import { expectNoOrphans } from "./failures-scenario.ts";

const MEMBERS = ["member1", "member2", "member3"];
const WEB = { cluster: "hub", namespace: "shop", name: "web" };
const QUIET_MS = 15 * 60_000;
const RUNS = runs(14);

type Placement = NonNullable<PropagationSpec["placement"]>;
const weighted = (weights: Record<string, number>): Placement =>
  makePolicy("x").weights(weights).build().spec.placement ?? {};
const PLACEMENTS: readonly Placement[] = [
  weighted({ member1: 1, member2: 1, member3: 1 }),
  weighted({ member1: 3, member3: 1 }),
  weighted({ member2: 1 }),
  { replicaScheduling: { replicaSchedulingType: "Duplicated" } },
  {
    clusterAffinity: { clusterNames: ["member1", "member2"] },
    spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: 1 }],
  },
];

type Step =
  | { do: "scale"; replicas: number }
  | { do: "edit"; placement: number; needs: boolean }
  | { do: "template"; there: boolean }
  | { do: "taint"; member: string; isTainted: boolean }
  | { do: "reach"; member: string; isAway: boolean }
  | { do: "suspend"; isSuspended: boolean }
  | { do: "report" }
  | { do: "rebalance" }
  | { do: "restart" }
  | { do: "run"; ms: number };

const member = fc.constantFrom(...MEMBERS);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("scale" as const), replicas: fc.integer({ min: 0, max: 9 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("edit" as const),
      placement: fc.integer({ min: 0, max: PLACEMENTS.length - 1 }),
      needs: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("template" as const), there: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("taint" as const), member, isTainted: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("reach" as const), member, isAway: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Step>(
      { do: "report" },
      { do: "report" },
      { do: "rebalance" },
      { do: "restart" },
      { do: "suspend", isSuspended: true },
      { do: "suspend", isSuspended: false },
    ),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("run" as const), ms: fc.constantFrom(1, 60, 3_000, 700_000) }) },
);

test(
  "after any history the shares add up, and the members run the last requested state",
  { timeout: 180_000 },
  async () => {
    const histories = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), play);

    await expect(fc.assert(histories, { seed: 11, numRuns: RUNS })).resolves.toBeUndefined();
  },
);

async function play(steps: Step[]): Promise<void> {
  const engine = createLastingEngine();
  const away = new Set<string>();
  const wrap = (transport: Transport, part: string): Transport =>
    part !== "execute"
      ? transport
      : {
          ...transport,
          send: (request, signal) =>
            away.has(request.path.cluster)
              ? Promise.resolve().then(() => Promise.reject(new UnreachableError(`${request.path.cluster} is away`)))
              : transport.send(request, signal),
        };
  const open = (): Promise<TestFleet> => startTestFleet({ members: MEMBERS, engine, wrap });
  let fleet = await open();
  let count = 0;
  try {
    await begin(fleet);
    for (const next of steps) {
      if (next.do === "restart") {
        const atMs = fleet.clock.now();
        await fleet.stop();
        fleet = await open();
        await fleet.run(Math.max(0, atMs - fleet.clock.now()));
      } else if (next.do === "reach") {
        if (next.isAway) away.add(next.member);
        else away.delete(next.member);
      } else await take(fleet, next, ++count);
      await fleet.settle();
      await expectNoOrphans(fleet);
    }
    away.clear();
    await end(fleet);
  } finally {
    await fleet.stop();
  }
}

const template = () =>
  makeDeployment("shop/web")
    .replicas(4)
    .with(
      ({ spec }) =>
        (spec.template.spec = {
          containers: [{ name: "web", image: "web:1", envFrom: [{ configMapRef: { name: "settings" } }] }],
        }),
    )
    .build();

async function begin(fleet: TestFleet): Promise<void> {
  const { client } = fleet;
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "settings" },
  });
  await client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/web")
      .selects("apps/v1", "Deployment")
      .with(({ spec }) =>
        Object.assign(spec, {
          propagateDeps: true,
          failover: { cluster: { purgeMode: "Gracefully" } },
          placement: PLACEMENTS[0],
        }),
      )
      .build(),
  );
  await client.create(Deployment, "hub", template());
  await fleet.run(5_000);
}

async function take(fleet: TestFleet, next: Exclude<Step, { do: "reach" | "restart" }>, count: number): Promise<void> {
  const { client } = fleet;
  const policy = (spec: object): Promise<unknown> =>
    client.patch(PropagationPolicy, WEB, { spec } as never, { type: "merge" });
  try {
    if (next.do === "run") await fleet.run(next.ms);
    else if (next.do === "scale")
      await client.patch(Deployment, WEB, { spec: { replicas: next.replicas } }, { type: "merge" });
    else if (next.do === "edit")
      await policy({ propagateDeps: next.needs, placement: null }).then(() =>
        policy({ placement: PLACEMENTS[next.placement] }),
      );
    else if (next.do === "template")
      await (next.there ? client.create(Deployment, "hub", template()) : client.delete(Deployment, WEB));
    else if (next.do === "suspend") await policy({ suspension: next.isSuspended ? { dispatching: true } : null });
    else if (next.do === "report") await report(fleet);
    else if (next.do === "rebalance")
      await client.create(WorkloadRebalancer, "hub", {
        apiVersion: "apps.karmada.io/v1alpha1",
        kind: "WorkloadRebalancer",
        metadata: { name: `again-${count}` },
        spec: { workloads: [{ apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" }] },
      });
    else
      await client.patch(
        Cluster,
        { cluster: "hub", name: next.member },
        { spec: { taints: next.isTainted ? [{ key: "drain", effect: "NoExecute" }] : [] } },
        { type: "merge" },
      );
  } catch (error) {
    // There is nothing to change, or it already exists.
    if (!isNotFound(error) && !isAlreadyExists(error)) throw error;
  }
}

/** Plays the members' controllers: reports all requested replicas as ready. */
async function report({ client }: TestFleet): Promise<void> {
  for (const cluster of MEMBERS) {
    for (const deployment of (await client.list(Deployment, { cluster, namespace: "shop" })).items) {
      const replicas = deployment.spec.replicas ?? 0;
      await client.updateStatus(Deployment, cluster, {
        ...copy(deployment),
        status: {
          observedGeneration: deployment.metadata.generation,
          replicas,
          updatedReplicas: replicas,
          readyReplicas: replicas,
          availableReplicas: replicas,
        },
      });
    }
  }
}

async function end(fleet: TestFleet): Promise<void> {
  const { client } = fleet;
  await client.patch(PropagationPolicy, WEB, { spec: { suspension: null } }, { type: "merge" });
  for (const name of MEMBERS)
    await client.patch(Cluster, { cluster: "hub", name }, { spec: { taints: [] } }, { type: "merge" });
  for (let round = 0; round < 3; round++) {
    await fleet.run(QUIET_MS);
    await report(fleet);
  }
  await fleet.run(QUIET_MS);

  await expectNoOrphans(fleet);
  const web = (await client.list(Deployment, { cluster: "hub", namespace: "shop" })).items[0];
  const copies = new Map<string, number>();
  for (const cluster of MEMBERS)
    for (const { spec } of (await client.list(Deployment, { cluster, namespace: "shop" })).items)
      copies.set(cluster, spec.replicas ?? 0);
  const binding = web && (await client.get(ResourceBinding, { ...WEB, name: "web-deployment" }));
  const wanted = new Map(binding?.spec.clusters?.map(({ name, replicas }) => [name, replicas ?? 0]));
  expect(copies).toEqual(wanted);
  expect(binding?.spec.gracefulEvictionTasks ?? []).toEqual([]);
  if (web) expect(binding?.spec.replicas).toBe(web.spec.replicas);
  const needed = (
    await Promise.all(
      MEMBERS.map(async (cluster) =>
        (await client.list(ConfigMap, { cluster, namespace: "shop" })).items.some(
          ({ metadata }) => metadata.name === "settings",
        )
          ? [cluster]
          : [],
      ),
    )
  ).flat();
  expect(needed).toEqual(binding?.spec.propagateDeps ? MEMBERS.filter((name) => wanted.has(name)) : []);
  fleet.resetWrites();
  await fleet.run(QUIET_MS);
  expect(fleet.writes()).toEqual([]);
}
