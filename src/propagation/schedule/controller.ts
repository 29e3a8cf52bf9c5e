/**
 * Schedule decides on which members a binding's resource runs, and with how many replicas.
 *
 * Reads:  ResourceBinding, Cluster.
 * Writes: `spec.clusters` and the applied placement of the binding; the condition `Scheduled` and the scheduler's
 *         fields in its status.
 * Before: match wrote the binding. After: dispatch makes one Work per cluster.
 */
import { Cluster, ResourceBinding } from "../../api/index.ts";
import { equalJson, formatTime } from "../../base/index.ts";
import type { Clock, DeepReadonly, Json } from "../../base/index.ts";
import type { Client, ObjectKey } from "../../client/index.ts";
import { defineController, done, idOfKey, watch } from "../../runtime/index.ts";
import type { Controller, Lister, StatusWriter } from "../../runtime/index.ts";
import { PROGRESS_PATIENCE_MS } from "../status-timing.ts";
import { APPLIED_PLACEMENT } from "../well-known.ts";
import { planSchedule } from "./plan-schedule.ts";
import { planScheduled } from "./plan-scheduled.ts";

export interface ScheduleDependencies {
  client: Client;
  bindings: Lister<ResourceBinding>;
  clusters: Lister<Cluster>;
  bindingStatus: StatusWriter<ResourceBinding>;
  clock: Clock;
}

export const SCHEDULER_NAME = "default-scheduler";
const CONCURRENCY = 64;

export function createScheduleController({ client, bindings, clusters, bindingStatus, clock }: ScheduleDependencies): Controller<ObjectKey> {
  /** Moves with every change of a cluster that can change a decision. */
  let era = 0;
  /** What each binding was last decided on: the same binding in the same era is decided the same way. */
  const decided = new Map<string, { uid: string | undefined; generation: number | undefined; era: number }>();

  return defineController({
    name: "schedule",
    for: ResourceBinding,
    watches: [
      watch(Cluster, ({ cluster, object, old, deleted }) => {
        if (old && !deleted && !changesFit(old, object)) return [];
        era++;
        return bindings.list({ cluster }).map(({ metadata }) => ({ cluster, namespace: metadata.namespace ?? "", name: metadata.name }));
      }),
    ],
    writes: [ResourceBinding],
    concurrency: CONCURRENCY,

    async reconcile(binding, { key, log, signal }) {
      const { spec, metadata } = binding;
      if (metadata.deletionTimestamp || spec.suspension?.scheduling || (spec.schedulerName ?? SCHEDULER_NAME) !== SCHEDULER_NAME) return done;

      const last = decided.get(idOfKey(key));
      if (last?.uid === metadata.uid && last?.generation === metadata.generation && last?.era === era) return done;
      const decision = { uid: metadata.uid, era };

      const plan = planSchedule({ binding, clusters: clusters.list({ cluster: key.cluster }) });
      let scheduled = binding;
      if (plan.outcome === "scheduled") {
        const placement = JSON.stringify(spec.placement ?? {});
        const isSame = equalJson(plan.clusters, spec.clusters ?? []) && metadata.annotations?.[APPLIED_PLACEMENT] === placement;
        if (!isSame) {
          // The decision is about this version: a binding that changed meanwhile is a conflict, and is decided anew.
          const patch = { metadata: { resourceVersion: metadata.resourceVersion, annotations: { [APPLIED_PLACEMENT]: placement } }, spec: { clusters: plan.clusters } };
          scheduled = await client.patch(ResourceBinding, key, patch as unknown as Json, { type: "merge", signal });
          log.info("binding scheduled", { clusters: plan.clusters.length });
        }
      }
      const now = formatTime(clock.now());
      const outcome = (newest: DeepReadonly<ResourceBinding>): DeepReadonly<ResourceBinding> => planScheduled(newest, plan, scheduled.metadata.generation ?? 0, now);
      // A success is seen in spec.clusters at once; its condition may wait for what the members report. A failure may not.
      if (outcome(scheduled) !== scheduled) bindingStatus.set(key, "schedule", outcome, plan.outcome === "unschedulable" ? {} : { patienceMs: PROGRESS_PATIENCE_MS });
      decided.set(idOfKey(key), { ...decision, generation: scheduled.metadata.generation });
      return done;
    },

    forget: (key) => void decided.delete(idOfKey(key)),
  });
}

/** Whether a change of a cluster can change which bindings fit it: its labels, spec, deletion, or what it serves. */
function changesFit(before: DeepReadonly<Cluster>, after: DeepReadonly<Cluster>): boolean {
  return (
    before.metadata.generation !== after.metadata.generation ||
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    !equalJson(before.metadata.labels, after.metadata.labels) ||
    !equalJson(before.status?.apiEnablements, after.status?.apiEnablements)
  );
}
