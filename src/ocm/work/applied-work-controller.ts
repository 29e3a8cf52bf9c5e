/**
 * AppliedManifestWorks whose ManifestWork the hub does not have. One that is deleted takes its objects along, as ever.
 * One that is not stays, with everything that it holds: a hub that lost its data, or a namespace, must not empty its
 * members. Only where a time is set are they removed after it, and then only while the hub is seen, and says itself
 * that there is no such work.
 *
 * Reads: AppliedManifestWork on members, ManifestWork.
 * Writes: `evictionStartTime` in their status; deletes them with what they hold.
 */
import { AppliedManifestWork, ManifestWork } from "../../api/index.ts";
import { formatTime, type Clock, type DeepReadonly } from "../../base/index.ts";
import { find, type Client, type ObjectKey } from "../../client/index.ts";
import { defineController, done, watch } from "../../runtime/index.ts";
import type { Controller, Informers, Result } from "../../runtime/index.ts";
import { referenceTo, removeApplied, type WorkOrigin } from "./applied-work.ts";
import type { MemberFor, WorkMember } from "./member-objects.ts";

type Applied = DeepReadonly<AppliedManifestWork>;

export interface AppliedWorkDependencies {
  hub: string;
  /** Of the hub. */
  informers: Informers;
  hubClient: Client;
  /** Of the members, whose names are the namespaces of their works. */
  memberInformers: Informers;
  memberFor: MemberFor;
  origin: WorkOrigin;
  /** How long one whose work is missing stays; unset is for good. */
  evictionGraceMs?: number;
  clock: Clock;
}

/** How often objects that are being deleted are looked for, and a hub that is not seen. */
const LOOK_AGAIN_MS = 10_000;

export function createAppliedWorkController({
  hub,
  informers,
  hubClient,
  memberInformers,
  memberFor,
  origin,
  evictionGraceMs,
  clock,
}: AppliedWorkDependencies): Controller<ObjectKey> {
  const works = informers.of(ManifestWork);
  const workKey = (cluster: string, { spec }: Applied): ObjectKey => ({
    cluster: hub,
    namespace: cluster,
    name: spec.manifestWorkName,
  });

  /** Deletes what it holds and nobody else does; then it goes itself. */
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
    if (isGoing) return { requeueAfterMs: LOOK_AGAIN_MS };
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
    // A view may be wrong for longer than any grace; the hub itself is asked before anything is taken away.
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
      // A work that is there sees to its own note.
      if (work && isOfThisHub) {
        await setEviction(applied, null, member, signal);
        return done;
      }
      if (applied.metadata.deletionTimestamp) return clear(applied, member, signal);
      // Of another hub it is only told that its work is not here; that the same work is here says that it moved.
      if (evictionGraceMs === undefined) return done;
      if (!works.fresh) return { requeueAfterMs: LOOK_AGAIN_MS };
      return evict(applied, key, evictionGraceMs, member, signal);
    },
  });
}
