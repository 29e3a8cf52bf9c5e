/** Finds ManifestWorkReplicaSets whose Placement is missing. */
import { itemsAt, textAt } from "../fields.ts";
import { MANIFEST_WORK_REPLICA_SET, PLACEMENT } from "../kind-names.ts";
import { defineRule } from "../rule.ts";
import { namespaceOf } from "../selectors.ts";

export const placementReference = defineRule({
  id: "placement-reference",
  severity: "warning",
  summary: "a ManifestWorkReplicaSet names a Placement that is not among the files",
  why: "Without its Placement a set creates no ManifestWork. The Placement must be in the set's own namespace.",
  fix: "Use the same namespace for both, fix the name, or pass lint the file with the Placement, too.",
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
          message: `no Placement ${name} in namespace ${namespaceOf(manifest)}${elsewhere ? `; ${elsewhere.title} is elsewhere` : ""}`,
        };
      }
    }
  },
});
