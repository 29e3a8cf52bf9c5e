/**
 * How long a change takes through the fleet: from when the hub has it to when each member has it, and to when the hub
 * has heard from the member what became of it. Karmada and Open Cluster Management measure their steps; this is what
 * users wait for.
 *
 * A change is a template that is new or another one than before, or a policy that is new for it. Copies carry the
 * template's uid and generation, so a delivery is told which change it belongs to. A change is followed until every
 * member that it is for has it: what moves later, because of a failure or of another policy, is no part of it.
 *
 * Only changes that are on their way are kept, and no more than a bound; what falls off is not measured.
 */
import type { KubernetesObject, Work } from "../api/index.ts";
import { clusterNameOf } from "../api/index.ts";
import { equalJson, histogram, Histograms } from "../base/index.ts";
import type { Clock, DeepReadonly, Metric, MetricsText } from "../base/index.ts";
import { TEMPLATE_GENERATION } from "../interpreter/index.ts";
import { wellKnown } from "../propagation/index.ts";
import type { ObjectEvent } from "../runtime/index.ts";

/** From a fleet in this process to a member that was away for an hour. */
const BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600];

const APPLIED = histogram(
  "flotilla_propagation_applied_seconds",
  "From a change of a template on the hub to the member having it; once for each member. Not for members with an agent of their own.",
  BUCKETS,
  "member_cluster",
);
const REPORTED = histogram(
  "flotilla_propagation_reported_seconds",
  "From a change of a template on the hub to the hub knowing what the member made of it; once for each member.",
  BUCKETS,
  "member_cluster",
);

export const latencyMetrics: readonly Metric[] = [APPLIED, REPORTED];

const MAX_CHANGES = 20_000;
const { TEMPLATE_UID, POLICY_ID, CLUSTER_POLICY_ID } = wellKnown;

type Template = DeepReadonly<KubernetesObject>;

interface Change {
  generation: string;
  sinceMs: number;
  /** By which policy it is claimed. */
  claim: string | undefined;
  /** Members that have it, and members that have said so. */
  applied: Set<string>;
  reported: Set<string>;
  /** Every member that it was for has it. */
  isEverywhere: boolean;
}

export interface PropagationLatency {
  /** A template is there, has changed or is gone; changes of status alone are not told. */
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
  /** The members that a template is for at this moment, as its binding lists them. */
  targetsOf(copy: Template): readonly { readonly name: string }[];
  /** When the policy that claims a template was made; undefined when it is not known. */
  policyCreated(template: Template): string | undefined;
}

export function createPropagationLatency({
  clock,
  targetsOf,
  policyCreated,
}: PropagationLatencyOptions): PropagationLatency {
  const applied = new Histograms(APPLIED);
  const reported = new Histograms(REPORTED);
  /** By the template's uid, the oldest first. */
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
  // Asked once for each member of a change: only the last one has to look at all of them.
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
      // What a restart finds is no change; what was made a moment ago is.
      if (isFirst && clock.now() - Date.parse(object.metadata.creationTimestamp ?? "") > FRESH_MS) return;
      const isClaimed = claim !== undefined && (old === undefined || claimOf(old) !== claim);
      if (isClaimed && known && !isFirst) {
        // The claim itself may move the generation. It is part of the change, unless the policy came later and is what
        // it waited for.
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

/**
 * A hub may have been away for a moment while somebody created a template; times in objects have no fractions of
 * seconds.
 */
const FRESH_MS = 2_000;

const claimOf = ({ metadata: { labels = {} } }: Template): string | undefined =>
  labels[POLICY_ID] ?? labels[CLUSTER_POLICY_ID];

/** Whether the member's word is about this generation: it says so, or it is a new word since the Work is what it is. */
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
