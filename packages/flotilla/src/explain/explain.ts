/**
 * Assembles an explanation: runs the planners against the current state and uses the scheduler's last decision where it
 * is recorded.
 */
import { formatTime } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { terminatingNotice } from "../propagation/dispatch/render-notices.ts";
import { isToBeScheduled } from "../propagation/schedule/plan-patch.ts";
import { movesOf } from "../propagation/moves/move-history.ts";
import { isFinishedRun } from "../propagation/jobs/finished-run.ts";
import { finishedVerdicts, planSchedule } from "../propagation/schedule/plan-schedule.ts";
import { clusterEviction } from "../propagation/schedule/plugins/cluster-eviction.ts";
import { summariseDecision } from "../propagation/schedule/summarise-decision.ts";
import type { DecisionSummary } from "../propagation/schedule/summarise-decision.ts";
import type { Template } from "../propagation/templates/templates.ts";
import { InterpretError } from "@flotilla/kubernetes";
import type { StatusItem } from "@flotilla/kubernetes";
import type { Interpreter } from "../interpreter/interpreter.ts";
import { explainMembers } from "./explain-members.ts";
import type { ExplainMembersDependencies } from "./explain-members.ts";
import { runProblems } from "./explain-runs.ts";
import { explainPolicies } from "./explain-policies.ts";
import { EXPLAIN_API_VERSION, type Explanation } from "./explanation.ts";
import { explainRelease } from "./explain-release.ts";
import { planReports } from "../propagation/aggregate/plan-aggregation.ts";
import { findLeftOut } from "../propagation/aggregate/plan-left-out.ts";
import { findProblems } from "./find-problems.ts";
import type { RecordedDecision } from "./last-decisions.ts";
import { fleetOf, planTemplate } from "./plan-template.ts";
import type { PlanningDependencies } from "./plan-template.ts";
import type { Binding } from "./planned-binding.ts";
import { APPLY_POLICY_FAILED, BINDING_REJECTED, CLAIM_REJECTED } from "../flotilla-names.ts";
import type { MatchPlan } from "../propagation/match/plan-match.ts";
import { bindingName, APPLIED_PLACEMENT } from "@flotilla/karmada";
import type { PolicyStatus } from "@flotilla/karmada";

export interface ExplainInput extends PlanningDependencies, Pick<ExplainMembersDependencies, "readMember"> {
  interpreter: ExplainMembersDependencies["interpreter"] &
    PlanningDependencies["interpreter"] &
    Pick<Interpreter, "aggregateStatus">;
  template: Template;
  /** The scheduler's last decision, if it is recorded. */
  recorded?: RecordedDecision | undefined;
}

export async function explain({ template, recorded, ...given }: ExplainInput): Promise<Explanation> {
  const deps = { ...given, fleet: fleetOf(given) };
  const { views, nowMs } = deps;
  const plan = await planTemplate(deps, template);
  const { before: binding, match } = plan;
  const { apiVersion, kind, metadata } = template;
  const decision = decide(deps, binding, plan.binding, recorded);
  const explainedRelease = explainRelease(deps.releases, template, nowMs);
  const base = {
    apiVersion: EXPLAIN_API_VERSION,
    kind: metadata.namespace ? "Explanation" : "ClusterExplanation",
    metadata: {
      name: bindingName(kind, metadata.name),
      namespace: metadata.namespace || undefined,
      creationTimestamp: formatTime(nowMs),
    },
    resource: { apiVersion, kind, namespace: metadata.namespace || undefined, name: metadata.name },
    ...(await explainPolicies(views, template, match)),
    requiredBy: binding && requirersOf(views, binding),
    decision,
    members: binding
      ? explainedRelease.membersOf(await explainMembers(deps, binding, template, formatTime(nowMs)))
      : [],
    release: explainedRelease.release,
    moves: binding ? (movesOf(binding) as JsonObject[]) : [],
    leaving: (binding?.spec.gracefulEvictionTasks ?? []).map(
      ({ fromCluster, reason, producer, message, creationTimestamp }) => ({
        cluster: fromCluster,
        reason,
        producer,
        message: message || undefined,
        since: creationTimestamp || undefined,
      }),
    ),
  };
  return {
    ...base,
    problems: [
      ...terminatingProblems(template),
      ...unappliedProblems(template, match),
      ...explainedRelease.problems,
      ...runProblems({
        binding: binding ?? plan.binding,
        template,
        works: binding ? views.worksOf(binding) : [],
        now: formatTime(nowMs),
      }),
      ...findProblems({
        explanation: base,
        binding,
        clusterOf: (name) => views.clusters.get({ cluster: views.hub, name }),
        found: [...plan.problems, ...(binding ? await aggregationProblems(deps, template, binding) : [])],
        isUncopied: plan.isUncopied ?? false,
        nowMs,
      }),
    ],
  };
}

/** Undefined if nothing needs it. */
function requirersOf(
  { hub, bindings, clusterBindings }: ExplainInput["views"],
  { spec }: Binding,
): Explanation["requiredBy"] {
  if (!spec.requiredBy?.length) return undefined;
  return spec.requiredBy.map(({ namespace, name, clusters = [] }) => {
    const where = namespace || undefined;
    const resource = (where ? bindings : clusterBindings).get({ cluster: hub, namespace: where, name })?.spec.resource;
    return {
      kind: resource?.kind,
      namespace: where,
      name: resource?.name ?? name,
      clusters: clusters.map((cluster) => cluster.name),
    };
  });
}

function terminatingProblems(template: Template): Explanation["problems"] {
  const notice = terminatingNotice(template);
  return notice
    ? [
        {
          what: notice.message,
          try:
            "start the controller that removes it; if it no longer exists, remove the finalizer with kubectl " +
            "edit, and clean up what the controller would have",
        },
      ]
    : [];
}

const NOT_WRITTEN: ReadonlySet<string> = new Set([BINDING_REJECTED, CLAIM_REJECTED, APPLY_POLICY_FAILED]);

/** What keeps the hub from writing the binding or the claim, as it last reported; a plan does not write them. */
function unappliedProblems({ kind, metadata }: Template, match: MatchPlan): Explanation["problems"] {
  const { status }: { status?: DeepReadonly<PolicyStatus> } = match.outcome === "matched" ? match.policy : {};
  const found = status?.problems?.find(
    (problem) =>
      NOT_WRITTEN.has(problem.reason) &&
      problem.kind === kind &&
      problem.name === metadata.name &&
      (problem.namespace ?? "") === (metadata.namespace ?? ""),
  );
  return found
    ? [
        {
          what: `the hub could not apply its policy: ${found.message ?? found.reason}`,
          try: "correct the cause; the hub retries by itself",
        },
      ]
    : [];
}

/** The aggregated status is missing when its rule fails. */
async function aggregationProblems(
  { views, interpreter }: Pick<ExplainInput, "views" | "interpreter">,
  template: Template,
  binding: Binding,
): Promise<string[]> {
  const reports = (binding.status?.aggregatedStatus ?? []) as readonly StatusItem[];
  const leftOut = findLeftOut(binding, template, planReports(views.worksOf(binding)), interpreter);
  if (leftOut !== undefined) return [leftOut];
  if (interpreter.ownerOf("aggregateStatus", template) === undefined) return [];
  try {
    await interpreter.aggregateStatus(template, reports);
    return [];
  } catch (error) {
    if (error instanceof InterpretError) return [error.message];
    throw error;
  }
}

/** The recorded decision, or the one that the scheduler would take now, with what has changed since. */
function decide(
  deps: PlanningDependencies,
  stored: Binding | undefined,
  planned: Binding | undefined,
  recorded: RecordedDecision | undefined,
): Explanation["decision"] {
  const now = decideNow(deps, stored ?? planned);
  // A decision that was rejected differs only because it was not carried out.
  const note = stored && now && recorded?.summary.message === undefined ? staysNote(stored, now) : undefined;
  if (recorded) return { source: "recorded", at: recorded.at, ...asOfThen(recorded.summary, stored), note };
  return now && { source: "recomputed", at: formatTime(deps.nowMs), ...now, note };
}

/** An eviction that was the reason then and is over. */
function asOfThen(summary: DecisionSummary, binding: Binding | undefined): DecisionSummary {
  const leaving = new Set(binding?.spec.gracefulEvictionTasks?.map(({ fromCluster }) => fromCluster));
  const isOver = ({ by, clusters }: DecisionSummary["rejected"][number]): boolean =>
    by === clusterEviction.name && clusters.every((cluster) => !leaving.has(cluster));
  if (!summary.rejected.some(isOver)) return summary;
  return {
    ...summary,
    rejected: summary.rejected.map((group) =>
      isOver(group) ? { ...group, reason: "the workload was being evicted from it, which is over" } : group,
    ),
  };
}

const MAX_DIFFERENCES = 5;

/** What a new decision would change: a running workload stays where it is until there is a reason to move it. */
function staysNote({ spec }: Binding, now: DecisionSummary): string | undefined {
  if (now.message !== undefined || !spec.clusters?.length) return undefined;
  const has = new Map(spec.clusters.map(({ name, replicas }) => [name, replicas ?? "a copy"]));
  const would = new Map(now.kept.map(({ cluster, replicas }) => [cluster, replicas ?? "a copy"]));
  const differences = [...new Set([...would.keys(), ...has.keys()])].toSorted().flatMap((name) => {
    const [before, after] = [has.get(name) ?? "nothing", would.get(name) ?? "nothing"];
    return before === after ? [] : [`${name} has ${before} instead of ${after}`];
  });
  if (differences.length === 0) return undefined;
  const more = differences.length - MAX_DIFFERENCES;
  return (
    "a new decision would differ: " +
    `${differences.slice(0, MAX_DIFFERENCES).join(", ")}${more > 0 ? ` and ${more} more` : ""}; what runs is ` +
    "moved only for a reason, and a WorkloadRebalancer divides it again"
  );
}

/** Undefined if the scheduler would not decide. */
function decideNow(deps: PlanningDependencies, binding: Binding | undefined): DecisionSummary | undefined {
  if (!binding || !isToBeScheduled(binding)) return undefined;
  const fleet = fleetOf(deps);
  // The scheduler leaves a finished run where it is.
  if (isFinishedRun(binding)) {
    const verdicts = finishedVerdicts(binding.spec.clusters ?? [], fleet);
    return summariseDecision({ outcome: "scheduled", clusters: [], verdicts, failedTerms: [] });
  }
  // Without the applied-placement annotation, the scheduler decides from the current state instead of returning that
  // nothing changed.
  const { [APPLIED_PLACEMENT]: _, ...annotations } = binding.metadata.annotations ?? {};
  const asked = { ...binding, metadata: { ...binding.metadata, annotations } };
  return summariseDecision(
    planSchedule({
      ...deps.views.scheduling,
      binding: asked,
      fleet,
      neighbours: deps.views.groups.neighboursOf(deps.views.hub, binding),
      nowMs: deps.nowMs,
    }),
  );
}
