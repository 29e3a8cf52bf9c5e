/** Explains which policy claimed a resource and why the other candidate policies did not. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { implicitPriority, isOfEveryNamespace, overridePriority } from "../propagation/policies/resource-selector.ts";
import { selectorsInOtherVersions } from "../propagation/match/align-selectors.ts";
import type { MatchPlan, Policy } from "../propagation/match/plan-match.ts";
import type { PlanningViews } from "../propagation/planning-views.ts";
import type { ExplainedPolicy } from "./explanation.ts";

const SELECTS_BY = ["nothing", "kind", "labels", "name"] as const;
export const BEING_DELETED = "it is being deleted";
/** A namespace may have hundreds of policies for a kind; the first few are enough. */
const MAX_OTHERS = 20;

export async function explainPolicies(
  views: PlanningViews,
  template: DeepReadonly<KubernetesObject>,
  match: MatchPlan,
): Promise<{ policy?: ExplainedPolicy; otherPolicies: ExplainedPolicy[] }> {
  const { policies, clusterPolicies } = await views.policies.candidates(template);
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
        ? whyNot(described(policy), policy, described(winner), match, template)
        : notSelecting(described(policy), policy, match, template),
    }))
    .sort((a, b) => SELECTS_BY.indexOf(b.selectsBy) - SELECTS_BY.indexOf(a.selectsBy))
    .slice(0, MAX_OTHERS);
  return { policy: winner ? { ...described(winner), reason: why(match) } : undefined, otherPolicies: others };
}

/**
 * Policies read in another version of the kind are converted to new objects on every read, so identity does not
 * compare.
 */
const isSame = (a: Policy, b: Policy): boolean =>
  a.kind === b.kind && a.metadata.namespace === b.metadata.namespace && a.metadata.name === b.metadata.name;

function why(match: MatchPlan): string {
  if (match.outcome !== "matched") return match.reason;
  if (match.kept) return "it already claimed the resource, still selects it, and no policy preempts it";
  if (match.preempted) return `it preempts ${match.preempted.kind} ${match.preempted.metadata.name}`;
  return "it is the best policy that selects the resource: by priority, then by selector specificity, then by name";
}

type Described = Omit<ExplainedPolicy, "reason">;

function notSelecting(
  { selectsBy }: Described,
  { metadata, spec }: Policy,
  match: MatchPlan,
  template: DeepReadonly<KubernetesObject>,
): string {
  if (match.outcome === "none" && match.reason === "claimed by another controller") return match.reason;
  if (selectsBy === "nothing" && isOfEveryNamespace(template) && overridePriority(template, spec.resourceSelectors) > 0)
    return "it selects by kind only, and every cluster creates the ServiceAccount default of a namespace itself: select it by name or labels to propagate it";
  // Selectors in served versions have the template's.
  const [unserved] = selectsBy === "nothing" ? selectorsInOtherVersions({ spec }, template) : [];
  if (unserved) return `it selects ${unserved.kind} in ${unserved.apiVersion}, which the hub does not serve`;
  if (selectsBy === "nothing") return "it selects other objects of this kind";
  return metadata.deletionTimestamp ? BEING_DELETED : "it is not allowed to claim this resource";
}

function whyNot(
  other: Described,
  policy: Policy,
  winner: Described,
  match: MatchPlan,
  template: DeepReadonly<KubernetesObject>,
): string {
  if (other.selectsBy === "nothing" || policy.metadata.deletionTimestamp)
    return notSelecting(other, policy, match, template);
  const rank = whyLower(other, winner);
  // Without a claim from before, the winner is the best one.
  if (rank !== undefined) return rank;
  return policy.spec.preemption === "Always"
    ? "it preempts only resources that it selects by name, and only from a policy of lower priority"
    : "it would take precedence, but the resource was claimed before this one selected it, and this one does not preempt";
}

/** Why the other policy ranks below the winner; undefined if it ranks above. */
function whyLower(other: Described, winner: Described): string | undefined {
  if (other.kind !== winner.kind)
    return winner.kind === "PropagationPolicy"
      ? "namespaced policies take precedence over cluster policies"
      : undefined;
  if (other.priority !== winner.priority)
    return other.priority < winner.priority
      ? `its priority ${other.priority} is lower than ${winner.priority}`
      : undefined;
  if (other.selectsBy !== winner.selectsBy)
    return SELECTS_BY.indexOf(other.selectsBy) < SELECTS_BY.indexOf(winner.selectsBy)
      ? `it selects by ${other.selectsBy}, which is less specific than selecting by ${winner.selectsBy}`
      : undefined;
  return other.name > winner.name ? "all else being equal, the alphabetically first name wins" : undefined;
}
