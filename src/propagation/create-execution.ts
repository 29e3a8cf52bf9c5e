/**
 * Wires the two stages that touch members, execute and reflect. A hub runs them for the members that it reaches; an
 * agent runs the same for the members that pull.
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
import { createExecuteController } from "./execute/controller.ts";
import { createMemberObjects } from "./member-objects.ts";
import type { DeliveryFor } from "./member-objects.ts";
import type { ExecutionMeter } from "./meter.ts";
import { createReflectController } from "./reflect/controller.ts";
import { createRuleChanges } from "./rule-changes.ts";
import { createTellRuleFailure } from "./rule-failures.ts";
import { STATUS_WINDOW_MS } from "./status-timing.ts";

export interface ExecutionDependencies {
  /** The logical cluster of the hub. */
  hub: string;
  /** Of the hub; Works of members that are not served may be left out. */
  informers: Informers;
  clientFor(stage: string): Client;
  deliveryFor: DeliveryFor;
  /** Whose Works are ours. Those of others are not looked at: somebody else applies them, and has the finalizer. */
  serves(cluster: string): boolean;
  interpreter: Interpreter;
  events: EventRecorders;
  /** Hears how long things take. */
  meter?: ExecutionMeter;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface Execution {
  controllers: Controller<ObjectKey>[];
  /** How it stands with members that are busy or away. */
  lanes: Pick<MemberLanes, "figures">;
  /** No status write is under way. */
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
  const tellFailure = createTellRuleFailure({ hub, events: events("flotilla-interpreter"), clock });

  /** A member that changes from pull to push, or back, changes hands with all its Works. */
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
        tellFailure,
        workStatus,
      }),
    ].map(onlyServed),
    lanes,
    isQuiet: () => workStatus.isQuiet(),
    close: () => workStatus.close(),
  };
}
