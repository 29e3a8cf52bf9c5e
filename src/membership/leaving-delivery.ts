/**
 * What removing an object means on a member that leaves. A member that is unjoined keeps running what it runs and only
 * loses our marks; with the purge annotation everything goes as usual, which needs the member to answer; with the force
 * annotation nothing is touched and nobody is waited for.
 */
import type { Cluster } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { CredentialsError, UnreachableError } from "../client/index.ts";
import type { Delivery, ObjectRef, Subscription } from "../delivery/index.ts";
import { ApiError } from "../machinery/index.ts";
import { FORCE_ANNOTATION, IMPERSONATOR, PURGE_ANNOTATION } from "./well-known.ts";

export type Farewell = "stays" | "release" | "purge" | "abandon";

export function farewellOf(cluster: DeepReadonly<Cluster>): Farewell {
  const { deletionTimestamp, annotations = {} } = cluster.metadata;
  if (deletionTimestamp === undefined) return "stays";
  if (annotations[FORCE_ANNOTATION] === "true") return "abandon";
  return annotations[PURGE_ANNOTATION] === "true" ? "purge" : "release";
}

/** `farewell` is asked for each removal: annotations may be set while the member is leaving. */
export function createLeavingDelivery(
  delivery: Delivery | undefined,
  cluster: string,
  farewell: () => Farewell,
): Delivery {
  const reached = (): Delivery => {
    if (!delivery) throw new UnreachableError(`there is no connection to cluster ${cluster}; its Cluster says why`);
    return delivery;
  };
  return {
    apply: (manifest, policy, signal) => reached().apply(manifest, policy, signal),
    kindOf: (ref, policy) => reached().kindOf(ref, policy),
    observe: (refs) => delivery?.observe(refs) ?? BLIND,
    async disown(resource, policy, signal) {
      const how = farewell();
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
      switch (farewell()) {
        case "stays":
        case "purge":
          return reached().remove(ref, policy, signal);
        case "abandon":
          return;
        case "release":
          if (!delivery) return;
          try {
            await delivery.remove(ref, isOurOwn(ref) ? policy : { ...policy, mode: "release" }, signal);
          } catch (error) {
            // Marks that stay behind harm nobody; a member that is gone must not keep its Cluster.
            if (!isUnreachable(error)) throw error;
          }
      }
    },
  };
}

/** What the hub put there for itself: a right of the hub does not outlive the membership. */
const isOurOwn = ({ kind, name }: ObjectRef): boolean =>
  name === IMPERSONATOR && (kind === "ClusterRole" || kind === "ClusterRoleBinding");

/** Nothing is known, and absence means nothing. */
const BLIND: Subscription = {
  get: () => undefined,
  resourceOf: () => undefined,
  isFresh: () => false,
  onChange: () => {},
  close: () => {},
};

/** No answer, or one that does not let us in. */
export function isUnreachable(error: unknown): boolean {
  return (
    error instanceof UnreachableError ||
    error instanceof CredentialsError ||
    (error instanceof ApiError && (error.status.code === 401 || error.status.code === 403))
  );
}
