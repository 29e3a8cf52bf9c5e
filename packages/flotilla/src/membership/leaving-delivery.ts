/**
 * Defines what removing an object means on a member that leaves. An unjoined member keeps its workloads and only loses
 * our marks. With the purge annotation everything is deleted as usual, which requires the member to answer. With the
 * force annotation nothing is touched, and the hub does not wait for the member.
 */
import { ApiError } from "@flotilla/apimachinery";
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { CredentialsError, UnreachableError } from "@flotilla/client";
import type { Delivery, ObjectRef, Subscription } from "../delivery/delivery.ts";
import { FORCE_ANNOTATION, PURGE_ANNOTATION } from "../flotilla-names.ts";
import { IMPERSONATOR } from "@flotilla/karmada";
export type LeaveMode = "stays" | "release" | "purge" | "abandon";

export function leaveModeOf(cluster: DeepReadonly<Cluster>): LeaveMode {
  const { deletionTimestamp, annotations = {} } = cluster.metadata;
  if (deletionTimestamp === undefined) return "stays";
  if (annotations[FORCE_ANNOTATION] === "true") return "abandon";
  return annotations[PURGE_ANNOTATION] === "true" ? "purge" : "release";
}

/** The mode is evaluated for each removal: annotations may be set while the member is leaving. */
export function createLeavingDelivery(
  delivery: Delivery | undefined,
  cluster: string,
  leaveMode: () => LeaveMode,
): Delivery {
  const reached = (): Delivery => {
    if (!delivery)
      throw new UnreachableError(
        `there is no connection to cluster ${cluster}; see the conditions of its Cluster for the reason`,
      );
    return delivery;
  };
  return {
    apply: (manifest, policy, signal) => reached().apply(manifest, policy, signal),
    kindOf: (ref, policy) => reached().kindOf(ref, policy),
    observe: (refs) => delivery?.observe(refs) ?? BLIND,
    async disown(resource, policy, signal) {
      const how = leaveMode();
      if (how === "stays" || how === "purge") return reached().disown(resource, policy, signal);
      if (how === "abandon" || !delivery) return "gone";
      try {
        return await delivery.disown(resource, { ...policy, mode: "release" }, signal);
      } catch (error) {
        if (!isUnreachable(error)) throw error;
        return "gone";
      }
    },
    async remove(ref, policy, signal) {
      const how = leaveMode();
      if (how === "stays") return reached().remove(ref, policy, signal);
      if (how === "purge") {
        const removed = await reached().remove(ref, policy, signal);
        return isOurOwn(ref) ? "gone" : removed;
      }
      if (how === "abandon" || !delivery) return "gone";
      try {
        await delivery.remove(ref, isOurOwn(ref) ? policy : { ...policy, mode: "release" }, signal);
      } catch (error) {
        // Leftover marks are harmless; an unreachable member must not block the deletion of its Cluster.
        if (!isUnreachable(error)) throw error;
      }
      return "gone";
    },
  };
}

/**
 * Objects that the hub created for itself: the hub's permissions on a member end with the membership, so it does not
 * check that they are gone.
 */
const isOurOwn = ({ kind, name }: ObjectRef): boolean =>
  name === IMPERSONATOR && (kind === "ClusterRole" || kind === "ClusterRoleBinding");

/** No state is known, and absence means nothing. */
const BLIND: Subscription = {
  get: () => undefined,
  resourceOf: () => undefined,
  isFresh: () => false,
  onChange: () => {},
  close: () => {},
};

/** No answer, or rejected credentials. */
function isUnreachable(error: unknown): boolean {
  return (
    error instanceof UnreachableError ||
    error instanceof CredentialsError ||
    (error instanceof ApiError && (error.status.code === 401 || error.status.code === 403))
  );
}
