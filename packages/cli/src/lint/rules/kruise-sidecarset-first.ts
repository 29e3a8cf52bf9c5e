/** Finds SidecarSets that are missing where their pods run. */
import { labelsAt, objectAt, textAt, valueAt } from "../fields.ts";
import { matchesLabels } from "@flotilla/apimachinery";
import type { LintFleet } from "../lint-fleet.ts";
import type { LintManifest } from "../lint-manifest.ts";
import { podTemplateOf, SIDECAR_SET } from "../rollouts.ts";
import { defineRule } from "../rule.ts";
import { namespaceOf, readSelector } from "../selectors.ts";

export const kruiseSidecarsetFirst = defineRule({
  id: "kruise-sidecarset-first",
  severity: "warning",
  summary: "a SidecarSet does not reach every cluster of its workloads",
  why: "Sidecars are injected when a pod is created. Pods created in a cluster without the SidecarSet never get one.",
  fix: "Propagate the SidecarSet with a ClusterPropagationPolicy to all clusters of these workloads, and apply it before them.",
  *check(fleet) {
    const workloads = fleet.manifests.filter(
      (manifest) =>
        manifest.kind !== "SidecarSet" &&
        valueAt(podTemplateOf(manifest).template, "spec", "containers") !== undefined &&
        fleet.propagationsOf(manifest).length > 0,
    );
    const byNamespace = Map.groupBy(workloads, namespaceOf);
    for (const manifest of fleet.of(SIDECAR_SET)) {
      const selector =
        valueAt(manifest.object, "spec", "selector") === undefined
          ? undefined
          : readSelector(objectAt(manifest.object, "spec", "selector"));
      const namespace = textAt(manifest.object, "spec", "namespace");
      // Which namespaces a label selector matches is known only on the members. A workload in a ManifestWork is for
      // that cluster on purpose; it is compared only with other works.
      const isMeant = (workload: LintManifest): boolean =>
        (workload.inside === undefined) === (manifest.inside === undefined) &&
        valueAt(manifest.object, "spec", "namespaceSelector") === undefined;
      const meant = selector
        ? (namespace === "" ? workloads : (byNamespace.get(namespace) ?? [])).filter(
            (workload) =>
              isMeant(workload) &&
              matchesLabels(selector, labelsAt(podTemplateOf(workload).template, "metadata", "labels")),
          )
        : [];
      const missed = meant.find((workload) => isMissed(fleet, manifest, workload));
      if (missed)
        yield {
          manifest,
          message:
            `${missed.title} is propagated to ${namesText(fleet, missed)}, the SidecarSet ` +
            (fleet.propagationsOf(manifest).length === 0 ? "to no member" : `to ${namesText(fleet, manifest)}`),
        };
    }
  },
});

function isMissed(fleet: LintFleet, sidecars: LintManifest, workload: LintManifest): boolean {
  const [there] = fleet.propagationsOf(sidecars);
  if (!there) return true;
  if (!there.names) return false; // It is propagated to every matching member.
  return fleet
    .propagationsOf(workload)
    .some(({ names }) => names === undefined || names.some((name) => !there.names?.includes(name)));
}

function namesText(fleet: LintFleet, manifest: LintManifest): string {
  const names = fleet.propagationsOf(manifest)[0]?.names;
  return names ? names.join(", ") : "every matching member";
}
