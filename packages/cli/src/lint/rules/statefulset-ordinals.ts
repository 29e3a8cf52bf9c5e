/** Finds pods of Kubernetes' own StatefulSets with the same identity in several clusters. */
import { copyText, severalPropagation } from "../rollouts.ts";
import { STATEFUL_SET } from "../kind-names.ts";
import { defineRule } from "../rule.ts";
import { numberAt, valueAt } from "../fields.ts";

export const statefulsetOrdinals = defineRule({
  id: "statefulset-ordinals",
  severity: "warning",
  summary: "a StatefulSet has the same ordinals in every cluster",
  why: "Each cluster numbers its pods from 0, divided or not: pods and volume claims of the same name exist several times, and so do quorum members.",
  fix:
    "Use OpenKruise's StatefulSet (`apps.kruise.io/v1beta1`), whose ordinals Flotilla divides; or set " +
    "`spec.ordinals.start` for each cluster with an OverridePolicy; or use one cluster.",
  *check(fleet) {
    for (const manifest of fleet.of(STATEFUL_SET)) {
      const propagation = severalPropagation(fleet, manifest);
      const isOverridden = fleet.overrides.some(
        (policy) =>
          fleet.selectedBy(policy).some((selected) => selected.manifest === manifest) &&
          JSON.stringify(valueAt(policy.object, "spec")).includes("/spec/ordinals"),
      );
      if (propagation && !isOverridden && numberAt(manifest.object, "spec", "replicas") !== 0)
        yield { manifest, message: `${copyText(propagation)}, and ${manifest.name}-0 is in each` };
    }
  },
});
