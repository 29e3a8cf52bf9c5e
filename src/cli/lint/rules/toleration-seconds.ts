/** Tolerations that keep a workload on a cluster that is gone. */
import { itemsAt, numberAt, textAt, valueAt } from "../fields.ts";
import { placementOf } from "../lint-fleet.ts";
import { defineRule } from "../rule.ts";

export const tolerationSeconds = defineRule({
  id: "toleration-seconds",
  severity: "warning",
  summary: "a toleration of NoExecute has no end",
  why: "Without `tolerationSeconds` the workload stays on a cluster with that taint for ever: it does not move, also when the cluster never comes back.",
  fix: "Add `tolerationSeconds`, for example 300, or tolerate NoSchedule alone.",
  *check({ policies }) {
    for (const manifest of policies) {
      for (const { item, path } of itemsAt(placementOf(manifest), "clusterTolerations")) {
        const effect = textAt(item, "effect");
        const hasFailover = valueAt(manifest.object, "spec", "failover", "cluster") !== undefined;
        // A toleration without an effect is usually meant for NoSchedule; it matters where the policy lets clusters be
        // left.
        if (
          numberAt(item, "tolerationSeconds") !== undefined ||
          !(effect === "NoExecute" || (effect === "" && hasFailover))
        )
          continue;
        yield {
          manifest,
          path: ["spec", "placement", ...path],
          message: `the taint ${textAt(item, "key") || "of any key"} is tolerated for ever${hasFailover ? ", though the policy asks for cluster failover" : ""}`,
        };
      }
    }
  },
});
