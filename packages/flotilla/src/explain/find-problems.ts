/** Finds problems on a resource's path to its members, and suggests fixes. Pure. */
import { findCondition, parseApiVersion } from "@flotilla/apimachinery";
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { Explanation, Problem } from "./explanation.ts";
import type { Binding } from "./plan-template.ts";
import { ANSWER_PENDING, MEMBER_UNREACHABLE, NO_ANSWER, OSCILLATING, RELEASE_STOPPED } from "../flotilla-names.ts";

/** Suggested fixes when a scheduler plugin excludes a cluster. */
const SUGGESTED_FIXES: Readonly<Record<string, string>> = {
  APIEnablement: "install the kind's CustomResourceDefinition on those members, or wait for the hub to detect it there",
  ClusterAffinity:
    "compare the placement of the policy with the names, labels, provider, region and zones of the clusters",
  TaintToleration: "remove the taint from the cluster, or add a toleration to placement.clusterTolerations",
  SpreadConstraint:
    "set the provider, region or zone that the spread constraint requires on the clusters, or change the constraint",
  WorkloadAffinity:
    "check where the other members of its workload group run, and let the placement include a cluster that has all of them",
  WorkloadAntiAffinity: "add a cluster to the placement that runs no other member of its workload group",
  ClusterEviction: "wait for the eviction to finish, or fix the cause of the eviction",
};
const MAX_PROBLEMS = 50;

export interface ProblemInput {
  explanation: Pick<Explanation, "resource" | "policy" | "otherPolicies" | "decision" | "members">;
  binding: Binding | undefined;
  clusterOf(name: string): DeepReadonly<Cluster> | undefined;
  /** Errors of the planners. */
  found: readonly string[];
  /** The errors include why copies cannot be rendered. */
  isUncopied: boolean;
}

export function findProblems({ explanation, binding, clusterOf, found, isUncopied }: ProblemInput): Problem[] {
  const { resource, policy, decision, members } = explanation;
  const problems: Problem[] = [];
  if (!policy && !binding?.spec.requiredBy?.length) {
    problems.push({
      what: binding
        ? "no policy selects it any longer; running copies are left unchanged"
        : "no policy selects it, so it is not propagated",
      try: `apply a ${resource.namespace ? `PropagationPolicy in namespace ${resource.namespace}` : "ClusterPropagationPolicy"} whose resourceSelectors name ${resource.apiVersion} ${resource.kind} ${resource.name}`,
    });
  }
  const unscheduled = decision?.message;
  if (decision && unscheduled !== undefined) {
    problems.push({ what: `scheduling failed: ${unscheduled}`, try: fixForUnschedulable(decision) });
  }
  for (const what of found)
    if (!what.startsWith(unscheduled?.replace(/\.$/, "") ?? "\0"))
      problems.push({ what, try: "correct the named object; the hub then continues automatically" });
  if (binding) problems.push(...bindingProblems(binding, isUncopied));
  problems.push(...ruleProblems(members));
  for (const member of members) problems.push(...memberProblems(resource, member, clusterOf(member.cluster)));
  return problems.slice(0, MAX_PROBLEMS);
}

/**
 * If some clusters fit and the binding is still not scheduled, the fitting clusters lack capacity; the excluded
 * clusters are not the cause.
 */
function fixForUnschedulable({ kept, rejected }: NonNullable<Explanation["decision"]>): string {
  const helps = kept.length > 0 ? undefined : rejected.flatMap(({ by }) => SUGGESTED_FIXES[by] ?? [])[0];
  return helps ?? "add capacity to the clusters, or add clusters to the policy";
}

function bindingProblems({ metadata, spec, status }: Binding, isUncopied: boolean): Problem[] {
  const problems: Problem[] = [];
  const dispatched = findCondition(status?.conditions ?? [], "Dispatched");
  if (dispatched?.status === "False" && dispatched.reason === "RolloutHeld")
    problems.push({
      what: dispatched.message ?? "",
      try: "bring these members back or resume dispatching to them, or move their replicas to other clusters",
    });
  else if (dispatched?.status === "False" && dispatched.reason === "RollbackFailed")
    problems.push({
      what: dispatched.message ?? "",
      try: "find the webhook or controller on the member that changes spec.updateStrategy, and stop it; then change the partition or the template to start again",
    });
  // The planners have just reported the same error per cluster.
  else if (dispatched?.status === "False" && !isUncopied)
    problems.push({
      what: `copies cannot be rendered: ${dispatched.message ?? dispatched.reason}`,
      try: "correct the override policy or the template",
    });
  if (spec.suspension?.scheduling)
    problems.push({
      what: "scheduling is suspended",
      try: `set spec.suspension.scheduling of binding ${metadata.name} to false`,
    });
  if (spec.suspension?.dispatching)
    problems.push({
      what: "dispatching is suspended: members do not receive changes",
      try: "set spec.suspension.dispatching of the policy to false",
    });
  return problems;
}

/** A rule usually fails for all members alike, and keeps the same fields of all of them. */
function ruleProblems(members: Explanation["members"]): Problem[] {
  const failed = new Set(members.flatMap(({ failedRules = [] }) => failedRules));
  const kept = members.flatMap(({ cluster, onMember = [], onMemberBy, reason }) => {
    const fields = onMember.filter(({ path }) => RELEASE_FIELDS.test(path));
    // A release that is stopped for the same fields is a problem of its own.
    if (onMemberBy === undefined || fields.length === 0 || reason === RELEASE_STOPPED) return [];
    const shown = fields.slice(0, MAX_KEPT_FIELDS).map(({ path, before, after }) => {
      const text = (value: unknown): string => (value === undefined ? "unset" : JSON.stringify(value));
      return `${path} is ${text(after)} instead of ${text(before)}`;
    });
    return [{ owner: onMemberBy, what: `${cluster}: ${shown.join(", ")}` }];
  });
  const byOwner = Map.groupBy(kept, ({ owner }) => owner);
  return [
    ...[...failed].map((what) => ({ what, try: "correct the rule; 'flotilla interpret --test' runs it on a file" })),
    ...[...byOwner].map(([owner, ofOwner]) => ({
      what: `the Retain rule of ${owner} keeps values of members: ${ofOwner
        .slice(0, MAX_KEPT_MEMBERS)
        .map(({ what }) => what)
        .join(
          "; ",
        )}${ofOwner.length > MAX_KEPT_MEMBERS ? ` and ${ofOwner.length - MAX_KEPT_MEMBERS} more members` : ""}`,
      try: "if the hub should decide these fields, remove them from the rule",
    })),
  ];
}

/** Fields of a workload whose value decides what runs: the others are usually set by controllers of the member. */
const RELEASE_FIELDS = /^spec\.(template|updateStrategy|strategy|replicas|paused)\b/;
const MAX_KEPT_FIELDS = 3;
const MAX_KEPT_MEMBERS = 3;

/** Reasons of the condition Applied that do not blame the object: the member is unreachable or has not responded. */
const UNREACHABLE_REASONS: ReadonlySet<string> = new Set([MEMBER_UNREACHABLE, NO_ANSWER, ANSWER_PENDING]);

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
      try: "join it again, or select other clusters in the policy",
    });
  else if (ready && ready.status !== "True")
    problems.push({
      what: `${cluster} is not ready: ${ready.message ?? ready.reason ?? "unknown"}`,
      try: `run 'kubectl describe cluster ${cluster}'; its workloads keep running`,
    });
  const isAway = applied === false && UNREACHABLE_REASONS.has(reason);
  // A member already reported as not ready is not also reported as unreachable.
  if (isAway && problems.length === 0)
    problems.push({
      what: `${cluster} is unreachable: ${message ?? "no reason given"}`,
      try: `check that ${cluster} is running and reachable from the hub; its workloads keep running, and the hub continues automatically when it is back`,
    });
  else if (applied === false && reason === RELEASE_STOPPED)
    problems.push({
      what: `${cluster}: ${message ?? "the release is not sent"}`,
      try: "remove the field from the Retain rule, set it on the member, or, if the members should decide, remove the partition from the template",
    });
  else if (applied === false && reason === OSCILLATING)
    problems.push({
      what: `${cluster}: ${message ?? "the hub no longer writes the object"}`,
      try: "find the rule or policy that gives another result each time (flotilla interpret --test runs a rule); writing continues when the template, a policy or a rule of its kind changes",
    });
  else if (applied === false && !isAway)
    problems.push({
      what: `${cluster} rejected it: ${message ?? "no reason given"}`,
      try: fixForExclusion(resource, cluster, reason, message),
    });
  else if (health === "Unhealthy")
    problems.push({ what: `it is not healthy on ${cluster}`, try: inspectCommand(resource, cluster) });
  if (drift?.startsWith("ReportOnly"))
    problems.push({
      what: `it was changed on ${cluster}: ${drift.slice("ReportOnly: ".length)}`,
      try: "revert the change there, add it to the template, or set flotilla.dev/drift: repair",
    });
  if (state === "leaving")
    problems.push({
      what: `its copy on ${cluster} is being evicted`,
      try: "the copy is deleted when its replacement is healthy",
    });
  return problems;
}

function fixForExclusion(resource: Explanation["resource"], cluster: string, reason: string, message = ""): string {
  if (reason === "KindNotServed") return SUGGESTED_FIXES["APIEnablement"] ?? "";
  // Karmada's message for an existing object that the hub did not create.
  if (message.includes(`already exists in the cluster ${cluster}`))
    return `it already existed: take it over with conflictResolution: Overwrite in the policy, or rename or delete one of the two; ${inspectCommand(resource, cluster)}`;
  return "correct what the member rejects; the hub retries automatically";
}

function inspectCommand({ apiVersion, kind, namespace, name }: Explanation["resource"], cluster: string): string {
  const { group } = parseApiVersion(apiVersion);
  return `inspect it there: 'flotilla describe ${kind.toLowerCase()}${group ? `.${group}` : ""}/${name}${namespace ? ` -n ${namespace}` : ""} --clusters ${cluster}'`;
}
