/** What a drain of a member waits for: bindings and copies that are still there, and what keeps them. Pure. */
import { findCondition, referenceTitle } from "@flotilla/apimachinery";
import { defined } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { DRAIN_TAINT, HEALTHY, isFinishedRun, leaveNote, leavesOnDrain, toleratesTaint } from "@flotilla/flotilla";
import type { Event } from "@flotilla/kubernetes";
import type { Cluster, ResourceBinding, Work } from "@flotilla/karmada";

type Binding = DeepReadonly<Pick<ResourceBinding, "kind" | "metadata" | "spec" | "status">>;

export interface Remaining {
  /** `CloneSet shop/web`. */
  resource: string;
  /** Why it is still there. */
  reason: string;
  /**
   * `leaving`: its replacement starts. `waiting`: the hub has not decided yet. `blocked`: it cannot leave. `stays`: a
   * drain does not move it.
   */
  state: "leaving" | "waiting" | "blocked" | "stays";
  /** What leaving means for a run that is not finished. */
  note?: string | undefined;
  /** What the hub reports about the health of a replacement that is not healthy. */
  unhealthy?: string | undefined;
}

const DRAIN = { key: DRAIN_TAINT, effect: "NoExecute" } as const;
const UNTIL = "waits until ";
const FAILED = "EvictWorkloadFromClusterFailed";

/** Bindings that use the member or are leaving it. `sinceMs` is when the drain began: older events are of other moves. */
export function remainingOn(
  member: string,
  bindings: readonly Binding[],
  events: readonly DeepReadonly<Event>[],
  sinceMs: number,
): Remaining[] {
  const failures = new Map<string, string>();
  const prefix = `Evict from cluster ${member} failed: `;
  for (const { reason, message = "", involvedObject, lastTimestamp, eventTime } of events) {
    const atMs = Date.parse(lastTimestamp ?? eventTime ?? "");
    if (reason === FAILED && message.startsWith(prefix) && atMs >= sinceMs)
      failures.set(`${involvedObject.kind}/${involvedObject.namespace ?? ""}/${involvedObject.name}`, message);
  }
  return bindings.flatMap((binding): Remaining[] => {
    const { kind, metadata, spec } = binding;
    const resource = referenceTitle(spec.resource);
    const note = leaveNote(binding);
    const task = spec.gracefulEvictionTasks?.find(({ fromCluster }) => fromCluster === member);
    if (task) {
      const targets = (spec.clusters ?? []).map(({ name }) => name).join(", ");
      const reason = `${UNTIL}it is healthy on ${targets || "another member"}`;
      return [{ resource, reason, state: "leaving", note, unhealthy: unhealthyOf(binding) }];
    }
    if (!spec.clusters?.some(({ name }) => name === member)) return [];
    const kept = whyKept(binding);
    if (kept !== undefined) return [{ resource, reason: kept, state: "stays" }];
    const failure = failures.get(`${kind}/${metadata.namespace ?? ""}/${metadata.name}`);
    return [
      failure === undefined
        ? { resource, reason: "has not started to leave", state: "waiting", note }
        : { resource, reason: failure.slice(prefix.length).replace(/\.$/, ""), state: "blocked", note },
    ];
  });
}

function whyKept(binding: Binding): string | undefined {
  const { placement } = binding.spec;
  if (!leavesOnDrain(binding)) return "cluster-scoped, and its policy has no failover.cluster";
  if (placement?.clusterTolerations?.some((toleration) => isForever(toleration) && toleratesTaint(toleration, DRAIN)))
    return "its policy tolerates the drain";
  return isFinishedRun(binding) ? "it is finished and would run again elsewhere" : undefined;
}

const isForever = ({ tolerationSeconds }: { readonly tolerationSeconds?: number | null }): boolean =>
  (tolerationSeconds ?? undefined) === undefined;

/**
 * The PersistentVolumeClaims that leave the member, or are deleted with the last object there that requires them: a
 * drain moves the claim, and not the data of its volume.
 */
export function claimsLeaving(member: string, bindings: readonly Binding[]): string[] {
  const isLeaving = (binding: Binding): boolean =>
    (binding.spec.clusters ?? []).some(({ name }) => name === member) && whyKept(binding) === undefined;
  const leaving = new Set(bindings.filter(isLeaving).map(({ metadata }) => idOf(metadata)));
  return bindings.flatMap(({ metadata, spec }) => {
    const users = (spec.requiredBy ?? []).filter(({ clusters }) => clusters?.some(({ name }) => name === member));
    const isLeft = leaving.has(idOf(metadata)) || (users.length > 0 && users.every((user) => leaving.has(idOf(user))));
    return spec.resource.kind === "PersistentVolumeClaim" && isLeft ? [referenceTitle(spec.resource)] : [];
  });
}

const idOf = ({ namespace, name }: { readonly namespace?: string | undefined; readonly name: string }): string =>
  `${namespace ?? ""}/${name}`;

/** Before a drain: what fits no other member does not leave. `misfits` has the reasons, by workload. */
export const withMisfits = (all: readonly Remaining[], misfits: ReadonlyMap<string, string>): Remaining[] =>
  all.map((each) => {
    const reason = each.state === "waiting" ? misfits.get(each.resource) : undefined;
    return reason === undefined ? each : { ...each, reason, state: "blocked" };
  });

/** Names in one line. */
const MAX_NAMED = 5;

const isHeld = ({ state, unhealthy }: Remaining): boolean => state === "leaving" && unhealthy !== undefined;

/** The same as `renderDrain`, for programs. */
export function previewDrain(all: readonly Remaining[]): JsonObject {
  const reasoned = (resources: readonly Remaining[]): JsonObject[] =>
    resources.map(({ resource, reason, unhealthy }) => ({ resource, reason, ...defined({ unhealthy }) }));
  const leaves = all.filter((each) => each.state !== "stays" && each.state !== "blocked" && !isHeld(each));
  return {
    leaves: leaves.map(({ resource }) => resource),
    notes: leaves.flatMap(({ resource, note }) => (note === undefined ? [] : [{ resource, note }])),
    waits: reasoned(all.filter(isHeld)),
    cannotLeave: reasoned(all.filter(({ state }) => state === "blocked")),
    stays: reasoned(all.filter(({ state }) => state === "stays")),
  };
}

/** What a drain moves and what it leaves, before it begins. */
export function renderDrain(member: string, all: readonly Remaining[]): string[] {
  const stays = Map.groupBy(
    all.filter(({ state }) => state === "stays"),
    ({ reason }) => reason,
  );
  const blocked = Map.groupBy(
    all.filter(({ state }) => state === "blocked"),
    ({ reason }) => reason,
  );
  const held = Map.groupBy(all.filter(isHeld), ({ reason, unhealthy = "" }) => `${reason} (${unhealthy})`);
  const leaves = Map.groupBy(
    all.filter((each) => each.state !== "stays" && each.state !== "blocked" && !isHeld(each)),
    ({ note }) => note ?? "",
  );
  return [
    ...(leaves.size + held.size === 0 ? [`nothing leaves ${member}`] : []),
    ...Array.from(
      leaves,
      ([note, left]) =>
        // One that is not named may be the one that holds the drain up.
        `leaves ${member}${note === "" ? "" : ` (${note})`}: ${nameResources(left, left.length)}`,
    ),
    ...Array.from(
      held,
      ([reason, left]) =>
        `cannot leave ${member} before ${reason.slice(UNTIL.length)}: ${nameResources(left, left.length)}`,
    ),
    ...Array.from(blocked, ([reason, kept]) => `cannot leave ${member} (${reason}): ${nameResources(kept)}`),
    ...Array.from(stays, ([reason, kept]) => `stays on ${member} (${reason}): ${nameResources(kept)}`),
  ];
}

function nameResources(resources: readonly Pick<Remaining, "resource">[], most = MAX_NAMED): string {
  const more = resources.length > most ? `, and ${resources.length - most} more` : "";
  return `${resources
    .slice(0, most)
    .map(({ resource }) => resource)
    .join(", ")}${more}`;
}

/**
 * Copies that the hub wants deleted and the member still has. A Work exists until its objects on the member are deleted,
 * so a member that does not answer keeps what it runs.
 */
export function copiesOn(
  cluster: DeepReadonly<Cluster> | undefined,
  works: readonly DeepReadonly<Work>[],
): Remaining[] {
  const member = cluster?.metadata.name ?? "the member";
  const isReachable = findCondition(cluster?.status?.conditions, "Ready")?.status === "True";
  return works
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    .flatMap(({ spec }) => spec.workload?.manifests ?? [])
    .map((manifest): Remaining => {
      const { kind = "", metadata = {} } = manifest as {
        kind?: string;
        metadata?: { namespace?: string; name?: string };
      };
      return {
        resource: referenceTitle({ kind, namespace: metadata.namespace, name: metadata.name ?? "" }),
        reason: isReachable
          ? `its copy is not deleted on ${member} yet`
          : `${member} is unreachable, and runs its copy until it is back`,
        state: isReachable ? "leaving" : "blocked",
      };
    });
}

function unhealthyOf({ status }: Binding): string | undefined {
  const condition = findCondition(status?.conditions, HEALTHY);
  return condition && condition.status !== "True" ? condition.message || condition.reason : undefined;
}
