/**
 * Counts a template's pods during a release: `updated…` are those that run the revision of the template on the hub. A
 * member reports how many run the revision of its copy, which a release may have kept, or returned, to an earlier one.
 * Pure.
 */
import { findCondition, isConditionTrue, parseApiVersion, withCondition } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { clusterNameOf } from "@flotilla/karmada";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { conditionsIn, countOf } from "@flotilla/kubernetes";
import type { StatusItem } from "@flotilla/kubernetes";
import { RELEASE_LEFT, RELEASE_OBSERVED, RELEASED, STEP_KEEPS } from "../../flotilla-names.ts";

type Template = DeepReadonly<KubernetesObject> & { readonly status?: unknown };

/** How far the release of a template is. */
export interface ReleaseStanding {
  /** The FleetRollout of the template's revision. */
  readonly name: string;
  /** The one that its members had before. */
  readonly previous: string | undefined;
  readonly state: "Succeeded" | "Progressing" | "Waiting" | "Paused" | "RollingBack" | "RolledBack" | "Failed";
  readonly message: string;
  /** Whether a copy has the template's revision. `step`: the assignment that the member returned with its numbers. */
  isCurrent(cluster: string, step: string | undefined): boolean;
}

/** Undefined: no release decides what members have. `pending`: the release of the template is about to be recorded. */
export type ReleaseStandingOf = (template: Template) => ReleaseStanding | "pending" | undefined;

/** No pod of a copy with another revision is updated. */
export function countUpdated(
  items: readonly StatusItem[],
  works: readonly DeepReadonly<Work>[],
  release: ReleaseStanding,
): readonly StatusItem[] {
  const steps = new Map(
    works.map(({ metadata, status }) => [
      clusterNameOf(metadata.namespace ?? ""),
      findCondition(status?.conditions, RELEASE_OBSERVED)?.message,
    ]),
  );
  return items.map((item) => {
    if (!isObject(item.status)) return item;
    const step = steps.get(item.clusterName);
    if (!release.isCurrent(item.clusterName, step)) return { ...item, status: withoutUpdated(item.status) };
    return isKeeping(step) ? { ...item, status: withKept(item.status) } : item;
  });
}

/** No pod is updated where a Retain rule keeps the images of the member. */
export function withoutKept(items: readonly StatusItem[], works: readonly DeepReadonly<Work>[]): readonly StatusItem[] {
  const kept = new Set(
    works.flatMap(({ metadata, status }) =>
      isConditionTrue(status?.conditions, RELEASE_LEFT) ? [clusterNameOf(metadata.namespace ?? "")] : [],
    ),
  );
  if (kept.size === 0) return items;
  return items.map((item) =>
    kept.has(item.clusterName) && isObject(item.status) ? { ...item, status: withoutUpdated(item.status) } : item,
  );
}

/** Whether a copy has the template of the revision before, and a partition that keeps the pods of the release. */
const isKeeping = (step: string | undefined): boolean => step?.slice(step.indexOf("@")).includes(STEP_KEEPS) === true;

const KEPT_OF = {
  updatedReplicas: "replicas",
  updatedReadyReplicas: "readyReplicas",
  updatedAvailableReplicas: "availableReplicas",
};

function withKept(status: DeepReadonly<JsonObject>): JsonObject {
  const counts = Object.entries(KEPT_OF).flatMap(([updated, all]) =>
    typeof status[all] === "number" ? [[updated, Math.max(0, status[all] - countOf(status[updated]))] as const] : [],
  );
  return { ...(status as JsonObject), ...Object.fromEntries(counts) };
}

const withoutUpdated = (status: DeepReadonly<JsonObject>): JsonObject =>
  Object.fromEntries(
    Object.entries(status).map(([field, value]): [string, Json] => [
      field,
      /^updated[A-Z]/.test(field) && typeof value === "number" ? 0 : (value as Json),
    ]),
  );

const FAILED: ReadonlySet<ReleaseStanding["state"]> = new Set(["RollingBack", "RolledBack", "Failed"]);

/**
 * The condition `Progressing` of the fleet: each member has done what its copy asks for, but the release has not. Of a
 * failed one, the reason is the one at which clients such as `kubectl rollout status` end with an error.
 */
export function withReleaseProgress(status: JsonObject, { state, message }: ReleaseStanding): JsonObject {
  const conditions = conditionsIn(status);
  const summed = conditions.find(({ type }) => type === "Progressing");
  const hasFailed = FAILED.has(state);
  // What a member reports as wrong stays.
  if (state === "Succeeded" || (!hasFailed && summed?.["status"] !== "True")) return status;
  const said: JsonObject = hasFailed
    ? { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message }
    : { type: "Progressing", status: state === "Progressing" ? "True" : "Unknown", reason: `Release${state}`, message };
  return { ...status, conditions: [...conditions.filter((condition) => condition !== summed), said] };
}

/**
 * Two revisions of a StatefulSet while its release is not complete: its clients compare them. Karmada's rule keeps both
 * fields as they are.
 */
export function withReleaseRevisions(counted: Template, release: ReleaseStanding | undefined): Template {
  if (counted.kind !== "StatefulSet" || parseApiVersion(counted.apiVersion).group !== "apps") return counted;
  const { currentRevision, updateRevision, ...rest }: JsonObject = isObject(counted.status) ? counted.status : {};
  if (!release) {
    // Left by a release that ended when its strategy was deleted.
    return currentRevision === updateRevision ? counted : { ...counted, status: rest };
  }
  const current = release.state === "Succeeded" ? release.name : (release.previous ?? release.name);
  return currentRevision === current && updateRevision === release.name
    ? counted
    : { ...counted, status: { ...rest, currentRevision: current, updateRevision: release.name } };
}

/** The condition `Released` of the binding, for the generation of the template that it is about. */
export function planReleased(
  binding: DeepReadonly<ResourceBinding>,
  { metadata: { generation } }: Template,
  release: ReleaseStanding | undefined,
  now: string,
): DeepReadonly<ResourceBinding> {
  const before = binding.status?.conditions;
  if (!release && !findCondition(before, RELEASED)) return binding;
  const conditions = release
    ? withCondition(
        before,
        {
          type: RELEASED,
          status: release.state === "Succeeded" ? "True" : "False",
          reason: release.state,
          message: release.message,
          observedGeneration: generation,
        },
        now,
      )
    : (before ?? []).filter(({ type }) => type !== RELEASED);
  return conditions === before ? binding : { ...binding, status: { ...binding.status, conditions: [...conditions] } };
}
