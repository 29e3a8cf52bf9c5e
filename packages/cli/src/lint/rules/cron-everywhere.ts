/** Finds cron jobs that run in every cluster. */
import { copyText, severalPropagation } from "../rollouts.ts";
import { defineRule } from "../rule.ts";

export const cronEverywhere = defineRule({
  id: "cron-everywhere",
  severity: "warning",
  summary: "a cron job fires in every cluster",
  why:
    "A CronJob or AdvancedCronJob has no replicas to divide: each cluster that has it runs the job at the same " +
    "minute. A nightly report is then sent once per cluster.",
  fix:
    "Limit the placement to one cluster: a spread constraint by cluster with `maxGroups: 1`, or one name. If " +
    "every cluster should run it, disable this rule.",
  *check(fleet) {
    for (const manifest of fleet.of("apps.kruise.io/AdvancedCronJob", "batch/CronJob")) {
      const propagation = severalPropagation(fleet, manifest);
      if (propagation) yield { manifest, path: ["spec", "schedule"], message: copyText(propagation) };
    }
  },
});
