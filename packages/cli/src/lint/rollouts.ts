/**
 * What rollout rules need from a workload: its partition and budgets, its pod template, and whether they count per
 * fleet or per cluster. Pure.
 */
import type { Json, JsonObject } from "@flotilla/base";
import { kubernetesWorkloads } from "@flotilla/kubernetes";
import { kruiseWorkloads } from "@flotilla/openkruise";
import { numberAt, objectAt, valueAt } from "./fields.ts";
import type { FieldPath } from "./fields.ts";
import { countsPerCluster, membersText, reachesSeveral } from "./lint-fleet.ts";
import type { Propagation, LintFleet } from "./lint-fleet.ts";
import type { LintManifest } from "./lint-manifest.ts";

export const CLONE_SET = "apps.kruise.io/CloneSet";
export const ADVANCED_STATEFUL_SET = "apps.kruise.io/StatefulSet";
export const ADVANCED_DAEMON_SET = "apps.kruise.io/DaemonSet";
export const SIDECAR_SET = "apps.kruise.io/SidecarSet";
export const UNITED_DEPLOYMENT = "apps.kruise.io/UnitedDeployment";
/** Kinds whose replicas are divided. */
export const REPLICATED = [CLONE_SET, ADVANCED_STATEFUL_SET] as const;
/** Kinds that have a partition. */
export const PARTITIONED = [...REPLICATED, ADVANCED_DAEMON_SET, SIDECAR_SET] as const;
/** Flotilla divides these by what members report, even if a policy does not divide replicas. */
const DIVIDED_BY_REPORT = new Set<string>(["DaemonSet", "SidecarSet"]);

export interface Field {
  readonly value: Json;
  readonly path: FieldPath;
}

/** A field of the update strategy; newer versions have it below `rollingUpdate`. */
export function strategyField({ object }: LintManifest, name: string): Field | undefined {
  for (const path of [
    ["spec", "updateStrategy", "rollingUpdate", name],
    ["spec", "updateStrategy", name],
  ]) {
    const value = valueAt(object, ...path);
    if (value !== undefined) return { value, path };
  }
  return undefined;
}

export const partitionOf = (manifest: LintManifest): Field | undefined => strategyField(manifest, "partition");

/** Whether a partition holds any pod back. */
export const keepsSome = (partition: Field | undefined): boolean =>
  partition !== undefined && partition.value !== 0 && partition.value !== "0%";

export const replicasOf = ({ object }: LintManifest): number => numberAt(object, "spec", "replicas") ?? 1;

/**
 * Each of several members gets the numbers as written, and neither the policy (`Duplicated`) nor the workload states
 * that this is intended.
 */
export function copiedToSeveral(fleet: LintFleet, manifest: LintManifest): Propagation | undefined {
  if (countsPerCluster(manifest)) return undefined;
  return fleet
    .propagationsOf(manifest)
    .find(
      (propagation) =>
        reachesSeveral(propagation) &&
        propagation.how === "copied" &&
        !propagation.isAsked &&
        !(propagation.via.group === "policy.karmada.io" && DIVIDED_BY_REPORT.has(manifest.kind)),
    );
}

export function severalPropagation(fleet: LintFleet, manifest: LintManifest): Propagation | undefined {
  return fleet.propagationsOf(manifest).find(reachesSeveral);
}

/** `PropagationPolicy shop/web copies it to 2 members` */
export function copyText(propagation: Propagation): string {
  return (
    `${propagation.via.title} ${propagation.how === "copied" ? "copies" : "divides"} it ` +
    `${propagation.how === "copied" ? "to" : "over"} ${membersText(propagation)}`
  );
}

/** Where the pod templates of workload kinds may be, by group and kind. */
const POD_TEMPLATES = new Map(
  [...kubernetesWorkloads, ...kruiseWorkloads].map(({ group, kind, workload }) => [
    `${group}/${kind}`,
    workload?.podTemplates,
  ]),
);

/** The pod template of a workload, and its path. */
export function podTemplateOf({ object, kind, group }: LintManifest): { template: JsonObject; path: FieldPath } {
  const paths: readonly FieldPath[] = [
    ...(POD_TEMPLATES.get(`${group}/${kind}`) ?? []),
    ...(kind === "Pod" && group === "" ? [[]] : []),
    ["spec", "template"],
  ];
  const path = paths.find((each) => valueAt(object, ...each, "spec") !== undefined) ?? ["spec", "template"];
  return { template: objectAt(object, ...path), path };
}
