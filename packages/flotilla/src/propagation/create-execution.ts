/**
 * Wires execute and reflect, the two stages that access members. A hub runs them for push members; an agent runs them
 * for pull members.
 */
import { Cluster, clusterNameOf, Work } from "@flotilla/karmada";
import type { Clock, Log, Random } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { createWorksDriver } from "../delivery/works-driver.ts";
import type { MemberLanes } from "../delivery/member-lanes.ts";
import type { DecisionRecorder } from "../decisions/decision-recorder.ts";
import type { Interpreter } from "../interpreter/interpreter.ts";
import { keyOf, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorders, Informers } from "@flotilla/controller-runtime";
import { createAutoscaledWorks } from "./execute/autoscaled-works.ts";
import { createExecuteController } from "./execute/execute-controller.ts";
import { parseApiVersion } from "@flotilla/apimachinery";
import { createMemberObjects, refsOf } from "./members/member-objects.ts";
import type { DeliveryFor } from "./members/member-objects.ts";
import type { ExecutionMeter } from "./meter.ts";
import { createReflectController } from "./reflect/reflect-controller.ts";
import { createRuleChanges } from "./rules/rule-changes.ts";
import { createReportRuleFailure, INTERPRETER_EVENTS } from "./rules/rule-failures.ts";

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
  /** Whether policies are on this API server; an agent cannot read them. */
  followsPolicies: boolean;
  events: EventRecorders;
  /** Records the decisions of the controllers. */
  decisions?: DecisionRecorder | undefined;
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
  followsPolicies,
  events,
  decisions,
  meter,
  clock,
  random,
  log,
}: ExecutionDependencies): Execution {
  const works = informers.of(Work);
  const memberObjects = createMemberObjects({
    works,
    deliveryFor: (cluster) => (serves(cluster) ? deliveryFor(cluster) : undefined),
    hub,
  });
  const ruleChanges = createRuleChanges({ hub, interpreter, bindings: [], works });
  /** How often the rules of a kind changed. */
  const changes = new Map<string, number>();
  interpreter.onChange(({ group, kind }) => {
    const id = `${group}/${kind}`;
    changes.set(id, (changes.get(id) ?? 0) + 1);
  });
  const driver = createWorksDriver({
    kind: Work,
    informers,
    statusClient: clientFor("status"),
    memberOf: (namespace) => clusterNameOf(namespace) ?? "",
    serves,
    objectsOf: (work) => refsOf(work).map((ref) => memberObjects.get(work, ref)),
    // A changed rule makes another object of the same copy.
    circumstancesOf: (work) =>
      refsOf(work)
        .map(({ apiVersion, kind }) => changes.get(`${parseApiVersion(apiVersion).group}/${kind}`) ?? 0)
        .join(),
    onStopped: meter?.objectsStopped,
    clock,
    random,
    log,
  });
  const reportRuleFailure = createReportRuleFailure({
    hub,
    client: clientFor("interpreter"),
    events: events(INTERPRETER_EVENTS),
    clock,
    log,
  });

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
  const withHandovers = (controller: Controller<ObjectKey>): Controller<ObjectKey> =>
    driver.onlyServed({ ...controller, sources: [...controller.sources, handovers] });

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
        followsPolicies,
        driver,
        meter,
        events: events("flotilla-execute"),
        recorder: decisions,
        clock,
      }),
      createReflectController({
        memberObjects,
        interpreter,
        ruleChanges: ruleChanges.works(),
        reportRuleFailure,
        workStatus: driver.status,
        clock,
      }),
    ].map(withHandovers),
    lanes: driver.lanes,
    isQuiet: driver.isQuiet,
    close: driver.close,
  };
}
