/**
 * Invariants of StatefulSets and DaemonSets under random user actions in any order and speed: no more pods become
 * unavailable than the budget allows, the set converges, and then writes nothing.
 */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DaemonSet } from "../daemonset/daemonset-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { StatefulSet } from "../statefulset/statefulset-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { scaledValue } from "@flotilla/apimachinery";
import { MEMBER, NAMESPACE, startTestMember } from "@flotilla/testing/member/member.ts";
import type { TestMember } from "@flotilla/testing/member/member.ts";
import { indexByController } from "../owned-kinds.ts";
import { createDaemonSetController } from "../daemonset/daemonset-controller.ts";
import { isAvailable } from "../pod/pod-state.ts";
import { createStatefulSetController } from "../statefulset/statefulset-controller.ts";

/** The runs are reproducible; a failure prints the seed to repeat it alone. */
const RUNS = { seed: 20240501, numRuns: 15 };
const LONG_MS = 300_000;

const isReady = ({ metadata, status }: DeepReadonly<Pod>): boolean =>
  !metadata.deletionTimestamp &&
  (status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false);
const template = (version: number) => ({
  metadata: { labels: { app: "x" } },
  spec: { containers: [{ name: "main", image: `x:${version}` }] },
});
const selector = { matchLabels: { app: "x" } };
const metadata = { name: "x", namespace: NAMESPACE };
const limits = fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constantFrom("20%", "50%"));
/** Milliseconds until the user's next action. */
const pause = fc.integer({ min: 0, max: 6_000 });
const images = (member: TestMember): Set<string | undefined> =>
  new Set(member.pods().map(({ spec }) => spec.containers[0]?.image));

interface Rollout {
  member: TestMember;
  /** The largest number of unavailable slots beyond the limit at that time. */
  excess(): number;
}

/** `placeOf` is the slot of a pod: its ordinal, or its node. Slots that are no longer desired are dropped. */
async function watchRollout(
  wanted: () => ReadonlySet<string>,
  allowed: () => number,
  placeOf: (pod: DeepReadonly<Pod>) => string,
  minReadySeconds: number,
): Promise<Rollout> {
  const member = await startTestMember({
    nodes: 4,
    controllers(deps) {
      indexByController(deps.informers);
      return [createStatefulSetController(deps), createDaemonSetController(deps)];
    },
  });
  const wasAvailable = new Set<string>();
  let excess = 0;
  member.informers.of(Pod).subscribe(() => {
    const available = new Set(
      member
        .pods()
        .filter((pod) => isReady(pod) && isAvailable(pod, minReadySeconds, member.clock.now()))
        .map(placeOf),
    );
    for (const place of available) wasAvailable.add(place);
    for (const place of wasAvailable) if (!wanted().has(place)) wasAvailable.delete(place);
    const away = [...wasAvailable].filter((place) => !available.has(place)).length;
    excess = Math.max(excess, away - allowed());
  });
  return { member, excess: () => excess };
}

async function expectSilence(member: TestMember): Promise<void> {
  member.writes.reset();
  await member.pass(LONG_MS);
  expect(member.writes.counts()).toEqual([]);
}

describe("Under random changes", () => {
  test("a StatefulSet stays within its budget, converges and then writes nothing", async () => {
    const step = fc.record({
      replicas: fc.integer({ min: 0, max: 6 }),
      version: fc.integer({ min: 1, max: 3 }),
      pause,
    });
    const set = fc.record({
      podManagementPolicy: fc.constantFrom("OrderedReady" as const, "Parallel" as const),
      maxUnavailable: fc.option(limits, { nil: undefined }),
      minReadySeconds: fc.constantFrom(0, 0, 2),
    });
    const rollout = fc.asyncProperty(
      set,
      fc.array(step, { minLength: 1, maxLength: 5 }),
      async ({ podManagementPolicy, maxUnavailable, minReadySeconds }, steps) => {
        let [replicas, version] = [3, 1];
        const allowed = (): number => Math.max(1, scaledValue(maxUnavailable ?? 1, replicas, { roundUp: false }));
        const wanted = (): ReadonlySet<string> =>
          new Set(Array.from({ length: replicas }, (_, ordinal) => `x-${ordinal}`));
        const { member, excess } = await watchRollout(wanted, allowed, (pod) => pod.metadata.name, minReadySeconds);
        try {
          const rollingUpdate = { partition: 0, maxUnavailable };
          await member.client.create(StatefulSet, MEMBER, {
            apiVersion: "apps/v1",
            kind: "StatefulSet",
            metadata,
            spec: {
              replicas,
              serviceName: "x",
              selector,
              template: template(1),
              podManagementPolicy,
              minReadySeconds,
              updateStrategy: { type: "RollingUpdate", rollingUpdate },
            },
          });
          for (const next of steps) {
            await member.pass(next.pause);
            // A pod that is terminating when the set is scaled up again was not taken by the update.
            await member.pass(next.replicas > replicas ? LONG_MS : 0);
            ({ replicas, version } = next);
            await member.change(StatefulSet, "x", (object) => ({
              ...object,
              spec: { ...object.spec, replicas, template: template(version) },
            }));
          }
          await member.pass(LONG_MS);

          expect(excess()).toBeLessThanOrEqual(0);
          expect(member.pods().filter(isReady)).toHaveLength(replicas);
          expect(images(member)).toEqual(new Set(replicas > 0 ? [`x:${version}`] : []));
          await expectSilence(member);
        } finally {
          await member.stop();
        }
      },
    );

    await fc.assert(rollout, RUNS);
  }, 120_000);

  test("a DaemonSet stays within its budget, converges and then writes nothing", async () => {
    const step = fc.record({ version: fc.integer({ min: 1, max: 3 }), pause });
    const strategy = fc.oneof(
      limits.map((maxUnavailable) => ({ maxUnavailable, maxSurge: 0 })),
      limits.map((maxSurge) => ({ maxUnavailable: 0, maxSurge })),
    );
    const rollout = fc.asyncProperty(
      strategy,
      fc.constantFrom(0, 0, 2),
      fc.array(step, { minLength: 1, maxLength: 5 }),
      async (rollingUpdate, minReadySeconds, steps) => {
        const nodes = new Set(["node-000", "node-001", "node-002", "node-003"]);
        const allowed = (): number => scaledValue(rollingUpdate.maxUnavailable, nodes.size, { roundUp: true });
        const { member, excess } = await watchRollout(
          () => nodes,
          allowed,
          ({ spec }) => spec.nodeName ?? "",
          minReadySeconds,
        );
        try {
          await member.client.create(DaemonSet, MEMBER, {
            apiVersion: "apps/v1",
            kind: "DaemonSet",
            metadata,
            spec: {
              selector,
              template: template(1),
              minReadySeconds,
              updateStrategy: { type: "RollingUpdate", rollingUpdate },
            },
          });
          let version = 1;
          for (const next of steps) {
            await member.pass(next.pause);
            ({ version } = next);
            await member.change(DaemonSet, "x", (object) => ({
              ...object,
              spec: { ...object.spec, template: template(version) },
            }));
          }
          await member.pass(LONG_MS);

          expect(excess()).toBeLessThanOrEqual(0);
          expect(member.pods().filter(isReady)).toHaveLength(4);
          expect(images(member)).toEqual(new Set([`x:${version}`]));
          await expectSilence(member);
        } finally {
          await member.stop();
        }
      },
    );

    await fc.assert(rollout, RUNS);
  }, 120_000);
});
