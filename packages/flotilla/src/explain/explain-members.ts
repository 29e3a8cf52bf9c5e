/**
 * Explains each member: its share of the replicas, how division and overrides changed the template, and the delivery
 * result.
 */
import { findCondition, isConditionTrue } from "@flotilla/apimachinery";
import type { Cluster, Work } from "@flotilla/karmada";
import { isObject, messageOf } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import {
  HorizontalPodAutoscaler,
  InterpretError,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "@flotilla/kubernetes";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { Interpreter } from "../interpreter/interpreter.ts";
import { DRIFTED } from "../propagation/execute/plan-drift.ts";
import { fieldsOfMembers, isUndivided, jobPlanOf, withCompletions } from "../propagation/dispatch/plan-dispatch.ts";
import { concernedBindings } from "../propagation/concerns/concerned-bindings.ts";
import { withOwnPods } from "../propagation/pods-to-delete/member-pods.ts";
import { namedPodsOf } from "../propagation/pods-to-delete/named-pods.ts";
import type { JobPlan } from "../propagation/jobs/plan-job.ts";
import { whyAway } from "../propagation/members/member-away.ts";
import { whyStale } from "../propagation/works/stale-numbers.ts";
import { limitsOnMember } from "../propagation/execute/release-limit.ts";
import { ROLLOUT_STAGE } from "@flotilla/openkruise";
import type { MemberReader } from "../membership/member-reader.ts";
import { blindOverriders } from "../propagation/override/blind-overriders.ts";
import { OverrideError } from "../propagation/override/override-error.ts";
import type { AppliedOverride } from "../propagation/override/plan-overrides.ts";
import { releaseCopies } from "../propagation/dispatch/release-copies.ts";
import type { TemplateRelease } from "../propagation/dispatch/release-copies.ts";
import { planDivision } from "../propagation/dispatch/plan-works.ts";
import type { PlanningViews } from "../propagation/planning-views.ts";
import type { Template } from "../propagation/templates/templates.ts";
import type { ReleaseIndex } from "../rollout/release-index.ts";
import { isBookkeeping } from "./explain-bookkeeping.ts";
import type { ExplainedMember } from "./explanation.ts";
import { uncalledWebhookIn } from "./delivery-problem.ts";
import { fieldsSetByRule } from "./plan-retained.ts";
import { autoscalerOf, replicasOf } from "./left-to-autoscaler.ts";
import { compareFields, type FieldChange } from "../fields/field-changes.ts";
import type { Binding } from "./planned-binding.ts";
import { clusterNameOf } from "@flotilla/karmada";
import { HEALTHY, RULE_FAILURES } from "../health/healthy-condition.ts";
import { heldPods } from "../health/why-unhealthy.ts";

type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

export interface ExplainMembersDependencies {
  views: PlanningViews;
  releases?: Pick<ReleaseIndex, "of"> | undefined;
  interpreter: Pick<Interpreter, "divide" | "retain" | "reflectStatus" | "health" | "retainedFields" | "ownerOf">;
  readMember: MemberReader;
}

/** What the binding says of a member. */
type Reported = NonNullable<NonNullable<Binding["status"]>["aggregatedStatus"]>[number];

/** A binding may target thousands of clusters; only the first hundred are explained individually. */
const MAX_MEMBERS = 100;

export async function explainMembers(
  { views, releases, interpreter, readMember }: ExplainMembersDependencies,
  binding: Binding,
  template: Template,
  now: string,
): Promise<ExplainedMember[]> {
  const works = views.worksOf(binding);
  const { memberDecides } = await fieldsOfMembers(template, interpreter);
  const found = await concernedBindings(views, template);
  // Dispatch waits for those that are not listed yet; until then the copies are shown as without them.
  const concerned = found === "unknown" ? [] : found;
  const { bare, shares } = planDivision(binding, template, { works, memberDecides, concerned });
  const release = releases?.of(template);
  const divided =
    isUndivided(binding) && typeof release !== "object"
      ? new Map(shares.map(({ cluster }) => [cluster, bare]))
      : await divide(interpreter, bare, shares, { job: jobPlanOf(binding, template, works, now), release });
  const copies = divided instanceof Error ? divided : withOwnPods(divided, namedPodsOf(binding));
  const workOf = new Map(
    [...works, ...views.heldWorksOf(binding, works)].map((work) => [
      clusterNameOf(work.metadata.namespace ?? ""),
      work,
    ]),
  );
  const said = new Map(binding.status?.aggregatedStatus?.map((item) => [item.clusterName, item]));
  const explained = shares.slice(0, MAX_MEMBERS).map(async ({ cluster, replicas, leaving }) => {
    const copy = copies instanceof Error ? undefined : copies.get(cluster);
    const item = said.get(cluster);
    const message =
      item?.appliedMessage ||
      (copies instanceof Error ? copies.message : undefined) ||
      deliveryMessage(workOf.get(cluster));
    return {
      cluster,
      replicas: binding.spec.replicas !== undefined ? replicas : undefined,
      state: leaving ? ("leaving" as const) : ("target" as const),
      divided: copy ? compareFields(bare, copy, isBookkeeping).fields : [],
      ...overrides(views, copy, leaving ? undefined : cluster),
      applied: wasTried(workOf.get(cluster)) ? item?.applied : undefined,
      reason: item?.applied === false ? reasonOf(workOf.get(cluster)) : undefined,
      health: item?.health,
      ...unhealthyOf(workOf.get(cluster), item),
      held: item?.health === "Unhealthy" ? heldOn(workOf.get(cluster), item.status) : undefined,
      message: message || undefined,
      status: isObject(item?.status) ? item.status : undefined,
      stale:
        item?.status && isStale(workOf.get(cluster), views.clusters.get({ cluster: views.hub, name: cluster }))
          ? true
          : undefined,
      ...driftOf(workOf.get(cluster)),
      ...(await onMember({ interpreter, readMember }, cluster, workOf.get(cluster))),
      ...(await autoscaled(readMember, cluster, workOf.get(cluster), item?.status)),
      ...(await uncalledWebhook(readMember, cluster, item)),
    };
  });
  return Promise.all(explained);
}

/** The copy says how pods are updated, and the report how many are. */
function heldOn(work: DeepReadonly<Work> | undefined, status: unknown): string | undefined {
  const copy = copyIn(work);
  return copy && isObject(status) ? heldPods({ ...copy, status } as DeepReadonly<KubernetesObject>) : undefined;
}

/**
 * What the member has instead of what its copy asks for, and the rules that fail for it. Members are asked where users'
 * rules decide, or where the copy is part of a release: otherwise a difference is drift, which the Work reports.
 */
async function onMember(
  { interpreter, readMember }: Pick<ExplainMembersDependencies, "interpreter" | "readMember">,
  cluster: string,
  work: DeepReadonly<Work> | undefined,
): Promise<Pick<ExplainedMember, "onMember" | "ruleGives" | "onMemberBy" | "ruleSets" | "failedRules">> {
  const copy = copyIn(work);
  const isRuled = copy && MEMBER_RULES.some((rule) => interpreter.ownerOf(rule, copy) !== undefined);
  if (!copy || (!isRuled && copy.metadata.annotations?.[ROLLOUT_STAGE] === undefined)) return {};
  const observed = await readMember.get(cluster, copy);
  if (!observed) return {};
  const failed: string[] = [];
  const attempt = async <T>(run: Promise<T>): Promise<T | undefined> => {
    try {
      return await run;
    } catch (error) {
      if (!(error instanceof InterpretError)) throw error;
      failed.push(error.message);
      return undefined;
    }
  };
  const retained = (await attempt(interpreter.retain(copy, observed))) ?? copy;
  await attempt(interpreter.reflectStatus(observed));
  await attempt(interpreter.health(observed));
  // The copy has no opinion on fields that it does not set.
  const kept = compareFields(copy, retained, isBookkeeping).fields.filter(({ before }) => before !== undefined);
  // A rule may give a value that the member does not have until the hub next writes the copy.
  const isKept = ({ path }: FieldChange): boolean => kept.some((field) => field.path === path);
  const given = compareFields(observed, retained, isBookkeeping).fields.filter(isKept);
  const has = compareFields(copy, observed, isBookkeeping).fields.filter(isKept);
  const fields = kept.length > 0 ? has : limitsOnMember(copy, observed);
  const set = kept.length > 0 ? ((await attempt(fieldsSetByRule(copy, interpreter))) ?? []) : [];
  const ruleSets = set.map(({ path }) => path).filter((path) => kept.some((field) => field.path === path));
  return {
    onMember: fields.length > 0 ? fields : undefined,
    ruleGives: given.length > 0 ? given : undefined,
    onMemberBy: kept.length > 0 ? interpreter.ownerOf("retain", copy) : undefined,
    ruleSets: ruleSets.length > 0 ? ruleSets : undefined,
    failedRules: failed.length > 0 ? failed : undefined,
  };
}

/** A member whose object has other replicas than its copy is asked whether an autoscaler decides them. */
async function autoscaled(
  readMember: MemberReader,
  cluster: string,
  work: DeepReadonly<Work> | undefined,
  status: unknown,
): Promise<Pick<ExplainedMember, "autoscaler">> {
  const copy = copyIn(work);
  const ours = replicasOf(copy);
  // A status omits the number when it is 0.
  const reported = isObject(status) ? (status["replicas"] ?? 0) : undefined;
  if (!copy || ours === undefined || typeof reported !== "number" || reported === ours) return {};
  const { apiVersion, kind, metadata } = copy;
  const [observed, autoscalers] = await Promise.all([
    readMember.get(cluster, copy),
    readMember.list(cluster, HorizontalPodAutoscaler, metadata.namespace),
  ]);
  const autoscaler = autoscalerOf({ apiVersion, kind, name: metadata.name }, autoscalers);
  const theirs = replicasOf(observed);
  if (autoscaler === undefined || theirs === undefined || theirs === ours) return {};
  return { autoscaler: { name: autoscaler, asked: ours, replicas: theirs } };
}

const copyIn = (work: DeepReadonly<Work> | undefined): Template | undefined =>
  work?.spec.workload?.manifests?.[0] as unknown as Template | undefined;

/** The configuration of the webhook that the member could not call. */
async function uncalledWebhook(
  readMember: MemberReader,
  cluster: string,
  item: Reported | undefined,
): Promise<Pick<ExplainedMember, "webhookConfiguration">> {
  const webhook = item?.applied === false ? uncalledWebhookIn(item.appliedMessage) : undefined;
  if (webhook === undefined) return {};
  const lists = await Promise.all(
    [MutatingWebhookConfiguration, ValidatingWebhookConfiguration].map(async (kind) =>
      (await readMember.list(cluster, kind as Kind<WebhookConfiguration>)).map((each) => ({
        ...each,
        kind: kind.kind,
      })),
    ),
  );
  const found = lists.flat().find(({ webhooks }) => webhooks?.some(({ name }) => name === webhook));
  return { webhookConfiguration: found && `${found.kind} ${found.metadata.name}` };
}

/** The rules that run for a member's object. */
const MEMBER_RULES = ["retain", "reflectStatus", "isHealthy"] as const;

async function divide(
  interpreter: Pick<Interpreter, "divide">,
  bare: Template,
  shares: Parameters<Interpreter["divide"]>[1],
  { job, release }: { job: JobPlan | undefined; release: TemplateRelease | "pending" | undefined },
): Promise<ReadonlyMap<string, Template> | InterpretError> {
  try {
    if (typeof release === "object")
      return await releaseCopies(bare, shares, release, (...what) => interpreter.divide(...what));
    return withCompletions(await interpreter.divide(bare, shares), job);
  } catch (error) {
    if (error instanceof InterpretError) return error;
    throw error;
  }
}

function overrides(
  views: PlanningViews,
  copy: Template | undefined,
  cluster: string | undefined,
): Pick<ExplainedMember, "overridden" | "overridePolicies" | "blindOverrides" | "message"> {
  if (!copy || cluster === undefined) return { overridden: [], overridePolicies: [] };
  try {
    const { object, appliedClusterOverrides, appliedOverrides } = views.render(copy, cluster);
    const rules = [...rulesIn(appliedClusterOverrides), ...rulesIn(appliedOverrides)];
    const blind = rules.flatMap(({ policyName, overriders }) =>
      blindOverriders(copy as unknown as JsonObject, overriders).map(
        (text) => `override policy ${policyName} has no effect: ${text}`,
      ),
    );
    return {
      overridden: compareFields(copy, object, isBookkeeping).fields,
      overridePolicies: [...new Set(rules.map(({ policyName }) => policyName))],
      blindOverrides: blind.length > 0 ? blind : undefined,
    };
  } catch (error) {
    if (!(error instanceof OverrideError)) throw error;
    return { overridden: [], overridePolicies: [], message: messageOf(error) };
  }
}

/** The annotation in which override policies are recorded on a Work. */
const rulesIn = (applied: string | undefined): AppliedOverride[] =>
  applied === undefined ? [] : (JSON.parse(applied) as AppliedOverride[]);

function deliveryMessage(work: DeepReadonly<Work> | undefined): string | undefined {
  if (!work) return undefined;
  const conditions = work.status?.conditions ?? [];
  const failed = findCondition(conditions, "Applied");
  if (failed?.status === "False") return failed.message;
  const released = findCondition(conditions, "Managed");
  return released?.status === "False" ? released.message : undefined;
}

/** A Work that was never dispatched is neither applied nor rejected. */
const wasTried = (work: DeepReadonly<Work> | undefined): boolean =>
  work === undefined || findCondition(work.status?.conditions ?? [], "Applied") !== undefined;

/** A member that has not applied the latest copy may run an earlier one. */
const isReported = (work: DeepReadonly<Work> | undefined): boolean =>
  isConditionTrue(work?.status?.conditions, "Applied") || Boolean(work?.status?.manifestStatuses?.length);

const isStale = (work: DeepReadonly<Work> | undefined, cluster: DeepReadonly<Cluster> | undefined): boolean =>
  (work ? whyStale(work, whyAway(cluster)) : whyAway(cluster)) !== undefined;

function reasonOf(work: DeepReadonly<Work> | undefined): string | undefined {
  const applied = findCondition(work?.status?.conditions ?? [], "Applied");
  return applied?.status === "False" ? applied.reason : undefined;
}

function unhealthyOf(
  work: DeepReadonly<Work> | undefined,
  item: Reported | undefined,
): Pick<ExplainedMember, "unhealthy" | "unhealthySince" | "unhealthyReason" | "failedRule"> {
  if (!item || !isReported(work)) return {};
  const condition = findCondition(work?.status?.conditions ?? [], HEALTHY);
  // Another program's agent reports the verdict of the rule only.
  if (!condition) return item.health === "Unhealthy" ? { unhealthy: "its kind's health rule says Unhealthy" } : {};
  if (condition.status === "True") return {};
  return {
    unhealthy: condition.message,
    unhealthySince: condition.lastTransitionTime,
    unhealthyReason: condition.reason,
    failedRule: RULE_FAILURES.has(condition.reason) ? condition.reason.replace(/Failed$/, "") : undefined,
  };
}

function driftOf(work: DeepReadonly<Work> | undefined): Pick<ExplainedMember, "drift"> {
  const drifted = findCondition(work?.status?.conditions ?? [], DRIFTED);
  return drifted && drifted.reason !== "NoDrift" ? { drift: `${drifted.reason}: ${drifted.message ?? ""}` } : {};
}
