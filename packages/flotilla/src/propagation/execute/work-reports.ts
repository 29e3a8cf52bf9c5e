/** Reports the result of a delivery on its Work: conditions, and events where a condition changes. */
import { findCondition } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DecisionInput, DecisionRecorder } from "../../decisions/decision-recorder.ts";
import type { Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { PROGRESS_DEBOUNCE_MS } from "../../delivery/status-timing.ts";
import type { EventRecorder, StatusWriter } from "@flotilla/controller-runtime";
import type { ManifestAttempt } from "./apply-manifests.ts";
import { planApplied, planDispatching, planManaged, planReleaseLeft, planReplicasLeft } from "./plan-applied.ts";
import type { Failure } from "./plan-applied.ts";
import { changedByOthers, planDrifted, renderDrift } from "./plan-drift.ts";
import type { ObjectDrift } from "./plan-drift.ts";
import { clusterNameOf } from "@flotilla/karmada";
import { STOPPED_REASONS, TERMINATING } from "../../flotilla-names.ts";

/** A Work at the time of a report. */
interface Reported {
  work: DeepReadonly<Work>;
  key: ObjectKey;
  now: string;
}

export interface WorkReports {
  /** Whether the Work is dispatched or suspended. */
  dispatching(reported: Reported): void;
  /** A delivery without a failure was applied. */
  applied(reported: Reported, failure: Failure | undefined): void;
  drift(reported: Reported, attempts: readonly ManifestAttempt[]): void;
  managed(reported: Reported, isManaged: boolean): void;
  /** Whether the member decides the replicas of an object, and which images a rule keeps there. */
  left(reported: Reported, attempts: readonly ManifestAttempt[]): void;
  /** Objects that existed on the member, and are managed from now on. */
  adopted(reported: Reported, attempts: readonly ManifestAttempt[]): void;
}

export interface WorkReportsOptions {
  hub: string;
  status: StatusWriter<Work>;
  events: EventRecorder;
  recorder?: DecisionRecorder | undefined;
}

/** The object of the Work that drifted. */
function objectOf(
  work: DeepReadonly<Work>,
  { kind, name }: Pick<ObjectDrift, "kind" | "name">,
): DecisionInput["object"] {
  const manifest = (work.spec.workload?.manifests ?? []).find(
    (each) =>
      (each as unknown as KubernetesObject).kind === kind &&
      (each as unknown as KubernetesObject).metadata.name === name,
  ) as unknown as KubernetesObject | undefined;
  return manifest ?? { apiVersion: work.apiVersion, kind: work.kind, metadata: work.metadata };
}

export function createWorkReports({ hub, status, events, recorder }: WorkReportsOptions): WorkReports {
  return {
    dispatching({ work, key, now }) {
      const next = planDispatching(work, now);
      if (next === work) return;
      status.set(key, "dispatching", (newest) => planDispatching(newest, now));
      const { message = "" } = findCondition(next.status?.conditions, "Dispatching") ?? {};
      events.record(hub, work, { type: "Normal", reason: "WorkDispatching", message });
    },

    applied({ work, key, now }, failure) {
      if (planApplied(work, failure, now) === work) return;
      // Reflect will report the applied object shortly; a success waits for that, a failure does not.
      const timing = failure === undefined ? { debounceMs: PROGRESS_DEBOUNCE_MS } : {};
      const { generation } = work.metadata;
      status.set(key, "execute", (newest) => planApplied(newest, failure, now, generation), timing);
      const { namespace = "", name } = work.metadata;
      const cluster = clusterNameOf(namespace) ?? "";
      if (failure?.reason === TERMINATING)
        events.record(hub, work, {
          type: "Normal",
          reason: "WaitingForDeletion",
          message: `work(${namespace}/${name}) waits until cluster(${cluster}) has deleted its object: ${failure.message}`,
        });
      else if (failure)
        events.record(hub, work, {
          type: "Warning",
          reason: STOPPED_REASONS.has(failure.reason) ? failure.reason : "SyncFailed",
          message: `Failed to sync work(${namespace}/${name}) to cluster(${cluster}), err: ${failure.message}`,
        });
      // A success is reported as an event only after a failure: otherwise every Work would cost one more write.
      else if (findCondition(work.status?.conditions, "Applied")?.status === "False")
        events.record(hub, work, {
          type: "Normal",
          reason: "SyncSucceed",
          message: `Sync work(${namespace}/${name}) to cluster(${cluster}) successful.`,
        });
    },

    drift({ work, key, now }, attempts) {
      const drift = attempts.flatMap(({ kind, name, repairs, attempt }): ObjectDrift[] =>
        "drift" in attempt && attempt.drift
          ? changedByOthers({ kind, name, isRepaired: repairs, fields: attempt.drift })
          : [],
      );
      if (planDrifted(work, drift, now) === work) return;
      // The end of drift is queued behind the finding, which may not be written yet, and does not replace it.
      status.set(key, drift.length > 0 ? "drift" : "drift-over", (newest) => planDrifted(newest, drift, now));
      for (const each of drift) {
        const reason = each.isRepaired ? "DriftRepaired" : "DriftFound";
        events.record(hub, work, { type: "Warning", reason, message: renderDrift(each) });
        recorder?.record({
          type: reason,
          controller: "execute",
          object: objectOf(work, each),
          clusters: [clusterNameOf(work.metadata.namespace ?? "") ?? ""],
          cause: { reason: "ChangedOnMember", message: renderDrift(each) },
        });
      }
    },

    adopted({ work }, attempts) {
      for (const { kind, name, attempt } of attempts)
        if ("isAdopted" in attempt && attempt.isAdopted)
          recorder?.record({
            type: "Adopted",
            controller: "execute",
            object: objectOf(work, { kind, name }),
            clusters: [clusterNameOf(work.metadata.namespace ?? "") ?? ""],
            cause: {
              reason: "ConflictResolution",
              message: "it existed on the member, and its policy lets the hub manage it",
            },
            before: { managed: false },
            after: { managed: true },
          });
    },

    left({ work, key, now }, attempts) {
      const isLeft = attempts.some(({ attempt }) => "leavesReplicas" in attempt && attempt.leavesReplicas === true);
      const kept = attempts.find(({ keptImages }) => keptImages !== undefined)?.keptImages;
      const plan = (newest: DeepReadonly<Work>): DeepReadonly<Work> =>
        planReleaseLeft(planReplicasLeft(newest, isLeft, now), kept, now);
      if (plan(work) !== work) status.set(key, "left", plan);
    },

    managed({ work, key, now }, isManaged) {
      if (planManaged(work, isManaged, now) !== work)
        status.set(key, "managed", (newest) => planManaged(newest, isManaged, now));
    },
  };
}
