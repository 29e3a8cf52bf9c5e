/** Fields that both versions of a kind have round-trip in both directions; and objects to try it with. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepFreeze, required, type JsonObject } from "@flotilla/base";
import type { Kind } from "@flotilla/apimachinery";

export const share = fc.oneof(
  fc.nat(50),
  fc.nat(100).map((percent) => `${percent}%`),
);
export const count = fc.nat(1000);
export const word = fc.constantFrom("a", "b", "c");
export const labels = fc.dictionary(word, word, { maxKeys: 2 });
export const selector = fc.record({ matchLabels: labels });
export const optional = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(fields, { requiredKeys: [] });
export const template = fc.constant({
  metadata: { labels: { app: "a" } },
  spec: { containers: [{ name: "c", image: "i:1" }] },
});

const rolling = {
  partition: share,
  maxUnavailable: share,
  maxSurge: share,
  paused: fc.boolean(),
  priorityStrategy: fc.record({
    orderPriority: fc.array(fc.record({ orderedKey: word }), { minLength: 1, maxLength: 2 }),
  }),
};
export const cloneSetSpec = optional({
  replicas: count,
  selector,
  template,
  minReadySeconds: count,
  updateStrategy: fc.oneof(
    fc.constant({ type: "OnDelete" }),
    fc.record(
      {
        type: fc.constantFrom("ReCreate", "InPlaceIfPossible", "InPlaceOnly"),
        ...rolling,
        inPlaceUpdateStrategy: fc.record({ gracePeriodSeconds: count }),
      },
      { requiredKeys: ["type"] },
    ),
  ),
}).chain((spec) =>
  optional({ podsToDelete: fc.array(word), maxUnavailable: share, disablePVCReuse: fc.constant(true) }).map(
    (scaleStrategy) => ({ ...spec, scaleStrategy }),
  ),
);

/** `object` makes objects of v1alpha1 as the server returns them. */
export function testRoundTrip(
  kind: Pick<Kind, "group" | "kind" | "plural" | "versions">,
  object: fc.Arbitrary<object>,
): void {
  describe(`${kind.plural}.${kind.group}`, () => {
    const { toStorage, fromStorage } = required(kind.versions["v1alpha1"], "v1alpha1");
    const alpha = object.map(
      (fields) => deepFreeze({ apiVersion: `${kind.group}/v1alpha1`, kind: kind.kind, ...fields }) as JsonObject,
    );

    test("v1alpha1 round-trips through v1beta1", () => {
      fc.assert(
        fc.property(alpha, (one) => {
          expect(fromStorage?.(toStorage?.(one) ?? {})).toEqual(one);
        }),
        { seed: 7, numRuns: 200 },
      );
    });

    test("v1beta1 round-trips through v1alpha1", () => {
      fc.assert(
        fc.property(alpha, (one) => {
          const beta = deepFreeze(toStorage?.(one) ?? {}) as JsonObject;

          expect(toStorage?.(fromStorage?.(beta) ?? {})).toEqual(beta);
        }),
        { seed: 8, numRuns: 200 },
      );
    });
  });
}
