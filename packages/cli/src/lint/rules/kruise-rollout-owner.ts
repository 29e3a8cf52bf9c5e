/** Finds Rollouts that compete with the hub for the partition. */
import { labelsAt, objectAt, textAt } from "../fields.ts";
import { parseApiVersion } from "@flotilla/apimachinery";
import { defineRule } from "../rule.ts";
import { namespaceOf } from "../selectors.ts";
import { partitionOf } from "../rollouts.ts";
import { DRIFT } from "@flotilla/flotilla";
import { IN_PROGRESSING } from "@flotilla/openkruise";

export const kruiseRolloutOwner = defineRule({
  id: "kruise-rollout-owner",
  severity: "warning",
  summary: "a Rollout on members and the hub both write the partition",
  why:
    "OpenKruise's Rollout sets the workload's partition to \"100%\" when a release begins and moves it step " +
    "by step on each member. The hub restores the template's value, and the two revert each other.",
  fix:
    "Do not propagate the Rollout: on the hub it leads the release over the fleet, and its steps count the " +
    "pods of all members. If each member is to decide for itself, omit `partition` from the template and " +
    "only report drift (`flotilla.dev/drift: report`).",
  *check(fleet) {
    for (const manifest of fleet.of("rollouts.kruise.io/Rollout")) {
      if (fleet.propagationsOf(manifest).length === 0) continue;
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
        fleet.propagationsOf(target).length === 0 ||
        labelsAt(target.object, "metadata", "annotations")[DRIFT] === "report"
      )
        continue;
      yield {
        manifest,
        path: ["spec"],
        message: `${target.title} is propagated by ${fleet.propagationsOf(target)[0]?.via.title ?? ""}${partitionOf(target) ? " with its own partition" : ""}`,
      };
    }
    for (const manifest of fleet.manifests) {
      if (labelsAt(manifest.object, "metadata", "annotations")[IN_PROGRESSING] !== undefined)
        yield {
          manifest,
          path: ["metadata", "annotations", IN_PROGRESSING],
          message: "the template contains the annotation of a release in progress on a cluster",
        };
    }
  },
});
