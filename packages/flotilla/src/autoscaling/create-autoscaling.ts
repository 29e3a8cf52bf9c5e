/** Wires the autoscalers of the fleet to informers and clients of a hub. */
import type { Clock } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import type { Controller, EventRecorders, Informers } from "@flotilla/controller-runtime";
import { Cluster, CronFederatedHpa, FederatedHpa, ResourceBinding } from "@flotilla/karmada";
import type { DecisionRecorder } from "../decisions/decision-recorder.ts";
import type { Member } from "../membership/member.ts";
import { createCronFederatedHpaController } from "./cron-federated-hpa-controller.ts";
import { createFederatedHpaController } from "./federated-hpa-controller.ts";
import type { AutoscalingMeter } from "./autoscaling-meter.ts";
import { createScaleDisputes } from "./scale-disputes.ts";

export interface AutoscalingOptions {
  hub: string;
  informers: Informers;
  clientFor(part: string): Client;
  /** The connection to a member; undefined while there is none. */
  memberOf(name: string): Member | undefined;
  events: EventRecorders;
  decisions?: DecisionRecorder | undefined;
  meter?: AutoscalingMeter | undefined;
  clock: Clock;
}

export function createAutoscaling(options: AutoscalingOptions): Controller<ObjectKey>[] {
  const { hub, informers, clientFor, memberOf, events, decisions, meter, clock } = options;
  const client = clientFor("autoscaling");
  const disputes = createScaleDisputes({
    clock,
    current: ({ kind, metadata: { namespace, name } }) =>
      (kind === FederatedHpa.kind ? informers.of(FederatedHpa) : informers.of(CronFederatedHpa)).get({
        cluster: hub,
        namespace,
        name,
      }),
  });
  meter?.followDisputes(disputes.stopped);
  return [
    createFederatedHpaController({
      hub,
      client,
      bindings: informers.of(ResourceBinding),
      clusters: informers.of(Cluster),
      memberOf,
      disputes,
      meter,
      events: events("federatedHPA-controller"),
      recorder: decisions,
      clock,
    }),
    createCronFederatedHpaController({
      client,
      disputes,
      meter,
      events: events("cronFederatedHPA-controller"),
      recorder: decisions,
      clock,
    }),
  ];
}
