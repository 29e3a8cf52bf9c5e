/** Overrides that undo the division. */
import { itemsAt, textAt } from "../fields.ts";
import type { FieldPath } from "../fields.ts";
import { defineRule } from "../rule.ts";

/** Of workloads whose replicas are divided, these are every member's share. */
const DIVIDED = /^\/spec\/(?:replicas|reserveOrdinals|updateStrategy\/(?:rollingUpdate\/)?partition)$/;

export const overrideDividedField = defineRule({
  id: "override-divided-field",
  severity: "warning",
  summary: "an override sets what the division has computed",
  why: "Overrides come after the division and win: the members' replicas or partitions no longer add up to what the template says, and the status shows more or fewer pods than asked for.",
  fix: "Say with weights in the policy how many replicas a member gets; leave the field out of the override.",
  *check(fleet) {
    for (const policy of fleet.overrides) {
      const divided = fleet
        .selectedBy(policy)
        .find(({ manifest }) => fleet.journeysOf(manifest).some(({ how }) => how === "divided"));
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
            message: `${textAt(item, "path")} of ${divided.manifest.title} is each member's share of the fleet's`,
          };
      }
    }
  },
});
