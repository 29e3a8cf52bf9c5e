/** Finds pod names in a workload that is copied to many clusters. */
import { textsAt } from "../fields.ts";
import type { Propagation, LintFleet } from "../lint-fleet.ts";
import type { LintManifest } from "../lint-manifest.ts";
import { reachesSeveral } from "../lint-fleet.ts";
import { CLONE_SET, copyText } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruisePodsToDelete = defineRule({
  id: "kruise-pods-to-delete",
  severity: "warning",
  summary: "`podsToDelete` names pods of one cluster in a workload that is copied to several",
  why:
    "A pod is in one cluster. A ManifestWork gives the names to every cluster, and OpenKruise's webhook " +
    "rejects the whole update where it does not know them. A policy that does not divide gives each cluster " +
    "its own names, but fewer replicas to all of them, so that the other clusters delete pods of their own " +
    "choice.",
  fix: "Divide the replicas with a PropagationPolicy: the names go to the clusters that have the pods, and fewer replicas are taken from these clusters.",
  *check(fleet) {
    for (const manifest of fleet.of(CLONE_SET)) {
      const names = textsAt(manifest.object, "spec", "scaleStrategy", "podsToDelete");
      const propagation = names.length > 0 ? copyingPropagation(fleet, manifest) : undefined;
      if (propagation)
        yield {
          manifest,
          path: ["spec", "scaleStrategy", "podsToDelete"],
          message: `${copyText(propagation)}, and ${names.slice(0, 3).join(", ")} ${names.length === 1 ? "is" : "are"} in one of them`,
        };
    }
  },
});

const copyingPropagation = (fleet: LintFleet, manifest: LintManifest): Propagation | undefined =>
  fleet.propagationsOf(manifest).find((propagation) => propagation.how === "copied" && reachesSeveral(propagation));
