/** A controller that leaves alone the clusters where somebody else does its work. */
import { done, type Controller } from "./controller.ts";

/** How soon it looks again whether the other one is still there; until then nothing is lost but time. */
const LOOK_AGAIN_MS = 15_000;

export interface Elsewhere {
  /** This controller has no business in the cluster, now or later. */
  isForeign?(cluster: string): boolean;
  /** Somebody else holds the work; the key is kept, and tried again until they let go. */
  isTaken?(cluster: string): boolean;
}

/** For controllers whose keys are a cluster or carry one. */
export function standAside<K extends string | { readonly cluster: string }>(
  controller: Controller<K>,
  { isForeign, isTaken }: Elsewhere,
): Controller<K> {
  return {
    ...controller,
    async reconcile(key, context) {
      const cluster = typeof key === "string" ? key : key.cluster;
      if (isForeign?.(cluster)) return done;
      if (isTaken?.(cluster)) return { requeueAfterMs: LOOK_AGAIN_MS };
      return controller.reconcile(key, context);
    },
  };
}
