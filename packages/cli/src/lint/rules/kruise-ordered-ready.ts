/** Finds OrderedReady sets, whose order only holds within a cluster. */
import { textAt } from "../fields.ts";
import { ADVANCED_STATEFUL_SET, copyText, severalPropagation } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruiseOrderedReady = defineRule({
  id: "kruise-ordered-ready",
  severity: "warning",
  summary: "OrderedReady orders only the pods of each cluster",
  why: "Every cluster starts and updates its own pods in order; between clusters there is no order, so two pods may start or be down at once.",
  fix: "Schedule the set to one cluster if the order matters, or use `podManagementPolicy: Parallel` if it does not.",
  *check(fleet) {
    for (const manifest of fleet.of(ADVANCED_STATEFUL_SET)) {
      const propagation =
        textAt(manifest.object, "spec", "podManagementPolicy") === "OrderedReady"
          ? severalPropagation(fleet, manifest)
          : undefined;
      if (propagation) yield { manifest, path: ["spec", "podManagementPolicy"], message: copyText(propagation) };
    }
  },
});
