/** Computes the status of a work from its manifests on the member. Pure. */
import type { ManifestCondition } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { ManifestWork } from "@flotilla/ocm";
import { equalJson, type DeepReadonly, defined } from "@flotilla/base";
import { withCondition, type NextCondition } from "@flotilla/apimachinery";
import {
  aggregateConditions,
  isByRule,
  mergeConditions,
  mergeManifests,
  withoutOldRules,
} from "./manifest-conditions.ts";
import { NOT_THERE, type ManifestReading } from "./read-manifest.ts";

type Work = DeepReadonly<ManifestWork>;
type Conditions = DeepReadonly<ManifestCondition>["conditions"];

/** Part of the message of a work that cannot be deleted, followed by its member's error. */
export const DELETION_REFUSED = ", but its cluster rejects the deletion: ";

export interface StatusReport {
  /** The work's generation. */
  generation: number;
  manifests: readonly ManifestReading[];
  /** Why the work does not target this cluster; reported instead of whether it is applied. */
  withheld?: string;
}

export function planWorkStatus(work: Work, { generation, manifests, withheld }: StatusReport, now: string): Work {
  const before = work.status?.resourceStatus?.manifests ?? [];
  const merged = mergeManifests(
    before,
    manifests.map(({ meta, applied }) => ({
      resourceMeta: meta,
      conditions: (applied ? [applied] : []) as unknown as Conditions,
    })),
    now,
  );
  const next = merged.map((manifest, index) => withReading(manifest, manifests[index], generation, now));
  const conditions = workConditions(work.status?.conditions ?? [], next, { generation, manifests, withheld }, now);
  const status = { ...work.status, conditions, resourceStatus: { ...work.status?.resourceStatus, manifests: next } };
  return equalJson(status, work.status) ? work : { ...work, status };
}

function withReading(
  manifest: DeepReadonly<ManifestCondition>,
  reading: ManifestReading | undefined,
  generation: number,
  now: string,
): DeepReadonly<ManifestCondition> {
  if (!reading) return manifest;
  let conditions = withCondition(manifest.conditions, reading.available, now);
  // Until it can be read again, the last known values stay.
  if (!reading.seen) return { ...manifest, conditions };
  const { values, feedback, ruled } = reading.seen;
  // The condition's transition time records when the values changed.
  if (!equalJson(manifest.statusFeedback?.values ?? [], values))
    conditions = conditions.filter(({ type }) => type !== feedback.type);
  conditions = withCondition(conditions, feedback, now);
  const isRuled = new Set(ruled.map(({ type }) => type));
  conditions = conditions.filter((condition) => !isByRule(condition) || isRuled.has(condition.type));
  conditions = withoutOldRules(mergeConditions(conditions, ruled, now), generation);
  return {
    resourceMeta: manifest.resourceMeta,
    conditions,
    statusFeedback: values.length > 0 ? { values } : undefined,
  };
}

function workConditions(
  before: Conditions,
  manifests: readonly DeepReadonly<ManifestCondition>[],
  { generation, manifests: readings, withheld }: StatusReport,
  now: string,
): Conditions {
  const applied =
    withheld === undefined
      ? appliedOf(manifests, readings, generation)
      : {
          type: "Applied",
          status: "False" as const,
          reason: "ClusterLabelsNotMatched",
          message: withheld,
          observedGeneration: generation,
        };
  const aggregated = aggregateConditions(generation, manifests);
  const kept = new Set(aggregated.map(({ type }) => type));
  const next = [...(applied ? [applied] : []), ...aggregated];
  // A rule result for another generation gets a new transition time even if it is unchanged: a minimum success time
  // counts from there.
  const merged = next.reduce<Conditions>(
    (all, condition) =>
      isByRule(condition) ? mergeConditions(all, [condition], now) : withCondition(all, condition, now),
    before,
  );
  return withoutOldRules(merged, generation).filter((condition) => !isByRule(condition) || kept.has(condition.type));
}

/**
 * Undefined while nothing was tried for this generation: the result of an earlier generation is not reported for it.
 */
function appliedOf(
  manifests: readonly DeepReadonly<ManifestCondition>[],
  readings: readonly ManifestReading[],
  generation: number,
): NextCondition | undefined {
  if (!readings.some(({ applied }) => applied)) return undefined;
  const isApplied = manifests.every(({ conditions }) =>
    conditions.some(
      ({ type, status, observedGeneration }) =>
        type === "Applied" && status === "True" && observedGeneration === generation,
    ),
  );
  return isApplied
    ? {
        type: "Applied",
        status: "True",
        reason: "AppliedManifestWorkComplete",
        message: "Apply manifest work complete",
        observedGeneration: generation,
      }
    : {
        type: "Applied",
        status: "False",
        reason: "AppliedManifestWorkFailed",
        message: "Failed to apply manifest work",
        observedGeneration: generation,
      };
}

/** The details of a work that is being deleted. */
export interface DeletionState {
  /** The member's error if it rejects the deletion of an object. */
  refusal?: string;
  /** Ordinals of the deleted objects. */
  gone: ReadonlySet<number>;
}

export function planDeleting(work: Work, { refusal, gone }: DeletionState, now: string): Work {
  const before = work.status?.conditions ?? [];
  const message = `ManifestWork is being deleted${refusal === undefined ? "" : `${DELETION_REFUSED}${refusal}`}`;
  const conditions = withCondition(
    before,
    { type: "Deleting", status: "True", reason: "WorkDeleting", message, observedGeneration: work.metadata.generation },
    now,
  );
  const reported = work.status?.resourceStatus?.manifests ?? [];
  const manifests = reported.map((manifest) => {
    const next = gone.has(manifest.resourceMeta.ordinal ?? 0)
      ? withCondition(manifest.conditions, NOT_THERE, now)
      : manifest.conditions;
    return next === manifest.conditions ? manifest : { ...manifest, conditions: next };
  });
  if (conditions === before && manifests.every((manifest, index) => manifest === reported[index])) return work;
  return {
    ...work,
    status: {
      ...work.status,
      conditions,
      ...defined({ resourceStatus: reported.length > 0 ? { ...work.status?.resourceStatus, manifests } : undefined }),
    },
  };
}
