/** Finds volumes that do not move with their pods. */
import { listAt, textAt, valueAt } from "../fields.ts";
import { CLONE_SET, REPLICATED } from "../rollouts.ts";
import { STATEFUL_SET } from "../kind-names.ts";
import { defineRule } from "../rule.ts";

export const kruiseVolumesStay = defineRule({
  id: "kruise-volumes-stay",
  severity: "warning",
  summary: "volumes stay in their cluster when pods move or are recreated",
  why:
    "A volume claim belongs to one cluster. A pod that fails over starts with an empty volume elsewhere, and the " +
    "data stays behind; a CloneSet that recreates a pod deletes its claim with it.",
  fix:
    "Remove `failover` from the policy of workloads with volumes, or replicate the data yourself. Update " +
    "CloneSets in place (`InPlaceIfPossible`), and turn on the reuse of claims.",
  *check(fleet) {
    for (const manifest of fleet.of(...REPLICATED, STATEFUL_SET)) {
      if (listAt(manifest.object, "spec", "volumeClaimTemplates").length === 0) continue;
      const policy = fleet.policyOf(manifest);
      if (policy && valueAt(policy.object, "spec", "failover") !== undefined)
        yield {
          manifest,
          path: ["spec", "volumeClaimTemplates"],
          message: `${policy.title} moves it to other clusters, where its volumes are empty`,
        };
      if (`${manifest.group}/${manifest.kind}` !== CLONE_SET) continue;
      const type =
        textAt(manifest.object, "spec", "updateStrategy", "rollingUpdate", "podUpdatePolicy") ||
        textAt(manifest.object, "spec", "updateStrategy", "type");
      if (!type.startsWith("InPlace"))
        yield {
          manifest,
          path: ["spec", "volumeClaimTemplates"],
          message: "an update recreates pods and deletes their claims",
        };
    }
  },
});
