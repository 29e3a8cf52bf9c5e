/** Finds surge pods that every cluster adds separately. */
import { shown } from "../fields.ts";
import { copiedToSeveral, copyText, PARTITIONED, strategyField } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const kruiseSurge = defineRule({
  id: "kruise-surge",
  severity: "warning",
  summary: "`maxSurge` applies to each cluster separately",
  why:
    "Each cluster rounds its surge up, so there are at least as many surge pods as clusters. A surge also makes " +
    "OpenKruise round `maxUnavailable` down instead of up.",
  fix:
    "Divide the workload with a PropagationPolicy: the surge is then divided, too. If each cluster should surge " +
    "separately, state it with the annotation `flotilla.dev/partition-scope: cluster`.",
  *check(fleet) {
    for (const manifest of fleet.of(...PARTITIONED)) {
      const surge = strategyField(manifest, "maxSurge");
      const propagation =
        surge && surge.value !== 0 && surge.value !== "0%" ? copiedToSeveral(fleet, manifest) : undefined;
      if (surge && propagation)
        yield {
          manifest,
          path: surge.path,
          message: `${copyText(propagation)}, and each adds ${shown(surge.value)} of its own pods`,
        };
    }
  },
});
