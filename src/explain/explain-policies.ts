/** Which policy has a resource, and why the others that could have it do not. */
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { implicitPriority } from "../propagation/index.ts";
import type { MatchPlan, PlanningViews, Policy } from "../propagation/index.ts";
import type { ExplainedPolicy } from "./explanation.ts";

const SELECTS_BY = ["nothing", "kind", "labels", "name"] as const;
/** A namespace may have hundreds of policies for a kind; the first few tell enough. */
const MAX_OTHERS = 20;

export function explainPolicies(
  views: PlanningViews,
  template: DeepReadonly<KubernetesObject>,
  match: MatchPlan,
): { policy?: ExplainedPolicy; otherPolicies: ExplainedPolicy[] } {
  const { policies, clusterPolicies } = views.policies.candidates(template);
  const described = (policy: Policy): Omit<ExplainedPolicy, "reason"> => ({
    kind: policy.kind,
    namespace: policy.metadata.namespace || undefined,
    name: policy.metadata.name,
    priority: policy.spec.priority ?? 0,
    selectsBy: SELECTS_BY[implicitPriority(template, policy.spec.resourceSelectors)],
  });
  const winner = match.outcome === "matched" ? match.policy : undefined;
  const others = ([...policies, ...clusterPolicies] as Policy[])
    .filter((policy) => !winner || !isSame(policy, winner))
    .map((policy) => ({
      ...described(policy),
      reason: winner
        ? whyNot(described(policy), policy, described(winner), match)
        : notSelecting(described(policy), policy, match),
    }))
    .sort((a, b) => SELECTS_BY.indexOf(b.selectsBy) - SELECTS_BY.indexOf(a.selectsBy))
    .slice(0, MAX_OTHERS);
  return { policy: winner ? { ...described(winner), reason: why(match) } : undefined, otherPolicies: others };
}

/** Policies that are read in another version of the kind are made anew each time. */
const isSame = (a: Policy, b: Policy): boolean =>
  a.kind === b.kind && a.metadata.namespace === b.metadata.namespace && a.metadata.name === b.metadata.name;

function why(match: MatchPlan): string {
  if (match.outcome !== "matched") return match.reason;
  if (match.kept) return "it has the resource already, still selects it, and no policy preempts it";
  if (match.preempted) return `it preempts ${match.preempted.kind} ${match.preempted.metadata.name}`;
  return "it is the best policy that selects the resource: by priority, then by how specifically it selects, then by name";
}

type Described = Omit<ExplainedPolicy, "reason">;

function notSelecting({ selectsBy }: Described, { metadata }: Policy, match: MatchPlan): string {
  if (match.outcome === "none" && match.reason === "claimed by another controller") return match.reason;
  if (selectsBy === "nothing") return "it selects other objects of this kind";
  return metadata.deletionTimestamp ? "it is being deleted" : "it may not take this resource";
}

function whyNot(other: Described, policy: Policy, winner: Described, match: MatchPlan): string {
  if (other.selectsBy === "nothing" || policy.metadata.deletionTimestamp) return notSelecting(other, policy, match);
  if (match.outcome === "matched" && match.kept)
    return policy.spec.preemption === "Always"
      ? "it preempts only what it selects by name, from a policy of lower priority"
      : "the resource had a policy when this one came, and this one does not preempt";
  if (other.kind !== winner.kind)
    return winner.kind === "PropagationPolicy"
      ? "policies of the namespace come before cluster policies"
      : "cluster policies come first for what is in no namespace";
  if (other.priority !== winner.priority) return `its priority ${other.priority} is less than ${winner.priority}`;
  if (other.selectsBy !== winner.selectsBy)
    return `it selects by ${other.selectsBy}, which is less specific than by ${winner.selectsBy}`;
  return "everything else being equal, the first name wins";
}
