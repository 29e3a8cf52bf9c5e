/** Carries out what the planners decided about a CloneSet's pods, and remembers what the informer has yet to show. */
import { Pod } from "../../../api/index.ts";
import type { Clock, Random } from "../../../base/index.ts";
import type { Client } from "../../../client/index.ts";
import { keyOf } from "../../../runtime/index.ts";
import type { Expectations, Owner } from "../../expectations.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { unlessChanged } from "../../optimistic.ts";
import { writeAll } from "../../write-all.ts";
import { closeGate, startInPlaceUpdate } from "./in-place.ts";
import { INSTANCE_ID_LABEL, SPECIFIED_DELETE_LABEL } from "./names.ts";
import { chooseInstanceIds, makePod } from "./new-pods.ts";
import type { ReadonlyCloneSet } from "./pod-state.ts";
import { templateOf } from "./revisions.ts";
import type { RevisionPlan } from "./revisions.ts";
import type { ScalePlan } from "./scale.ts";
import type { UpdatePlan } from "./update.ts";

/** Pods created in one pass; a set of thousands takes turns with the others. */
const MAX_CREATED_PER_PASS = 500;

export interface PodWriter {
  scale(owner: Owner, cloneSet: ReadonlyCloneSet, plan: ScalePlan, revisions: RevisionPlan, existing: readonly ReadonlyPod[], signal: AbortSignal): Promise<void>;
  update(owner: Owner, plan: UpdatePlan, updateRevision: string, signal: AbortSignal): Promise<void>;
  /** Pods that no longer match the selector go on running without an owner. */
  release(owner: Owner, pods: readonly ReadonlyPod[], signal: AbortSignal): Promise<void>;
}

export function createPodWriter({ client, expectations, clock, random }: { client: Client; expectations: Expectations; clock: Clock; random: Random }): PodWriter {
  const updatePod = async (owner: Owner, pod: ReadonlyPod, signal: AbortSignal): Promise<ReadonlyPod | undefined> => {
    const written = await unlessChanged(client.update(Pod, owner.cluster, pod, { signal }));
    if (written) expectations.wrote(owner, written);
    return written;
  };
  const updateStatus = async (owner: Owner, pod: ReadonlyPod, signal: AbortSignal): Promise<ReadonlyPod | undefined> => {
    const written = await unlessChanged(client.updateStatus(Pod, owner.cluster, pod, { signal }));
    if (written) expectations.wrote(owner, written);
    return written;
  };

  return {
    async scale(owner, cloneSet, plan, { current, update }, existing, signal) {
      const taken = new Set(existing.map(({ metadata }) => metadata.labels?.[INSTANCE_ID_LABEL] ?? ""));
      const wanted = Math.min(plan.createCurrent + plan.createUpdate, MAX_CREATED_PER_PASS);
      const created = chooseInstanceIds(wanted, taken, random).map((id, index) => {
        const revision = index < plan.createCurrent ? current : update;
        return makePod(cloneSet, revision.metadata.name, templateOf(revision), id, clock.now());
      });
      await writeAll("pod creations", created, async (pod) => {
        expectations.wrote(owner, await client.create(Pod, owner.cluster, pod, { signal }));
      });
      await writeAll("pod deletions", plan.remove, async (pod) => {
        await unlessChanged(client.delete(Pod, keyOf(owner.cluster, pod), { preconditions: { uid: pod.metadata.uid ?? "" }, signal }));
        expectations.deleted(owner, pod);
      });
    },

    async update(owner, plan, updateRevision, signal) {
      await writeAll("pod refreshes", plan.refresh, async ({ opened, relabelled }) => {
        const written = opened && (await updateStatus(owner, opened, signal));
        // The second write builds on the first; when that failed the pod has changed and comes back anyway.
        if (!relabelled || (opened && !written)) return;
        const { resourceVersion } = (written ?? relabelled).metadata;
        await updatePod(owner, { ...relabelled, metadata: { ...relabelled.metadata, ...(resourceVersion && { resourceVersion }) } }, signal);
      });
      await writeAll("in-place updates", plan.inPlace, async ({ pod, change }) => {
        // Traffic stops before the containers change.
        const closed = closeGate(pod, clock.now());
        const base = closed ? await updateStatus(owner, closed, signal) : pod;
        if (base) await updatePod(owner, startInPlaceUpdate(base, change, updateRevision, clock.now()), signal);
      });
      await writeAll("recreate marks", plan.recreate, async (pod) => {
        await updatePod(owner, { ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, [SPECIFIED_DELETE_LABEL]: "true" } } }, signal);
      });
    },

    async release(owner, pods, signal) {
      await writeAll("pod releases", pods, async (pod) => {
        const ownerReferences = pod.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.uid) ?? [];
        await updatePod(owner, { ...pod, metadata: { ...pod.metadata, ownerReferences } }, signal);
      });
    },
  };
}
