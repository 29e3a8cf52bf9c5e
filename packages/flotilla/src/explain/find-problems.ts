/** Finds problems on a resource's path to its members, and suggests fixes. Pure. */
import { findCondition, formatAge, isConditionTrue } from "@flotilla/apimachinery";
import { ignoredSpread, RESPONDING } from "@flotilla/karmada";
import type { Cluster } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { BEING_DELETED } from "./explain-policies.ts";
import { deliveryProblem, inspectCommand, INSTALL_KIND, joinAgain } from "./delivery-problem.ts";
import type { Explanation, Problem } from "./explanation.ts";
import { fixForHubRejection, fixForQuota, fixForSpread } from "./fixes-by-message.ts";
import type { Binding } from "./planned-binding.ts";
import { unhealthyForMs } from "../health/healthy-condition.ts";
import { DRAIN_TAINT, WORKS_REJECTED } from "../flotilla-names.ts";
import { customizationIn } from "../interpreter/customization/owned-program.ts";
import { MEMBER_DECIDES } from "../propagation/dispatch/plan-notice.ts";
import { NOT_ROLLED_BACK, RETURN_ADVICE } from "../propagation/dispatch/render-notices.ts";
import { QUOTA_EXCEEDED } from "../quota/quota-charge.ts";
import { refusesToken } from "../membership/ready.ts";
import { retainProblems } from "./retain-problems.ts";
import { EARLIER_RUN } from "../propagation/match/plan-application.ts";
import { leavesOnDrain } from "../propagation/failover/plan-cluster-failover.ts";
import { isFinishedRun } from "../propagation/jobs/finished-run.ts";
import { whyAway } from "../propagation/members/member-away.ts";
import { CONDITION_TAINTS, inertTaint } from "../propagation/admission/inert-taints.ts";
import { namesWithoutMember, unjoinedClusters } from "../propagation/admission/policy-targets.ts";
import { unservingMembers, unservingText } from "../propagation/admission/unserving-members.ts";
import { PLACEMENT_REJECTED } from "../propagation/schedule/plan-schedule.ts";
import { formatTaint, noExecuteTaints, toleratesTaint } from "../propagation/schedule/tolerations.ts";

/** Suggested fixes when a scheduler plugin excludes a cluster. */
const SUGGESTED_FIXES: Readonly<Record<string, string>> = {
  APIEnablement: INSTALL_KIND,
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
const DRAIN = { key: DRAIN_TAINT, effect: "NoExecute" } as const;

export interface ProblemInput {
  explanation: Pick<Explanation, "resource" | "policy" | "otherPolicies" | "decision" | "members">;
  binding: Binding | undefined;
  clusterOf(name: string): DeepReadonly<Cluster> | undefined;
  /** Errors of the planners. */
  found: readonly string[];
  /** The errors include why copies cannot be rendered. */
  isUncopied: boolean;
  nowMs: number;
}

export function findProblems(input: ProblemInput): Problem[] {
  const { explanation, binding, clusterOf, found, isUncopied, nowMs } = input;
  const { resource, policy, decision, members } = explanation;
  const problems: Problem[] = [];
  const isUnselected = !policy && !binding?.spec.requiredBy?.length;
  if (isUnselected) {
    problems.push({
      what: binding
        ? `no policy selects it any longer; its binding remains${binding.spec.clusters?.length ? ", and so do its copies" : ", and has no cluster"}`
        : "no policy selects it, so it is not propagated",
      try:
        `${binding ? removalOf(binding) : ""}apply a ` +
        `${resource.namespace ? `PropagationPolicy in namespace ${resource.namespace}` : "ClusterPropagationPolicy"} ` +
        `whose resourceSelectors name ${resource.apiVersion} ${resource.kind} ${resource.name}`,
    });
  }
  problems.push(...tieProblems(explanation));
  const unscheduled = decision?.message;
  // Without a policy, the decision is about a placement that cannot be corrected.
  const isLeft = isUnselected && binding !== undefined;
  const isJoined = (name: string): boolean => clusterOf(name) !== undefined;
  const lost = policy && binding ? namesWithoutMember(binding.spec, isJoined) : [];
  if (decision && unscheduled !== undefined && !isLeft)
    problems.push(
      lost.length > 0
        ? {
            what:
              `the policy names ${lost.join(", ")}, which ` +
              `${lost.length === 1 ? "is not a member" : "are not members"} of the fleet, so scheduling failed: ` +
              unscheduled,
            try: `correct the names in ${policy?.kind} ${policy?.name}, or join the clusters`,
          }
        : {
            what: `${notReadyText(decision, clusterOf)}scheduling failed: ${unscheduled}`,
            try: fixForSpread(unscheduled) ?? fixForQuota(unscheduled) ?? fixForUnschedulable(decision),
          },
    );
  for (const what of found)
    if (what.includes(EARLIER_RUN)) {
      const [cause = "", fix = ""] = what.split("; ");
      problems.push({ what: cause, try: fix });
    } else if (!what.startsWith(unscheduled?.replace(/\.$/, "") ?? "\0"))
      problems.push({ what, try: fixForError(what) });
  if (binding) {
    problems.push(...bindingProblems(binding, isUncopied));
    // A policy that is gone cannot be corrected.
    if (policy) {
      problems.push(...placementProblems(binding, clusterOf, new Set(unscheduled === undefined ? [] : lost)));
      // A binding without any cluster has its own problem.
      if (decision && unscheduled === undefined) problems.push(...unservedProblems(binding, decision, clusterOf));
    }
  }
  problems.push(...overrideProblems(members));
  problems.push(...ruleProblems(members, binding));
  for (const member of members) problems.push(...memberProblems(resource, member, clusterOf(member.cluster)));
  problems.push(...healthProblems(resource, members, nowMs));
  if (binding && policy) problems.push(...failoverProblems(binding, clusterOf));
  return problems.slice(0, MAX_PROBLEMS);
}

/** Policies between which only their names decide, and which of them was first. */
function tieProblems({ policy, otherPolicies }: ProblemInput["explanation"]): Problem[] {
  const equal = otherPolicies.filter(
    (other) =>
      other.kind === policy?.kind &&
      other.priority === policy.priority &&
      other.selectsBy === policy.selectsBy &&
      other.reason !== BEING_DELETED,
  );
  if (!policy || equal.length === 0) return [];
  const names = equal.slice(0, MAX_NAMED).map(({ name }) => name);
  const more = equal.length > names.length ? ` and ${equal.length - names.length} more` : "";
  return [
    {
      what:
        `${policy.kind} ${names.join(", ")}${more} ${equal.length === 1 ? "selects" : "select"} it, too, ` +
        `by ${policy.selectsBy} with the same priority, and ${equal.length === 1 ? "has" : "have"} no effect on it`,
      try: "set spec.priority of the policy that is to take effect, or make the selectors disjoint",
    },
  ];
}

/** The hub itself sets Ready to Unknown when the agent of a pull-mode member stops reporting, or never reports. */
const isSilent = ({ spec, status }: DeepReadonly<Cluster>): boolean =>
  spec.syncMode === "Pull" && findCondition(status?.conditions ?? [], "Ready")?.status === "Unknown";

function whyNotReady(cluster: DeepReadonly<Cluster>): string {
  const ready = findCondition(cluster.status?.conditions ?? [], "Ready");
  const said = ready?.message ?? ready?.reason ?? "unknown";
  return isSilent(cluster) ? `its agent does not report (${said})` : said;
}

/** Clusters that were excluded only because they are not ready, as the beginning of a sentence; empty if none was. */
function notReadyText(
  { rejected }: NonNullable<Explanation["decision"]>,
  clusterOf: ProblemInput["clusterOf"],
): string {
  const away = rejected
    .filter(({ by, reason }) => by === "TaintToleration" && [...CONDITION_TAINTS].some((key) => reason.includes(key)))
    .flatMap(({ clusters }) => clusters.flatMap((name) => clusterOf(name) ?? []));
  const [first] = away;
  if (!first) return "";
  const others = away.length === 1 ? "" : ` (and ${away.length - 1} more)`;
  return `${first.metadata.name} is not ready: ${whyNotReady(first)}${others}, so `;
}

/** An error of a rule names the rule and the object that it ran on. */
function fixForError(error: string): string {
  const ofQuota = fixForQuota(error);
  if (ofQuota !== undefined) return ofQuota;
  if (error.includes(NOT_ROLLED_BACK)) return RETURN_ADVICE;
  const customization = customizationIn(error);
  if (customization !== undefined)
    return `correct the rule in ResourceInterpreterCustomization ${customization}; 'flotilla interpret' runs it on an object`;
  const [, what, name] = CULPRIT.exec(error) ?? [];
  return `correct ${what === undefined ? "the template" : `the ${what} ${name ?? ""}`}; the hub then continues automatically`;
}

/** In an error of a rule or an override: what failed, which is not the object that it was run on. */
const CULPRIT = /\b(override policy|policy|webhook) ([^\s:]+)/;

/** Deleting one of them deletes everything that it contains, so that is never advice. */
const CONTAINERS: ReadonlySet<string> = new Set(["v1/Namespace", "apiextensions.k8s.io/v1/CustomResourceDefinition"]);

/** How to remove a binding that no policy has. A binding with clusters takes its copies with it. */
function removalOf({ kind, metadata: { namespace, name }, spec }: Binding): string {
  const copies = spec.clusters?.length ? ", which deletes the copies on its members" : "";
  const isContainer = CONTAINERS.has(`${spec.resource.apiVersion}/${spec.resource.kind}`);
  return (
    `run 'kubectl delete ${kind.toLowerCase()} ${name}${namespace ? ` -n ${namespace}` : ""}'${copies}; ` +
    `${isContainer ? "" : "delete the object, if it is no longer needed; "}or `
  );
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
  const scheduled = findCondition(status?.conditions, "Scheduled");
  // The planners, which write nothing, find clusters.
  if (scheduled?.status === "False" && scheduled.message?.startsWith(PLACEMENT_REJECTED))
    problems.push({ what: scheduled.message, try: fixForHubRejection(scheduled.message) });
  const dispatched = findCondition(status?.conditions ?? [], "Dispatched");
  if (dispatched?.status === "False" && dispatched.reason === "RolloutHeld")
    problems.push({
      what: dispatched.message ?? "",
      try: "bring these members back or resume dispatching to them, or move their replicas to other clusters",
    });
  else if (dispatched?.status === "False" && dispatched.reason === "RollbackFailed")
    problems.push({
      what: dispatched.message ?? "",
      try:
        "find the webhook or controller on the member that changes spec.updateStrategy, and stop it; then change " +
        "the partition or the template to start again",
    });
  else if (dispatched?.status === "False" && dispatched.reason === WORKS_REJECTED)
    problems.push({ what: dispatched.message ?? "", try: fixForHubRejection(dispatched.message ?? "") });
  // The planners have just reported the same error: of copies per cluster, of a quota once.
  else if (dispatched?.status === "False" && !isUncopied && dispatched.reason !== QUOTA_EXCEEDED)
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
  const held = spec.suspension?.dispatchingOnClusters?.clusterNames ?? [];
  if (held.length > 0)
    problems.push({
      what: `dispatching to ${held.join(", ")} is suspended: these members do not receive changes`,
      try: "remove them from spec.suspension.dispatchingOnClusters of the policy",
    });
  return problems;
}

/** What the policy says and the scheduler does not follow. */
function placementProblems(
  binding: Binding,
  clusterOf: ProblemInput["clusterOf"],
  reported: ReadonlySet<string>,
): Problem[] {
  const { spec } = binding;
  const problems: Problem[] = [];
  const ignored = spec.placement && ignoredSpread(spec.placement);
  if (ignored !== undefined) {
    const [what = "", fix = ""] = ignored.split("; ");
    problems.push({ what: `the policy's ${what}; it is in ${spreadText(spec, clusterOf)}`, try: fix });
  }
  const unjoined = unjoinedClusters(spec, (cluster) => clusterOf(cluster) !== undefined);
  for (const name of unjoined.filter((each) => !reported.has(each)))
    problems.push({
      what: `the policy names ${name}, which is not a member of the fleet`,
      try: "join it, or remove the name from the policy",
    });
  // A finished run has nothing left to move.
  if (spec.failover?.cluster || isFinishedRun(binding)) return problems;
  const leaving = new Set(spec.gracefulEvictionTasks?.map(({ fromCluster }) => fromCluster));
  const tolerations = spec.placement?.clusterTolerations ?? [];
  const staysOnDrain = tolerations.some(
    (toleration) => (toleration.tolerationSeconds ?? undefined) === undefined && toleratesTaint(toleration, DRAIN),
  );
  for (const { name } of spec.clusters ?? []) {
    const taint = inertTaint(clusterOf(name), tolerations);
    if (!taint || leaving.has(name)) continue;
    problems.push({
      what: `${name} has the taint ${formatTaint(taint)}, and it stays there, because the policy has no failover.cluster`,
      try: !leavesOnDrain(binding)
        ? "add failover.cluster to the policy; 'flotilla drain' does not move cluster-scoped objects"
        : staysOnDrain
          ? "add failover.cluster to the policy; it tolerates a drain"
          : `run 'flotilla drain ${name}', or add failover.cluster to the policy`,
    });
  }
  return problems;
}

/** Cluster failover waits for a taint that the hub does not set by itself. */
function failoverProblems(binding: Binding, clusterOf: ProblemInput["clusterOf"]): Problem[] {
  const { spec } = binding;
  if (!spec.failover?.cluster || isFinishedRun(binding)) return [];
  return (spec.clusters ?? []).flatMap(({ name }) => {
    const cluster = clusterOf(name);
    const ready = findCondition(cluster?.status?.conditions ?? [], "Ready");
    if (!cluster || ready?.status === "True" || noExecuteTaints(cluster.spec.taints ?? []).length > 0) return [];
    return [
      {
        what: `it stays on ${name}: failover.cluster moves it only off a member with a NoExecute taint, and the hub sets none on a member that is not ready`,
        try:
          `run 'flotilla taint ${name} failed=yes:NoExecute' to move it, or 'flotilla drain ${name}' to move most ` +
          "others, too; a ClusterTaintPolicy can set the taint, if the API server runs with " +
          "--allow-no-execute-taint-policy",
      },
    ];
  });
}

/** How many groups the copies are in, for each constraint: `3 groups of region (eu, us, ap)`. */
function spreadText({ placement, clusters = [] }: Binding["spec"], clusterOf: ProblemInput["clusterOf"]): string {
  const members = clusters.flatMap(({ name }) => clusterOf(name) ?? []);
  const texts = (placement?.spreadConstraints ?? []).map(({ spreadByField = "cluster", spreadByLabel }) => {
    const groups = new Set(
      members.flatMap(({ metadata, spec }) => {
        if (spreadByLabel) return metadata.labels?.[spreadByLabel] ?? [];
        if (spreadByField === "cluster") return metadata.name;
        if (spreadByField === "zone") return spec.zones ?? [];
        return (spreadByField === "region" ? spec.region : spec.provider) ?? [];
      }),
    );
    const named = [...groups].slice(0, MAX_GROUPS).join(", ");
    return (
      `${groups.size} group${groups.size === 1 ? "" : "s"} of ` +
      (spreadByLabel ? `label ${spreadByLabel}` : spreadByField) +
      (named && ` (${named}${groups.size > MAX_GROUPS ? ", …" : ""})`)
    );
  });
  return texts.join(", ");
}

const MAX_GROUPS = 5;
/** Of policies; the reasons of all are in the explanation. */
const MAX_NAMED = 3;

/** Members that the placement selects and that were left out, because they do not serve the kind. */
function unservedProblems(
  { spec, status }: Binding,
  { rejected }: NonNullable<Explanation["decision"]>,
  clusterOf: ProblemInput["clusterOf"],
): Problem[] {
  const { apiVersion, kind } = spec.resource;
  const without = rejected
    .filter(({ by }) => by === "APIEnablement")
    .flatMap(({ clusters }) => clusters.flatMap((name) => clusterOf(name) ?? []));
  const inUse = status?.schedulerObservingAffinityName;
  const selected = { placement: spec.placement, resourceSelectors: [{ apiVersion, kind }] };
  return unservingMembers(selected, without, {
    affinities: new Set(inUse ? [inUse] : []),
    hasCopies: (cluster) => (spec.clusters ?? []).some(({ name }) => name === cluster),
  }).map((found) => ({
    what: `the policy selects members without the kind: ${unservingText(found)}`,
    try: INSTALL_KIND,
  }));
}

/** A policy usually has no effect on all members alike. */
function overrideProblems(members: Explanation["members"]): Problem[] {
  const blind = members.flatMap(({ cluster, blindOverrides = [] }) =>
    blindOverrides.map((text) => ({ cluster, text })),
  );
  return Array.from(
    Map.groupBy(blind, ({ text }) => text),
    ([text, of]) => {
      const [what = "", fix = "correct the override policy"] = text.split("; ");
      return { what: `${of.map(({ cluster }) => cluster).join(", ")}: ${what}`, try: fix };
    },
  );
}

/** A rule usually fails for all members alike, and keeps the same fields of all of them. */
function ruleProblems(members: Explanation["members"], binding: ProblemInput["binding"]): Problem[] {
  const stopsReleases = isConditionTrue(binding?.status?.conditions, MEMBER_DECIDES);
  const unknown = members.filter(({ applied, failedRule }) => failedRule !== undefined && applied !== false);
  const byFailure = Map.groupBy(unknown, ({ failedRule = "", unhealthy = "" }) => `${failedRule} failed: ${unhealthy}`);
  const reported = unknown.flatMap(({ unhealthy }) => unhealthy || []);
  // The rule that the members' health waits for is run for this explanation, too.
  const others = new Set(
    members
      .flatMap(({ failedRules = [] }) => failedRules)
      .filter((message) => !reported.some((said) => message.includes(said) || said.includes(message))),
  );
  return [
    ...[...byFailure].map(([failure, ofFailure]) => ({
      what: `its health on ${ofFailure.map(({ cluster }) => cluster).join(", ")} is unknown, because the rule ${failure}`,
      try: "correct the rule; 'flotilla interpret' runs it on an object",
    })),
    ...[...others].map((what) => ({
      what,
      try: "correct the rule; 'flotilla interpret --test FILE' runs it on a file",
    })),
    // Members may pause a whole workload as they like: a rule that keeps only this does what its author wants.
    ...(stopsReleases ? retainProblems(members, ({ path }) => RELEASE_FIELDS.test(path)) : []),
  ];
}

/** Fields of a workload whose value decides what runs: the others are usually set by controllers of the member. */
const RELEASE_FIELDS = /^spec\.(template|updateStrategy|strategy|replicas|paused)\b/;

function memberProblems(
  resource: Explanation["resource"],
  member: Explanation["members"][number],
  object: DeepReadonly<Cluster> | undefined,
): Problem[] {
  const { cluster, drift, state } = member;
  const problems: Problem[] = [];
  const ready = findCondition(object?.status?.conditions ?? [], "Ready");
  const silence = findCondition(object?.status?.conditions ?? [], RESPONDING)?.message;
  if (!object)
    problems.push({
      what: `${cluster} is not a member of the fleet`,
      try: "join it again, or select other clusters in the policy",
    });
  else if (ready && ready.status !== "True")
    problems.push({
      what: `${cluster} is not ready: ${whyNotReady(object)}`,
      try: isSilent(object)
        ? `start the agent on the member, or check its log there; its workloads keep running`
        : refusesToken(ready.message)
          ? joinAgain(cluster)
          : `run 'kubectl describe cluster ${cluster}'; its workloads keep running`,
    });
  else if (whyAway(object) !== undefined)
    problems.push({
      what: `${refusesToken(silence) ? "the hub cannot use " : ""}${cluster}${refusesToken(silence) ? "" : " does not respond"}: ${silence ?? "unknown"}`,
      try: refusesToken(silence)
        ? joinAgain(cluster)
        : `check that it is running and reachable from the hub; its workloads keep running, and what is known of them is from before`,
    });
  // A member already reported as not ready is not also reported as unreachable.
  const undelivered = deliveryProblem(resource, member, problems.length > 0);
  if (undelivered) problems.push(undelivered);
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

/**
 * A copy that has not improved for longer than the grace is a problem, whatever its health rule says. Members with the
 * same problem are one line, with the longest time.
 */
function healthProblems(resource: Explanation["resource"], members: Explanation["members"], nowMs: number): Problem[] {
  const lasting = members.flatMap(({ cluster, unhealthy, unhealthySince, unhealthyReason, failedRule }) => {
    // A failed rule is reported once for all members.
    if (unhealthy === undefined || failedRule !== undefined) return [];
    if (unhealthySince === undefined) return [{ cluster, unhealthy, forMs: -1 }];
    const condition = { status: "False", reason: unhealthyReason, lastTransitionTime: unhealthySince } as const;
    const forMs = unhealthyForMs(condition, nowMs);
    return forMs === undefined ? [] : [{ cluster, unhealthy, forMs }];
  });
  return Array.from(
    Map.groupBy(lasting, ({ unhealthy }) => unhealthy),
    ([unhealthy, of]) => {
      const clusters = of.map(({ cluster }) => cluster);
      const forMs = Math.max(...of.map((each) => each.forMs));
      const since = forMs < 0 ? "" : ` for ${formatAge(forMs)}`;
      return {
        what: `it is not healthy on ${clusters.join(", ")}${since}: ${unhealthy}`,
        try: inspectCommand(resource, clusters[0] ?? ""),
      };
    },
  );
}
