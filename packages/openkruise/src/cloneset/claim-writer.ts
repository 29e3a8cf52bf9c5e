/**
 * Writes the volume claims of a CloneSet's pods, emits events for them, and waits until a write is visible in the
 * informers.
 */
import { keyOf, unlessChanged } from "@flotilla/controller-runtime";
import { createExpectations, ownedBy, PersistentVolumeClaim, writeAll } from "@flotilla/kubernetes";
import type { Owner, ReadonlyClaim, WorkloadDependencies } from "@flotilla/kubernetes";
import type { ClaimPlan } from "./cloneset-claims.ts";
import type { Scene } from "./scene.ts";
import type { WriteWithEvent } from "./write-with-event.ts";

type Target = Pick<Scene, "cloneSet" | "owner" | "signal">;

export interface ClaimWriter {
  /** How long the writes of this owner need at most to become visible; 0 if they are. */
  waitMs(owner: Owner): number;
  /** The claims of a CloneSet, without terminating ones. */
  of(owner: Owner): ReadonlyClaim[];
  create(target: Target, claim: ReadonlyClaim): Promise<void>;
  remove(target: Target, claim: ReadonlyClaim): Promise<void>;
  /** Hands claims over to pods, and deletes those of deleted instances. */
  clear(target: Target, plan: Pick<ClaimPlan, "handOver" | "remove">): Promise<void>;
}

export function createClaimWriter(
  { client, informers, clock }: WorkloadDependencies,
  writeWithEvent: WriteWithEvent,
): ClaimWriter {
  const claims = informers.of(PersistentVolumeClaim);
  const seen = createExpectations(claims, clock);

  async function removeClaim(target: Target, claim: ReadonlyClaim, failure: string): Promise<void> {
    const { owner, signal } = target;
    const { name, uid = "" } = claim.metadata;
    const failed = { reason: "FailedDelete", message: (why: string) => `${failure} ${name}: ${why}` };
    const deletion = client.delete(PersistentVolumeClaim, keyOf(owner.cluster, claim), {
      preconditions: { uid },
      signal,
    });
    await writeWithEvent(target, unlessChanged(deletion), failed);
    seen.deleted(owner, claim);
  }

  return {
    waitMs: (owner) => seen.waitMs(owner),
    of: ({ cluster, uid }) => ownedBy(claims, cluster, uid).filter(({ metadata }) => !metadata.deletionTimestamp),

    async create(target, claim) {
      const { owner, signal } = target;
      const failed = {
        reason: "FailedCreate",
        message: (why: string) => `failed to create pvc: ${why}, pvc: ${claim.metadata.name}`,
      };
      const creation = client.create(PersistentVolumeClaim, owner.cluster, claim, { signal });
      seen.wrote(owner, await writeWithEvent(target, creation, failed));
    },

    remove: (target, claim) => removeClaim(target, claim, "failed to delete pvc"),

    async clear(target, { handOver, remove }) {
      const { owner, signal } = target;
      await writeAll("claim owner updates", handOver, async (claim) => {
        const failed = {
          reason: "FailedUpdate",
          message: (why: string) => `failed to update PVC ${claim.metadata.name}: ${why}`,
        };
        const update = client.update(PersistentVolumeClaim, owner.cluster, claim, { signal });
        const written = await writeWithEvent(target, unlessChanged(update), failed);
        if (written) seen.wrote(owner, written);
      });
      await writeAll("claim deletions", remove, (claim) => removeClaim(target, claim, "failed to clean up PVC"));
    },
  };
}
