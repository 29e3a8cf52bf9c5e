/** Reports spread constraints that the scheduler does not use. */
import { fieldOf, withoutField } from "../field-of-message.ts";
import { defineRule } from "../rule.ts";

export const ignoredSpread = defineRule({
  id: "ignored-spread",
  severity: "warning",
  summary: "the spread constraints are ignored",
  why:
    "Static weights name their clusters, and equal weights use all of them, so that Karmada and Flotilla do " +
    "not select clusters by spread constraints. `minGroups` and `maxGroups` then have no effect.",
  fix: "Remove `spreadConstraints`, or divide by `dynamicWeight: AvailableReplicas` or `replicaDivisionPreference: Aggregated`.",
  *check({ manifests, answers }) {
    for (const manifest of manifests) {
      for (const warning of (answers.of(manifest)?.warnings ?? []).filter(isAboutIgnoredSpread)) {
        const path = fieldOf(warning);
        // The fix follows the semicolon.
        const [message = ""] = withoutField(warning, path).split("; ");
        yield { manifest, path, message };
      }
    }
  },
});

/** Other rules leave these warnings of the hub to this one. */
export const isAboutIgnoredSpread = (warning: string): boolean => warning.includes("spread constraints are ignored");
