/**
 * Execute applies a Work's manifests on its member, and again whenever they drift there.
 *
 * Reads:  Work, the member's objects.
 * Writes: the objects on the member; the conditions `Applied` and `Dispatching` in the Work's status.
 * Before: dispatch made the Work. After: reflect brings the objects' status back.
 */
import { clusterNameOf, Work } from "../../api/index.ts";
import { FlotillaError, formatTime } from "../../base/index.ts";
import type { Clock, DeepReadonly } from "../../base/index.ts";
import type { ApplyPolicy, Delivery } from "../../delivery/index.ts";
import type { Interpreter } from "../../interpreter/index.ts";
import { defineController, done } from "../../runtime/index.ts";
import type { Controller, Source, StatusWriter } from "../../runtime/index.ts";
import type { ObjectKey } from "../../client/index.ts";
import { manifestsOf, refsOf } from "../member-objects.ts";
import type { DeliveryFor, MemberObjects } from "../member-objects.ts";
import { PROGRESS_PATIENCE_MS } from "../status-timing.ts";
import { CONFLICT_RESOLUTION, WORK_FINALIZER } from "../well-known.ts";
import { failureOf, planApplied, planDispatching } from "./plan-applied.ts";
import type { Attempt } from "./plan-applied.ts";

export interface ExecuteDependencies {
  deliveryFor: DeliveryFor;
  memberObjects: MemberObjects;
  interpreter: Pick<Interpreter, "retain">;
  /** Works whose kinds are understood differently now. */
  ruleChanges: Source<ObjectKey>;
  workStatus: StatusWriter<Work>;
  clock: Clock;
}

/** The manager under which the hub owns fields on members. */
export const FIELD_MANAGER = "flotilla";
/** How many Works are delivered at the same time: enough to keep several members busy, few enough to bound memory. */
const CONCURRENCY = 64;

export function createExecuteController({ deliveryFor, memberObjects, interpreter, ruleChanges, workStatus, clock }: ExecuteDependencies): Controller<ObjectKey> {
  const deliveryOf = (work: DeepReadonly<Work>): Delivery => {
    const { namespace = "" } = work.metadata;
    const delivery = deliveryFor(clusterNameOf(namespace) ?? "");
    if (!delivery) throw new FlotillaError("NotJoined", `no connection to the cluster of ${namespace}; has it joined?`);
    return delivery;
  };

  return defineController({
    name: "execute",
    for: Work,
    finalizer: WORK_FINALIZER,
    watches: [{ source: memberObjects.source() }, { source: ruleChanges }],
    writes: [Work],
    concurrency: CONCURRENCY,

    async reconcile(work, { key, log, signal }) {
      const now = formatTime(clock.now());
      if (planDispatching(work, now) !== work) workStatus.set(key, "dispatching", (newest) => planDispatching(newest, now));
      if (work.spec.suspendDispatching) return done;

      const attempts: { kind: string; attempt: Attempt }[] = [];
      for (const manifest of manifestsOf(work)) {
        const policy: ApplyPolicy = {
          mode: "apply",
          force: true,
          fieldManager: FIELD_MANAGER,
          adopt: manifest.metadata.annotations?.[CONFLICT_RESOLUTION] === "overwrite",
          retain: (desired, observed) => interpreter.retain(desired, observed),
        };
        try {
          attempts.push({ kind: manifest.kind, attempt: await deliveryOf(work).apply(manifest, policy, signal) });
        } catch (error) {
          attempts.push({ kind: manifest.kind, attempt: { result: "failed", error } });
        }
      }
      const changed = attempts.filter(({ attempt: { result } }) => result === "created" || result === "updated").length;
      if (changed > 0) log.info("manifests applied", { manifests: changed });

      const failure = failureOf(attempts);
      if (planApplied(work, failure, now) !== work) {
        // Reflect is about to report the applied object; a success waits for that, a failure does not.
        workStatus.set(key, "execute", (newest) => planApplied(newest, failure, now), failure === undefined ? { patienceMs: PROGRESS_PATIENCE_MS } : {});
      }
      for (const { attempt } of attempts) if (attempt.result === "failed") throw attempt.error; // Seen on the Work; tried again with back-off.
      return done;
    },

    async finalize(work, { signal }) {
      const delivery = deliveryOf(work);
      const mode = work.spec.preserveResourcesOnDeletion ? "release" : "delete";
      await Promise.all(refsOf(work).map((ref) => delivery.remove(ref, { mode, propagationPolicy: "Background" }, signal)));
      return done;
    },
  });
}
