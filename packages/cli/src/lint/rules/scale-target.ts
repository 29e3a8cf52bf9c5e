/** Finds autoscalers whose target is missing. */
import { formatPath, textAt } from "../fields.ts";
import { isTarget, scalersIn, TARGET, targetText } from "../scalers.ts";
import { defineRule } from "../rule.ts";
import { namespaceOf } from "../selectors.ts";
import { isTemplate } from "./policy-selects-nothing.ts";

export const scaleTarget = defineRule({
  id: "scale-target",
  severity: "warning",
  summary: "a FederatedHPA or CronFederatedHPA scales an object that is not among the files",
  why: "Without its target an autoscaler does nothing. The target must be in the autoscaler's own namespace.",
  fix: "Fix the kind, the name or the namespace, or pass lint the file with the target, too.",
  *check(fleet) {
    for (const manifest of scalersIn(fleet)) {
      if (fleet.manifests.some((other) => !other.inside && isTarget(manifest, other))) continue;
      if (fleet.answers.selections?.get(manifest)?.has(formatPath(TARGET))) continue;
      const name = textAt(manifest.object, ...TARGET, "name");
      const elsewhere = fleet.manifests.find((other) => isTemplate(other) && other.name === name);
      yield {
        manifest,
        path: TARGET,
        message: `no ${targetText(manifest)} in namespace ${namespaceOf(manifest)}${elsewhere ? `; ${elsewhere.title} comes near` : ""}`,
      };
    }
  },
});
