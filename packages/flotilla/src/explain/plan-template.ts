/**
 * Plans what the pipeline would do with one template: its policy, binding, clusters and Works. Nothing is written, and
 * every decision is the stage's own `plan*` function; this file only passes the result of one stage to the next.
 *
 * The plan shows the next step only. Later reports from members, such as a replacement becoming healthy, lead to
 * further steps.
 */
import { applyMergePatch } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import { formatTime, messageOf } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import { QUOTA_EXCEEDED } from "../quota/quota-charge.ts";
import type { Interpreter } from "../interpreter/interpreter.ts";
import { earlierRunProblem } from "../propagation/match/plan-application.ts";
import { bindingConflict, mergeBinding, planBinding, withFewerReplicas } from "../propagation/match/plan-binding.ts";
import { CLAIM_ANNOTATIONS, CLAIM_LABELS, claimMetadata, planMatch } from "../propagation/match/plan-match.ts";
import { createFleet } from "../propagation/schedule/fleet-view.ts";
import { derivedNameProblem } from "../propagation/templates/derived-names.ts";
import { isToBeScheduled, planPatch } from "../propagation/schedule/plan-patch.ts";
import { planActivation } from "../propagation/match/lazy-activation.ts";
import { concernedBindings } from "../propagation/concerns/concerned-bindings.ts";
import { isUndivided, planDispatch } from "../propagation/dispatch/plan-dispatch.ts";
import { heldByQuota } from "../propagation/dispatch/held-by-quota.ts";
import { overQuota } from "../propagation/dispatch/plan-dispatched.ts";
import { planPrerequisites } from "../propagation/match/prerequisites.ts";
import { planSchedule, refusedByQuota } from "../propagation/schedule/plan-schedule.ts";
import { planScheduled } from "../propagation/schedule/plan-scheduled.ts";
import { sizeOf } from "../propagation/replicas/template-size.ts";
import type { DispatchPlan } from "../propagation/dispatch/plan-dispatch.ts";
import type { MatchPlan, Policy } from "../propagation/match/plan-match.ts";
import { namedPodsProblem, recordNamedPods } from "../propagation/pods-to-delete/named-pods.ts";
import type { PlanningViews } from "../propagation/planning-views.ts";
import type { SchedulePlan } from "../propagation/schedule/plan-schedule.ts";
import type { Template } from "../propagation/templates/templates.ts";
import { bindingName, clusterNameOf } from "@flotilla/karmada";
import type { FleetRollout } from "../rollout/kinds/fleet-rollout.ts";
import type { ReleaseIndex } from "../rollout/release-index.ts";
import { planRelease } from "./plan-release.ts";
import type { PlannedRelease, ReleaseDependencies } from "./plan-release.ts";
import { renderUnreturned } from "../propagation/dispatch/render-notices.ts";
import { findReplaced } from "../propagation/dispatch/replaced-division.ts";
import { planExpiry } from "../propagation/expiry/plan-expiry.ts";
import { planDepartures, withoutDepartures } from "./plan-departures.ts";
import type { DeparturePlan, PlannedDeparture } from "./plan-departures.ts";
import type { Binding } from "./planned-binding.ts";

export type PlanningInterpreter = Pick<
  Interpreter,
  | "replicas"
  | "components"
  | "levelOf"
  | "divide"
  | "replacedDivision"
  | "replacedReplicas"
  | "retainedFields"
  | "ownerOf"
>;

export interface PlanningDependencies {
  views: PlanningViews;
  /** Which revision each member may have; unset if the hub has no releases. */
  releases?: ReleaseIndex | undefined;
  interpreter: PlanningInterpreter;
  nowMs: number;
  storedOf?: ReleaseDependencies["storedOf"];
  /** Whether taints of members evict what runs there, as failover does. */
  evicts?: boolean;
  /** Cluster state shared when many templates are planned; built from the views otherwise. */
  fleet?: ReturnType<typeof createFleet>;
}

export const fleetOf = ({ views, fleet }: PlanningDependencies): ReturnType<typeof createFleet> =>
  fleet ?? createFleet(views.clusters.list({ cluster: views.hub }));

export interface TemplatePlan {
  /** Includes the claim of its policy. */
  template: Template;
  match: MatchPlan;
  before?: Binding;
  /** Unset when there is no binding and none would be created. */
  binding?: Binding;
  /** Unset when the binding is not scheduled, for example because scheduling is suspended. */
  schedule?: SchedulePlan;
  works: { before: readonly DeepReadonly<Work>[]; after: readonly DeepReadonly<Work>[] };
  /** Messages that describe what blocks the template. */
  problems: string[];
  /** The release that would begin, with its status after the first step. */
  release?: DeepReadonly<FleetRollout>;
  /** A quota has no room for what it would add; `problems` says which. */
  isOverQuota?: true;
  /** The finished copies of a deleted object of this name are deleted, and this one runs. */
  replacesRun?: true | undefined;
  /** Members that it leaves because of their taints. */
  departures?: readonly PlannedDeparture[] | undefined;
  /** When it leaves a member whose taint it tolerates for a time. */
  leavesInMs?: number | undefined;
  /** When it is deleted from the hub, because its time to live has passed then. */
  expiresAtMs?: number | undefined;
  /** It is deleted now. */
  isExpired?: true;
  /** Members that it would leave because of their taints if its policy had `failover.cluster`. */
  staysOn?: readonly string[];
  /** Some copies cannot be rendered; `problems` has the reasons. */
  isUncopied?: true;
}

/** Ends the problem of a template that fits no member. */
export const STAYS_UNPLACED = "; running copies stay where they are";

export async function planTemplate(deps: PlanningDependencies, given: Template): Promise<TemplatePlan> {
  const { views } = deps;
  const match = planMatch({ template: given, ...(await views.policies.candidates(given)) });
  const before = bindingOf(views, given);
  const problems: string[] = [];
  const bound =
    match.outcome === "matched"
      ? await bind(deps, given, match.policy, before, problems)
      : { template: given, binding: before };
  const { template, binding } = bound;
  const worksBefore = before ? views.worksOf(before) : [];
  const plan: TemplatePlan = {
    template,
    match,
    before,
    works: { before: worksBefore, after: worksBefore },
    problems,
    replacesRun: bound.replacesRun,
  };
  if (!binding) return plan;

  const leaving: DeparturePlan = deps.evicts
    ? planDepartures(binding, { ...deps, fleet: fleetOf(deps) })
    : { binding, departures: [], problems: [], staysOn: [] };
  problems.push(...leaving.problems);
  const schedule = isToBeScheduled(binding) ? scheduleOf(deps, leaving.binding) : undefined;
  if (schedule?.outcome === "unschedulable")
    problems.push(
      `${schedule.message.replace(/\.$/, "")}${before?.spec.clusters?.length && leaving.departures.length === 0 ? STAYS_UNPLACED : ""}`,
    );
  const decided = schedule ? carryOut(leaving.binding, schedule, deps.nowMs) : leaving.binding;
  const scheduled = withoutDepartures(decided, leaving.departures);
  const expiry =
    before && !plan.replacesRun ? planExpiry(scheduled, observed(template), worksBefore, deps.nowMs) : undefined;
  if (expiry && expiry.atMs <= deps.nowMs) {
    const expired = { ...scheduled, spec: { ...scheduled.spec, clusters: [] } };
    const works = { before: worksBefore, after: [] };
    return { ...plan, binding: expired, schedule, works, expiresAtMs: expiry.atMs, isExpired: true };
  }
  const held = await heldByQuota(scheduled, template, {
    interpreter: deps.interpreter,
    quotaRoom: views.quotaRoom,
    countsComponents: views.scheduling.multiplePodTemplatesScheduling ?? false,
  });
  if (held?.refusal !== undefined) {
    problems.push(overQuota(held.refusal).message);
    return { ...plan, binding: scheduled, schedule, isOverQuota: true };
  }
  // Copies of another run say nothing about this one.
  const own = plan.replacesRun ? [] : worksBefore;
  const dispatch = await planCopies(deps, scheduled, template, own, problems);
  return {
    ...plan,
    binding: scheduled,
    schedule,
    departures: leaving.departures.length > 0 ? leaving.departures : undefined,
    leavesInMs: leaving.leavesInMs,
    staysOn: leaving.staysOn,
    expiresAtMs: expiry?.atMs,
    release: dispatch?.begins,
    isOverQuota: schedule?.outcome === "unschedulable" && schedule.reason === QUOTA_EXCEEDED ? true : undefined,
    isUncopied: (dispatch?.failures.length ?? 0) > 0 ? true : undefined,
    works: { before: worksBefore, after: dispatch?.desired ?? worksBefore },
  };
}

/** Members report on the planned generation soon. */
const observed = (template: Template): Template => ({
  ...template,
  metadata: { ...template.metadata, generation: 0 },
});

export function bindingOf(
  views: PlanningViews,
  { kind, metadata: { namespace, name } }: Template,
): Binding | undefined {
  return (namespace ? views.bindings : views.clusterBindings).get({
    cluster: views.hub,
    namespace: namespace || undefined,
    name: bindingName(kind, name),
  });
}

/** What the schedule stage would decide, and the quotas of the namespace accept. */
function scheduleOf(deps: PlanningDependencies, binding: Binding): SchedulePlan {
  const { views, nowMs } = deps;
  const plan = planSchedule({
    ...views.scheduling,
    binding,
    fleet: fleetOf(deps),
    neighbours: views.groups.neighboursOf(views.hub, binding),
    nowMs,
  });
  if (plan.outcome !== "scheduled") return plan;
  const refusal = views.quotaRoom.refusalOf(binding, carryOut(binding, plan, nowMs));
  return refusal === undefined ? plan : refusedByQuota(plan, refusal);
}

/** What the match stage would write: the claim on the template, and the binding. */
async function bind(
  deps: PlanningDependencies,
  given: Template,
  policy: Policy,
  before: Binding | undefined,
  problems: string[],
): Promise<{ template: Template; binding: Binding | undefined; replacesRun?: true | undefined }> {
  const { views, interpreter } = deps;
  const version = await views.policies.askedVersion(policy, given);
  const { kind, metadata } = given;
  const spoken =
    version === given.apiVersion
      ? given
      : await views.templates.get({
          apiVersion: version,
          kind,
          namespace: metadata.namespace || undefined,
          name: metadata.name,
        });
  if (!spoken || spoken === "unknown") {
    problems.push(
      `policy ${policy.metadata.name} selects ${kind} in ${version}, but ${metadata.name} is known in ${given.apiVersion} only: use the same version in both`,
    );
    return { template: given, binding: before };
  }
  const template = claimed(spoken, policy);
  const needs = planPrerequisites(views.hub, policy, views);
  if (!needs.met) {
    problems.push(`policy ${policy.metadata.name} is ${needs.message}`);
    return { template, binding: before };
  }
  const badName = derivedNameProblem(kind, metadata.namespace ?? "", metadata.name);
  if (badName !== undefined) {
    problems.push(badName);
    return { template, binding: before };
  }
  const conflict = before && bindingConflict(before, template);
  if (conflict === "other") {
    problems.push(
      `binding ${before?.metadata.name ?? ""} belongs to an object of the same kind and name in another API group; rename one of the two`,
    );
    return { template, binding: before };
  }
  const earlierRun = before && conflict === "left" ? earlierRunProblem(before) : undefined;
  if (earlierRun !== undefined) {
    problems.push(earlierRun);
    return { template, binding: before };
  }
  const own = conflict ? undefined : before;
  const activation = planActivation(policy, spoken, own);
  try {
    const size = await sizeOf(template, interpreter, views.scheduling.multiplePodTemplatesScheduling ?? false);
    const namedPods = await recordNamedPods(template, size.replicas?.replicas ?? 0, own, views.locatePods);
    const problem = namedPodsProblem(template, namedPods);
    if (problem) problems.push(problem.message);
    const desired = planBinding({
      template,
      policy,
      namedPods,
      ...size,
      schedulePriority: needs.schedulePriority,
      activated: activation.digest,
    });
    const binding = own ? mergeBinding(own, desired) : desired;
    if (activation.when === "now")
      // Its copies are held back too, which has its own problem.
      return {
        template,
        binding: acceptedByQuota(deps, own, binding) ?? own,
        replacesRun: conflict === "left" ? true : undefined,
      };
    if (binding !== own)
      problems.push(
        `policy ${policy.metadata.name} activates lazily: its changes take effect with the next change of the template`,
      );
    return { template, binding: own };
  } catch (error) {
    if (!(error instanceof InterpretError)) throw error;
    problems.push(error.message);
    return { template, binding: own };
  }
}

/** The binding as quotas let match write it, at once or after fewer replicas were placed; undefined if they do not. */
function acceptedByQuota(deps: PlanningDependencies, own: Binding | undefined, binding: Binding): Binding | undefined {
  const isAccepted = (after: Binding): boolean => deps.views.quotaRoom.refusalOf(own, after) === undefined;
  if (isAccepted(binding)) return binding;
  const smaller = own && withFewerReplicas(own, binding);
  const schedule = smaller && isToBeScheduled(smaller) ? scheduleOf(deps, smaller) : undefined;
  if (!smaller || schedule?.outcome !== "scheduled") return undefined;
  const { clusters } = carryOut(smaller, schedule, deps.nowMs).spec;
  const placed = { ...binding, spec: { ...binding.spec, clusters } };
  return isAccepted(placed) ? placed : undefined;
}

function claimed(template: Template, policy: Policy): Template {
  const { metadata } = template;
  const claim = claimMetadata(policy);
  const without = (entries: Readonly<Record<string, string>> = {}, keys: readonly string[]): Record<string, string> =>
    Object.fromEntries(Object.entries(entries).filter(([key]) => !keys.includes(key)));
  return {
    ...template,
    metadata: {
      ...metadata,
      labels: { ...without(metadata.labels, CLAIM_LABELS), ...claim.labels },
      annotations: { ...without(metadata.annotations, CLAIM_ANNOTATIONS), ...claim.annotations },
    },
  };
}

function carryOut(binding: Binding, schedule: SchedulePlan, nowMs: number): Binding {
  const patch = planPatch(binding, schedule);
  const patched =
    patch === undefined ? binding : (applyMergePatch(binding as unknown as Json, patch) as unknown as Binding);
  return planScheduled(patched, schedule, patched.metadata.generation ?? 0, formatTime(nowMs));
}

/** What the dispatch stage would make of the binding; undefined when it would change nothing. */
export async function planCopies(
  deps: PlanningDependencies,
  binding: Binding,
  known: Template,
  works: readonly DeepReadonly<Work>[],
  problems: string[],
): Promise<(DispatchPlan & Pick<PlannedRelease, "begins">) | undefined> {
  const { views, releases, interpreter, nowMs, storedOf } = deps;
  const { resource } = binding.spec;
  // An object recreated under the same name gets its own binding after the old binding is deleted.
  if (known.metadata.uid !== resource.uid) return undefined;
  const template = resource.apiVersion === known.apiVersion ? known : await views.templates.get(resource);
  if (!template || template === "unknown") {
    problems.push(
      `${resource.kind} ${resource.name} was not read in ${resource.apiVersion}, the version used on members`,
    );
    return undefined;
  }
  const release = planRelease({ releases, views, nowMs, storedOf }, binding, template, works);
  if (release.assigned === "pending") return undefined;
  const concerned = await concernedBindings(views, template);
  if (concerned === "unknown") {
    problems.push(`the workloads that ${resource.kind} ${resource.name} concerns were not all read`);
    return undefined;
  }
  const plan = await planDispatch(binding, template, {
    works,
    concerned,
    release: release.assigned,
    divide: (...what) => interpreter.divide(...what),
    retainedFields: (object) => interpreter.retainedFields(object),
    render: views.render,
    now: formatTime(nowMs),
  });
  if (plan.indivisible) problems.push(plan.indivisible.message);
  else {
    if (!isUndivided(binding)) problems.push(...(await findReplaced(interpreter, binding, template)));
    // One override usually fails for several clusters with the same error.
    for (const [message, failed] of Map.groupBy(plan.failures, ({ error }) => messageOf(error))) {
      const clusters = failed.map(({ cluster }) => cluster);
      problems.push(`${listOf(clusters)}: ${message}; ${whatStays(clusters, works)}`);
    }
  }
  problems.push(...renderUnreturned(plan.unreturned));
  if (plan.isHandingOver)
    problems.push(
      "the old copy must be deleted from the cluster before the new one is created; the plan shows that first step",
    );
  return { ...plan, begins: release.begins };
}

/** What members have whose copies cannot be rendered. */
function whatStays(clusters: readonly string[], works: readonly DeepReadonly<Work>[]): string {
  const having = new Set(works.map(({ metadata }) => clusterNameOf(metadata.namespace ?? "")));
  const keeping = clusters.filter((cluster) => having.has(cluster));
  if (keeping.length === 0) return `${clusters.length === 1 ? "it gets" : "they get"} no copy`;
  if (keeping.length < clusters.length)
    return `${listOf(keeping)} ${keeping.length === 1 ? "keeps its current copy" : "keep their current copies"}, and the others get none`;
  return clusters.length === 1 ? "it keeps its current copy" : "they keep their current copies";
}

/** A binding may target thousands of clusters; the first few names are enough. */
const MAX_NAMES = 10;

export function listOf(clusters: readonly string[]): string {
  return `${clusters.slice(0, MAX_NAMES).join(", ")}${clusters.length > MAX_NAMES ? ` and ${clusters.length - MAX_NAMES} more` : ""}`;
}
