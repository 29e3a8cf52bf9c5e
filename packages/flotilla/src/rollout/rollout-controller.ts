/**
 * Rollout carries a release out: it opens waves and gates, gives members their revision within the budget, and stops or
 * returns when something fails. `plan/` decides; here it is read, asked and written.
 *
 * Reads: FleetRollout, Rollout, ResourceBinding, its template, Work, Cluster, FleetDisruptionBudget; pods of members that update.
 * Writes: the status of FleetRollouts. Before: releases records them. After: dispatch makes the copies.
 */
import { formatLabelSelector, labelSelectorOf } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, isObject } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineController, done, idOfKey, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informer, Lister, Source } from "@flotilla/controller-runtime";
import { clusterNameOf, Cluster, ResourceBinding, Work } from "@flotilla/karmada";
import type { Pod } from "@flotilla/kubernetes";
import { Rollout as KruiseRollout } from "@flotilla/openkruise";
import type { DecisionRecorder } from "../decisions/decision-recorder.ts";
import { bindingKeyOf, namespacedScope } from "../propagation/bindings/binding-scope.ts";
import { hasPartition, takesDown } from "../propagation/dispatch/release-copies.ts";
import { whyAway } from "../propagation/members/member-away.ts";
import type { Templates } from "../propagation/templates/templates.ts";
import { RELIST_RETRY_MS } from "../propagation/templates/templates.ts";
import { FleetDisruptionBudget } from "./kinds/fleet-disruption-budget.ts";
import { FleetRollout } from "./kinds/fleet-rollout.ts";
import type { GateStatus } from "./kinds/fleet-rollout.ts";
import { bindingsOfLead } from "./kruise/lead-keys.ts";
import { steered } from "./kruise/steer-release.ts";
import { leavingPods, observeMembers } from "./observe-members.ts";
import { planReleaseStep } from "./plan/plan-release-step.ts";
import { NO_STRATEGY } from "./plan/release.ts";
import { sameRevision } from "./plan/plan-releases.ts";
import type { ReleasePlan, Updates } from "./plan/release-state.ts";
import { actorOf } from "./rollout-admissions.ts";
import { podTrouble } from "./pod-trouble.ts";
import { bindingKeyOfRollout, isFinished } from "./release-index.ts";
import type { ReleaseIndex } from "./release-index.ts";

type Rollout = DeepReadonly<FleetRollout>;
type Template = DeepReadonly<KubernetesObject>;

/** Asks what is not known from objects of the hub. */
export interface AskGates {
  /** The newest answers of the gates of a release; starts what is due, and calls `changed` when an answer arrives. */
  answersOf(rollout: Rollout, context: { template: Template; clusters: readonly string[] }): readonly GateStatus[];
  /** When the next question is due. */
  againInMs(rollout: Rollout): number | undefined;
  forget(key: ObjectKey): void;
}

/** The budgets that a template draws from. */
interface DrawBudget {
  /** The pods that the template may have unavailable in all; undefined without a budget. */
  allowanceOf(template: Template, holder: string): { pods: number; name: string } | undefined;
  /** Records what a holder draws, before it does; false if the budget changed meanwhile. */
  claim(template: Template, holder: string, pods: number, signal: AbortSignal): Promise<boolean>;
}

export interface RolloutDependencies {
  hub: string;
  client: Client;
  bindings: Lister<ResourceBinding>;
  clusters: Lister<Cluster>;
  rollouts: Informer<FleetRollout>;
  leads: Lister<KruiseRollout>;
  worksOf(binding: DeepReadonly<ResourceBinding>): readonly DeepReadonly<Work>[];
  templates: Pick<Templates, "get">;
  index: ReleaseIndex;
  /** Pods of a workload on a member; undefined if they cannot be read. */
  readPods(
    cluster: string,
    namespace: string,
    labelSelector: string,
    signal: AbortSignal,
  ): Promise<readonly DeepReadonly<Pod>[] | undefined>;
  gates?: AskGates | undefined;
  budgets?: DrawBudget | undefined;
  /** FleetRollouts whose gates were answered. */
  answered: Source<ObjectKey>;
  events: EventRecorder;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
}

/** How often pods of a member that has not finished are looked at. */
const PODS_POLL_MS = 2_000;
/** For a strategy that was removed from the object by hand. */
const DEFAULT_RESTARTS = NO_STRATEGY.failure.maxRestarts;
/** Members of one release whose pods are read at a time. */
const MAX_POD_READS = 16;

const holderOf = ({ metadata }: Rollout): string => `FleetRollout ${metadata.name}`;

export function createRolloutController(deps: RolloutDependencies): Controller<ObjectKey> {
  const { hub, client, bindings, clusters, rollouts, worksOf, templates, index, clock } = deps;

  const newestOf = (key: ObjectKey): ObjectKey[] => {
    const binding = bindings.get(key);
    if (!binding) return [];
    const { apiVersion, kind, name, namespace, uid } = binding.spec.resource;
    const reference = { apiVersion, kind, metadata: { name, namespace, uid } } as Template;
    const [newest] = index.rolloutsOf(reference);
    return newest ? [keyOf(hub, newest)] : [];
  };

  const leadOf = ({ metadata, spec: { rolloutName } }: Rollout) =>
    rolloutName === undefined
      ? undefined
      : deps.leads.get({ cluster: hub, namespace: metadata.namespace ?? "", name: rolloutName });

  return defineController({
    name: "rollout",
    for: FleetRollout,
    watches: [
      { source: deps.answered },
      watch(Work, ({ cluster, object }) => {
        if (rollouts.isEmpty) return [];
        const key = bindingKeyOf(namespacedScope, cluster, object);
        return key && clusterNameOf(object.metadata.namespace ?? "") !== undefined ? newestOf(key) : [];
      }),
      watch(ResourceBinding, ({ cluster, object, old }) =>
        old && equalJson((old.spec.clusters ?? []) as never, (object.spec.clusters ?? []) as never)
          ? []
          : newestOf(keyOf(cluster, object)),
      ),
      watch(Cluster, ({ cluster, object, old, deleted }) =>
        deleted ||
        !old ||
        whyAway(old) !== whyAway(object) ||
        !equalJson((old.metadata.labels ?? {}) as never, (object.metadata.labels ?? {}) as never)
          ? rollouts
              .list({ cluster })
              .filter(
                (rollout) =>
                  rollout.status?.clusters?.some(({ name }) => name === object.metadata.name) && !isSettled(rollout),
              )
              .map((rollout) => keyOf(cluster, rollout))
          : [],
      ),
      watch(FleetDisruptionBudget, ({ cluster, object, old }) =>
        old && old.status?.allowed === object.status?.allowed && old.metadata.generation === object.metadata.generation
          ? []
          : rollouts
              .list({ cluster, namespace: object.metadata.namespace })
              .filter(({ status }) => status?.phase === "Progressing" || status?.phase === "RollingBack")
              .map((rollout) => keyOf(cluster, rollout)),
      ),
      watch(KruiseRollout, ({ cluster, object, old, deleted }) =>
        bindingsOfLead(cluster, object, deleted ? undefined : old).flatMap(newestOf),
      ),
      // A newer release ends the one before.
      watch(FleetRollout, ({ cluster, object, old }) =>
        old
          ? []
          : newestOf(bindingKeyOfRollout(cluster, object)).concat(
              index
                .rolloutsOf({
                  apiVersion: object.spec.target.apiVersion,
                  kind: object.spec.target.kind,
                  metadata: {
                    name: object.spec.target.name,
                    namespace: object.metadata.namespace,
                    uid: object.spec.target.uid,
                  },
                })
                .slice(1, 2)
                .map((each) => keyOf(cluster, each)),
            ),
      ),
    ],
    writes: [FleetRollout],
    concurrency: 32,

    async reconcile(stored, { key, log, signal }) {
      const rollout = steered(stored, leadOf(stored));
      if (rollout.spec.source !== "Strategy" || rollout.metadata.deletionTimestamp) return done;
      const binding = bindings.get(bindingKeyOfRollout(key.cluster, rollout));
      if (!binding) return done;
      const template = await templates.get(binding.spec.resource);
      if (template === "unknown") return { requeueAfterMs: RELIST_RETRY_MS };
      if (!template || (rollout.spec.target.uid !== undefined && rollout.spec.target.uid !== template.metadata.uid))
        return done;
      const [newest] = index.rolloutsOf(template);
      const newer = newest && newest.metadata.name !== rollout.metadata.name ? newest.metadata.name : undefined;
      if (newer !== undefined && isFinished(rollout)) return done;
      const updates: Updates = { hasPartition: hasPartition(template), takesDown: takesDown(template) };
      // What members have is what the release before gave them, finished or not.
      const before = index.rolloutsOf(template)[1];
      const inherited = rollout.status?.clusters ? undefined : before?.status?.clusters;
      const entries = rollout.status?.clusters ?? inherited ?? [];
      const works = worksOf(binding);
      const clusterOf = (name: string) => clusters.get({ cluster: hub, name });
      const first = observeMembers({ binding, template, works, clusterOf, entries, updates });
      const needsPods =
        updates.takesDown !== "none" && first.some(({ updated, ready, size }) => ready < updated || updated < size);
      const trouble = needsPods ? await findTroubles(deps, { rollout, template, works }, signal) : undefined;
      const members = trouble?.size ? first.map((member) => ({ ...member, trouble: trouble.get(member.name) })) : first;
      const holder = holderOf(rollout);
      const plan = planReleaseStep({
        rollout,
        members,
        updates,
        leaving: updates.hasPartition ? leavingPods({ binding, works, clusterOf }, rollout.metadata.name) : undefined,
        newer,
        inherited: inherited as NonNullable<FleetRollout["status"]>["clusters"],
        same: sameRevision(rollout, index.rolloutsOf(template)),
        allowance: deps.budgets?.allowanceOf(template, holder),
        actorOf: (did, wave) => actorOf(rollout, did, wave),
        answers: deps.gates?.answersOf(rollout, { template, clusters: members.map(({ name }) => name) }),
        nowMs: clock.now(),
      });
      const drawn = rollout.status?.unavailable ?? 0;
      if (plan.booked > drawn && !(await (deps.budgets?.claim(template, holder, plan.booked, signal) ?? true)))
        return { requeueAfterMs: RELIST_RETRY_MS };
      if (!equalJson(plan.status as never, (rollout.status ?? null) as never)) {
        const next = { ...stored, status: plan.status } as Rollout;
        const written = await unlessChanged(client.updateStatus(FleetRollout, hub, next, { signal }));
        // Its event enqueues the key again.
        if (!written) return done;
        report(deps, rollout, template, plan);
        if (plan.events.length > 0)
          log.info("release", { key: idOfKey(key), phase: plan.status.phase, wave: plan.status.wave });
      }
      if (plan.booked < drawn) await deps.budgets?.claim(template, holder, plan.booked, signal);
      const pollMs = needsPods && plan.status.phase === "Progressing" ? PODS_POLL_MS : undefined;
      const delays = [plan.againInMs, pollMs, deps.gates?.againInMs(rollout)].filter((each) => each !== undefined);
      return delays.length > 0 ? { requeueAfterMs: Math.min(...delays) } : done;
    },

    forget(key) {
      deps.gates?.forget(key);
    },
  });
}

/** What is wrong with pods of the release, by the member that has not finished. */
async function findTroubles(
  { readPods }: Pick<RolloutDependencies, "readPods">,
  { rollout, template, works }: { rollout: Rollout; template: Template; works: readonly DeepReadonly<Work>[] },
  signal: AbortSignal,
): Promise<Map<string, { pods: number; message: string }>> {
  const found = new Map<string, { pods: number; message: string }>();
  const maxRestarts = rollout.spec.strategy?.failure.maxRestarts ?? DEFAULT_RESTARTS;
  const selector = selectorOf(template);
  if (selector === undefined || rollout.status?.phase !== "Progressing") return found;
  const workOf = new Map(works.map((work) => [clusterNameOf(work.metadata.namespace ?? ""), work]));
  const open = (rollout.status.clusters ?? []).filter(
    ({ revision, state, kept }) =>
      // The update revision of a copy that keeps pods is that of the others.
      kept === undefined && revision === rollout.metadata.name && (state === "Updating" || state === "Unhealthy"),
  );
  await Promise.all(
    open.slice(0, MAX_POD_READS).map(async ({ name }) => {
      const { spec, status } = workOf.get(name) ?? {};
      const copy = spec?.workload?.manifests?.[0] as Template | undefined;
      const pods = copy && (await readPods(name, rollout.metadata.namespace ?? "", selector, signal));
      if (!pods) return;
      const reported = status?.manifestStatuses?.[0]?.status;
      const updateRevision = isObject(reported) ? reported["updateRevision"] : undefined;
      const trouble = podTrouble(pods, {
        copy,
        updateRevision: typeof updateRevision === "string" ? updateRevision : undefined,
        maxRestarts,
      });
      if (trouble) found.set(name, trouble);
    }),
  );
  return found;
}

/** Events on the release and its workload, and decisions. */
function report(deps: RolloutDependencies, rollout: Rollout, template: Template, plan: ReleasePlan): void {
  const { hub, events, recorder } = deps;
  for (const { type, reason, message, clusters: names } of plan.events) {
    events.record(hub, rollout, { type, reason, message });
    if (type === "Warning" || reason !== "WaveStarted")
      events.record(hub, template, { type, reason, message: `release ${rollout.metadata.name}: ${message}` });
    recorder?.record({
      type: "RolloutStep",
      controller: "rollout",
      object: template,
      clusters: names,
      cause: { reason, message },
      before: { phase: rollout.status?.phase ?? "New", wave: rollout.status?.wave ?? "" },
      after: { rollout: rollout.metadata.name, phase: plan.status.phase ?? "", wave: plan.status.wave ?? "" },
    });
  }
}

const isSettled = ({ status }: Rollout): boolean => status?.phase === "Superseded";

function selectorOf(template: Template): string | undefined {
  const { spec } = template as { spec?: unknown };
  const selector = isObject(spec) ? spec["selector"] : undefined;
  if (!isObject(selector) || (!isObject(selector["matchLabels"]) && !Array.isArray(selector["matchExpressions"])))
    return undefined;
  return formatLabelSelector(labelSelectorOf(selector));
}
