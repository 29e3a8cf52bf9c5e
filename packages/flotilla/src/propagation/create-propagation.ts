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
import {
  createFailureReports,
  createOwnedSet,
  createStatusWriter,
  idOfKey,
  keyOf,
  unlessChanged,
} from "@flotilla/controller-runtime";
import type {
  Controller,
  EventRecorders,
  Informer,
  Informers,
  ObjectEvent,
  Source,
  StatusWriter,
} from "@flotilla/controller-runtime";
import { createAggregateController } from "./aggregate/aggregate-controller.ts";
import type { ReleaseStandingOf } from "./aggregate/count-release.ts";
import { createTemplateStatus } from "./aggregate/template-status.ts";
import type { TemplateStatus } from "./aggregate/template-status.ts";
import { createAttachController } from "./dependencies/attach-controller.ts";
import { concernedBindings, concernedChanges } from "./concerns/concerned-bindings.ts";
import { companionChanges, createCompanions } from "./concerns/companions.ts";
import { createRecordController } from "./dependencies/record-controller.ts";
import { createDispatchController } from "./dispatch/dispatch-controller.ts";
import type { DispatchDependencies } from "./dispatch/dispatch-controller.ts";
import type { ReleaseOf } from "./dispatch/release-copies.ts";
import { createEvictionController } from "./eviction/eviction-controller.ts";
import { createExpiryController, EXPIRY_ENDINGS, EXPIRY_EVENTS } from "./expiry/expiry-controller.ts";
import { canExpire } from "./expiry/plan-expiry.ts";
import { createExecution } from "./create-execution.ts";
import type { Execution } from "./create-execution.ts";
import { createFailoverController } from "./failover/failover-controller.ts";
import type { FailoverOptions } from "./failover/failover-controller.ts";
import { bindingKeyOf, clusterScope, namespacedScope } from "./bindings/binding-scope.ts";
import type { BindingScope } from "./bindings/binding-scope.ts";
import { createMatchController } from "./match/match-controller.ts";
import { createPolicyEvents } from "./match/policy-events.ts";
import { createPolicyStatusController } from "./match/policy-status-controller.ts";
import { createPolicyTally } from "./match/policy-tally.ts";
import type { PolicyTally } from "./match/policy-tally.ts";
import type { DeliveryFor } from "./members/member-objects.ts";
import type { PipelineMeter } from "./meter.ts";
import { createNamespacesController, ownWorks } from "./namespaces/namespaces-controller.ts";
import type { SyncedNamespace } from "./namespaces/namespaces-controller.ts";
import { createRebalanceController } from "./rebalance/rebalance-controller.ts";
import { createRevisionHistoryController } from "./revision-history/revision-history-controller.ts";
import { createScheduleController } from "./schedule/schedule-controller.ts";
import { createRuleChanges } from "./rules/rule-changes.ts";
import { createReportRuleFailure, INTERPRETER_EVENTS } from "./rules/rule-failures.ts";
import type { TemplateKey } from "./templates/templates.ts";
import type { HubViews } from "./create-hub-views.ts";
import type { SchedulePlan } from "./schedule/plan-schedule.ts";
import { isOfSameBinding, removeWorksOfBinding, worksOfNamespace } from "./works/work-index.ts";
import { DRIFT, JOB_RECORD, PODS_SINCE } from "../flotilla-names.ts";

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
  /** The releases that say what members get. */
  releases?: Releases | undefined;
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

/** What dispatch reads of the releases of a hub. */
export interface Releases {
  of: ReleaseOf;
  /** Keys of the bindings whose release gave a member something else. */
  changes(): Source<ObjectKey>;
  standingOf: ReleaseStandingOf;
  /** Keys of the bindings whose release is at another point. */
  standings(): Source<ObjectKey>;
}

export interface Propagation {
  // oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types.
  controllers: Controller<any>[];
  /** Execute and reflect, which access members. */
  deliveries: Execution["controllers"];
  /** Queue state of busy and unreachable members. */
  lanes: Execution["lanes"];
  /** True while no status write is in flight. */
  isQuiet(): boolean;
  close(): Promise<void>;
}

export function createPropagation(deps: PropagationDependencies): Propagation {
  const parts = createParts(deps);
  const execution = createExecution({ ...deps, followsPolicies: true });
  const writers: readonly Writer[] = [execution, parts.templateStatus, ...Object.values(parts.status)];
  return {
    controllers: [
      namespacesStage(parts),
      matchStage(parts),
      policyStatusStage(parts, PropagationPolicy, parts.status.policies),
      policyStatusStage(parts, ClusterPropagationPolicy, parts.status.clusterPolicies),
      ...bindingStages(parts, namespacedScope, parts.status.bindings),
      ...bindingStages(parts, clusterScope, parts.status.clusterBindings),
      ...wholeHubStages(parts),
    ],
    deliveries: execution.controllers,
    lanes: execution.lanes,
    isQuiet: () => writers.every((writer) => writer.isQuiet()),
    async close() {
      await Promise.all(writers.map((writer) => writer.close()));
    },
  };
}

interface Writer {
  isQuiet(): boolean;
  close(): Promise<void>;
}

/** What several stages share. */
interface Parts {
  deps: PropagationDependencies;
  bindings: Informer<ResourceBinding>;
  clusterBindings: Informer<ResourceBinding>;
  ruleChanges: ReturnType<typeof createRuleChanges>;
  reportRuleFailure: ReturnType<typeof createReportRuleFailure>;
  tally: PolicyTally;
  templateStatus: TemplateStatus;
  /** One for each kind: several stages pass it their parts of a status. */
  status: {
    bindings: StatusWriter<ResourceBinding>;
    clusterBindings: StatusWriter<ResourceBinding>;
    policies: StatusWriter<PropagationPolicy>;
    clusterPolicies: StatusWriter<ClusterPropagationPolicy>;
  };
}

function createParts(deps: PropagationDependencies): Parts {
  const { hub, informers, clientFor, interpreter, events, views, clock, log } = deps;
  const { templates } = views;
  const bindings = informers.of<ResourceBinding>(namespacedScope.kind);
  const clusterBindings = informers.of<ResourceBinding>(clusterScope.kind);
  const works = informers.of(Work);
  const tally = createPolicyTally();
  for (const informer of [bindings, clusterBindings])
    informer.subscribe(({ object, deleted }) => tally.bind(idOfKey(keyOf(hub, object)), deleted ? undefined : object));
  const writerOf = <T extends KubernetesObject>(kind: Kind<T>, part: string): StatusWriter<T> =>
    createStatusWriter<T>({
      client: clientFor(part),
      kind,
      lister: informers.of(kind),
      clock,
      windowMs: STATUS_WINDOW_MS,
      log,
    });
  return {
    deps,
    bindings,
    clusterBindings,
    ruleChanges: createRuleChanges({ hub, interpreter, bindings: [bindings, clusterBindings], works, templates }),
    reportRuleFailure: createReportRuleFailure({
      hub,
      client: clientFor("interpreter"),
      events: events(INTERPRETER_EVENTS),
      clock,
      log,
    }),
    tally,
    templateStatus: createTemplateStatus({
      hub,
      client: clientFor("aggregate"),
      informers,
      templates,
      interpreter,
      events: events(AGGREGATE),
      clock,
      log,
    }),
    status: {
      bindings: writerOf(namespacedScope.kind, "status"),
      clusterBindings: writerOf(clusterScope.kind, "status"),
      policies: writerOf(PropagationPolicy, "policies"),
      clusterPolicies: writerOf(ClusterPropagationPolicy, "policies"),
    },
  };
}

const AGGREGATE = "flotilla-aggregate";

function namespacesStage({ deps, clusterBindings }: Parts): Controller<ObjectKey> {
  const { hub, informers, clientFor, views } = deps;
  const works = informers.of(Work);
  return createNamespacesController({
    namespaces: informers.of(Namespace),
    clusters: views.clusters,
    clusterBindings,
    render: views.render,
    worksOf: (namespace) => worksOfNamespace(works, namespace),
    works: createOwnedSet<Work, SyncedNamespace>({
      client: clientFor("namespaces"),
      kind: Work,
      clusterOf: () => hub,
      current: (synced) => ownWorks(synced, worksOfNamespace(works, synced.name)),
      ownAnnotations: [APPLIED_CLUSTER_OVERRIDES],
    }),
  });
}

function matchStage({ deps, ruleChanges, reportRuleFailure, tally }: Parts): Controller<TemplateKey> {
  const { hub, clientFor, interpreter, events, views, meter } = deps;
  return createMatchController({
    ...views,
    client: clientFor("match"),
    countsComponents: views.scheduling.multiplePodTemplatesScheduling ?? false,
    interpreter,
    ruleChanges: ruleChanges.templates(),
    reportRuleFailure,
    changes: createPolicyEvents(hub, events("flotilla-match")),
    tally,
    meter,
  });
}

function policyStatusStage<T extends PropagationPolicy | ClusterPropagationPolicy>(
  { deps: { hub, informers, clock }, tally }: Parts,
  kind: Kind<T>,
  policyStatus: StatusWriter<T>,
): Controller<ObjectKey> {
  return createPolicyStatusController<T>({ hub, kind, policies: informers.of(kind), tally, policyStatus, clock });
}

/** The stages between match and execute, and the status flow: once for each kind of binding. */
function bindingStages(
  parts: Parts,
  scope: BindingScope,
  bindingStatus: StatusWriter<ResourceBinding>,
): Controller<ObjectKey>[] {
  const { deps, reportRuleFailure } = parts;
  const { clientFor, interpreter, events, views, clock } = deps;
  const { clusters, groups, scheduling, templates, worksOf, heldWorksOf, quotaRoom } = views;
  const bindings = deps.informers.of<ResourceBinding>(scope.kind);
  const works = deps.informers.of(Work);
  const namespaces = deps.informers.of(Namespace);
  const companions = createCompanions({
    templates,
    interpreter,
    labelsOf(name) {
      const namespace = namespaces.get({ cluster: deps.hub, name });
      return namespace && (namespace.metadata.labels ?? {});
    },
  });
  const ruleChanges = (): ReturnType<typeof parts.ruleChanges.bindings> => parts.ruleChanges.bindings(bindings);
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
      bindings,
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
      bindings,
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
      views: {
        worksOf,
        getWork: (key) => works.get({ cluster: deps.hub, ...key }),
        bindingOf: (work) => {
          const key = bindingKeyOf(scope, deps.hub, work);
          return key && bindings.get(key);
        },
      },
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
        bindingOf(event).filter((key) => bindings.get(key)?.spec.propagateDeps),
      ),
      companions,
      companionChanges: companionChanges(templates, bindings),
      ruleChanges: ruleChanges(),
      interpreter,
      reportRuleFailure,
    }),
    createDispatchController({
      scope,
      bindings,
      bindingStatus,
      ...dispatchEffects(deps, scope),
      events: events("flotilla-dispatch"),
      recorder: deps.decisions,
      clock,
      templates,
      templateChanges: templates.source(bindingOf),
      quotaRoom,
      countsComponents: scheduling.multiplePodTemplatesScheduling ?? false,
      releaseOf: scope === namespacedScope ? deps.releases?.of : undefined,
      releaseChanges: scope === namespacedScope ? deps.releases?.changes() : undefined,
      companionsOf: (template, all) => companions.atCreation(template, all),
      bindingOf: ({ kind, metadata: { namespace, name } }) =>
        (namespace ? parts.bindings : parts.clusterBindings).get({
          cluster: deps.hub,
          namespace,
          name: bindingName(kind, name),
        }),
      concernedBy: (template) => concernedBindings(views, template),
      concernedChanges: scope === namespacedScope ? concernedChanges(bindings) : undefined,
      interpreter,
      ruleChanges: ruleChanges(),
      reportRuleFailure,
      render: views.render,
      worksOf,
    }),
    createExpiryController({
      scope,
      client: clientFor("expiry"),
      bindings,
      worksOf,
      templates,
      templateChanges: templates.source((event) =>
        canExpire(event.object) ? bindingOf(event).filter((key) => bindings.get(key)) : [],
      ),
      events: events(EXPIRY_EVENTS),
      reports: createFailureReports({
        cluster: deps.hub,
        component: EXPIRY_EVENTS,
        client: clientFor("expiry"),
        events: events(EXPIRY_EVENTS),
        endings: EXPIRY_ENDINGS,
        clock,
        log: deps.log,
      }),
      recorder: deps.decisions,
      clock,
    }),
    createAggregateController({
      scope,
      bindings,
      clusters,
      worksOf,
      heldWorksOf,
      templates,
      templateChanges: templates.source((event) => (parts.templateStatus.wrote(event) ? [] : bindingOf(event)), {
        statusToo: true,
      }),
      releaseOf: scope === namespacedScope ? deps.releases?.standingOf : undefined,
      releaseChanges: scope === namespacedScope ? deps.releases?.standings() : undefined,
      interpreter,
      ruleChanges: ruleChanges(),
      reportRuleFailure,
      reportNoStatus: (template, { kind, metadata }) =>
        events(AGGREGATE).record(deps.hub, template, {
          // Nothing is wrong, and nothing is tried again.
          type: "Normal",
          reason: "StatusNotAggregated",
          message: `${template.kind} has no status subresource; see status.aggregatedStatus of ${kind} ${metadata.name} for the members' status`,
        }),
      bindingStatus,
      templateStatus: parts.templateStatus.of,
      clock,
    }),
  ];
}

/** What dispatch writes. */
function dispatchEffects(
  { hub, clientFor, views: { worksOf } }: PropagationDependencies,
  { kind }: BindingScope,
): Pick<DispatchDependencies, "recordJob" | "removeWorks" | "works"> {
  const client = clientFor("dispatch");
  return {
    recordJob: async (key, { metadata: { resourceVersion } }, record, signal) => {
      const change = { metadata: { resourceVersion, annotations: { [JOB_RECORD]: record } } } as unknown as Json;
      await unlessChanged(client.patch(kind, key, change, { type: "merge", signal }));
    },
    removeWorks: (binding, signal) => removeWorksOfBinding(client, hub, binding, signal),
    works: createOwnedSet<Work, DeepReadonly<ResourceBinding>>({
      client,
      kind: Work,
      clusterOf: () => hub,
      current: worksOf,
      isOwn: isOfSameBinding,
      ownAnnotations: [APPLIED_OVERRIDES, APPLIED_CLUSTER_OVERRIDES, DRIFT, KEPT_TEMPLATE, PODS_SINCE],
    }),
  };
}

/** The stages that exist once, for bindings of both kinds. */
// oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types.
function wholeHubStages({ deps, bindings, clusterBindings }: Parts): Controller<any>[] {
  const { hub, informers, clientFor, events, views, clock } = deps;
  const { templates } = views;
  return [
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
  ];
}
