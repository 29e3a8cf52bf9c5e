/** Finds tolerations that keep a workload on a lost cluster. */
import { itemsAt, numberAt, textAt, valueAt } from "../fields.ts";
import { placementOf } from "../lint-fleet.ts";
import { defineRule } from "../rule.ts";

export const tolerationSeconds = defineRule({
  id: "toleration-seconds",
  severity: "warning",
  summary: "a NoExecute toleration is unlimited",
  why: "Without `tolerationSeconds` the workload stays on a cluster with that taint forever: it does not move, even when the cluster never recovers.",
  fix: "Add `tolerationSeconds`, for example 300, or tolerate only NoSchedule.",
  *check({ policies }) {
    for (const manifest of policies) {
      for (const { item, path } of itemsAt(placementOf(manifest), "clusterTolerations")) {
        const effect = textAt(item, "effect");
        const hasFailover = valueAt(manifest.object, "spec", "failover", "cluster") !== undefined;
        // A toleration without an effect is usually intended for NoSchedule; it matters only if the policy configures
        // failover.
        if (
          numberAt(item, "tolerationSeconds") !== undefined ||
          !(effect === "NoExecute" || (effect === "" && hasFailover))
        )
          continue;
        yield {
          manifest,
          path: ["spec", "placement", ...path],
          message:
            `the taint ${textAt(item, "key") || "with any key"} is tolerated ` +
            `forever${hasFailover ? ", although the policy configures cluster failover" : ""}`,
        };
      }
    }
  },
});
