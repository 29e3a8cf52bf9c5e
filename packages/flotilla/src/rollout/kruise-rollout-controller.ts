/**
 * Connects a Rollout of kruise-rollout with the release that it leads over the fleet.
 *
 * Reads: Rollout, ResourceBinding, its template, FleetRollout.
 * Writes: the status of Rollouts that no policy selects; `spec.promotions` of FleetRollouts when a step was approved in that
 * status. Before: releases records the FleetRollouts of its workload. After: the rollout controller carries them out.
 */
import { equalJson } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineController, done, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Source } from "@flotilla/controller-runtime";
import { bindingName, ResourceBinding } from "@flotilla/karmada";
import { Rollout } from "@flotilla/openkruise";
import { RELIST_RETRY_MS } from "../propagation/templates/templates.ts";
import { hasPartition } from "../propagation/dispatch/release-copies.ts";
import { FleetRollout } from "./kinds/fleet-rollout.ts";
import { bindingKeyOfRollout, hasOwnPartition } from "./release-index.ts";
import type { ReleasesDependencies } from "./releases-controller.ts";
import { isForMembers, refusalOf, remarkOn } from "./kruise/lead-release.ts";
import { FLEET_WIDE, planRolloutStatus } from "./kruise/plan-rollout-status.ts";

export interface KruiseRolloutDependencies extends Omit<ReleasesDependencies, "failures"> {
  events: EventRecorder;
  clock: Clock;
}

export function createKruiseRolloutController(deps: KruiseRolloutDependencies): Controller<ObjectKey> {
  const { hub, client, bindings, templates, index, events, clock } = deps;

  /** The Rollouts of the workload of a binding. */
  const leadsOf = (key: ObjectKey): ObjectKey[] => index.leadsOfBinding(key);

  return defineController({
    name: "kruise-rollout",
    for: Rollout,
    watches: [
      { source: mapSource(deps.templateChanges, leadsOf) },
      watch(ResourceBinding, ({ cluster, object, old, deleted }) =>
        deleted || !old ? leadsOf(keyOf(cluster, object)) : [],
      ),
      watch(FleetRollout, ({ cluster, object }) => leadsOf(bindingKeyOfRollout(cluster, object))),
    ],
    writes: [Rollout, FleetRollout],
    concurrency: 8,

    async reconcile(rollout, { log, signal }) {
      // Aggregate writes the status of a Rollout that members have.
      if (isForMembers(rollout) || rollout.metadata.deletionTimestamp) return done;
      const { apiVersion, kind, name } = rollout.spec.workloadRef;
      const { namespace = "" } = rollout.metadata;
      const binding = bindings.get({ cluster: hub, namespace, name: bindingName(kind, name) });
      const found = binding && (await templates.get({ apiVersion, kind, namespace, name }));
      if (found === "unknown") return { requeueAfterMs: RELIST_RETRY_MS };
      const [newest] = found ? index.rolloutsOf(found) : [];
      const partitioned = found !== undefined && hasOwnPartition(found);
      const isLeading = newest !== undefined || partitioned;
      // On a hub that has no releases, or for a workload that no policy propagates, there is nothing to report.
      if (!isLeading && !rollout.status?.conditions?.some(({ type }) => type === FLEET_WIDE)) return done;
      const plan = planRolloutStatus({
        rollout,
        template: found,
        hasOwnPartition: partitioned,
        selectedBy: found && index.leadOf(found) === undefined ? index.strategyOf(found)?.metadata.name : undefined,
        newest,
        refusal: refusalOf(rollout),
        remark: remarkOn(rollout, hasPartition({ apiVersion, kind })),
        nowMs: clock.now(),
      });
      const missing = plan.promote.filter((wave) => !newest?.spec.promotions?.includes(wave));
      if (newest && missing.length > 0) {
        const promotions = [...(newest.spec.promotions ?? []), ...missing];
        await client.update(FleetRollout, hub, { ...newest, spec: { ...newest.spec, promotions } }, { signal });
        log.info("step approved", { rollout: newest.metadata.name, waves: missing });
      }
      if (plan.refused !== undefined)
        events.record(hub, rollout, { type: "Warning", reason: "StepRefused", message: plan.refused });
      if (equalJson(plan.status, rollout.status ?? null)) return done;
      // Its event enqueues the key again after a concurrent write.
      await unlessChanged(client.updateStatus(Rollout, hub, { ...rollout, status: plan.status }, { signal }));
      return done;
    },
  });
}

const mapSource = (source: Source<ObjectKey>, map: (key: ObjectKey) => readonly ObjectKey[]): Source<ObjectKey> => ({
  start: (enqueue, signal) => source.start((key) => map(key).forEach((each) => enqueue(each)), signal),
  isQuiet: () => source.isQuiet(),
});
