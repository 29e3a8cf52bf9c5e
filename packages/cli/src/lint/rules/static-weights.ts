/** Finds static weights that give no replicas to all or some clusters. */
import { itemsAt, numberAt, objectAt, valueAt } from "../fields.ts";
import { namedIn, placementOf, affinitiesOf } from "../lint-fleet.ts";
import { defineRule } from "../rule.ts";

const LIST = ["replicaScheduling", "weightPreference", "staticWeightList"] as const;

export const staticWeights = defineRule({
  id: "static-weights",
  severity: "error",
  summary: "static weights give replicas to no cluster",
  why:
    "A cluster gets replicas in proportion to its weight, and none when the list does not name it. With " +
    "weights of zero everywhere, or weights only for clusters outside the affinity, no replica is scheduled.",
  fix: "Give every cluster of the affinity a weight of at least 1, or remove the list: then all have the same weight.",
  *check({ policies }) {
    for (const manifest of policies) {
      const placement = placementOf(manifest);
      const weights = itemsAt(placement, ...LIST);
      if (weights.length === 0) continue;
      const path = ["spec", "placement", ...LIST];
      if (weights.every(({ item }) => (numberAt(item, "weight") ?? 0) <= 0)) {
        yield { manifest, path, message: `all ${weights.length} weights are zero` };
        continue;
      }
      const allowed = affinitiesOf(placement).map(({ item }) => namedIn(item));
      const weighed = weights
        .filter(({ item }) => (numberAt(item, "weight") ?? 0) > 0)
        .map(({ item }) =>
          valueAt(item, "targetCluster", "labelSelector") === undefined
            ? namedIn(objectAt(item, "targetCluster"))
            : undefined,
        );
      if (allowed.length === 0 || [...allowed, ...weighed].some((names) => names === undefined)) continue;
      const names = new Set(weighed.flat());
      const without = allowed.flat().filter((name) => name !== undefined && !names.has(name));
      if (without.length === allowed.flat().length)
        yield {
          manifest,
          path,
          message: `the weights are for ${[...names].join(", ")}, the affinity is for ${without.join(", ")}`,
        };
      else if (without.length > 0)
        yield {
          manifest,
          path,
          severity: "warning",
          message: `${without.join(", ")} of the affinity has no weight, and so never gets a replica`,
        };
    }
  },
});
