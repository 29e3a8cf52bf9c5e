/** Finds deletion costs, which only rank pods within a cluster. */
import { POD_DELETION_COST_ANNOTATION } from "@flotilla/kubernetes";
import { labelsAt } from "../fields.ts";
import { copyText, podTemplateOf, REPLICATED, severalPropagation } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruiseDeletionCost = defineRule({
  id: "kruise-deletion-cost",
  severity: "warning",
  summary: "a deletion cost ranks only the pods of one cluster",
  why:
    "How many pods each cluster removes is decided first, from replicas and weights; the cost then ranks pods " +
    "within a cluster. In the template all pods have the same cost, so it ranks nothing.",
  fix: "Set the cost on single pods, and use weights or affinities to define which clusters shrink first.",
  *check(fleet) {
    for (const manifest of fleet.of(...REPLICATED)) {
      const { template, path } = podTemplateOf(manifest);
      const propagation =
        labelsAt(template, "metadata", "annotations")[POD_DELETION_COST_ANNOTATION] === undefined
          ? undefined
          : severalPropagation(fleet, manifest);
      if (propagation)
        yield {
          manifest,
          path: [...path, "metadata", "annotations", POD_DELETION_COST_ANNOTATION],
          message: copyText(propagation),
        };
    }
  },
});
