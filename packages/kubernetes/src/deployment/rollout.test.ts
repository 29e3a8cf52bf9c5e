import { assert, integer, property } from "fast-check";
import { describe, expect, test } from "vitest";
import type { DeploymentSpec } from "@flotilla/apimachinery/facts/apps-v1.ts";
import type { ReadonlyReplicaSet } from "../replicaset/plan-replicaset.ts";
import { makeReplicaSet, replicasOf } from "./replica-sets.ts";
import type { ReadonlyDeployment } from "./replica-sets.ts";
import { limitsOf, planCleanup, planRollout } from "./rollout.ts";

function makeDeployment(replicas: number, spec: Partial<DeploymentSpec> = {}, image = "web:2"): ReadonlyDeployment {
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image }] } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "shop", uid: "u" },
    spec: { replicas, selector: { matchLabels: { app: "web" } }, template, ...spec },
  };
}

/** A ReplicaSet of the Deployment with this image. */
function makeSet(
  deployment: ReadonlyDeployment,
  image: string,
  size: number,
  available: number,
  revision = 1,
): ReadonlyReplicaSet {
  const replicas = replicasOf(deployment);
  const { maxSurge } = limitsOf(deployment);
  const set = makeReplicaSet(
    { ...makeDeployment(replicas, {}, image), metadata: deployment.metadata },
    { replicas: size, revision: BigInt(revision), maxReplicas: replicas + maxSurge, collisionCount: 0 },
  );
  return {
    ...set,
    metadata: { ...set.metadata, generation: 1 },
    status: { replicas: size, availableReplicas: available, observedGeneration: 1 },
  };
}
const budget = (maxSurge: number | string, maxUnavailable: number | string): Partial<DeploymentSpec> => ({
  strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } },
});
const noPods = (): boolean => false;

describe("the limits of a rolling update", () => {
  const cases: Record<
    string,
    { replicas: number; spec: Partial<DeploymentSpec>; want: [surge: number, unavailable: number] }
  > = {
    "default to a quarter each": { replicas: 8, spec: {}, want: [2, 2] },
    "round surge up and unavailability down": { replicas: 10, spec: budget("25%", "25%"), want: [3, 2] },
    "allow one unavailable pod when both round to zero": { replicas: 4, spec: budget(0, "20%"), want: [0, 1] },
    "never exceed the replicas": { replicas: 2, spec: budget(0, 5), want: [0, 2] },
    "do not exist for Recreate": { replicas: 4, spec: { strategy: { type: "Recreate" } }, want: [0, 0] },
  };
  test.each(Object.entries(cases))("%s", (_behaviour, { replicas, spec, want }) => {
    const { maxSurge, maxUnavailable } = limitsOf(makeDeployment(replicas, spec));

    expect([maxSurge, maxUnavailable]).toEqual(want);
  });
});

describe("a rolling update", () => {
  const deployment = makeDeployment(4, budget(1, 1));

  test("starts with a ReplicaSet as large as the surge allows", () => {
    const plan = planRollout({ deployment, replicaSets: [makeSet(deployment, "web:1", 4, 4)], hasPods: noPods });

    expect(plan.create?.spec.replicas).toBe(1);
    expect(plan.create?.metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("2");
  });

  test("starts at full size when there is no old ReplicaSet", () => {
    expect(planRollout({ deployment, replicaSets: [], hasPods: noPods }).create?.spec.replicas).toBe(4);
  });

  test("scales the old ReplicaSet down within the budget", () => {
    const replicaSets = [makeSet(deployment, "web:1", 4, 4), makeSet(deployment, "web:2", 1, 0, 2)];

    const plan = planRollout({ deployment, replicaSets, hasPods: noPods });

    expect([...plan.sizes.values()]).toEqual([3]);
  });

  test("removes unhealthy old pods first", () => {
    const replicaSets = [
      makeSet(deployment, "web:1", 2, 2),
      makeSet(deployment, "web:0", 2, 0),
      makeSet(deployment, "web:2", 1, 1, 2),
    ];

    const plan = planRollout({ deployment, replicaSets, hasPods: noPods });

    expect(plan.sizes.get(replicaSets[1]?.metadata.name ?? "")).toBe(0);
    expect(plan.sizes.has(replicaSets[0]?.metadata.name ?? "")).toBe(false);
  });

  test("waits while the new pods are not available", () => {
    const replicaSets = [makeSet(deployment, "web:1", 3, 3), makeSet(deployment, "web:2", 2, 0, 2)];

    expect(planRollout({ deployment, replicaSets, hasPods: noPods }).sizes.size).toBe(0);
  });

  test("never plans fewer available pods than guaranteed nor more pods than the surge, from any state", () => {
    const size = integer({ min: 0, max: 12 });
    assert(
      property(
        size,
        size,
        size,
        integer({ min: 0, max: 4 }),
        integer({ min: 0, max: 4 }),
        integer({ min: 1, max: 12 }),
        (oldSize, newSize, down, surge, unavailable, replicas) => {
          const fuzzed = makeDeployment(replicas, budget(surge, unavailable));
          const limits = limitsOf(fuzzed);
          const oldAvailable = Math.max(0, oldSize - down);
          const replicaSets = [
            makeSet(fuzzed, "web:1", oldSize, oldAvailable),
            makeSet(fuzzed, "web:2", newSize, newSize, 2),
          ];

          const plan = planRollout({ deployment: fuzzed, replicaSets, hasPods: noPods });

          const sizeOf = (set: ReadonlyReplicaSet | undefined): number =>
            set ? (plan.sizes.get(set.metadata.name) ?? replicasOf(set)) : 0;
          const total = sizeOf(replicaSets[0]) + sizeOf(replicaSets[1]);
          const before = oldSize + newSize;
          expect(total).toBeLessThanOrEqual(Math.max(before, replicas + limits.maxSurge));
          // Only available pods beyond the guaranteed number are removed.
          const availableBefore = oldAvailable + newSize;
          const availableAfter =
            Math.min(sizeOf(replicaSets[0]), oldAvailable) + Math.min(sizeOf(replicaSets[1]), newSize);
          expect(availableAfter).toBeGreaterThanOrEqual(Math.min(availableBefore, replicas - limits.maxUnavailable));
        },
      ),
    );
  });
});

describe("Recreate", () => {
  const deployment = makeDeployment(3, { strategy: { type: "Recreate" } });

  test("first removes every old pod", () => {
    expect([
      ...planRollout({
        deployment,
        replicaSets: [makeSet(deployment, "web:1", 3, 3)],
        hasPods: () => true,
      }).sizes.values(),
    ]).toEqual([0]);
  });

  test("waits until the last old pod is removed, then creates all", () => {
    const replicaSets = [makeSet(deployment, "web:1", 0, 0)];

    expect(planRollout({ deployment, replicaSets, hasPods: () => true }).create).toBeUndefined();
    expect(planRollout({ deployment, replicaSets, hasPods: noPods }).create?.spec.replicas).toBe(3);
  });
});

describe("scaling during a rollout", () => {
  test("distributes the difference in proportion to the sizes", () => {
    const before = makeDeployment(10, budget(2, 1));
    const replicaSets = [makeSet(before, "web:1", 8, 8), makeSet(before, "web:2", 4, 2, 2)];

    const plan = planRollout({ deployment: makeDeployment(20, budget(2, 1)), replicaSets, hasPods: noPods });

    expect(replicaSets.map(({ metadata }) => plan.sizes.get(metadata.name))).toEqual([15, 7]);
  });

  test("changes the only ReplicaSet that has pods", () => {
    const before = makeDeployment(3);
    const replicaSets = [makeSet(before, "web:1", 0, 0), makeSet(before, "web:2", 3, 3, 2)];

    const plan = planRollout({ deployment: makeDeployment(5), replicaSets, hasPods: noPods });

    expect([...plan.sizes]).toEqual([[replicaSets[1]?.metadata.name, 5]]);
  });
});

test("history keeps the newest empty old ReplicaSets", () => {
  const deployment = makeDeployment(1, { revisionHistoryLimit: 1 }, "web:9");
  const old = [1, 2, 3].map((revision) => makeSet(deployment, `web:${revision}`, revision === 2 ? 1 : 0, 0, revision));

  const removed = planCleanup(deployment, old);

  expect(removed.map(({ metadata }) => metadata.name)).toEqual([old[0]?.metadata.name]);
});
