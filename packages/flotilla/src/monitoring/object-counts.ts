/**
 * Object counts by state, updated with every change event, so that a scrape reads no objects. A state is a few labels;
 * object names are never labels.
 */
import { findCondition } from "@flotilla/apimachinery";
import type { Condition, KubernetesObject } from "@flotilla/apimachinery";
import type { ManifestWork, OcmPlacement } from "@flotilla/ocm";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { Counts, gauge, writeGauge } from "@flotilla/base";
import type { DeepReadonly, Metric, MetricsText } from "@flotilla/base";
import type { Informer } from "@flotilla/controller-runtime";
import { clusterNameOf } from "@flotilla/karmada";
import { RELEASED } from "../flotilla-names.ts";
import { HEALTHY, unhealthyForMs } from "../health/healthy-condition.ts";
import { unreadyOf } from "../health/why-unhealthy.ts";

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
const UNHEALTHY = gauge(
  "flotilla_workloads_unhealthy",
  "Bindings whose condition Healthy has been False or Unknown for longer than a minute, by kind of the workload.",
  "resource_kind",
);
const UNREADY = gauge(
  "flotilla_workload_pods_unready",
  "Pods that are missing or not ready on the members, by kind of the workload; workloads that are being rolled out are included.",
  "resource_kind",
);
const RELEASES = gauge(
  "flotilla_fleetrollouts",
  "The newest FleetRollout of each template, by state: Succeeded, Progressing, Waiting, Paused, RollingBack, " +
    "RolledBack, or Failed, which includes releases that stopped after a failure.",
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
  RELEASES,
  UNREADY,
  UNHEALTHY,
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

/** Of the copies that are applied; a copy that reports no number counts as ready. */
function unreadyPods({ spec, status }: DeepReadonly<ResourceBinding>): number {
  const shares = new Map((spec.clusters ?? []).map(({ name, replicas }) => [name, replicas]));
  const { apiVersion, kind, name } = spec.resource;
  return (status?.aggregatedStatus ?? []).reduce((sum, { applied, clusterName, status: reported }) => {
    const copy = {
      apiVersion,
      kind,
      metadata: { name },
      spec: { replicas: shares.get(clusterName) },
      status: reported,
    };
    return applied ? sum + (unreadyOf(copy)?.unready ?? 0) : sum;
  }, 0);
}

/** Versions of an object share the parts that did not change; two equal parts that are not shared are counted again. */
const hasSameReports = (a: DeepReadonly<ResourceBinding>, b: DeepReadonly<ResourceBinding>): boolean =>
  a.spec === b.spec && a.status?.aggregatedStatus === b.status?.aggregatedStatus;

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
  write(text: MetricsText, nowMs: number): void;
}

export function createObjectCounts({ bindings, works, manifestWorks, placements }: CountedInformers): ObjectCounts {
  // A count must be decremented under the labels it was incremented with, so the number of series is not capped; there
  // are never more series than objects.
  const families = new Map<Metric, Counts>(
    countMetrics.filter((metric) => metric !== UNHEALTHY).map((metric) => [metric, new Counts(metric, Infinity)]),
  );
  /** Bindings that are not healthy: a scrape looks at these only. */
  const unhealthy = new Map<string, { kind: string; condition: Condition }>();

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

  function followHealth(informer: Informer<ResourceBinding>): void {
    const counts = families.get(UNREADY) as Counts;
    informer.subscribe(({ object, old, deleted }) => {
      const { kind } = object.spec.resource;
      if (deleted || !old || !hasSameReports(old, object)) {
        const changed = (deleted ? 0 : unreadyPods(object)) - (old ? unreadyPods(old) : 0);
        if (changed !== 0) counts.add([kind], changed);
      }
      const id = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
      const condition = findCondition(object.status?.conditions, HEALTHY);
      if (deleted || !condition || condition.status === "True") unhealthy.delete(id);
      else unhealthy.set(id, { kind, condition });
    });
  }

  for (const informer of bindings) {
    followHealth(informer);
    follow(informer, BINDINGS, (binding) => [[bindingState(binding)]]);
    follow(informer, RELEASES, ({ status }) => {
      const released = findCondition(status?.conditions, RELEASED);
      return released ? [[released.reason ?? ""]] : NOWHERE;
    });
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
    write(text, nowMs) {
      for (const family of families.values()) family.write(text);
      const kinds = new Map<string, number>();
      for (const { kind, condition } of unhealthy.values())
        if (unhealthyForMs(condition, nowMs) !== undefined) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      writeGauge(
        text,
        UNHEALTHY,
        Array.from(kinds, ([kind, count]) => [[kind], count] as const),
      );
    },
  };
}
