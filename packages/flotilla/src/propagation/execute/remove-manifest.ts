/**
 * Removes one manifest's object from its member: deletes it, or releases it if it must stay. Reports objects that stay
 * although the hub released them.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { marks } from "../../delivery/marks-ownership.ts";
import type { Delivery, Removed, RemovePolicy } from "../../delivery/delivery.ts";
import type { EventRecorder } from "@flotilla/controller-runtime";
import { refOf } from "../members/member-objects.ts";
import { isUnmanaged, ownerOf } from "./apply-policy.ts";
import type { Departures } from "./departures.ts";
import { WORK_ID } from "@flotilla/karmada";

interface Visit {
  work: DeepReadonly<Work>;
  key: ObjectKey;
  cluster: string;
  delivery: Delivery;
  beforeRequest(): void;
}

/** `waits`: for the objects in it. `going`: the member still has it. */
type Removal = Removed | "waits";

export type RemoveManifest = (
  visit: Visit,
  manifest: DeepReadonly<KubernetesObject>,
  signal: AbortSignal,
) => Promise<Removal>;

export function createRemoveManifest({
  hub,
  departures,
  events,
}: {
  hub: string;
  departures: Departures;
  events: EventRecorder;
}): RemoveManifest {
  return async ({ work, key, cluster, delivery, beforeRequest }, manifest, signal) => {
    const ref = refOf(manifest);
    const ownerId = work.metadata.labels?.[WORK_ID];
    const policy: Omit<RemovePolicy, "mode"> = {
      ownership: marks({ owner: ownerOf(work), ownerId }),
      beforeRequest,
    };
    if (work.spec.preserveResourcesOnDeletion || isUnmanaged(manifest, cluster)) {
      await delivery.remove(ref, { ...policy, mode: "release" }, signal);
      return "gone";
    }
    const verdict = departures.judge(work, key, manifest);
    if (verdict === "wait") return "waits";

    let isLeft = false;
    let stays = verdict === "delete" ? undefined : verdict.stays;
    const whenHolding = (found: string): "release" | "leave" => {
      const then = departures.judgeHolding(key);
      isLeft = then === "leave";
      stays = then === "leave" ? undefined : `it contains ${found}, which Flotilla may not delete`;
      return then;
    };
    const removed = await delivery.remove(
      ref,
      stays === undefined
        ? { ...policy, mode: "delete", propagationPolicy: "Background", whenHolding }
        : { ...policy, mode: "release", mayReturn: true },
      signal,
    );
    if (stays !== undefined)
      events.record(hub, work, {
        type: "Warning",
        reason: "KeptOnMember",
        message: `${ref.kind} ${ref.name} stays on ${cluster}: ${stays}`,
      });
    return isLeft ? "waits" : removed;
  };
}
