/** Finds parallelism, which applies to each cluster separately. */
import { kruiseWorkloads } from "@flotilla/openkruise";
import { shown, valueAt } from "../fields.ts";
import { countsPerCluster, membersText } from "../lint-fleet.ts";
import type { Propagation } from "../lint-fleet.ts";
import type { LintManifest } from "../lint-manifest.ts";
import { severalPropagation } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

/** Those with a parallelism on the nodes of a cluster; the others pull images and run no pods. */
const NODE_JOBS = kruiseWorkloads
  .filter(({ workload }) => workload?.runsToCompletion && workload.runsOnEveryNode)
  .map(({ group, kind }) => `${group}/${kind}`);

export const kruiseParallelism = defineRule({
  id: "kruise-parallelism",
  severity: "warning",
  summary: "parallelism applies to each cluster separately",
  why:
    "A BroadcastJob or ImagePullJob runs on the nodes of each cluster separately: the load on a registry or " +
    "database is the sum over the clusters. A number is divided where the policy divides, and that of image pulls " +
    "always; a percentage is not.",
  fix:
    "Use a number and a policy with replicaSchedulingType Divided, set each cluster's own with an OverridePolicy, or " +
    "propagate the job to one cluster after another.",
  *check(fleet) {
    for (const manifest of fleet.of(...NODE_JOBS, "apps.kruise.io/ImagePullJob", "apps.kruise.io/ImageListPullJob")) {
      const parallelism = valueAt(manifest.object, "spec", "parallelism");
      const isOverridden = fleet.overrides.some((policy) =>
        fleet.selectedBy(policy).some((selected) => selected.manifest === manifest),
      );
      const propagation = parallelism === undefined || isOverridden ? undefined : severalPropagation(fleet, manifest);
      if (propagation && !isDivided(manifest, parallelism, propagation))
        yield {
          manifest,
          path: ["spec", "parallelism"],
          message: `${propagation.via.title} propagates it to ${membersText(propagation)}, and each runs ${shown(parallelism)} at a time`,
        };
    }
  },
});

/** Whether the members get parts of the number. */
function isDivided(manifest: LintManifest, parallelism: unknown, { via, how }: Propagation): boolean {
  if (typeof parallelism !== "number" || via.group !== "policy.karmada.io" || countsPerCluster(manifest)) return false;
  return how === "divided" || !NODE_JOBS.includes(`${manifest.group}/${manifest.kind}`);
}
