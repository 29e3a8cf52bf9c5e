/** Finds overrides that conflict with the division. */
import { itemsAt, textAt } from "../fields.ts";
import type { FieldPath } from "../fields.ts";
import { defineRule } from "../rule.ts";

/** For divided workloads, these fields hold every member's share. */
const DIVIDED = /^\/spec\/(?:replicas|reserveOrdinals|updateStrategy\/(?:rollingUpdate\/)?partition)$/;

export const overrideDividedField = defineRule({
  id: "override-divided-field",
  severity: "warning",
  summary: "an override sets a field that the division computes",
  why:
    "Overrides are applied after the division and win: the members' replicas or partitions no longer add up to " +
    "the template's, and the status shows more or fewer pods than requested.",
  fix: "Set a member's replicas with weights in the policy; remove the field from the override.",
  *check(fleet) {
    for (const policy of fleet.overrides) {
      const divided = fleet
        .selectedBy(policy)
        .find(({ manifest }) => fleet.propagationsOf(manifest).some(({ how }) => how === "divided"));
      if (!divided) continue;
      const places: FieldPath[] = [
        ["spec", "overriders"],
        ...itemsAt(policy.object, "spec", "overrideRules").map(({ path }) => [...path, "overriders"]),
      ];
      for (const { item, path } of places.flatMap((place) => itemsAt(policy.object, ...place, "plaintext"))) {
        if (DIVIDED.test(textAt(item, "path")))
          yield {
            manifest: policy,
            path: [...path, "path"],
            message: `${textAt(item, "path")} of ${divided.manifest.title} is each member's share of the fleet's value`,
          };
      }
    }
  },
});
