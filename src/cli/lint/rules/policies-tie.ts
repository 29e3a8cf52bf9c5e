/** Two policies with the same claim to an object. */
import { itemsAt, numberAt } from "../fields.ts";
import { defineRule } from "../rule.ts";
import { selects } from "../selectors.ts";

export const policiesTie = defineRule({
  id: "policies-tie",
  severity: "warning",
  summary: "two policies select the same object with equal right",
  why: "With the same priority and equally close selectors the policy whose name comes first gets the object, and whichever was there first keeps it. What the other one says is never followed.",
  fix: "Give the one that is meant a higher `priority`, or make the selectors disjoint.",
  *check({ policies, selectedBy }) {
    const claims = new Map<object, Map<string, string>>();
    for (const policy of policies) {
      const told = new Set<object>();
      for (const { manifest, selector } of selectedBy(policy)) {
        if (told.has(manifest)) continue;
        told.add(manifest);
        const item = itemsAt(policy.object, "spec", "resourceSelectors")[Number(selector.at(-1))]?.item ?? {};
        const rank = [
          policy.kind,
          numberAt(policy.object, "spec", "priority") ?? 0,
          selects(item, policy, manifest),
        ].join(" ");
        const known = claims.get(manifest) ?? new Map<string, string>();
        const rival = known.get(rank);
        if (rival !== undefined && rival !== policy.title)
          yield {
            manifest: policy,
            path: selector,
            message: `${rival} selects ${manifest.title}, too, with the same priority`,
          };
        known.set(rank, rival ?? policy.title);
        claims.set(manifest, known);
      }
    }
  },
});
