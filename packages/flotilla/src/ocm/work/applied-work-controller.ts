/**
 * AppliedManifestWorks whose ManifestWork the hub does not have. Deleting one deletes its objects. Otherwise it stays
 * with all its objects: a hub that lost its data, or a namespace, must not empty its members. Only with a configured
 * grace period are they removed after it, and only while the hub is reachable and itself reports that the work does not
 * exist.
 *
 * Reads: AppliedManifestWork on members, ManifestWork.
 * Writes: `evictionStartTime` in their status; deletes them with their objects.
 */
import { AppliedManifestWork, ManifestWork } from "@flotilla/ocm";
import { formatTime, type Clock, type DeepReadonly } from "@flotilla/base";
import { find, type Client, type ObjectKey } from "@flotilla/client";
import { defineController, done, watch } from "@flotilla/controller-runtime";
import type { Controller, Informers, Result } from "@flotilla/controller-runtime";
import { referenceTo, removeApplied, type WorkOrigin } from "./applied-work.ts";
import type { MemberFor, WorkMember } from "./member-objects.ts";

type Applied = DeepReadonly<AppliedManifestWork>;

export interface AppliedWorkDependencies {
  hub: string;
  /** The hub's informers. */
  informers: Informers;
  hubClient: Client;
  /** The members' informers; a member's name is the namespace of its works. */
  memberInformers: Informers;
  memberFor: MemberFor;
  origin: WorkOrigin;
  /** How long an AppliedManifestWork without a work stays; unset means forever. */
  evictionGraceMs?: number;
  clock: Clock;
}

/** The polling interval for objects that are being deleted, and for an unreachable hub. */
const RECHECK_MS = 10_000;

export function createAppliedWorkController(deps: AppliedWorkDependencies): Controller<ObjectKey> {
  const { hub, informers, hubClient, memberInformers, memberFor, origin, evictionGraceMs, clock } = deps;
  const works = informers.of(ManifestWork);
  const workKey = (cluster: string, { spec }: Applied): ObjectKey => ({
    cluster: hub,
    namespace: cluster,
    name: spec.manifestWorkName,
  });

  /** Deletes the objects that it alone owns; then itself. */
  async function clear(applied: Applied, member: WorkMember, signal: AbortSignal): Promise<Result> {
    const reference = referenceTo(applied);
    let isGoing = false;
    for (const { group = "", version, resource, namespace, name, uid = "" } of applied.status?.appliedResources ?? []) {
      isGoing =
        (await member.delivery.disown(
          { group, version, resource, namespace: namespace || undefined, name, uid },
          { reference, mode: "delete" },
          signal,
        )) === "going" || isGoing;
    }
    if (isGoing) return { requeueAfterMs: RECHECK_MS };
    await removeApplied(applied, member, signal);
    return done;
  }

  async function setEviction(
    applied: Applied,
    evictionStartTime: string | null,
    { client, cluster }: WorkMember,
    signal: AbortSignal,
  ): Promise<void> {
    if ((applied.status?.evictionStartTime ?? null) === evictionStartTime) return;
    await client.patch(
      AppliedManifestWork,
      { cluster, name: applied.metadata.name },
      { status: { evictionStartTime } },
      { type: "merge", subresource: "status", signal },
    );
  }

  async function evict(
    applied: Applied,
    key: ObjectKey,
    graceMs: number,
    member: WorkMember,
    signal: AbortSignal,
  ): Promise<Result> {
    const start = applied.status?.evictionStartTime;
    if (start === undefined) {
      await setEviction(applied, formatTime(clock.now()), member, signal);
      return { requeueAfterMs: graceMs };
    }
    const leftMs = Date.parse(start) + graceMs - clock.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    // An informer may be stale for longer than any grace period; the hub itself is asked before anything is removed.
    if (
      applied.metadata.name.startsWith(origin.hubHash) &&
      (await find(hubClient, ManifestWork, workKey(key.cluster, applied), { signal }))
    )
      return done;
    return clear(applied, member, signal);
  }

  return defineController({
    name: "ocm-applied-work",
    for: AppliedManifestWork,
    informers: memberInformers,
    watches: [
      watch(
        ManifestWork,
        ({ object }) => [
          { cluster: object.metadata.namespace ?? "", name: `${origin.hubHash}-${object.metadata.name}` },
        ],
        { informers },
      ),
    ],
    writes: [AppliedManifestWork],

    async reconcile(applied, { key, signal }) {
      const member = memberFor(key.cluster);
      if (!member || applied.spec.agentID !== origin.agentID) return done;
      const isOfThisHub = applied.metadata.name.startsWith(origin.hubHash);
      const work = works.get(workKey(key.cluster, applied));
      // An existing work maintains its own AppliedManifestWork.
      if (work && isOfThisHub) {
        await setEviction(applied, null, member, signal);
        return done;
      }
      if (applied.metadata.deletionTimestamp) return clear(applied, member, signal);
      // For another hub it is only known that the work is not here; the same work existing here means that it was
      // moved.
      if (evictionGraceMs === undefined) return done;
      if (!works.fresh) return { requeueAfterMs: RECHECK_MS };
      return evict(applied, key, evictionGraceMs, member, signal);
    },
  });
}
