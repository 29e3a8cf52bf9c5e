/** Finds comparisons of revision names across clusters. */
import { itemsAt, textAt } from "../fields.ts";
import { CUSTOMIZATION, MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from "../kind-names.ts";
import { scriptIn } from "../customizations.ts";
import { defineRule } from "../rule.ts";

const REVISION = /\b(?:update|current|latest)Revision\b/;

export const kruiseRevisionCompared = defineRule({
  id: "kruise-revision-compared",
  severity: "warning",
  summary: "revision names of different clusters are compared or collected",
  why:
    "The name of a revision is a hash of the defaulted template, which depends on the version of OpenKruise, " +
    "its defaults and collisions. The same release has different names in different clusters.",
  fix: "Compare `updatedReplicas` with `replicas` of members that report your generation; Flotilla records its own release in `flotilla.dev/rollout-stage`.",
  *check({ of }) {
    for (const manifest of of(CUSTOMIZATION)) {
      const found = REVISION.exec(scriptIn(manifest, "statusAggregation"));
      if (found && textAt(manifest.object, "spec", "target", "apiVersion").startsWith("apps.kruise.io/"))
        yield {
          manifest,
          path: ["spec", "customizations", "statusAggregation"],
          message: `the script reads ${found[0]} of several members`,
        };
    }
    for (const manifest of of(MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET)) {
      const configs = [
        ...itemsAt(manifest.object, "spec", "manifestConfigs"),
        ...itemsAt(manifest.object, "spec", "manifestWorkTemplate", "manifestConfigs"),
      ];
      for (const { item, path } of configs) {
        const rule = itemsAt(item, "feedbackRules")
          .flatMap((feedback) => itemsAt(feedback.item, "jsonPaths"))
          .find((jsonPath) => REVISION.test(textAt(jsonPath.item, "path")));
        if (rule)
          yield {
            manifest,
            path: [...path, "feedbackRules"],
            message: `feedback ${textAt(rule.item, "name")} reads ${textAt(rule.item, "path")}, which differs between clusters`,
          };
      }
    }
  },
});
