/** Finds StatefulSet pods with the same identity in several clusters. */
import { countsPerCluster, reachesSeveral } from "../lint-fleet.ts";
import { ADVANCED_STATEFUL_SET, copyText } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruiseOrdinals = defineRule({
  id: "kruise-ordinals",
  severity: "warning",
  summary: "an Advanced StatefulSet has the same ordinals in every cluster",
  why:
    "Copied to several clusters, an Advanced StatefulSet has the same ordinals in each: the same names of pods " +
    "and of volume claims, and quorum members with one identity.",
  fix:
    "Divide it with a PropagationPolicy: Flotilla then assigns every ordinal to one cluster. If each cluster " +
    "should have its own set, state it with the annotation `flotilla.dev/partition-scope: cluster`.",
  *check(fleet) {
    for (const manifest of fleet.of(ADVANCED_STATEFUL_SET)) {
      // A policy may duplicate on purpose, but that rarely includes identities.
      const propagation = countsPerCluster(manifest)
        ? undefined
        : fleet.propagationsOf(manifest).find((each) => each.how === "copied" && reachesSeveral(each));
      if (propagation) yield { manifest, message: `${copyText(propagation)}, and ${manifest.name}-0 is in each` };
    }
  },
});
