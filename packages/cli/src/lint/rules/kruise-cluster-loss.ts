/** Finds policies that evict at once when a cluster is lost during a release. */
import { shown, textAt } from "../fields.ts";
import { keepsSome, partitionOf, REPLICATED } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruiseClusterLoss = defineRule({
  id: "kruise-cluster-loss",
  severity: "warning",
  summary: "a cluster that is lost during a release is emptied at once",
  why:
    "With `purgeMode: Directly` the copy is deleted before its replacement is up. While a partition holds a " +
    "release midway, the pods of a lost cluster count as unavailable, and starting them elsewhere adds more " +
    "changes to a fleet that is already changing.",
  fix: "Set `purgeMode: Gracefully` for workloads that are released with a partition.",
  *check(fleet) {
    for (const manifest of fleet.of(...REPLICATED)) {
      const policy = keepsSome(partitionOf(manifest)) ? fleet.policyOf(manifest) : undefined;
      const path = ["spec", "failover", "cluster", "purgeMode"];
      if (policy && ["Directly", "Immediately"].includes(textAt(policy.object, ...path)))
        yield {
          manifest: policy,
          path,
          message: `${manifest.title} is released with partition ${shown(partitionOf(manifest)?.value)}`,
        };
    }
  },
});
