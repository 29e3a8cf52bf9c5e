/** The contract of every `KindInterpreter`, independent of its kind. */
import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { copy, deepFreeze } from "@flotilla/base";
import { createInterpreter } from "@flotilla/flotilla";
import { createLevel } from "@flotilla/kubernetes";
import type { KindInterpreter, StatusItem } from "@flotilla/kubernetes";

export interface InterpreterSample {
  /** An object of the kind, as a user applies it. */
  template: KubernetesObject;
  /** The status that a member reports for its copy once everything runs. */
  status(replicas: number): Record<string, unknown>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- the suite runs for interpreters of every kind.
export function describeInterpreter(kind: KindInterpreter<any>, { template, status }: InterpreterSample): void {
  describe(`the interpreter of ${kind.kind} in ${kind.group || "core"}`, () => {
    const frozen = deepFreeze({ ...template, metadata: { ...template.metadata, generation: 1 } });
    const interpreter = createInterpreter([createLevel("native", [kind])]);
    const member = (replicas: number): KubernetesObject =>
      ({
        ...copy(frozen),
        metadata: { ...frozen.metadata, generation: 1, annotations: { "resourcetemplate.karmada.io/generation": "1" } },
        status: status(replicas),
      }) as unknown as KubernetesObject;
    const items = (...replicas: number[]): StatusItem[] =>
      replicas.map((count, index) => ({
        clusterName: `member${index}`,
        status: kind.reflectStatus?.(deepFreeze(member(count))) ?? {},
        applied: true,
      }));

    /** An operation that the kind does not implement has nothing to test. */
    const has = (operation: keyof typeof kind): ((name: string, body: () => void | Promise<void>) => void) =>
      kind[operation] ? test : () => {};

    test("is found for every version of the kind", async () => {
      for (const version of ["v1", "v1alpha1", "v9"]) {
        expect(
          await interpreter.replicas({ ...frozen, apiVersion: kind.group ? `${kind.group}/${version}` : version }),
        ).toEqual(await interpreter.replicas(frozen));
      }
    });

    has("reviseReplicas")("revises to exactly the replicas that it then reads, and leaves its input alone", () => {
      for (const replicas of [0, 1, 7])
        expect(kind.replicas?.(kind.reviseReplicas?.(frozen, replicas)).replicas).toBe(replicas);
    });

    has("reviseReplicas")("divides into one copy per share, each with its replicas", async () => {
      const copies = await interpreter.divide(frozen, [
        { cluster: "a", replicas: 3 },
        { cluster: "b", replicas: 0 },
      ]);

      expect([...copies].map(([cluster, object]) => [cluster, kind.replicas?.(object).replicas])).toEqual([
        ["a", 3],
        ["b", 0],
      ]);
    });

    has("retain")("retains nothing when the member shows what is desired", () => {
      expect(kind.retain?.(frozen, frozen)).toEqual(frozen);
    });

    has("aggregateStatus")("sums the members' replicas and claims the template's generation when all have it", () => {
      const summed = kind.aggregateStatus?.(frozen, items(3, 2)) as { status?: Record<string, unknown> };

      expect(summed.status).toMatchObject({ replicas: 5, observedGeneration: 1 });
    });

    has("aggregateStatus")("gives the template itself back when its status is already the sum", () => {
      const once = deepFreeze(kind.aggregateStatus?.(frozen, items(3, 2)));

      expect(kind.aggregateStatus?.(once, items(3, 2))).toBe(once);
    });

    has("isHealthy")("calls a copy healthy when everything runs, and not before its controller has seen it", () => {
      const replicas = kind.replicas?.(frozen).replicas ?? 1;

      expect(kind.isHealthy?.(member(replicas))).toBe(true);
      expect(kind.isHealthy?.({ ...member(replicas), metadata: { ...frozen.metadata, generation: 2 } })).toBe(false);
    });
  });
}
