/**
 * FederatedHPA: scales a template so that the usage of its pods on all members together stays near a target. The
 * scheduler divides the replicas, so weights, spread constraints and quotas of the policy hold.
 *
 * Reads: FederatedHPA, ResourceBinding, Cluster, the scale of the template; pods and metrics of the members.
 * Writes: the scale of the template, FederatedHPA status. Runs every fifteen seconds; a correct status is not written.
 */
import { findCondition } from "@flotilla/apimachinery";
import { createSemaphore, equalJson } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineController, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Lister } from "@flotilla/controller-runtime";
import { createAutoscalerLoop } from "@flotilla/kubernetes";
import type { ScalingMoment, ScalingPlan } from "@flotilla/kubernetes";
import { bindingName, FederatedHpa } from "@flotilla/karmada";
import type { Cluster, ResourceBinding } from "@flotilla/karmada";
import type { DecisionRecorder } from "../decisions/decision-recorder.ts";
import type { AutoscalingMeter } from "./autoscaling-meter.ts";
import { numberOf } from "./scale-disputes.ts";
import type { ScaleDisputes } from "./scale-disputes.ts";
import type { Member } from "../membership/member.ts";
import { readFigures } from "./member-figures.ts";
import type { MemberFigures } from "./member-figures.ts";
import { isDividedBinding, planFederatedScaling, targetsOfBinding } from "./plan-federated-scaling.ts";
import type { ReadonlyFederatedHpa } from "./plan-federated-scaling.ts";

const SYNC_MS = 15_000;
/** Members that are read at the same time, for all autoscalers together. */
const CONCURRENCY = 32;

export interface FederatedHpaDependencies {
  hub: string;
  client: Client;
  bindings: Lister<ResourceBinding>;
  clusters: Lister<Cluster>;
  memberOf(name: string): Member | undefined;
  disputes: Pick<ScaleDisputes, "beforeChange">;
  meter?: AutoscalingMeter | undefined;
  events: EventRecorder;
  recorder?: DecisionRecorder | undefined;
  clock: Clock;
}

export function createFederatedHpaController(deps: FederatedHpaDependencies): Controller<ObjectKey> {
  const { hub, client, bindings, clusters, memberOf, disputes, meter, events, recorder, clock } = deps;
  const room = createSemaphore(CONCURRENCY);
  const loop = createAutoscalerLoop({
    client,
    clock,
    events,
    controllerName: "FederatedHPA controller",
    intervalMs: SYNC_MS,
    beforeScale: (autoscaler, from, to) => disputes.beforeChange(numberOf(autoscaler, { from, to }), autoscaler),
    onScaled: (autoscaler, from, to, reason) => {
      const { apiVersion = "", kind, name } = autoscaler.spec.scaleTargetRef;
      const { namespace } = autoscaler.metadata;
      recorder?.record({
        type: "Scaled",
        controller: "federated-hpa",
        object: { apiVersion, kind, metadata: { namespace, name } },
        clusters: [],
        cause: { reason: "FederatedHPA", message: `FederatedHPA ${autoscaler.metadata.name}: ${reason}` },
        before: { replicas: from },
        after: { replicas: to },
      });
    },
  });

  return defineController({
    name: "federated-hpa",
    for: FederatedHpa,
    writes: [FederatedHpa],

    async reconcile(autoscaler, { key, signal }) {
      const plan = (moment: ScalingMoment): Promise<ScalingPlan> => planFor(autoscaler, moment, signal);
      const outcome = await loop.evaluate(autoscaler, key, plan, signal);
      if ("leftMs" in outcome) return { requeueAfterMs: outcome.leftMs };
      const { status } = outcome;
      if (!equalJson(status, autoscaler.status))
        await unlessChanged(client.updateStatus(FederatedHpa, key.cluster, { ...autoscaler, status }, { signal }));
      return { requeueAfterMs: SYNC_MS };
    },
    forget: loop.forget,
  });

  async function planFor(
    autoscaler: ReadonlyFederatedHpa,
    moment: ScalingMoment,
    signal: AbortSignal,
  ): Promise<ScalingPlan> {
    const { kind, name } = autoscaler.spec.scaleTargetRef;
    const { namespace = "" } = autoscaler.metadata;
    const binding = bindings.get({ cluster: hub, namespace, name: bindingName(kind, name) });
    if (!binding)
      return notPlaced(`${kind} ${name} has no binding: no PropagationPolicy selects it`, "FailedGetBindings");
    const targets = targetsOfBinding(binding, moment.scale.replicas);
    if (targets.length === 0) {
      const scheduled = findCondition(binding.status?.conditions ?? [], "Scheduled");
      const why = scheduled?.status === "False" ? `: ${scheduled.message ?? ""}` : "";
      return notPlaced(`${kind} ${name} is on no member${why}`, "FailedGetTargetClusters");
    }
    const request = { namespace, selector: moment.scale.selector, metrics: autoscaler.spec.metrics ?? [], meter };
    const figures = await Promise.all(
      targets.map(async ({ name, replicas }): Promise<MemberFigures> => {
        const member = memberOf(name);
        const problem = member ? notReady(clusters.get({ cluster: hub, name })) : "the hub does not reach it";
        if (!member || problem !== undefined)
          return { cluster: name, replicas, podValues: new Map(), values: new Map(), problems: [problem ?? ""] };
        const leave = await room.acquire(1, autoscaler.metadata.namespace, signal);
        try {
          return await readFigures(member, replicas, request, clock, signal);
        } finally {
          leave();
        }
      }),
    );
    return planFederatedScaling({ ...moment, autoscaler, figures, isDivided: isDividedBinding(binding) });
  }
}

function notPlaced(message: string, reason: string): ScalingPlan {
  return {
    reason: "",
    conditions: [{ type: "AbleToScale", isTrue: false, reason, message }],
    events: [{ type: "Warning", reason, message }],
    recommendations: [],
  };
}

/** Why a member is not asked; undefined if it is ready. */
function notReady(cluster: DeepReadonly<Cluster> | undefined): string | undefined {
  const ready = findCondition(cluster?.status?.conditions ?? [], "Ready");
  return ready?.status === "True" ? undefined : "it is not ready";
}
