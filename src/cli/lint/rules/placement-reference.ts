/** Sets of ManifestWorks whose Placement is missing. */
import { itemsAt, textAt } from "../fields.ts";
import { MANIFEST_WORK_REPLICA_SET, PLACEMENT } from "../kind-names.ts";
import { defineRule } from "../rule.ts";
import { namespaceOf } from "../selectors.ts";

export const placementReference = defineRule({
  id: "placement-reference",
  severity: "warning",
  summary: "a ManifestWorkReplicaSet names a Placement that is not among the files",
  why: "Without its Placement a set makes no ManifestWork. A Placement counts only in the set's own namespace.",
  fix: "Give both the same namespace, correct the name, or give lint the file with the Placement, too.",
  *check({ of }) {
    const placements = of(PLACEMENT);
    for (const manifest of of(MANIFEST_WORK_REPLICA_SET)) {
      for (const { item, path } of itemsAt(manifest.object, "spec", "placementRefs")) {
        const name = textAt(item, "name");
        if (placements.some((placement) => placement.name === name && namespaceOf(placement) === namespaceOf(manifest)))
          continue;
        const elsewhere = placements.find((placement) => placement.name === name);
        yield {
          manifest,
          path,
          message: `there is no Placement ${name} in namespace ${namespaceOf(manifest)}${elsewhere ? `; ${elsewhere.title} is elsewhere` : ""}`,
        };
      }
    }
  },
});
