/**
 * Which clusters the bindings of a workload group run on: affinity groups are placed together, anti-affinity groups
 * apart, by a label of their templates. A group belongs to one namespace; bindings of cluster-scoped objects have their
 * own.
 *
 * Maintained as counts per cluster while bindings change, so that a decision looks them up instead of reading the
 * group. A decision counts from the moment it is made: bindings that are scheduled at the same time see each other
 * although none of them is written yet.
 */
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { idOfKey, isLater, keyOf } from "@flotilla/controller-runtime";
import type { Informer, ObjectEvent } from "@flotilla/controller-runtime";

type Binding = DeepReadonly<ResourceBinding>;

/** What one binding needs to know about the others of its groups. */
export interface Neighbours {
  /** Whether every other scheduled binding of its affinity group runs on this cluster too. */
  areAllOn(cluster: string): boolean;
  /** Whether another binding of its anti-affinity group runs on this cluster. */
  isTaken(cluster: string): boolean;
}

/** A decision that counts already. */
interface Assumption {
  /** It was written: informer events count again from this version on. */
  written(binding: Binding): void;
  /** It was not written. */
  drop(): void;
}

export interface WorkloadGroups {
  /** The current binding. */
  see(cluster: string, binding: Binding, deleted?: boolean): void;
  assume(cluster: string, binding: Binding, clusters: readonly string[]): Assumption;
  /** Undefined for a binding without a group. */
  neighboursOf(cluster: string, binding: Binding): Neighbours | undefined;
  /** Keys of the bindings that a change of this one may affect. */
  affectedBy(event: ObjectEvent<ResourceBinding>): ObjectKey[];
}

interface Group {
  /** Bindings that are scheduled. */
  placed: number;
  readonly on: Map<string, number>;
  readonly members: Map<string, Member>;
}

interface Member {
  readonly key: ObjectKey;
  /** The ids of its groups. */
  readonly together: string | undefined;
  readonly apart: string | undefined;
  readonly clusters: readonly string[];
  /**
   * Of `clusters`, those that it is not being evicted from: a binding that leaves a cluster does not keep others there.
   */
  readonly staying: readonly string[];
}

/** A decision that counts instead of the informer's state. */
interface Assumed {
  /** The informer's last state, and its version. */
  seen: Member | undefined;
  seenVersion: string;
  /** The version in which the decision was written, once known. */
  version?: string;
}

const NO_ASSUMPTION: Assumption = { written: () => undefined, drop: () => undefined };

export function createWorkloadGroups(): WorkloadGroups {
  const groups = new Map<string, Group>();
  const members = new Map<string, Member>();
  const assumed = new Map<string, Assumed>();

  function count(group: string | undefined, id: string, member: Member, clusters: readonly string[], by: 1 | -1): void {
    if (group === undefined) return;
    let of = groups.get(group);
    if (!of) groups.set(group, (of = { placed: 0, on: new Map(), members: new Map() }));
    if (clusters.length > 0) of.placed += by;
    for (const cluster of clusters) {
      const left = (of.on.get(cluster) ?? 0) + by;
      if (left > 0) of.on.set(cluster, left);
      else of.on.delete(cluster);
    }
    if (by === 1) of.members.set(id, member);
    else of.members.delete(id);
    if (of.members.size === 0) groups.delete(group);
  }

  function put(id: string, next: Member | undefined): void {
    const before = members.get(id);
    if (before) {
      count(before.together, id, before, before.staying, -1);
      count(before.apart, id, before, before.clusters, -1);
    }
    if (next) {
      members.set(id, next);
      count(next.together, id, next, next.staying, 1);
      count(next.apart, id, next, next.clusters, 1);
    } else members.delete(id);
  }

  return {
    see(cluster, binding, deleted = false) {
      const member = deleted ? undefined : memberOf(cluster, binding);
      if (!member && members.size === 0) return;
      const id = idOfKey(keyOf(cluster, binding));
      const { resourceVersion = "" } = binding.metadata;
      const assumption = assumed.get(id);
      if (
        assumption &&
        !deleted &&
        (assumption.version === undefined || isLater(assumption.version, resourceVersion))
      ) {
        assumption.seen = member;
        assumption.seenVersion = resourceVersion;
        return;
      }
      assumed.delete(id);
      put(id, member);
    },

    assume(cluster, binding, clusters) {
      const member = memberOf(cluster, binding, clusters);
      if (!member) return NO_ASSUMPTION;
      const id = idOfKey(member.key);
      const before = assumed.get(id);
      const assumption: Assumed = {
        seen: before ? before.seen : members.get(id),
        seenVersion: before?.seenVersion ?? binding.metadata.resourceVersion ?? "",
      };
      assumed.set(id, assumption);
      put(id, member);
      const end = (now: Member | undefined): void => {
        if (assumed.get(id) !== assumption) return;
        assumed.delete(id);
        put(id, now);
      };
      return {
        written({ metadata: { resourceVersion = "" } }) {
          // The informer may have been faster than the response.
          if (isLater(resourceVersion, assumption.seenVersion)) assumption.version = resourceVersion;
          else end(assumption.seen);
        },
        drop: () => end(assumption.seen),
      };
    },

    neighboursOf(cluster, binding) {
      const self = memberOf(cluster, binding);
      if (!self) return undefined;
      const counted = members.get(idOfKey(self.key));
      const together = self.together === undefined ? undefined : groups.get(self.together);
      const apart = self.apart === undefined ? undefined : groups.get(self.apart);
      // The binding's own contribution to the counts is excluded.
      const stays = together && counted?.together === self.together ? counted?.staying : undefined;
      const runs = apart && counted?.apart === self.apart ? counted?.clusters : undefined;
      const placed = (together?.placed ?? 0) - (stays?.length ? 1 : 0);
      return {
        areAllOn: (name) => placed === 0 || (together?.on.get(name) ?? 0) - (stays?.includes(name) ? 1 : 0) === placed,
        isTaken: (name) => (apart?.on.get(name) ?? 0) > (runs?.includes(name) ? 1 : 0),
      };
    },

    affectedBy({ cluster, object, old, deleted }) {
      const now = deleted ? undefined : memberOf(cluster, object);
      const before = old && memberOf(cluster, old);
      if ((!now && !before) || isSame(now, before)) return [];
      // A new unscheduled binding affects no other.
      if (!before && now?.clusters.length === 0) return [];
      const found = new Map<string, ObjectKey>();
      for (const group of [now?.together, now?.apart, before?.together, before?.apart]) {
        for (const [id, { key }] of (group !== undefined && groups.get(group)?.members) || []) found.set(id, key);
      }
      found.delete(idOfKey(keyOf(cluster, object)));
      return [...found.values()];
    },
  };
}

/** Updates the groups from an informer. */
export function followBindings(groups: WorkloadGroups, bindings: Pick<Informer<ResourceBinding>, "subscribe">): void {
  bindings.subscribe(({ cluster, object, deleted }) => groups.see(cluster, object, deleted));
}

/** Undefined for a binding without a group, which is the common case. */
function memberOf(cluster: string, binding: Binding, decided?: readonly string[]): Member | undefined {
  const { metadata, spec } = binding;
  const { affinityGroup, antiAffinityGroup } = spec.workloadAffinityGroups ?? {};
  if (!affinityGroup && !antiAffinityGroup) return undefined;
  const place = `${cluster}/${metadata.namespace ?? ""}`;
  const clusters = decided ?? (spec.clusters ?? []).map(({ name }) => name);
  const left = new Set(spec.gracefulEvictionTasks?.map(({ fromCluster }) => fromCluster));
  return {
    key: keyOf(cluster, binding),
    together: affinityGroup ? `${place} together ${affinityGroup}` : undefined,
    apart: antiAffinityGroup ? `${place} apart ${antiAffinityGroup}` : undefined,
    clusters,
    staying: left.size > 0 ? clusters.filter((name) => !left.has(name)) : clusters,
  };
}

function isSame(a: Member | undefined, b: Member | undefined): boolean {
  if (!a || !b || a.together !== b.together || a.apart !== b.apart) return false;
  const names = (of: readonly string[]): string => of.toSorted().join("/");
  return names(a.clusters) === names(b.clusters) && names(a.staying) === names(b.staying);
}
