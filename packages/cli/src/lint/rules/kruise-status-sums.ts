/** Finds status aggregations over members that have not observed the newest template. */
import { textAt } from "../fields.ts";
import { CUSTOMIZATION } from "../kind-names.ts";
import { scriptIn } from "../customizations.ts";
import { defineRule } from "../rule.ts";

export const kruiseStatusSums = defineRule({
  id: "kruise-status-sums",
  severity: "warning",
  summary: "a script sums updated pods of members that lag behind",
  why:
    "`updatedReplicas` of a member that has not observed the newest template counts pods of an older one. In the " +
    "sum, a release looks finished that has not started everywhere.",
  fix:
    "Add a member's updated pods only if its `observedGeneration` is not behind `resourceTemplateGeneration`; " +
    "the built-in rules for OpenKruise do that, so `statusAggregation` can be omitted.",
  *check({ of }) {
    for (const manifest of of(CUSTOMIZATION)) {
      const script = scriptIn(manifest, "statusAggregation");
      const isKruise = textAt(manifest.object, "spec", "target", "apiVersion").startsWith("apps.kruise.io/");
      if (isKruise && /\bupdated\w*Replicas\b/.test(script) && !/[gG]eneration/.test(script))
        yield {
          manifest,
          path: ["spec", "customizations", "statusAggregation"],
          message: "the script sums updated replicas without checking the generation",
        };
    }
  },
});
