/**
 * A CloneSet rollout over the fleet after any history: exactly as many pods are updated as the partition allows, and
 * never more in between.
 */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { Namespace, Pod } from "@flotilla/kubernetes";
import { PropagationPolicy } from "@flotilla/karmada";
import type { Json } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import { runs, seedOr } from "@flotilla/testing/runs.ts";

const RUNS = runs(12);
const SEED = seedOr(5);
const MEMBERS = ["member1", "member2", "member3"];
const LONG_MS = 240_000;
const LOOK_MS = 500;
const web = { cluster: "hub", namespace: "shop", name: "web" };

type Step =
  | { do: "release"; partition: number; after: "all" | "some" }
  | { do: "partition"; partition: number }
  | { do: "scale"; replicas: number }
  | { do: "weigh"; weights: [number, number, number] }
  | { do: "away" | "back"; member: string }
  | { do: "restart" }
  | { do: "run"; looks: number };

const partition = fc.integer({ min: 0, max: 12 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("release" as const),
      partition: fc.integer({ min: 1, max: 12 }),
      after: fc.constantFrom("all" as const, "some" as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("partition" as const), partition }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("scale" as const), replicas: fc.integer({ min: 0, max: 14 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("weigh" as const),
      weights: fc.tuple(fc.nat(4), fc.nat(4), fc.integer({ min: 1, max: 4 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("away" as const, "back" as const),
      member: fc.constantFrom(...MEMBERS),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "restart" }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("run" as const), looks: fc.constantFrom(1, 4, 40) }) },
);

test(
  "after any history exactly the pods that the partition allows are updated, and never more in between",
  { timeout: 300_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("InPlaceIfPossible" as const, "ReCreate" as const),
        fc.array(step, { minLength: 4, maxLength: 20 }),
        play,
      ),
      { seed: SEED, numRuns: RUNS },
    );
  },
);

const policyWith = (weights: readonly number[]): PropagationPolicy =>
  makePolicy("shop/all")
    .selects("apps.kruise.io/v1beta1", "CloneSet")
    .weights(
      Object.fromEntries(
        MEMBERS.map((member, index): [string, number] => [member, weights[index] ?? 0]).filter(
          ([, weight]) => weight > 0,
        ),
      ),
    )
    .build();

async function play(podUpdatePolicy: "InPlaceIfPossible" | "ReCreate", steps: readonly Step[]): Promise<void> {
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
  const open = (): Promise<TestFleet> => startTestFleet({ members: MEMBERS, nodes: 3, engine, wrap });
  let fleet = await open();
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", policyWith([3, 3, 4]));
  const cloneSet = makeCloneSet("shop/web")
    .replicas(10)
    .with(
      ({ spec }) =>
        (spec.updateStrategy = { type: "RollingUpdate", rollingUpdate: { podUpdatePolicy, maxUnavailable: "100%" } }),
    );
  await fleet.client.create(CloneSet, "hub", cloneSet.build());
  await fleet.run(60_000);

  let version = 2;
  let demand = { replicas: 10, partition: 10 };
  /** The maximum that any step requested since the fleet last settled. */
  let ceiling = 0;
  const demanded = (): number => Math.max(0, demand.replicas - demand.partition);
  const change = async (patch: Json): Promise<void> =>
    void (await fleet.client.patch(CloneSet, web, patch, { type: "merge" }));
  const look = async (): Promise<number> => {
    const lists = await Promise.all(MEMBERS.map((cluster) => fleet.client.list(Pod, { cluster, namespace: "shop" })));
    return lists
      .flatMap(({ items }) => items)
      .filter(({ metadata, spec }) => !metadata.deletionTimestamp && spec?.containers[0]?.image === `web:${version}`)
      .length;
  };
  const release = (kept: number): Promise<void> =>
    change({
      spec: {
        template: { spec: { containers: [{ name: "web", image: `web:${version}` }] } },
        updateStrategy: { rollingUpdate: { partition: kept } },
      },
    });
  await release(demand.partition);
  await fleet.run(60_000);

  for (const next of steps) {
    if (next.do === "release") {
      if (next.after === "all") {
        away.clear();
        await change({ spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
        await fleet.run(LONG_MS);
      }
      version++;
      demand = { ...demand, partition: next.partition };
      ceiling = 0;
      await release(next.partition);
    } else if (next.do === "partition") {
      demand = { ...demand, partition: next.partition };
      await change({ spec: { updateStrategy: { rollingUpdate: { partition: next.partition } } } });
    } else if (next.do === "scale") {
      demand = { ...demand, replicas: next.replicas };
      await change({ spec: { replicas: next.replicas } });
    } else if (next.do === "weigh")
      await fleet.client.patch(
        PropagationPolicy,
        { ...web, name: "all" },
        { spec: policyWith(next.weights).spec } as unknown as Json,
        { type: "merge" },
      );
    else if (next.do === "away") away.add(next.member);
    else if (next.do === "back") away.delete(next.member);
    else if (next.do === "restart") {
      await fleet.stop();
      fleet = await open();
    }
    // With partition 0 nothing is counted: while replicas move, there are temporarily more of them.
    ceiling = demand.partition === 0 ? Number.POSITIVE_INFINITY : Math.max(ceiling, demanded());
    for (let looks = next.do === "run" ? next.looks : 1; looks > 0; looks--) {
      await fleet.run(LOOK_MS);
      expect(await look()).toBeLessThanOrEqual(ceiling);
    }
  }
  away.clear();
  await fleet.run(LONG_MS);
  const settled = await look();
  expect(settled).toBe(demanded());
  expect((await fleet.client.get(CloneSet, web)).status).toMatchObject({
    replicas: demand.replicas,
    updatedReplicas: demanded(),
  });
  fleet.resetWrites();
  await fleet.run(LONG_MS);
  expect(fleet.writes()).toEqual([]);
  await fleet.stop();
}
