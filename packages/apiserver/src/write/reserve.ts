/**
 * The last step before an object is stored or removed: steps take from counters (quotas, budgets, addresses), and what
 * they took is released when the write fails.
 */
import type { AnyStep, ClusterWriter, Reservation } from "@flotilla/apimachinery";
import type { Cache } from "../store/cache.ts";
import { createClusterWriter } from "../clusters/cluster-writer.ts";
import { createReview } from "./review.ts";
import type { ReviewDependencies, ReviewRequest, ServerReview } from "./review.ts";

/** Returns all reservations as one, undefined when there are none, or `stale` when the object must be admitted again. */
export function reserve(
  deps: ReviewDependencies & { cache: Cache },
  request: ReviewRequest,
): undefined | Promise<Reservation | "stale" | undefined> {
  const { context, operation, options } = request;
  const all = deps.chain.of(context.served.resource.kind, operation).reserve;
  const steps = options.dryRun ? all.filter(({ reservesInDryRuns }) => reservesInDryRuns) : all;
  if (steps.length === 0) return undefined;
  const review = createReview(deps, request);
  const matching = steps.filter((step) => !step.matches || step.matches(review));
  if (matching.length === 0) return undefined;
  const write = createClusterWriter(deps.store, deps.cache, context.cluster);
  for (const [index, step] of matching.entries()) {
    const first = step.reserve?.(review, write);
    if (first) return reserveFrom(first, matching.slice(index + 1), review, write);
  }
  return undefined;
}

type Taking = ReturnType<NonNullable<AnyStep["reserve"]>>;

/** What the first step takes, and what the steps after it take. */
async function reserveFrom(
  first: Taking,
  others: readonly AnyStep[],
  review: ServerReview,
  write: ClusterWriter,
): Promise<Reservation | "stale" | undefined> {
  const all = [() => first, ...others.map((step) => () => step.reserve?.(review, write))];
  const taken: Reservation[] = [];
  const release = async (): Promise<void> => {
    // One failure must not keep the reservations of others.
    const released = await Promise.allSettled(taken.splice(0).map((one) => one.release()));
    for (const outcome of released) if (outcome.status === "rejected") throw outcome.reason;
  };
  try {
    for (const take of all) {
      const reservation = await take();
      if (reservation === "stale") {
        await release();
        return "stale";
      }
      if (reservation) taken.push(reservation);
    }
  } catch (error) {
    await release();
    throw error;
  }
  return taken.length > 0 ? { release, guards: taken.flatMap(({ guards }) => guards ?? []) } : undefined;
}
