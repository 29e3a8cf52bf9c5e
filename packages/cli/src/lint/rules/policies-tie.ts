/** Finds two policies that match an object equally. */
import { itemsAt, numberAt } from "../fields.ts";
import { defineRule } from "../rule.ts";
import { selects } from "../selectors.ts";

export const policiesTie = defineRule({
  id: "policies-tie",
  severity: "warning",
  summary: "two policies select the same object with equal precedence",
  why: "With the same priority and equally specific selectors, the policy whose name sorts first claims the object, and a policy that has claimed it keeps it. The other policy is ignored.",
  fix: "Give the intended policy a higher `priority`, or make the selectors disjoint.",
  *check({ policies, selectedBy }) {
    const claims = new Map<object, Map<string, string>>();
    for (const policy of policies) {
      const seen = new Set<object>();
      for (const { manifest, selector } of selectedBy(policy)) {
        if (seen.has(manifest)) continue;
        seen.add(manifest);
        const item = itemsAt(policy.object, "spec", "resourceSelectors")[Number(selector.at(-1))]?.item ?? {};
        const rank = [
          policy.kind,
          numberAt(policy.object, "spec", "priority") ?? 0,
          selects(item, policy, manifest),
        ].join(" ");
        const known = claims.get(manifest) ?? new Map<string, string>();
        const competitor = known.get(rank);
        if (competitor !== undefined && competitor !== policy.title)
          yield {
            manifest: policy,
            path: selector,
            message: `${competitor} also selects ${manifest.title}, with the same priority`,
          };
        known.set(rank, competitor ?? policy.title);
        claims.set(manifest, known);
      }
    }
  },
});
