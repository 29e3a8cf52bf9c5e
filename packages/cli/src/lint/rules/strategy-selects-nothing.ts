/** Finds rollout strategies that select no template. */
import { matchesLabels } from "@flotilla/apimachinery";
import { labelsAt, objectAt } from "../fields.ts";
import { ROLLOUT_STRATEGY } from "../kind-names.ts";
import { defineRule } from "../rule.ts";
import { namespaceOf, readSelector } from "../selectors.ts";
import { isTemplate } from "./policy-selects-nothing.ts";

export const strategySelectsNothing = defineRule({
  id: "strategy-selects-nothing",
  severity: "warning",
  summary: "a RolloutStrategy selects nothing among the files",
  why:
    "Its labels match no given manifest of its namespace, so a change reaches all members at once, without " +
    "waves and gates. Files with strategies only, and a running hub, are not checked: 'flotilla doctor' is " +
    "about the hub.",
  fix: "Fix the selector or the labels of the workload, or pass lint the files with the workloads, too.",
  *check(fleet) {
    const templates = fleet.manifests.filter(isTemplate);
    if (fleet.answers.isReal || templates.length === 0) return;
    for (const manifest of fleet.of(ROLLOUT_STRATEGY)) {
      const selector = readSelector(objectAt(manifest.object, "spec", "selector"));
      if (!selector) continue;
      const selected = templates.some(
        (template) =>
          namespaceOf(template) === namespaceOf(manifest) &&
          matchesLabels(selector, labelsAt(template.object, "metadata", "labels")),
      );
      if (selected) continue;
      yield {
        manifest,
        path: ["spec", "selector"],
        message: `no manifest in namespace ${namespaceOf(manifest)} has these labels`,
      };
    }
  },
});
