/** Finds pod names in a template for many clusters. */
import { textsAt } from "../fields.ts";
import { CLONE_SET, copyText, severalJourney } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruisePodsToDelete = defineRule({
  id: "kruise-pods-to-delete",
  severity: "warning",
  summary: "`podsToDelete` names pods that other clusters do not have",
  why: "A pod is in one cluster. The others do not know the name, and OpenKruise's webhook rejects the whole update there; in the right cluster the pod is recreated, because the replicas stay.",
  fix: "Set `podsToDelete` for the one cluster with an OverridePolicy, together with fewer replicas there.",
  *check(fleet) {
    for (const manifest of fleet.of(CLONE_SET)) {
      const names = textsAt(manifest.object, "spec", "scaleStrategy", "podsToDelete");
      const journey = names.length > 0 ? severalJourney(fleet, manifest) : undefined;
      if (journey)
        yield {
          manifest,
          path: ["spec", "scaleStrategy", "podsToDelete"],
          message: `${copyText(journey)}, and ${names.slice(0, 3).join(", ")} ${names.length === 1 ? "is" : "are"} in one of them`,
        };
    }
  },
});
