/** Finds autoscalers of the same target. */
import { parseApiVersion } from "@flotilla/apimachinery";
import { textAt } from "../fields.ts";
import type { LintManifest } from "../lint-manifest.ts";
import { scalersIn, TARGET, targetText } from "../scalers.ts";
import { defineRule } from "../rule.ts";
import { namespaceOf } from "../selectors.ts";

export const rivalScalers = defineRule({
  id: "rival-scalers",
  severity: "warning",
  summary: "two autoscalers scale the same object",
  why: "Each sets what the other has changed. When they change it back and forth three times within ten minutes, the hub stops both.",
  fix: "Keep one. To change the limits by the clock and the replicas by load, let a CronFederatedHPA scale the FederatedHPA.",
  *check(fleet) {
    const first = new Map<string, LintManifest>();
    for (const manifest of scalersIn(fleet)) {
      const { group } = parseApiVersion(textAt(manifest.object, ...TARGET, "apiVersion"));
      const target = `${namespaceOf(manifest)} ${group} ${targetText(manifest)}`;
      const rival = first.get(target);
      if (rival) yield { manifest, path: TARGET, message: `${rival.title} scales ${targetText(manifest)}, too` };
      else first.set(target, manifest);
    }
  },
});
