/**
 * Object counts by state, updated with every change event, so that a scrape reads no objects. A state is a few labels;
 * object names are never labels.
 */
import { findCondition } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ManifestWork, OcmPlacement } from "@flotilla/ocm";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { Counts, gauge } from "@flotilla/base";
import type { DeepReadonly, Metric, MetricsText } from "@flotilla/base";
import type { Informer } from "@flotilla/controller-runtime";
import { clusterNameOf } from "@flotilla/karmada";

const BINDINGS = gauge(
  "flotilla_bindings",
  "Bindings by state: applied, unschedulable, failed (not applied on some member), suspended, or pending.",
  "state",
);
const WORKS = gauge(
  "flotilla_works",
  "Works by member and state: applied, failed or pending.",
  "member_cluster",
  "state",
);
const HEALTH = gauge(
  "flotilla_work_objects",
  "Objects of Works on members, by their health: Healthy, Unhealthy or Unknown.",
  "member_cluster",
  "health",
);
const DRIFTED = gauge(
  "flotilla_works_drifted",
  "Works with objects that were changed on the member and are left changed.",
  "member_cluster",
);
const MANIFEST_WORKS = gauge(
  "flotilla_manifestworks",
  "ManifestWorks by member and state: available, degraded (applied, but an object is missing or unhealthy), failed or pending.",
  "member_cluster",
  "state",
);
const PLACEMENTS = gauge(
  "flotilla_placements",
  "Placements by state: satisfied, unsatisfied or misconfigured.",
  "state",
);
const EVICTIONS = gauge(
  "eviction_kind_total",
  "Objects pending eviction from a member, by kind.",
  "member_cluster",
  "resource_kind",
);

export const countMetrics: readonly Metric[] = [
  BINDINGS,
  WORKS,
  HEALTH,
  DRIFTED,
  MANIFEST_WORKS,
  PLACEMENTS,
  EVICTIONS,
];

type Conditions = readonly { readonly type: string; readonly status: string }[] | undefined;
/** The labels under which an object is counted. */
type Place = readonly string[];

const statusOf = (conditions: Conditions, type: string): string | undefined => findCondition(conditions, type)?.status;

function bindingState({ spec, status }: DeepReadonly<ResourceBinding>): string {
  const conditions = status?.conditions;
  const { scheduling, dispatching, dispatchingOnClusters } = spec.suspension ?? {};
  if (scheduling || dispatching || dispatchingOnClusters?.clusterNames?.length) return "suspended";
  if (statusOf(conditions, "Scheduled") === "False") return "unschedulable";
  if (statusOf(conditions, "Dispatched") === "False") return "failed";
  if (statusOf(conditions, "FullyApplied") === "True") return "applied";
  // The binding is scheduled to no cluster, which is already true.
  if (statusOf(conditions, "Scheduled") === "True" && !spec.clusters?.length) return "applied";
  return status?.aggregatedStatus?.some(({ appliedMessage }) => appliedMessage) ? "failed" : "pending";
}

function workState({ status }: DeepReadonly<Work>): string {
  const applied = statusOf(status?.conditions, "Applied");
  return applied === "True" ? "applied" : applied === "False" ? "failed" : "pending";
}

function manifestWorkState({ status }: DeepReadonly<ManifestWork>): string {
  const applied = statusOf(status?.conditions, "Applied");
  if (applied === "False") return "failed";
  if (applied !== "True") return "pending";
  return statusOf(status?.conditions, "Degraded") === "True" || statusOf(status?.conditions, "Available") !== "True"
    ? "degraded"
    : "available";
}

function placementState({ status }: DeepReadonly<OcmPlacement>): string {
  if (statusOf(status?.conditions, "PlacementMisconfigured") === "True") return "misconfigured";
  return statusOf(status?.conditions, "PlacementSatisfied") === "True" ? "satisfied" : "unsatisfied";
}

const memberOf = ({ metadata }: DeepReadonly<Work>): string => clusterNameOf(metadata.namespace ?? "") ?? "";

const NOWHERE: readonly Place[] = [];
const areSame = (a: readonly Place[], b: readonly Place[]): boolean =>
  a.length === b.length && a.every((place, index) => place.every((label, at) => label === b[index]?.[at]));

export interface CountedInformers {
  bindings: readonly Informer<ResourceBinding>[];
  works: Informer<Work>;
  manifestWorks: Informer<ManifestWork>;
  placements: Informer<OcmPlacement>;
}

export interface ObjectCounts {
  /** The number of unschedulable bindings. */
  unschedulable(): number;
  write(text: MetricsText): void;
}

export function createObjectCounts({ bindings, works, manifestWorks, placements }: CountedInformers): ObjectCounts {
  // A count must be decremented under the labels it was incremented with, so the number of series is not capped; there
  // are never more series than objects.
  const families = new Map<Metric, Counts>(countMetrics.map((metric) => [metric, new Counts(metric, Infinity)]));

  function follow<T extends KubernetesObject>(
    informer: Informer<T>,
    metric: Metric,
    placesOf: (object: DeepReadonly<T>) => readonly Place[],
  ): void {
    const counts = families.get(metric) as Counts;
    informer.subscribe(({ object, old, deleted }) => {
      const before = old ? placesOf(old) : NOWHERE;
      const now = deleted ? NOWHERE : placesOf(object);
      // Most changes of an object do not change its state.
      if (areSame(before, now)) return;
      for (const place of before) counts.add(place, -1);
      for (const place of now) counts.add(place, 1);
    });
  }

  for (const informer of bindings) {
    follow(informer, BINDINGS, (binding) => [[bindingState(binding)]]);
    follow(informer, EVICTIONS, ({ spec }) =>
      (spec.gracefulEvictionTasks ?? []).map(({ fromCluster }) => [fromCluster, spec.resource.kind]),
    );
  }
  follow(works, WORKS, (work) => [[memberOf(work), workState(work)]]);
  follow(works, HEALTH, (work) =>
    (work.status?.manifestStatuses ?? []).map(({ health }) => [memberOf(work), health ?? "Unknown"]),
  );
  follow(works, DRIFTED, (work) => (statusOf(work.status?.conditions, "Drifted") === "True" ? [[memberOf(work)]] : []));
  follow(manifestWorks, MANIFEST_WORKS, (work) => [[work.metadata.namespace ?? "", manifestWorkState(work)]]);
  follow(placements, PLACEMENTS, (placement) => [[placementState(placement)]]);
  return {
    unschedulable: () => families.get(BINDINGS)?.get(["unschedulable"]) ?? 0,
    write(text) {
      for (const family of families.values()) family.write(text);
    },
  };
}
