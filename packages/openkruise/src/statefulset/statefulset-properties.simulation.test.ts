/**
 * Invariants of an Advanced StatefulSet under random user actions in any order and speed: no more pods become
 * unavailable than the budget allows, the partition keeps its old pods, ordered sets create their pods in order, the
 * set converges, and then writes nothing.
 */
import { defined, omitZero } from "@flotilla/base";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { AdvancedStatefulSet } from "./statefulset-kind.ts";
import { Pod } from "@flotilla/kubernetes";
import { kruiseKinds } from "../openkruise.ts";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER, NAMESPACE } from "@flotilla/testing/member/member.ts";
import { startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { isInRange } from "./ordinals.ts";
import {
  availabilityOf,
  isOrdered,
  isTerminating,
  minReadySecondsOf,
  ordinalOf,
  ordinalsOf,
  replicasOf,
  rollingOf,
  shareOf,
} from "./statefulset-pod-state.ts";
import type { ReadonlyStatefulSet } from "./statefulset-pod-state.ts";
import { DEFAULT_GATES } from "../api/feature-gates.ts";

type ReadonlyPod = DeepReadonly<Pod>;
type Spec = AdvancedStatefulSet["spec"];
interface Change {
  replicas?: number;
  image?: string;
  env?: string;
  partition?: number;
  reserveOrdinals?: (number | string)[];
  /** The ordinal of a pod that the user marks for deletion. */
  mark?: number;
}

/** The runs are reproducible; a failure prints the seed to repeat it alone. */
const RUNS = { seed: 20_240_501, numRuns: 25 };
const LONG_MS = 600_000;

const base = fc.record({
  podUpdatePolicy: fc.constantFrom("ReCreate", "InPlaceIfPossible"),
  partition: fc.integer({ min: 0, max: 3 }),
  minReadySeconds: fc.constantFrom(0, 0, 3),
  replicas: fc.integer({ min: 0, max: 6 }),
});
const orderedSet = base.map(({ replicas, ...rolling }): Partial<Spec> => ({
  replicas,
  podManagementPolicy: "OrderedReady",
  updateStrategy: { type: "RollingUpdate", rollingUpdate: rolling },
}));
const parallelSet = fc
  .record({
    base,
    maxUnavailable: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constantFrom("20%", "50%")),
    isUnordered: fc.boolean(),
    scaleMaxUnavailable: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  })
  .map(({ base: { replicas, ...rolling }, maxUnavailable, isUnordered, scaleMaxUnavailable }): Partial<Spec> => ({
    replicas,
    podManagementPolicy: "Parallel",
    scaleStrategy: scaleMaxUnavailable !== undefined ? { maxUnavailable: scaleMaxUnavailable } : undefined,
    updateStrategy: {
      type: "RollingUpdate",
      rollingUpdate: { ...rolling, maxUnavailable, unorderedUpdate: isUnordered ? {} : undefined },
    },
  }));
const step: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ replicas: fc.integer({ min: 0, max: 6 }) }),
  fc.record({ image: fc.constantFrom("db:1", "db:2", "db:3") }),
  fc.record({ env: fc.constantFrom("a", "b") }),
  fc.record({ partition: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ reserveOrdinals: fc.constantFrom<(number | string)[]>([], [1], ["0-1", 3]) }),
  fc.record({ mark: fc.integer({ min: 0, max: 5 }) }),
);

function template(image: string, env: string): Spec["template"] {
  return {
    metadata: { labels: { app: "db" } },
    spec: {
      containers: [{ name: "main", image, env: [{ name: "MODE", value: env }] }],
      readinessGates: [{ conditionType: "InPlaceUpdateReady" }],
    },
  };
}

function applied(
  set: ReadonlyStatefulSet,
  { replicas, image, env, partition, reserveOrdinals }: Change,
): ReadonlyStatefulSet {
  const [container] = set.spec.template.spec?.containers ?? [];
  const rollingUpdate = { ...rollingOf(set), ...defined({ partition }) };
  return {
    ...set,
    spec: {
      ...set.spec,
      ...defined({ replicas }),
      ...omitZero({ reserveOrdinals }),
      template: template(image ?? container?.image ?? "", env ?? container?.env?.[0]?.value ?? ""),
      updateStrategy: { type: "RollingUpdate", rollingUpdate },
    },
  };
}

/** Checks every pod state that a watcher can observe. */
function watchSet(member: KruiseMember): { findings: string[]; begin(next: ReadonlyStatefulSet, mark?: number): void } {
  const findings: string[] = [];
  const wasAvailable = new Set<number>();
  const known = new Set<string | undefined>();
  let set: ReadonlyStatefulSet | undefined;
  let oldFloor = 0;

  const isWanted = (owner: ReadonlyStatefulSet, ordinal: number): boolean =>
    isInRange(ordinalsOf(owner, DEFAULT_GATES), ordinal);
  const live = (): ReadonlyPod[] => member.pods().filter((pod) => !isTerminating(pod));
  const available = (owner: ReadonlyStatefulSet): Set<number> =>
    new Set(
      live()
        .filter((pod) => availabilityOf(pod, minReadySecondsOf(owner), member.clock.now()).isAvailable)
        .map(ordinalOf),
    );
  const contentOf = (spec: DeepReadonly<Pod["spec"]> | undefined): string =>
    JSON.stringify([spec?.containers[0]?.image, spec?.containers[0]?.env]);
  const oldOf = (owner: ReadonlyStatefulSet): ReadonlyPod[] =>
    live().filter(
      (pod) => isWanted(owner, ordinalOf(pod)) && contentOf(pod.spec) !== contentOf(owner.spec.template.spec),
    );

  member.informers.of(Pod).subscribe(({ object, deleted }) => {
    if (!set) return;
    const now = available(set);
    for (const ordinal of now) wasAvailable.add(ordinal);
    for (const ordinal of wasAvailable) if (!isWanted(set, ordinal)) wasAvailable.delete(ordinal);
    const away = [...wasAvailable].filter((ordinal) => !now.has(ordinal)).length;
    const allowed = shareOf(set, rollingOf(set)?.maxUnavailable ?? 1) ?? 1;
    if (away > allowed) findings.push(`${away} pods away, at most ${allowed} wanted`);
    if (oldOf(set).length < oldFloor) findings.push(`${oldOf(set).length} old pods, at least ${oldFloor} wanted`);
    if (!deleted && !known.has(object.metadata.uid)) {
      known.add(object.metadata.uid);
      const before = live().filter((pod) => ordinalOf(pod) < ordinalOf(object));
      if (isOrdered(set) && before.some((pod) => set && isWanted(set, ordinalOf(pod)) && !now.has(ordinalOf(pod))))
        findings.push(`${object.metadata.name} was made before those in front of it were available`);
    }
  });

  return {
    findings,
    begin(next, mark) {
      set = next;
      const { partition = 0, unorderedUpdate } = rollingOf(next) ?? {};
      const old = oldOf(next);
      const { start, reserved } = ordinalsOf(next, DEFAULT_GATES);
      const rank = (pod: ReadonlyPod): number =>
        Array.from({ length: ordinalOf(pod) - start }, (_, index) => start + index).filter((ordinal) =>
          isInRange({ start, end: Infinity, reserved }, ordinal),
        ).length;
      // Marked pods are deleted regardless of the partition.
      const kept = old.filter(
        (pod) => ordinalOf(pod) !== mark && pod.metadata.labels?.["apps.kruise.io/specified-delete"] === undefined,
      );
      const marked = old.length - kept.length;
      oldFloor = unorderedUpdate
        ? Math.max(0, Math.min(kept.length, partition - marked))
        : kept.filter((pod) => rank(pod) < partition).length;
    },
  };
}

async function expectSettled(member: KruiseMember): Promise<void> {
  const set = await member.get(AdvancedStatefulSet, "db");
  const replicas = replicasOf(set);
  expect(set.status).toMatchObject({
    observedGeneration: set.metadata.generation,
    replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
  });
  expect(set.status?.updatedReplicas).toBeGreaterThanOrEqual(replicas - (rollingOf(set)?.partition ?? 0));
}

const kinds: Record<string, fc.Arbitrary<Partial<Spec>>> = {
  "an ordered set": orderedSet,
  "a parallel set": parallelSet,
};
for (const [name, spec] of Object.entries(kinds)) {
  test(`${name} respects its budgets, converges and then writes nothing`, { timeout: 120_000 }, async () => {
    const steps = fc.array(fc.record({ change: step, pauseMs: fc.integer({ min: 0, max: 20_000 }) }), {
      minLength: 1,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(spec, steps, async (partial, changes) => {
        const member = await startKruiseMember({
          customs: kruiseKinds,
          times: { startMs: 3_000, restartMs: 2_000, stopMs: 1_000 },
        });
        try {
          const watch = watchSet(member);
          const created = await member.client.create(AdvancedStatefulSet, MEMBER, {
            apiVersion: "apps.kruise.io/v1beta1",
            kind: "StatefulSet",
            metadata: { name: "db", namespace: NAMESPACE },
            spec: {
              serviceName: "db",
              selector: { matchLabels: { app: "db" } },
              template: template("db:1", "a"),
              ...partial,
            },
          });
          watch.begin(created);
          await member.pass(LONG_MS);
          for (const { change, pauseMs } of changes) {
            const set = await member.get(AdvancedStatefulSet, "db");
            // A pod that is terminating when its slot is needed again was not taken by an update.
            if (change.replicas !== undefined || change.reserveOrdinals) await member.pass(LONG_MS);
            watch.begin(applied(set, change), change.mark);
            const marked = member.pods().find((pod) => ordinalOf(pod) === change.mark && !isTerminating(pod));
            if (marked)
              await member.editPod(marked.metadata.name, (pod) => ({
                ...pod,
                metadata: {
                  ...pod.metadata,
                  labels: { ...pod.metadata.labels, "apps.kruise.io/specified-delete": "true" },
                },
              }));
            if (change.mark === undefined)
              await member.change(AdvancedStatefulSet, "db", (object) => applied(object, change));
            await member.pass(pauseMs);
          }
          await member.pass(2 * LONG_MS);

          await expectSettled(member);
          member.writes.reset();
          await member.pass(LONG_MS);
          expect(member.writes.counts()).toEqual([]);
          expect(watch.findings).toEqual([]);
        } finally {
          await member.stop();
        }
      }),
      RUNS,
    );
  });
}
