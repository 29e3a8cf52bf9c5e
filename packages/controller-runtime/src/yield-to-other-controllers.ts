/** Wraps a controller so that it skips clusters where another controller does its work. */
import { done, type Controller } from "./runtime-controller.ts";

/** How soon it checks whether the other controller is still active; until then only time is lost. */
const RECHECK_AFTER_MS = 15_000;

export interface YieldConditions {
  /** This controller never handles the cluster. */
  isForeign?(cluster: string): boolean;
  /** Another controller does the work; the key is kept, and retried until that controller stops. */
  isTaken?(cluster: string): boolean;
}

/** For controllers whose keys are a cluster or contain one. */
export function yieldToOtherControllers<K extends string | { readonly cluster: string }>(
  controller: Controller<K>,
  { isForeign, isTaken }: YieldConditions,
): Controller<K> {
  return {
    ...controller,
    async reconcile(key, context) {
      const cluster = typeof key === "string" ? key : key.cluster;
      if (isForeign?.(cluster)) return done;
      if (isTaken?.(cluster)) return { requeueAfterMs: RECHECK_AFTER_MS };
      return controller.reconcile(key, context);
    },
  };
}
