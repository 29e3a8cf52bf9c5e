/** The affinity of a recorded cycle: the only one of the placement, or the term that the binding observes. */
import { affinityOf, currentTerm, type BindingSpecView, type BindingStatusView } from "@flotilla/flotilla";

export function currentAffinity(
  placement: BindingSpecView["placement"],
  status: BindingStatusView | undefined,
): ReturnType<typeof affinityOf> | undefined {
  if (placement?.clusterAffinity) return { primary: placement.clusterAffinity, overflow: [] };
  const term = currentTerm(placement, status);
  return term && affinityOf(term);
}
