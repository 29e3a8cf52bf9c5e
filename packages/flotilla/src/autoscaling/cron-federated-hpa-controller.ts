/**
 * CronFederatedHPA: scales a template, or sets the limits of a FederatedHPA, at given times.
 *
 * Reads: CronFederatedHPA, the scale of a template.
 * Writes: the scale of a template or the limits of a FederatedHPA, once per time of a rule; CronFederatedHPA status.
 */
import { formatApiVersion } from "@flotilla/apimachinery";
import { equalJson, messageOf } from "@flotilla/base";
import type { Clock, Json } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineController, done, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder } from "@flotilla/controller-runtime";
import { createScales } from "@flotilla/kubernetes";
import { CronFederatedHpa, FederatedHpa } from "@flotilla/karmada";
import type { DecisionRecorder } from "../decisions/decision-recorder.ts";
import type { AutoscalingMeter } from "./autoscaling-meter.ts";
import { numberOf } from "./scale-disputes.ts";
import type { ScaleDisputes } from "./scale-disputes.ts";
import { planCronRuns, planCronStatus } from "./plan-cron-runs.ts";
import type { CronRule, ReadonlyCron, RuleOutcome } from "./plan-cron-runs.ts";

export interface CronFederatedHpaDependencies {
  client: Client;
  disputes: Pick<ScaleDisputes, "beforeChange">;
  meter?: AutoscalingMeter | undefined;
  events: EventRecorder;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
}

const LIMITS_VERSION = formatApiVersion(FederatedHpa.group, FederatedHpa.storageVersion);

export function createCronFederatedHpaController(deps: CronFederatedHpaDependencies): Controller<ObjectKey> {
  const { client, disputes, meter, events, recorder, clock } = deps;
  const scales = createScales(client);

  return defineController({
    name: "cron-federated-hpa",
    for: CronFederatedHpa,
    writes: [CronFederatedHpa, FederatedHpa],

    async reconcile(cron, { key, signal }) {
      if (cron.metadata.deletionTimestamp) return done;
      const nowMs = clock.now();
      const plans = planCronRuns(cron, nowMs);
      const outcomes: RuleOutcome[] = [];
      for (const plan of plans) {
        const startMs = meter?.nowMs() ?? 0;
        const problem = plan.dueMs === undefined ? undefined : await carryOut(cron, plan.rule, key, signal);
        if (plan.dueMs !== undefined) meter?.ruleCarriedOut(meter.nowMs() - startMs, problem === undefined);
        if (problem !== undefined)
          events.record(key.cluster, cron, {
            type: "Warning",
            reason: "ScaleFailed",
            message: `rule ${plan.rule.name}: ${problem}`,
          });
        outcomes.push({ plan, problem });
      }
      const status = planCronStatus(cron, outcomes, nowMs);
      if (!equalJson(status, cron.status))
        await unlessChanged(client.updateStatus(CronFederatedHpa, key.cluster, { ...cron, status }, { signal }));
      const next = Math.min(...plans.map(({ nextMs = Infinity }) => nextMs));
      return Number.isFinite(next) ? { requeueAfterMs: Math.max(0, next - clock.now()) } : done;
    },
  });

  /** Returns the problem, if any. */
  async function carryOut(
    cron: ReadonlyCron,
    rule: CronRule,
    { cluster, namespace = "" }: ObjectKey,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { apiVersion = "", kind, name } = cron.spec.scaleTargetRef;
    const { targetReplicas, targetMinReplicas, targetMaxReplicas } = rule;
    const record = (before: Json, after: Json): void =>
      recorder?.record({
        type: "Scaled",
        controller: "cron-federated-hpa",
        object: { apiVersion, kind, metadata: { namespace, name } },
        clusters: [],
        cause: { reason: "CronFederatedHPA", message: `rule ${rule.name} of CronFederatedHPA ${cron.metadata.name}` },
        before,
        after,
      });
    try {
      if (apiVersion === LIMITS_VERSION) {
        const key = { cluster, namespace, name };
        const { spec } = await client.get(FederatedHpa, key, { signal });
        const before = { minReplicas: spec.minReplicas ?? 1, maxReplicas: spec.maxReplicas };
        const after = {
          minReplicas: targetMinReplicas ?? before.minReplicas,
          maxReplicas: targetMaxReplicas ?? before.maxReplicas,
        };
        if (equalJson(before, after)) return undefined;
        for (const field of ["minReplicas", "maxReplicas"] as const)
          if (before[field] !== after[field])
            disputes.beforeChange(
              numberOf(cron, { from: before[field], to: after[field], field: `spec.${field}` }),
              cron,
            );
        await client.patch(FederatedHpa, key, { spec: after }, { type: "merge", signal });
        record(before, after);
        return undefined;
      }
      const target = { cluster, apiVersion, kind, namespace, name };
      const scale = await scales.read(target, signal);
      if (targetReplicas === undefined || scale.replicas === targetReplicas) return undefined;
      disputes.beforeChange(numberOf(cron, { from: scale.replicas, to: targetReplicas }), cron);
      await scales.write(target, scale, targetReplicas, signal);
      record({ replicas: scale.replicas }, { replicas: targetReplicas });
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      // An edge: the history of the rule and an event report it. The next time of the schedule is the next attempt.
      return messageOf(error);
    }
  }
}
