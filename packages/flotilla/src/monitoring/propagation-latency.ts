/**
 * End-to-end latency of a change: from the time the hub stores it until each member has it, and until the hub has
 * received the resulting status from the member. Karmada and Open Cluster Management measure their single steps; this
 * is the latency that users experience.
 *
 * A change is a new or modified template, or a new policy for it. Copies carry the template's uid and generation, which
 * assign a delivery to its change. A change is followed until all its target members have it: later moves, because of a
 * failure or another policy, do not belong to it.
 *
 * Only changes in flight are kept, up to a bound; the oldest beyond it are not measured.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import { equalJson, histogram, Histograms } from "@flotilla/base";
import type { Clock, DeepReadonly, Metric, MetricsText } from "@flotilla/base";
import type { ObjectEvent } from "@flotilla/controller-runtime";
import { CLUSTER_POLICY_ID, clusterNameOf, POLICY_ID, TEMPLATE_GENERATION, TEMPLATE_UID } from "@flotilla/karmada";

/** From a simulated fleet in this process up to a member that was unreachable for an hour. */
const BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600];

const APPLIED = histogram(
  "flotilla_propagation_applied_seconds",
  "Time from a change of a template on the hub until the member has it, once per member. Not measured for members with their own agent.",
  BUCKETS,
  "member_cluster",
);
const REPORTED = histogram(
  "flotilla_propagation_reported_seconds",
  "Time from a change of a template on the hub until the hub has received the member's resulting status, once per member.",
  BUCKETS,
  "member_cluster",
);

export const latencyMetrics: readonly Metric[] = [APPLIED, REPORTED];

const MAX_CHANGES = 20_000;

type Template = DeepReadonly<KubernetesObject>;

interface Change {
  generation: string;
  sinceMs: number;
  /** The policy that claims it. */
  claim: string | undefined;
  /** Members that have the change, and members that have reported a status for it. */
  applied: Set<string>;
  reported: Set<string>;
  /** All target members have it. */
  isEverywhere: boolean;
}

export interface PropagationLatency {
  /** A template was created, changed or deleted; status-only changes are not passed. */
  changed(event: ObjectEvent): void;
  /** A copy was written to a member. */
  delivered(cluster: string, copy: Template): void;
  /** A Work changed. */
  worked(event: ObjectEvent<Work>): void;
  forget(cluster: string): void;
  write(text: MetricsText): void;
}

export interface PropagationLatencyOptions {
  clock: Clock;
  /** The current target members of a template, as its binding lists them. */
  targetsOf(copy: Template): readonly { readonly name: string }[];
  /** The creation time of the policy that claims a template; undefined if unknown. */
  policyCreated(template: Template): string | undefined;
}

export function createPropagationLatency({
  clock,
  targetsOf,
  policyCreated,
}: PropagationLatencyOptions): PropagationLatency {
  const applied = new Histograms(APPLIED);
  const reported = new Histograms(REPORTED);
  /** Keyed by the template's uid, oldest first. */
  const changes = new Map<string, Change>();

  function begin(uid: string, change: Change): void {
    changes.delete(uid);
    changes.set(uid, change);
    if (changes.size <= MAX_CHANGES) return;
    for (const oldest of changes.keys()) {
      changes.delete(oldest);
      return;
    }
  }

  const secondsSince = (sinceMs: number): number => Math.max(0, clock.now() - sinceMs) / 1000;
  // Called once for each member of a change: only the last call compares all members.
  const isDone = (of: Set<string>, targets: readonly { readonly name: string }[]): boolean =>
    targets.length > 0 && of.size >= targets.length && targets.every(({ name }) => of.has(name));

  return {
    changed({ object, old, deleted }) {
      const { uid } = object.metadata;
      if (uid === undefined) return;
      if (deleted) {
        changes.delete(uid);
        return;
      }
      const generation = String(object.metadata.generation ?? 0);
      const claim = claimOf(object);
      const known = changes.get(uid);
      const isFirst = old === undefined || old.metadata.uid !== uid;
      // Templates found at a restart are not changes, unless they were just created.
      if (isFirst && clock.now() - Date.parse(object.metadata.creationTimestamp ?? "") > FRESH_MS) return;
      const isClaimed = claim !== undefined && (old === undefined || claimOf(old) !== claim);
      if (isClaimed && known && !isFirst) {
        // The claim itself may increase the generation. It is part of the change, unless the policy was created later
        // and the template was waiting for it.
        known.generation = generation;
        known.claim = claim;
        if (Date.parse(policyCreated(object) ?? "") > known.sinceMs) known.sinceMs = clock.now();
        return;
      }
      begin(uid, {
        generation,
        sinceMs: clock.now(),
        claim,
        applied: new Set(),
        reported: new Set(),
        isEverywhere: false,
      });
    },
    delivered(cluster, copy) {
      const annotations = copy.metadata.annotations ?? {};
      const change = changes.get(annotations[TEMPLATE_UID] ?? "");
      if (
        !change ||
        change.isEverywhere ||
        change.generation !== annotations[TEMPLATE_GENERATION] ||
        change.applied.has(cluster)
      )
        return;
      change.applied.add(cluster);
      applied.observe([cluster], secondsSince(change.sinceMs));
      change.isEverywhere = isDone(change.applied, targetsOf(copy));
    },
    worked({ object, old, deleted }) {
      const copy = object.spec.workload?.manifests?.[0] as Template | undefined;
      const annotations = copy?.metadata?.annotations;
      const uid = annotations?.[TEMPLATE_UID];
      const change = uid === undefined || deleted ? undefined : changes.get(uid);
      if (!copy || !change || uid === undefined || change.generation !== annotations?.[TEMPLATE_GENERATION]) return;
      const cluster = clusterNameOf(object.metadata.namespace ?? "") ?? "";
      if (change.reported.has(cluster) || !isReported(object, old, Number(change.generation))) return;
      change.reported.add(cluster);
      reported.observe([cluster], secondsSince(change.sinceMs));
      if (isDone(change.reported, targetsOf(copy))) changes.delete(uid);
    },
    forget(cluster) {
      applied.forget("member_cluster", cluster);
      reported.forget("member_cluster", cluster);
    },
    write(text) {
      applied.write(text);
      reported.write(text);
    },
  };
}

/** A template may have been created while the hub restarted; timestamps in objects have no fractions of seconds. */
const FRESH_MS = 2_000;

const claimOf = ({ metadata: { labels = {} } }: Template): string | undefined =>
  labels[POLICY_ID] ?? labels[CLUSTER_POLICY_ID];

/**
 * Whether the member's status is for this generation: the status names it, or the status is new since the Work changed.
 */
function isReported(
  { status, metadata }: DeepReadonly<Work>,
  old: DeepReadonly<Work> | undefined,
  generation: number,
): boolean {
  const said = status?.manifestStatuses?.[0];
  if (!said) return false;
  const named = (said.status as { resourceTemplateGeneration?: unknown } | undefined)?.resourceTemplateGeneration;
  if (typeof named === "number") return named >= generation;
  return (
    old !== undefined &&
    old.metadata.generation === metadata.generation &&
    !equalJson(old.status?.manifestStatuses ?? null, status.manifestStatuses)
  );
}
