/** Wires the stages of the pipeline to informers and clients of a hub. */
import {
  APPLIED_CLUSTER_OVERRIDES,
  APPLIED_OVERRIDES,
  bindingName,
  ClusterPropagationPolicy,
  PropagationPolicy,
  Work,
} from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import { Namespace } from "@flotilla/kubernetes";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly, Json, Log, Random } from "@flotilla/base";
import { STATUS_WINDOW_MS } from "../delivery/status-timing.ts";
import type { Client, ObjectKey } from "@flotilla/client";
import { KEPT_TEMPLATE } from "@flotilla/openkruise";
import type { DecisionRecorder } from "../decisions/decision-recorder.ts";
import type { Interpreter } from "../interpreter/interpreter.ts";
import { createOwnedSet, createStatusWriter, idOfKey, keyOf, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller, EventRecorders, Informers, ObjectEvent, StatusWriter } from "@flotilla/controller-runtime";
import { createAggregateController } from "./aggregate/aggregate-controller.ts";
import { createAttachController } from "./dependencies/attach-controller.ts";
import { createRecordController } from "./dependencies/record-controller.ts";
import { createDispatchController } from "./dispatch/dispatch-controller.ts";
import { createEvictionController } from "./eviction/eviction-controller.ts";
import { createExecution } from "./create-execution.ts";
import type { Execution } from "./create-execution.ts";
import { createFailoverController } from "./failover/failover-controller.ts";
import type { FailoverOptions } from "./failover/failover-controller.ts";
import { clusterScope, namespacedScope } from "./binding-scope.ts";
import type { BindingScope } from "./binding-scope.ts";
import { createMatchController } from "./match/match-controller.ts";
import { createPolicyEvents } from "./match/policy-events.ts";
import { createPolicyStatusController } from "./match/policy-status-controller.ts";
import { createPolicyTally } from "./match/policy-tally.ts";
import type { DeliveryFor } from "./member-objects.ts";
import type { PipelineMeter } from "./meter.ts";
import { createNamespacesController, ownWorks } from "./namespaces/namespaces-controller.ts";
import type { SyncedNamespace } from "./namespaces/namespaces-controller.ts";
import { createRebalanceController } from "./rebalance/rebalance-controller.ts";
import { createRevisionHistoryController } from "./revision-history/revision-history-controller.ts";
import { createScheduleController } from "./schedule/schedule-controller.ts";
import { createRuleChanges } from "./rule-changes.ts";
import { createReportRuleFailure } from "./rule-failures.ts";
import type { HubViews } from "./create-hub-views.ts";
import type { SchedulePlan } from "./schedule/plan-schedule.ts";
import { isOfSameBinding, removeWorksOfBinding, worksOfNamespace } from "./works.ts";
import { DRIFT, JOB_RECORD } from "../flotilla-names.ts";

export interface PropagationDependencies {
  /** The logical cluster of the hub. */
  hub: string;
  informers: Informers;
  /** A client for one stage; its field manager identifies the writer in managedFields. */
  clientFor(stage: string): Client;
  deliveryFor: DeliveryFor;
  /** Members whose Works are applied here; an agent serves the others. */
  serves(cluster: string): boolean;
  interpreter: Interpreter;
  events: EventRecorders;
  /** Records the decisions of the controllers. */
  decisions?: DecisionRecorder | undefined;
  /** What the stages read of the hub. */
  views: HubViews;
  /** Failover defaults where no policy specifies them. */
  failover?: FailoverOptions;
  /** Receives every scheduling decision that was written, so that it can be explained. */
  onDecision?(key: ObjectKey, plan: SchedulePlan): void;
  /** Receives durations. */
  meter?: PipelineMeter;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface Propagation {
  // oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types.
  controllers: Controller<any>[];
  /** Queue state of busy and unreachable members. */
  lanes: Execution["lanes"];
  /** True while no status write is in flight. */
  isQuiet(): boolean;
  close(): Promise<void>;
}

export function createPropagation(deps: PropagationDependencies): Propagation {
  const { hub, informers, clientFor, interpreter, events, views, clock, log } = deps;
  const { clusters, groups, render, scheduling, templates, worksOf, heldWorksOf } = views;
  const bindings = informers.of<ResourceBinding>(namespacedScope.kind);
  const clusterBindings = informers.of<ResourceBinding>(clusterScope.kind);
  const works = informers.of(Work);
  const namespaces = informers.of(Namespace);

  const statusWriter = { clock, windowMs: STATUS_WINDOW_MS, log };
  const execution = createExecution({ ...deps, followsPolicies: true });
  const ruleChanges = createRuleChanges({ hub, interpreter, bindings: [bindings, clusterBindings], works, templates });
  const reportRuleFailure = createReportRuleFailure({ hub, events: events("flotilla-interpreter"), clock, log });
  const tally = createPolicyTally();
  for (const informer of [bindings, clusterBindings])
    informer.subscribe(({ object, deleted }) => tally.bind(idOfKey(keyOf(hub, object)), deleted ? undefined : object));
  const statusEvents = events("flotilla-aggregate");

  const templateWriters = new Map<string, StatusWriter<KubernetesObject>>();
  const templateStatus = async (ref: { apiVersion: string; kind: string }): Promise<StatusWriter<KubernetesObject>> => {
    const id = `${ref.apiVersion}/${ref.kind}`;
    let writer = templateWriters.get(id);
    if (!writer) {
      const kind = await templates.kindOf(ref);
      const onRefused = (template: DeepReadonly<KubernetesObject>, { message }: Error): void =>
        statusEvents.record(hub, template, { type: "Warning", reason: "AggregateStatusFailed", message });
      writer =
        templateWriters.get(id) ??
        createStatusWriter<KubernetesObject>({
          ...statusWriter,
          client: clientFor("aggregate"),
          kind,
          lister: informers.of<KubernetesObject>(kind),
          onRejected: onRefused,
        });
      templateWriters.set(id, writer);
    }
    return writer;
  };

  const policyWriters: { isQuiet(): boolean; close(): Promise<void> }[] = [];
  function statusOf<T extends PropagationPolicy | ClusterPropagationPolicy>(kind: Kind<T>): Controller<ObjectKey> {
    const ofKind = informers.of(kind);
    const policyStatus = createStatusWriter<T>({
      ...statusWriter,
      client: clientFor("policies"),
      kind,
      lister: ofKind,
    });
    policyWriters.push(policyStatus);
    return createPolicyStatusController<T>({ hub, kind, policies: ofKind, tally, policyStatus, clock });
  }
  const bindingWriters: StatusWriter<ResourceBinding>[] = [];

  /** The stages between match and execute, and the status flow: once for each kind of binding. */
  function stagesOf(scope: BindingScope): Controller<ObjectKey>[] {
    const ofScope = informers.of<ResourceBinding>(scope.kind);
    const bindingStatus = createStatusWriter({
      ...statusWriter,
      client: clientFor("status"),
      kind: scope.kind,
      lister: ofScope,
    });
    bindingWriters.push(bindingStatus);
    const isOfScope = ({ object }: ObjectEvent): boolean =>
      Boolean(object.metadata.namespace) === (scope.kind.scope === "Namespaced");
    const bindingOf = (event: ObjectEvent): ObjectKey[] =>
      isOfScope(event)
        ? [{ ...keyOf(event.cluster, event.object), name: bindingName(event.object.kind, event.object.metadata.name) }]
        : [];
    return [
      createScheduleController({
        kind: scope.kind,
        client: clientFor("schedule"),
        bindings: ofScope,
        clusters,
        groups,
        bindingStatus,
        events: events("flotilla-schedule"),
        recorder: deps.decisions,
        clock,
        options: scheduling,
        onDecision: deps.onDecision,
        meter: deps.meter,
      }),
      createFailoverController({
        scope,
        client: clientFor("failover"),
        bindings: ofScope,
        clusters,
        groups,
        scheduling,
        interpreter,
        events: events("flotilla-failover"),
        recorder: deps.decisions,
        clock,
        options: deps.failover,
      }),
      createEvictionController({
        scope,
        client: clientFor("eviction"),
        events: events("flotilla-eviction"),
        recorder: deps.decisions,
        clock,
        timeoutMs: deps.failover?.evictionTimeoutMs,
      }),
      createRecordController({
        scope,
        client: clientFor("dependencies"),
        templates,
        templateChanges: templates.source((event) =>
          bindingOf(event).filter((key) => ofScope.get(key)?.spec.propagateDeps),
        ),
        ruleChanges: ruleChanges.bindings(ofScope),
        interpreter,
        reportRuleFailure,
        events: events("flotilla-dependencies"),
      }),
      createDispatchController({
        scope,
        bindings: ofScope,
        bindingStatus,
        recordJob: async (key, { metadata: { resourceVersion } }, record, signal) => {
          const change = { metadata: { resourceVersion, annotations: { [JOB_RECORD]: record } } } as unknown as Json;
          await unlessChanged(clientFor("dispatch").patch(scope.kind, key, change, { type: "merge", signal }));
        },
        events: events("flotilla-dispatch"),
        recorder: deps.decisions,
        clock,
        templates,
        templateChanges: templates.source(bindingOf),
        interpreter,
        ruleChanges: ruleChanges.bindings(ofScope),
        reportRuleFailure,
        render,
        worksOf,
        removeWorks: (binding, signal) => removeWorksOfBinding(clientFor("dispatch"), hub, binding, signal),
        works: createOwnedSet<Work, DeepReadonly<ResourceBinding>>({
          client: clientFor("dispatch"),
          kind: Work,
          clusterOf: () => hub,
          current: worksOf,
          isOwn: isOfSameBinding,
          ownAnnotations: [APPLIED_OVERRIDES, APPLIED_CLUSTER_OVERRIDES, DRIFT, KEPT_TEMPLATE],
        }),
      }),
      createAggregateController({
        scope,
        bindings: ofScope,
        clusters,
        worksOf,
        heldWorksOf,
        templates,
        templateChanges: templates.source(bindingOf, { statusToo: true }),
        interpreter,
        ruleChanges: ruleChanges.bindings(ofScope),
        reportRuleFailure,
        reportNoStatus: (template, { kind, metadata }) =>
          statusEvents.record(hub, template, {
            type: "Warning",
            reason: "AggregateStatusFailed",
            message: `${template.kind} has no status subresource; see status.aggregatedStatus of ${kind} ${metadata.name} for the members' status`,
          }),
        bindingStatus,
        templateStatus,
        clock,
      }),
    ];
  }

  const controllers = [
    createNamespacesController({
      namespaces,
      clusters,
      clusterBindings,
      render,
      worksOf: (namespace) => worksOfNamespace(works, namespace),
      works: createOwnedSet<Work, SyncedNamespace>({
        client: clientFor("namespaces"),
        kind: Work,
        clusterOf: () => hub,
        current: (synced) => ownWorks(synced, worksOfNamespace(works, synced.name)),
        ownAnnotations: [APPLIED_CLUSTER_OVERRIDES],
      }),
    }),
    createMatchController({
      ...views,
      client: clientFor("match"),
      countsComponents: scheduling.multiplePodTemplatesScheduling ?? false,
      templates,
      interpreter,
      ruleChanges: ruleChanges.templates(),
      reportRuleFailure,
      changes: createPolicyEvents(hub, events("flotilla-match")),
      tally,
      meter: deps.meter,
    }),
    statusOf(PropagationPolicy),
    statusOf(ClusterPropagationPolicy),
    ...stagesOf(namespacedScope),
    ...stagesOf(clusterScope),
    createAttachController({
      hub,
      client: clientFor("dependencies"),
      bindings,
      clusterBindings,
      templates,
      events: events("flotilla-dependencies"),
    }),
    createRevisionHistoryController({
      hub,
      client: clientFor("revision-history"),
      informers,
      bindings,
      templates,
      clock,
    }),
    createRebalanceController({
      client: clientFor("rebalance"),
      bindings,
      clusterBindings,
      recorder: deps.decisions,
      clock,
    }),
    ...execution.controllers,
  ];
  const writers = (): { isQuiet(): boolean; close(): Promise<void> }[] => [
    execution,
    ...policyWriters,
    ...bindingWriters,
    ...templateWriters.values(),
  ];
  return {
    controllers,
    lanes: execution.lanes,
    isQuiet: () => writers().every((writer) => writer.isQuiet()),
    async close() {
      await Promise.all(writers().map((writer) => writer.close()));
    },
  };
}
