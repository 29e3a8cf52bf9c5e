/**
 * Aggregate combines the members' statuses onto the binding and the template, so that `kubectl get` on the hub shows
 * the fleet.
 *
 * Reads: ResourceBinding or ClusterResourceBinding, its Works, its template and its release; whether Clusters are ready.
 * Writes: `aggregatedStatus` and the conditions `FullyApplied`, `Healthy`, `Stale` and `Released` of the binding; the
 * template's status.
 * Before: reflect filled the Works' status. After: nothing; this is the last stage of the status flow.
 */
import { Cluster, Work } from "@flotilla/karmada";
import { findCondition } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import { formatTime } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { DISPATCHED } from "../../flotilla-names.ts";
import { progressTiming, SETTLED_TIMING } from "../../delivery/status-timing.ts";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { findLeftOut, planLeftOut } from "./plan-left-out.ts";
import { InterpretError } from "@flotilla/kubernetes";
import type { StatusItem } from "@flotilla/kubernetes";
import { defineController, done, keyOf, watch } from "@flotilla/controller-runtime";
import type { Controller, Informer, Lister, ObjectEvent, Source, StatusWriter } from "@flotilla/controller-runtime";
import { bindingKeyOf, isAtHome, stageName } from "../bindings/binding-scope.ts";
import type { BindingScope } from "../bindings/binding-scope.ts";
import { whyAway } from "../members/member-away.ts";
import type { ReportRuleFailure } from "../rules/rule-failures.ts";
import { RELIST_RETRY_MS } from "../templates/templates.ts";
import type { Templates } from "../templates/templates.ts";
import { jobItems, keepCounters } from "../jobs/job-items.ts";
import { countUpdated, planReleased, withoutKept, withReleaseRevisions } from "./count-release.ts";
import type { ReleaseStandingOf } from "./count-release.ts";
import { itemsOfTargets, planConditions } from "./plan-conditions.ts";
import {
  aggregatesInMs,
  areAllRead,
  isBehind,
  keepsFinalReports,
  planAggregation,
  planFailedRules,
  planItems,
  planLeftAlone,
  planReports,
  planStale,
  planVerdicts,
  takeStatus,
  withFinalReports,
} from "./plan-aggregation.ts";
import type { FailedRule } from "./plan-aggregation.ts";

export interface AggregateDependencies {
  scope: BindingScope;
  bindings: Informer<ResourceBinding>;
  clusters: Lister<Cluster>;
  worksOf(binding: DeepReadonly<ResourceBinding>): readonly DeepReadonly<Work>[];
  /** Deleted Works whose object a finalizer holds on a target of the binding; `own` are its Works. */
  heldWorksOf(
    binding: DeepReadonly<ResourceBinding>,
    own: readonly DeepReadonly<Work>[],
  ): readonly DeepReadonly<Work>[];
  templates: Pick<Templates, "get" | "kindOf">;
  /** Keys of the bindings whose template changed, its status included. */
  templateChanges: Source<ObjectKey>;
  releaseOf?: ReleaseStandingOf | undefined;
  /** Keys of the bindings whose release is at another point. */
  releaseChanges?: Source<ObjectKey> | undefined;
  interpreter: Pick<Interpreter, "aggregateStatus" | "conditionSums" | "ownerOf">;
  /** Bindings whose interpreter rules changed. */
  ruleChanges: Source<ObjectKey>;
  reportRuleFailure: ReportRuleFailure;
  /** Reports, once, that the kind of this template has no status subresource. */
  reportNoStatus(template: DeepReadonly<KubernetesObject>, binding: DeepReadonly<ResourceBinding>): void;
  bindingStatus: StatusWriter<ResourceBinding>;
  /** The writer for templates of this kind. */
  templateStatus(ref: { apiVersion: string; kind: string }): Promise<StatusWriter<KubernetesObject>>;
  clock: Clock;
}

const CONCURRENCY = 64;
/** Of the parts of a status. */
const OWNER = "aggregate";
/** Bindings by the members whose numbers they have. */
const BY_REPORT = "aggregate.report";
/** Rules that run for the member's object. */
const MEMBER_RULES = ["ReflectStatusFailed", "InterpretHealthFailed"] as const;

function changesDispatched({ old, object }: ObjectEvent<ResourceBinding>): boolean {
  const [before, after] = [old, object].map((binding) => findCondition(binding?.status?.conditions, DISPATCHED));
  return before?.status !== after?.status || before?.reason !== after?.reason;
}

export function createAggregateController(deps: AggregateDependencies): Controller<ObjectKey> {
  deps.bindings.addIndex(BY_REPORT, ({ status }) =>
    (status?.aggregatedStatus ?? []).flatMap(({ clusterName, status: reported }) => (reported ? [clusterName] : [])),
  );

  function awayMembers(hub: string, items: readonly StatusItem[]): ReadonlyMap<string, string> {
    const away = new Map<string, string>();
    for (const { clusterName: name, status } of items) {
      const why = status ? whyAway(deps.clusters.get({ cluster: hub, name })) : undefined;
      if (why !== undefined) away.set(name, why);
    }
    return away;
  }

  async function sum(
    template: DeepReadonly<KubernetesObject>,
    items: readonly StatusItem[],
  ): Promise<DeepReadonly<KubernetesObject> | undefined> {
    try {
      const summed = await deps.interpreter.aggregateStatus(template, items);
      deps.reportRuleFailure.over(template, "AggregateStatusFailed");
      return summed;
    } catch (error) {
      deps.reportRuleFailure(template, "AggregateStatusFailed", error);
      throw error;
    }
  }

  /**
   * Rules that failed on a member's object are reported on the template too, where its owner looks. A Work has the first
   * rule that fails only, so the others are known to work when none fails.
   */
  function reportMembersRules(
    template: DeepReadonly<KubernetesObject>,
    failed: readonly FailedRule[],
    isAllRead: boolean,
  ): void {
    for (const rule of MEMBER_RULES) {
      const first = failed.find(({ reason }) => reason === rule);
      if (first) deps.reportRuleFailure(template, rule, new InterpretError(`on ${first.cluster}: ${first.message}`));
      else if (failed.length === 0 && isAllRead) deps.reportRuleFailure.over(template, rule);
    }
  }

  return defineController({
    name: stageName("aggregate", deps.scope),
    for: deps.scope.kind,
    // One write may have the parts of several owners. Of the others', the sum depends on the condition of dispatch.
    concerns: (event) => !deps.bindingStatus.wrote(event, OWNER) || changesDispatched(event),
    watches: [
      { source: deps.ruleChanges },
      // A status that another client overwrote is restored.
      { source: deps.templateChanges },
      ...(deps.releaseChanges ? [{ source: deps.releaseChanges }] : []),
      // Its numbers are stale, or current again.
      watch(Cluster, ({ cluster: hub, object, old }) =>
        old && whyAway(old) !== whyAway(object)
          ? deps.bindings.by(BY_REPORT, object.metadata.name).map((binding) => keyOf(hub, binding))
          : [],
      ),
      watch(Work, ({ cluster, object }) => {
        const key = bindingKeyOf(deps.scope, cluster, object);
        return key ? [key] : [];
      }),
    ],
    writes: [deps.scope.kind],
    concurrency: CONCURRENCY,

    async reconcile(binding, { key }) {
      if (binding.metadata.deletionTimestamp || !isAtHome(binding)) return done;
      const works = deps.worksOf(binding);
      const held = deps.heldWorksOf(binding, works);
      const all = [...works.filter((work) => !held.includes(work)), ...held];
      const firstInMs = aggregatesInMs(binding, all, deps.clock.now());
      if (firstInMs === undefined) return done;
      if (firstInMs > 0) return { requeueAfterMs: firstInMs };
      const reported = planItems(works, held);
      const template = await deps.templates.get(binding.spec.resource);
      const items = keepsFinalReports(binding, template) ? withFinalReports(binding, reported) : reported;
      // Members report no status for a ConfigMap, so none is missing on it.
      const hadReports = binding.status?.aggregatedStatus?.some(({ status }) => status);
      const now = formatTime(deps.clock.now());
      // A failure is reported at once, and so is the end of a rollout; intermediate states may be delayed.
      const isSettled = items.some(({ applied }) => !applied) || items.every(({ health }) => health === "Healthy");
      const progress = progressTiming(binding.status?.aggregatedStatus === undefined);
      const timing = isSettled ? SETTLED_TIMING : progress;
      const leftAlone = planLeftAlone(works);
      const failedRules = planFailedRules(binding, works);
      const aggregation = {
        items,
        verdicts: planVerdicts(binding, works),
        stale: planStale(works, awayMembers(key.cluster, items)),
        leftAlone,
      };
      if (planAggregation(binding, aggregation, now) !== binding)
        deps.bindingStatus.set(key, OWNER, (newest) => planAggregation(newest, aggregation, now), timing);
      if (template === "unknown") return { requeueAfterMs: RELIST_RETRY_MS };
      if (!template || template.metadata.uid !== binding.spec.resource.uid) return done;
      reportMembersRules(template, failedRules, areAllRead(binding, works));
      const leftOut = findLeftOut(binding, template, planReports(works), deps.interpreter);
      if (planLeftOut(binding, leftOut, now) !== binding)
        deps.bindingStatus.set(key, "aggregate-complete", (newest) => planLeftOut(newest, leftOut, now));
      const found = deps.releaseOf?.(template);
      const release = found === "pending" ? undefined : found;
      if (found !== "pending" && planReleased(binding, template, release, now) !== binding)
        deps.bindingStatus.set(key, "aggregate-release", (newest) => planReleased(newest, template, release, now));
      if (!(await deps.templates.kindOf(binding.spec.resource)).subresources.status) {
        // Written as an ordinary field it would be a new version of the template, and every status report a rollout.
        if (!hadReports && items.some(({ status }) => status)) deps.reportNoStatus(template, binding);
        return done;
      }
      const more = jobItems(binding, template, works, now);
      const updated = withoutKept(release ? countUpdated(items, works, release) : items, works);
      const summedItems = await sum(template, [...updated, ...more]);
      const counted = summedItems && found !== "pending" ? withReleaseRevisions(summedItems, release) : summedItems;
      const sums = counted && deps.interpreter.conditionSums("aggregateStatus", template);
      const awaited = itemsOfTargets(binding, items).filter(({ clusterName }) => !leftAlone.has(clusterName));
      const summed = sums
        ? planConditions(template, counted, { sums, items: [...awaited, ...more], release, now })
        : counted;
      if (summed && summed !== template) {
        const writer = await deps.templateStatus(binding.spec.resource);
        const { namespace, name } = template.metadata;
        // A rule of a user decides for itself.
        const isOurs = deps.interpreter.ownerOf("aggregateStatus", template) === undefined;
        writer.set(
          { cluster: key.cluster, namespace: namespace || undefined, name },
          OWNER,
          (newest) => takeStatus(newest, template, isOurs ? keepCounters(newest, summed) : summed),
          isBehind(summed) ? progress : timing,
        );
      }
      return done;
    },
  });
}
