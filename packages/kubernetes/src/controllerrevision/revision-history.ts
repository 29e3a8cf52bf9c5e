/**
 * Reads and writes the ControllerRevisions of a controller's workloads.
 *
 * A controller has one of these: it waits while `waitMs` is not 0, plans on `of(owner)` (`revisions.ts`) and executes
 * the plan with `write`. The kind must be among its watches: `owned(ControllerRevision)`.
 */
import { ControllerRevision } from "./controllerrevision-kind.ts";
import { isAlreadyExists } from "@flotilla/apimachinery";
import type { KubernetesObject, LabelSelector } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { keyOf, unlessChanged } from "@flotilla/controller-runtime";
import type { Informers } from "@flotilla/controller-runtime";
import { createExpectations } from "../workloads/expectations.ts";
import type { Owner } from "../workloads/expectations.ts";
import { adopted, orphansOf, ownedBy } from "../workloads/ownership.ts";
import type { ReadonlyRevision } from "./pod-template-data.ts";
import type { RevisionPlan } from "./revisions.ts";

export interface RevisionHistory {
  /** Maximum milliseconds until all writes are seen; 0 if they were. */
  waitMs(owner: Owner): number;
  of(owner: Owner): ReadonlyRevision[];
  /**
   * Adopts matching revisions without an owner, so that the pods of a recreated workload keep their revisions. Returns
   * whether there were any.
   */
  adopt(
    cluster: string,
    owner: DeepReadonly<KubernetesObject>,
    selector: LabelSelector,
    signal: AbortSignal,
  ): Promise<boolean>;
  /** `collision`: another owner has a revision of this name. Count it in the status and plan again. */
  write(owner: Owner, plan: RevisionPlan, signal: AbortSignal): Promise<"written" | "collision">;
  remove(owner: Owner, revisions: readonly ReadonlyRevision[], signal: AbortSignal): Promise<void>;
}

export function createRevisionHistory({
  client,
  informers,
  clock,
}: {
  client: Client;
  informers: Informers;
  clock: Clock;
}): RevisionHistory {
  const revisions = informers.of(ControllerRevision);
  const seen = createExpectations(revisions, clock);

  return {
    waitMs: (owner) => seen.waitMs(owner),
    of: ({ cluster, uid }) => ownedBy(revisions, cluster, uid),

    async adopt(cluster, owner, selector, signal) {
      const orphans = orphansOf(revisions, cluster, owner.metadata.namespace, selector);
      for (const revision of orphans) {
        const taken = await unlessChanged(
          client.update(ControllerRevision, cluster, adopted(revision, owner), { signal }),
        );
        if (taken) seen.wrote({ cluster, uid: owner.metadata.uid ?? "" }, taken);
      }
      return orphans.length > 0;
    },

    async write(owner, { update, write }, signal) {
      try {
        const written =
          write === "update"
            ? await unlessChanged(client.update(ControllerRevision, owner.cluster, update, { signal }))
            : await client.create(ControllerRevision, owner.cluster, update, { signal });
        if (written) seen.wrote(owner, written);
        return "written";
      } catch (error) {
        if (write === "create" && isAlreadyExists(error)) return "collision";
        throw error;
      }
    },

    async remove({ cluster }, unused, signal) {
      for (const revision of unused) {
        await unlessChanged(
          client.delete(ControllerRevision, keyOf(cluster, revision), {
            preconditions: { uid: revision.metadata.uid ?? "" },
            signal,
          }),
        );
      }
    },
  };
}
