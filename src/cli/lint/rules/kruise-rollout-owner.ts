/** Two that move the same partition. */
import { labelsAt, objectAt, textAt } from "../fields.ts";
import { parseApiVersion } from "../../../api/index.ts";
import { defineRule } from "../rule.ts";
import { namespaceOf } from "../selectors.ts";
import { partitionOf } from "../rollouts.ts";

const IN_PROGRESS = "rollouts.kruise.io/in-progressing";

export const kruiseRolloutOwner = defineRule({
  id: "kruise-rollout-owner",
  severity: "warning",
  summary: "a Rollout on members and the hub both write the partition",
  why: "OpenKruise's Rollout sets the workload's partition to \"100%\" when a release begins and moves it step by step on each member. The hub puts back what the template says, and the two undo each other.",
  fix: "Drive the release with the partition of the template on the hub, without a Rollout; or leave `partition` out of the template and let it be reported only (`flotilla.dev/drift: report`).",
  *check(fleet) {
    for (const manifest of fleet.of("rollouts.kruise.io/Rollout")) {
      if (fleet.journeysOf(manifest).length === 0) continue;
      const ref = {
        ...objectAt(manifest.object, "spec", "objectRef", "workloadRef"),
        ...objectAt(manifest.object, "spec", "workloadRef"),
      };
      const target = fleet.manifests.find(
        (other) =>
          other.kind === textAt(ref, "kind") &&
          other.name === textAt(ref, "name") &&
          other.group === parseApiVersion(textAt(ref, "apiVersion")).group &&
          namespaceOf(other) === namespaceOf(manifest),
      );
      if (
        !target ||
        fleet.journeysOf(target).length === 0 ||
        labelsAt(target.object, "metadata", "annotations")["flotilla.dev/drift"] === "report"
      )
        continue;
      yield {
        manifest,
        path: ["spec"],
        message: `${target.title} is propagated by ${fleet.journeysOf(target)[0]?.via.title ?? ""}${partitionOf(target) ? " with a partition of its own" : ""}`,
      };
    }
    for (const manifest of fleet.manifests) {
      if (labelsAt(manifest.object, "metadata", "annotations")[IN_PROGRESS] !== undefined)
        yield {
          manifest,
          path: ["metadata", "annotations", IN_PROGRESS],
          message: "the annotation of a release that is under way on a cluster is part of the template",
        };
    }
  },
});
