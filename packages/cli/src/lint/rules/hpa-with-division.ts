/** Finds autoscalers that conflict with the division. */
import { labelsAt } from "../fields.ts";
import { copyText, severalPropagation } from "../rollouts.ts";
import { isTarget, TARGET } from "../scalers.ts";
import { defineRule } from "../rule.ts";
import { RETAIN_REPLICAS } from "@flotilla/karmada";

export const hpaWithDivision = defineRule({
  id: "hpa-with-division",
  severity: "warning",
  summary: "an autoscaler on each member scales a divided workload",
  why:
    "Every member's autoscaler has the whole `minReplicas` and `maxReplicas`, and scales its own share: the " +
    "fleet runs up to the maximum times the number of members, and the division no longer holds.",
  fix:
    "Set each member's limits with an OverridePolicy, and label the template with " +
    '`resourcetemplate.karmada.io/retain-replicas: "true"`, so that members keep what their autoscaler ' +
    "decided; or scale the template on the hub.",
  *check(fleet) {
    for (const manifest of fleet.of("autoscaling/HorizontalPodAutoscaler")) {
      if (fleet.propagationsOf(manifest).length === 0) continue;
      const target = fleet.manifests.find((other) => isTarget(manifest, other));
      const propagation = target && severalPropagation(fleet, target);
      if (!target || propagation?.how !== "divided") continue;
      const isOverridden = fleet.overrides.some((policy) =>
        fleet.selectedBy(policy).some((selected) => selected.manifest === manifest),
      );
      if (isOverridden && labelsAt(target.object, "metadata", "labels")[RETAIN_REPLICAS] === "true") continue;
      yield { manifest, path: TARGET, message: `${target.title}: ${copyText(propagation)}` };
    }
  },
});
