/** What is wrong with a resource's way to its members, and what a person can try. Pure. */
import { parseApiVersion } from "../api/index.ts";
import type { Cluster } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { findCondition } from "../machinery/index.ts";
import { wellKnown } from "../propagation/index.ts";
import type { Explanation, Problem } from "./explanation.ts";
import type { Binding } from "./plan-template.ts";

/** What helps against a refusal of a scheduler's plugin. */
const AGAINST: Readonly<Record<string, string>> = {
  APIEnablement: "install the kind's CustomResourceDefinition on those members, or wait for the hub to see it there",
  ClusterAffinity:
    "compare the placement of the policy with the names, labels, provider, region and zones of the clusters",
  TaintToleration: "take the taint off the cluster, or add a toleration to placement.clusterTolerations",
  SpreadConstraint:
    "give the clusters the provider, region or zone that the spread constraint asks for, or change the constraint",
  WorkloadAffinity:
    "see where the others of its workload group are, and let the placement include a cluster that has all of them",
  WorkloadAntiAffinity: "give the placement a cluster that no other of its workload group has",
  ClusterEviction: "wait for the eviction to end, or fix what the resource was moved away for",
};
const MAX_PROBLEMS = 50;

export interface ProblemInput {
  explanation: Pick<Explanation, "resource" | "policy" | "otherPolicies" | "decision" | "members">;
  binding: Binding | undefined;
  clusterOf(name: string): DeepReadonly<Cluster> | undefined;
  /** What the planners could not do. */
  found: readonly string[];
  /** Why copies cannot be made is among that. */
  isUncopied: boolean;
}

export function findProblems({ explanation, binding, clusterOf, found, isUncopied }: ProblemInput): Problem[] {
  const { resource, policy, decision, members } = explanation;
  const problems: Problem[] = [];
  if (!policy && !binding?.spec.requiredBy?.length) {
    problems.push({
      what: binding
        ? "no policy selects it any more; what runs stays as it is"
        : "no policy selects it, so it stays on the hub",
      try: `apply a ${resource.namespace ? `PropagationPolicy in namespace ${resource.namespace}` : "ClusterPropagationPolicy"} whose resourceSelectors name ${resource.apiVersion} ${resource.kind} ${resource.name}`,
    });
  }
  const unscheduled = decision?.message;
  if (decision && unscheduled !== undefined) {
    problems.push({ what: `it cannot be scheduled: ${unscheduled}`, try: againstUnscheduled(decision) });
  }
  for (const what of found)
    if (!what.startsWith(unscheduled?.replace(/\.$/, "") ?? "\0"))
      problems.push({ what, try: "correct the object that it names; the hub goes on by itself" });
  if (binding) problems.push(...bindingProblems(binding, isUncopied));
  for (const member of members) problems.push(...memberProblems(resource, member, clusterOf(member.cluster)));
  return problems.slice(0, MAX_PROBLEMS);
}

/**
 * Where some clusters fit and it is still not scheduled, they have too little room together; who was refused is not the
 * reason then.
 */
function againstUnscheduled({ kept, refused }: NonNullable<Explanation["decision"]>): string {
  const helps = kept.length > 0 ? undefined : refused.flatMap(({ by }) => AGAINST[by] ?? [])[0];
  return helps ?? "give the clusters more room, or the policy more clusters";
}

function bindingProblems({ metadata, spec, status }: Binding, isUncopied: boolean): Problem[] {
  const problems: Problem[] = [];
  const dispatched = findCondition(status?.conditions ?? [], "Dispatched");
  if (dispatched?.status === "False" && dispatched.reason === "RolloutHeld")
    problems.push({
      what: dispatched.message ?? "",
      try: "bring these members back, or take away what suspends dispatching to them; or give their replicas to others",
    });
  // The planners have just met the same, and say it by cluster.
  else if (dispatched?.status === "False" && !isUncopied)
    problems.push({
      what: `copies cannot be made: ${dispatched.message ?? dispatched.reason}`,
      try: "correct the override policy or the template",
    });
  if (spec.suspension?.scheduling)
    problems.push({
      what: "scheduling is suspended",
      try: `set spec.suspension.scheduling of binding ${metadata.name} to false`,
    });
  if (spec.suspension?.dispatching)
    problems.push({
      what: "dispatching is suspended: members do not see changes",
      try: "set spec.suspension.dispatching of the policy to false",
    });
  return problems;
}

/**
 * Reasons of the condition Applied that say nothing against the object: the member was not reached, or has not
 * answered.
 */
const AWAY: ReadonlySet<string> = new Set([
  wellKnown.MEMBER_UNREACHABLE,
  wellKnown.NO_ANSWER,
  wellKnown.ANSWER_PENDING,
]);

function memberProblems(
  resource: Explanation["resource"],
  { cluster, applied, reason = "", health, message, drift, state }: Explanation["members"][number],
  object: DeepReadonly<Cluster> | undefined,
): Problem[] {
  const problems: Problem[] = [];
  const ready = findCondition(object?.status?.conditions ?? [], "Ready");
  if (!object)
    problems.push({
      what: `${cluster} is not a member of the fleet`,
      try: "join it again, or choose other clusters in the policy",
    });
  else if (ready && ready.status !== "True")
    problems.push({
      what: `${cluster} is not ready: ${ready.message ?? ready.reason ?? "unknown"}`,
      try: `look at 'kubectl describe cluster ${cluster}'; it keeps what it runs`,
    });
  const isAway = applied === false && AWAY.has(reason);
  // That one which is not ready, as was just told, was not reached either is no news.
  if (isAway && problems.length === 0)
    problems.push({
      what: `${cluster} was not reached: ${message ?? "no reason given"}`,
      try: `see that ${cluster} runs and that the hub can reach it; it keeps what it runs, and the hub goes on by itself when it is back`,
    });
  else if (applied === false && !isAway)
    problems.push({
      what: `${cluster} did not take it: ${message ?? "no reason given"}`,
      try: againstRefusal(resource, cluster, reason, message),
    });
  else if (health === "Unhealthy")
    problems.push({ what: `it is not healthy on ${cluster}`, try: lookAt(resource, cluster) });
  if (drift?.startsWith("ReportOnly"))
    problems.push({
      what: `somebody changed it on ${cluster}: ${drift.slice("ReportOnly: ".length)}`,
      try: "take the change back there, put it into the template, or set flotilla.dev/drift: repair",
    });
  if (state === "leaving")
    problems.push({ what: `its copy on ${cluster} is being left`, try: "it goes when its replacement is healthy" });
  return problems;
}

function againstRefusal(resource: Explanation["resource"], cluster: string, reason: string, message = ""): string {
  if (reason === "KindNotServed") return AGAINST["APIEnablement"] ?? "";
  // Karmada's sentence for an object that is there and was not made by the hub.
  if (message.includes(`already exists in the cluster ${cluster}`))
    return `it was there before: take it over with conflictResolution: Overwrite in the policy, or rename or delete one of the two; ${lookAt(resource, cluster)}`;
  return "correct what the member refuses; the hub tries again by itself";
}

function lookAt({ apiVersion, kind, namespace, name }: Explanation["resource"], cluster: string): string {
  const { group } = parseApiVersion(apiVersion);
  return `look at it there: 'flotilla describe ${kind.toLowerCase()}${group ? `.${group}` : ""}/${name}${namespace ? ` -n ${namespace}` : ""} --clusters ${cluster}'`;
}
