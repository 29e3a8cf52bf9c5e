/**
 * Which of several policies gets a template: the higher `priority`, then the more specific selector, then the first
 * name. A policy that is being deleted gets no more templates.
 */
import type { ObjectMeta } from "@flotilla/apimachinery";
import type { PropagationSpec } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { implicitPriority, type SelectableResource } from "../policies/resource-selector.ts";

/** The fields of a PropagationPolicy or ClusterPropagationPolicy that matching reads. */
export type PolicyView = DeepReadonly<{
  metadata: Pick<ObjectMeta, "name" | "namespace" | "labels" | "deletionTimestamp">;
  spec: Pick<PropagationSpec, "resourceSelectors" | "priority" | "preemption">;
}>;

export function chooseBestPolicy<P extends PolicyView>(
  resource: SelectableResource,
  policies: readonly P[],
): P | undefined {
  let best: { policy: P; explicit: number; implicit: number } | undefined;
  for (const policy of policies) {
    if (policy.metadata.deletionTimestamp) continue;
    const implicit = implicitPriority(resource, policy.spec.resourceSelectors);
    if (implicit === 0) continue;
    const competitor = { policy, explicit: policy.spec.priority ?? 0, implicit };
    if (!best || beats(competitor, best)) best = competitor;
  }
  return best?.policy;
}

interface Competitor {
  readonly policy: PolicyView;
  readonly explicit: number;
  readonly implicit: number;
}

function beats(a: Competitor, b: Competitor): boolean {
  if (a.explicit !== b.explicit) return a.explicit > b.explicit;
  if (a.implicit !== b.implicit) return a.implicit > b.implicit;
  return a.policy.metadata.name < b.policy.metadata.name;
}
