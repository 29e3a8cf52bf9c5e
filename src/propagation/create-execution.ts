/**
 * Wires execute and reflect, the two stages that access members. A hub runs them for push members; an agent runs them
 * for pull members.
 */
import { Cluster, clusterNameOf, Work } from "../api/index.ts";
import type { Clock, Log, Random } from "../base/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";
import { createMemberLanes } from "../delivery/index.ts";
import type { MemberLanes } from "../delivery/index.ts";
import type { Interpreter } from "../interpreter/index.ts";
import { createStatusWriter, done, keyOf, watch } from "../runtime/index.ts";
import type { Controller, EventRecorders, Informers } from "../runtime/index.ts";
import { createAutoscaledWorks } from "./execute/autoscaled-works.ts";
import { createExecuteController } from "./execute/execute-controller.ts";
import { createMemberObjects } from "./member-objects.ts";
import type { DeliveryFor } from "./member-objects.ts";
import type { ExecutionMeter } from "./meter.ts";
import { createReflectController } from "./reflect/reflect-controller.ts";
import { createRuleChanges } from "./rule-changes.ts";
import { createReportRuleFailure } from "./rule-failures.ts";
import { STATUS_WINDOW_MS } from "./status-timing.ts";

export interface ExecutionDependencies {
  /** The logical cluster of the hub. */
  hub: string;
  /** Informers of the hub; Works of members that are not served may be omitted. */
  informers: Informers;
  clientFor(stage: string): Client;
  deliveryFor: DeliveryFor;
  /** Which members' Works are processed here. Others are skipped: another agent applies them and owns the finalizer. */
  serves(cluster: string): boolean;
  interpreter: Interpreter;
  events: EventRecorders;
  /** Receives durations. */
  meter?: ExecutionMeter;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface Execution {
  controllers: Controller<ObjectKey>[];
  /** Queue state of busy and unreachable members. */
  lanes: Pick<MemberLanes, "figures">;
  /** True while no status write is in flight. */
  isQuiet(): boolean;
  close(): Promise<void>;
}

export function createExecution({
  hub,
  informers,
  clientFor,
  deliveryFor,
  serves,
  interpreter,
  events,
  meter,
  clock,
  random,
  log,
}: ExecutionDependencies): Execution {
  const works = informers.of(Work);
  const workStatus = createStatusWriter({
    clock,
    windowMs: STATUS_WINDOW_MS,
    log,
    client: clientFor("status"),
    kind: Work,
    lister: works,
  });
  const memberObjects = createMemberObjects({
    works,
    deliveryFor: (cluster) => (serves(cluster) ? deliveryFor(cluster) : undefined),
    hub,
  });
  const ruleChanges = createRuleChanges({ hub, interpreter, bindings: [], works });
  const lanes = createMemberLanes({ clock, random });
  const reportRuleFailure = createReportRuleFailure({ hub, events: events("flotilla-interpreter"), clock });

  /** When a member changes between pull and push, all its Works change their controller. */
  const handovers = watch(Cluster, ({ object, old }) =>
    old && old.spec.syncMode !== object.spec.syncMode
      ? works
          .list({ cluster: hub })
          .flatMap((work) =>
            clusterNameOf(work.metadata.namespace ?? "") === object.metadata.name ? [keyOf(hub, work)] : [],
          )
      : [],
  );
  const onlyServed = (controller: Controller<ObjectKey>): Controller<ObjectKey> => ({
    ...controller,
    sources: [...controller.sources, handovers],
    reconcile: async (key, context) =>
      serves(clusterNameOf(key.namespace ?? "") ?? "") ? controller.reconcile(key, context) : done,
  });

  return {
    controllers: [
      createExecuteController({
        hub,
        works,
        deliveryFor,
        memberObjects,
        interpreter,
        autoscaledWorks: createAutoscaledWorks(works),
        ruleChanges: ruleChanges.works(),
        workStatus,
        lanes,
        meter,
        events: events("flotilla-execute"),
        clock,
        random,
      }),
      createReflectController({
        memberObjects,
        interpreter,
        ruleChanges: ruleChanges.works(),
        reportRuleFailure,
        workStatus,
      }),
    ].map(onlyServed),
    lanes,
    isQuiet: () => workStatus.isQuiet(),
    close: () => workStatus.close(),
  };
}
