/** Finds objects that both a policy and a ManifestWork apply to members. */
import { identityOf } from "../lint-fleet.ts";
import { defineRule } from "../rule.ts";

export const twoOwners = defineRule({
  id: "two-owners",
  severity: "error",
  summary: "a policy and a ManifestWork apply the same object",
  why: "An object on a member has one owner. The second one gets a conflict and does nothing.",
  fix: "Choose one: remove the object from the ManifestWork, or from the policy's selectors.",
  *check(fleet) {
    const brought = new Map(
      fleet.manifests.flatMap((manifest) => (manifest.inside ? [[identityOf(manifest), manifest] as const] : [])),
    );
    for (const manifest of fleet.manifests) {
      const policy = manifest.inside ? undefined : fleet.policyOf(manifest);
      const other = policy && brought.get(identityOf(manifest));
      if (!policy || !other) continue;
      const [of, by] = [fleet.propagationsOf(manifest)[0]?.names, fleet.propagationsOf(other)[0]?.names];
      if (of && by && !of.some((name) => by.includes(name))) continue;
      yield { manifest: other, message: `${policy.title} also propagates it` };
    }
  },
});
