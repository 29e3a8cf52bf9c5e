/** Where workloads run, from their bindings and from ManifestWorks. Pure. */
import type { ResourceBinding } from "@flotilla/karmada";
import type { ManifestWork } from "@flotilla/ocm";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { findCondition } from "@flotilla/apimachinery";
import { objectOf, objectsOf, textOf } from "../members/json-parts.ts";
import type { WorkloadStatus } from "./fleet-status.ts";

export function summariseWorkload({ metadata, spec, status }: DeepReadonly<ResourceBinding>): WorkloadStatus {
  return {
    namespace: spec.resource.namespace ?? "",
    name: spec.resource.name,
    kind: spec.resource.kind,
    desired: desiredOf(spec),
    ready: (status?.aggregatedStatus ?? []).reduce((sum, item) => sum + readyOf(item.status), 0),
    state: endOf(status?.aggregatedStatus ?? []),
    applied: appliedOf(status?.conditions ?? [], metadata.deletionTimestamp !== undefined),
    placement: placementOf(spec),
  };
}

/** A dependency has no clusters of its own; it is on those of its dependents. */
function placementOf({ clusters = [], requiredBy = [] }: DeepReadonly<ResourceBinding>["spec"]): string {
  if (clusters.length > 0)
    return clusters.map(({ name, replicas }) => (replicas === undefined ? name : `${name}=${replicas}`)).join(" ");
  return [...new Set(requiredBy.flatMap((owner) => (owner.clusters ?? []).map(({ name }) => name)))]
    .toSorted()
    .join(" ");
}

/** A failed dispatch comes first: the members then still run the previous version. */
function appliedOf(
  conditions: DeepReadonly<NonNullable<NonNullable<ResourceBinding["status"]>["conditions"]>>,
  isDeleting: boolean,
): string {
  const dispatched = findCondition(conditions, "Dispatched");
  if (dispatched?.status === "False") return dispatched.reason;
  return findCondition(conditions, "FullyApplied")?.status ?? (isDeleting ? "Deleting" : "Unknown");
}

/** Over all members: with duplicated replicas each member runs all of them. Undefined for objects without replicas. */
function desiredOf({ replicas, clusters = [] }: DeepReadonly<ResourceBinding>["spec"]): number | undefined {
  if (replicas === undefined) return undefined;
  return clusters.length === 0 ? replicas : clusters.reduce((sum, cluster) => sum + (cluster.replicas ?? 0), 0);
}

function readyOf(status: unknown): number {
  const ready = (status as { readyReplicas?: unknown } | undefined)?.readyReplicas;
  return typeof ready === "number" ? ready : 0;
}

/** A workload that runs to completion is not ready once it has finished: it is complete, or it failed. */
function endOf(items: readonly DeepReadonly<{ status?: unknown }>[]): string | undefined {
  const ends = items.map(({ status }) => {
    const conditions = isObject(status) ? objectsOf(status["conditions"]) : [];
    return ["Complete", "Failed"].find((end) =>
      conditions.some(({ type, status: value }) => type === end && value === "True"),
    );
  });
  if (ends.includes("Failed")) return "Failed";
  return ends.length > 0 && ends.every((end) => end === "Complete") ? "Complete" : undefined;
}

/** The objects of a ManifestWork that run pods. Their numbers are known if the work asks for them as feedback. */
export function summariseManifests({ metadata, spec, status }: DeepReadonly<ManifestWork>): WorkloadStatus[] {
  const reported = new Map(
    status?.resourceStatus?.manifests?.map((manifest) => [manifest.resourceMeta.ordinal ?? 0, manifest]),
  );
  return ((spec.workload?.manifests ?? []) as unknown as readonly JsonObject[]).flatMap((manifest, ordinal) => {
    const own = objectOf(manifest["spec"]);
    if (!runsPods(own)) return [];
    const { name, namespace } = objectOf(manifest["metadata"]);
    const { conditions, statusFeedback } = reported.get(ordinal) ?? {};
    const ready = statusFeedback?.values?.find((value) => value.name === "ReadyReplicas")?.fieldValue.integer;
    const progressing = findCondition(conditions, "Progressing")?.status;
    return [
      {
        namespace: textOf(namespace),
        name: textOf(name),
        kind: textOf(manifest["kind"]),
        desired: typeof own["replicas"] === "number" ? own["replicas"] : undefined,
        ready,
        state:
          ready === undefined
            ? progressing === "True"
              ? "Progressing"
              : progressing === "False"
                ? "UpToDate"
                : undefined
            : undefined,
        applied: findCondition(conditions, "Applied")?.status ?? "Unknown",
        placement: `${metadata.namespace ?? ""} (ManifestWork ${metadata.name})`,
      },
    ];
  });
}

/** The namespaces that a ManifestWork is about: its cluster's, and those of its objects. */
export function namespacesOf({ metadata, spec }: DeepReadonly<ManifestWork>): Set<string> {
  const manifests = (spec.workload?.manifests ?? []) as unknown as readonly JsonObject[];
  return new Set([
    metadata.namespace ?? "",
    ...manifests.map((manifest) => textOf(objectOf(manifest["metadata"])["namespace"])),
  ]);
}

/** A pod template, that of jobs on a schedule, or the containers of a SidecarSet or a pod. */
const runsPods = ({ template, jobTemplate, containers }: JsonObject): boolean =>
  isObject(template) || isObject(jobTemplate) || Array.isArray(containers);
