/** Sums over members that have not seen the newest template. */
import { textAt } from "../fields.ts";
import { CUSTOMIZATION } from "../kind-names.ts";
import { scriptIn } from "../customizations.ts";
import { defineRule } from "../rule.ts";

export const kruiseStatusSums = defineRule({
  id: "kruise-status-sums",
  severity: "warning",
  summary: "a script adds up updated pods of members that lag behind",
  why: "`updatedReplicas` of a member that has not seen the newest template counts pods of an older one. Added up, a release looks finished that has not begun everywhere.",
  fix: "Add a member's updated pods only where its `observedGeneration` is not behind `resourceTemplateGeneration`; Flotilla's own rules for OpenKruise do that, so `statusAggregation` can be left out.",
  *check({ of }) {
    for (const manifest of of(CUSTOMIZATION)) {
      const script = scriptIn(manifest, "statusAggregation");
      const isKruise = textAt(manifest.object, "spec", "target", "apiVersion").startsWith("apps.kruise.io/");
      if (isKruise && /\bupdated\w*Replicas\b/.test(script) && !/[gG]eneration/.test(script))
        yield {
          manifest,
          path: ["spec", "customizations", "statusAggregation"],
          message: "the script adds updated replicas and asks for no generation",
        };
    }
  },
});
