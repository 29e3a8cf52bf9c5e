/**
 * Invariants of a CloneSet for random specs and random sequences of scaling and updating, on a member with slow pods:
 * it respects its budgets, converges, and then writes nothing.
 */
import { defined } from "@flotilla/base";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { CloneSet } from "./cloneset-kind.ts";
import { isActive, Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER } from "@flotilla/testing/member/member.ts";
import { makeWebCloneSet, makeWebTemplate, startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { CloneSetRolling, KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { budgetsOf } from "./diff.ts";
import { isPodAvailable } from "./cloneset-pod-state.ts";

type ReadonlyPod = DeepReadonly<Pod>;
type Spec = DeepReadonly<CloneSet["spec"]>;

const share = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constantFrom("0%", "25%", "50%", "99%", "100%"));
const rolling: fc.Arbitrary<CloneSetRolling> = fc
  .record({
    podUpdatePolicy: fc.constantFrom("ReCreate", "InPlaceIfPossible"),
    maxUnavailable: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("20%", "50%")),
    maxSurge: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("0%", "50%")),
    partition: share,
  })
  // The API server rejects zero for both: the update could never progress.
  .map((strategy) => ({ ...strategy, maxUnavailable: strategy.maxUnavailable === 0 ? 1 : strategy.maxUnavailable }));

const step = fc.oneof(
  fc.record({ replicas: fc.integer({ min: 0, max: 6 }) }),
  fc.record({ image: fc.constantFrom("web:1", "web:2", "web:3") }),
  fc.record({ partition: share }),
  fc.record({ env: fc.constantFrom("a", "b") }),
);
type Step = { replicas?: number; image?: string; partition?: number | string; env?: string };

function applied(spec: Spec, { replicas, image, partition, env }: Step): Spec {
  const [container] = spec.template.spec?.containers ?? [];
  const next = {
    ...container,
    name: "main",
    ...defined({ image, env: env === undefined ? undefined : [{ name: "MODE", value: env }] }),
  };
  return {
    ...spec,
    ...defined({ replicas }),
    template: { ...spec.template, spec: { ...spec.template.spec, containers: [next] } },
    updateStrategy: {
      ...spec.updateStrategy,
      rollingUpdate: { ...spec.updateStrategy?.rollingUpdate, ...defined({ partition }) },
    },
  };
}

/** Checks every pod state that a watcher can observe while the spec does not change. */
function watchBudgets(member: KruiseMember): { findings: string[]; begin(cloneSet: DeepReadonly<CloneSet>): void } {
  const findings: string[] = [];
  let cloneSet: DeepReadonly<CloneSet> | undefined;
  let floor = 0;
  let ceiling = 0;
  let oldFloor = 0;
  const active = (): ReadonlyPod[] => member.pods().filter(isActive);
  const available = (): number => active().filter((pod) => isPodAvailable(pod, 0, member.clock.now())).length;
  const imageOf = (pod: ReadonlyPod): string =>
    JSON.stringify(pod.spec.containers[0]?.image) + JSON.stringify(pod.spec.containers[0]?.env ?? []);
  const isOld = (pod: ReadonlyPod): boolean =>
    imageOf(pod) !==
    JSON.stringify(cloneSet?.spec.template.spec?.containers[0]?.image) +
      JSON.stringify(cloneSet?.spec.template.spec?.containers[0]?.env ?? []);

  member.informers.of(Pod).subscribe(() => {
    if (!cloneSet) return;
    const pods = active();
    if (available() < floor) findings.push(`${available()} available, at least ${floor} wanted`);
    if (pods.length > ceiling) findings.push(`${pods.length} pods, at most ${ceiling} wanted`);
    if (pods.filter(isOld).length < oldFloor)
      findings.push(`${pods.filter(isOld).length} old pods, at least ${oldFloor} wanted`);
    // The number of available pods must not fall below this, within the budget.
    floor = Math.max(floor, Math.min(available(), budgetFloor()));
  });
  const budgetFloor = (): number => {
    if (!cloneSet) return 0;
    const { replicas, maxUnavailable } = budgetsOf(cloneSet);
    return Math.max(0, replicas - maxUnavailable);
  };

  return {
    findings,
    begin(next) {
      cloneSet = next;
      const { replicas, maxSurge, partition } = budgetsOf(next);
      const pods = active();
      floor = Math.min(available(), budgetFloor());
      ceiling = Math.max(pods.length, replicas + maxSurge);
      // Pods above the new size are deleted, old ones first; remaining old pods are kept by the partition.
      oldFloor = Math.min(pods.filter(isOld).length, partition, replicas);
    },
  };
}

test("a CloneSet respects its budgets, converges and then writes nothing", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 6 }),
      rolling,
      fc.array(step, { minLength: 1, maxLength: 4 }),
      async (replicas, strategy, steps) => {
        const member = await startKruiseMember({ times: { startMs: 3_000, restartMs: 2_000, stopMs: 1_000 } });
        try {
          const watch = watchBudgets(member);
          const created = await member.client.create(
            CloneSet,
            MEMBER,
            makeWebCloneSet(replicas, strategy, { template: makeWebTemplate("web:1") }),
          );
          watch.begin(created);
          await member.pass(300_000);

          for (const change of steps as Step[]) {
            watch.begin({ ...created, spec: applied((await member.cloneSet()).spec, change) });
            await member.edit((spec) => applied(spec, change));
            await member.pass(600_000);
            await expectSettled(member);
          }

          member.writes.reset();
          await member.pass(600_000);
          expect(member.writes.counts()).toEqual([]);
          expect(watch.findings).toEqual([]);
        } finally {
          await member.stop();
        }
      },
    ),
    { seed: 20_240_501, numRuns: 40 },
  );
});

/** All desired pods run, and the old ones are those that the partition keeps. */
async function expectSettled(member: KruiseMember): Promise<void> {
  const cloneSet = await member.cloneSet();
  const { replicas } = budgetsOf(cloneSet);
  const { status } = cloneSet;
  expect(status).toMatchObject({
    observedGeneration: cloneSet.metadata.generation,
    replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
  });
  expect(status?.updatedReplicas).toBeGreaterThanOrEqual(status?.expectedUpdatedReplicas ?? 0);
}
