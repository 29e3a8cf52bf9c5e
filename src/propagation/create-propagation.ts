/** Wires the stages of the pipeline to informers and clients of a hub. */
import { bindingName, Cluster, ClusterOverridePolicy, CustomResourceDefinition, Namespace, OverridePolicy, PropagationPolicy, ResourceBinding, Work } from "../api/index.ts";
import type { KubernetesObject } from "../api/index.ts";
import type { Clock, DeepReadonly, Log } from "../base/index.ts";
import { createKindResolver } from "../client/index.ts";
import type { Client, ObjectKey } from "../client/index.ts";
import type { Interpreter } from "../interpreter/index.ts";
import { createOwnedSet, createStatusWriter } from "../runtime/index.ts";
import type { Controller, EventRecorders, Informers, ObjectEvent, StatusWriter } from "../runtime/index.ts";
import { createAggregateController } from "./aggregate/controller.ts";
import { createDispatchController } from "./dispatch/controller.ts";
import { createExecuteController } from "./execute/controller.ts";
import { createMatchController } from "./match/controller.ts";
import { createMemberObjects } from "./member-objects.ts";
import type { DeliveryFor } from "./member-objects.ts";
import { createNamespacesController } from "./namespaces/controller.ts";
import { createRenderer } from "./override/renderer.ts";
import { createReflectController } from "./reflect/controller.ts";
import { createScheduleController } from "./schedule/controller.ts";
import { createRuleChanges } from "./rule-changes.ts";
import { createTellRuleFailure } from "./rule-failures.ts";
import { STATUS_WINDOW_MS } from "./status-timing.ts";
import { createTemplates } from "./templates.ts";
import { APPLIED_CLUSTER_OVERRIDES, APPLIED_OVERRIDES } from "./well-known.ts";
import { indexWorks, isOfSameBinding, removeWorksOfBinding, worksOfBinding, worksOfNamespace } from "./works.ts";

export interface PropagationDependencies {
  /** The logical cluster of the hub. */
  hub: string;
  informers: Informers;
  /** A client for one stage: its field manager says in an object's metadata who wrote what. */
  clientFor(stage: string): Client;
  deliveryFor: DeliveryFor;
  interpreter: Interpreter;
  events: EventRecorders;
  clock: Clock;
  log: Log;
}

export interface Propagation {
  // oxlint-disable-next-line typescript/no-explicit-any -- the controllers have keys of different types.
  controllers: Controller<any>[];
  /** No status write is under way. */
  isQuiet(): boolean;
  close(): Promise<void>;
}

export function createPropagation(deps: PropagationDependencies): Propagation {
  const { hub, informers, clientFor, deliveryFor, interpreter, events, clock, log } = deps;
  const bindings = informers.of(ResourceBinding);
  const works = informers.of(Work);
  const clusters = informers.of(Cluster);
  const policies = informers.of(PropagationPolicy);
  const namespaces = informers.of(Namespace);
  indexWorks(works);

  const statusWriter = { clock, windowMs: STATUS_WINDOW_MS, log };
  const workStatus = createStatusWriter({ ...statusWriter, client: clientFor("status"), kind: Work, lister: works });
  const bindingStatus = createStatusWriter({ ...statusWriter, client: clientFor("status"), kind: ResourceBinding, lister: bindings });
  const templates = createTemplates({ hub, informers, kinds: createKindResolver({ client: clientFor("discovery"), cluster: hub }), policies, bindings, definitions: informers.of(CustomResourceDefinition), clock, log });
  const ruleChanges = createRuleChanges({ hub, interpreter, bindings, works });
  const tellFailure = createTellRuleFailure(hub, events("flotilla-interpreter"));
  const memberObjects = createMemberObjects({ works, deliveryFor, hub });
  const worksOf = (binding: DeepReadonly<ResourceBinding>): DeepReadonly<Work>[] => worksOfBinding(works, binding);

  const bindingOf = ({ cluster, object }: ObjectEvent): ObjectKey[] => [{ cluster, namespace: object.metadata.namespace ?? "", name: bindingName(object.kind, object.metadata.name) }];

  const templateWriters = new Map<string, StatusWriter<KubernetesObject>>();
  const templateStatus = async (ref: { apiVersion: string; kind: string }): Promise<StatusWriter<KubernetesObject>> => {
    const id = `${ref.apiVersion}/${ref.kind}`;
    let writer = templateWriters.get(id);
    if (!writer) {
      const kind = await templates.kindOf(ref);
      writer = templateWriters.get(id) ?? createStatusWriter<KubernetesObject>({ ...statusWriter, client: clientFor("aggregate"), kind, lister: informers.of<KubernetesObject>(kind) });
      templateWriters.set(id, writer);
    }
    return writer;
  };

  const controllers = [
    createNamespacesController({
      namespaces,
      clusters,
      works: createOwnedSet<Work, ObjectKey>({ client: clientFor("namespaces"), kind: Work, clusterOf: () => hub, current: ({ name }) => worksOfNamespace(works, name) }),
    }),
    createMatchController({ hub, client: clientFor("match"), templates, policies, bindings, interpreter, ruleChanges: ruleChanges.templates(), tellFailure }),
    createScheduleController({ client: clientFor("schedule"), bindings, clusters, bindingStatus, clock }),
    createDispatchController({
      bindings,
      bindingStatus,
      clock,
      templates,
      templateChanges: templates.source(bindingOf),
      interpreter,
      ruleChanges: ruleChanges.bindings(),
      render: createRenderer({ hub, clusters, overridePolicies: informers.of(OverridePolicy), clusterOverridePolicies: informers.of(ClusterOverridePolicy) }),
      worksOf,
      removeWorks: (binding, signal) => removeWorksOfBinding(clientFor("dispatch"), hub, binding, signal),
      works: createOwnedSet<Work, DeepReadonly<ResourceBinding>>({ client: clientFor("dispatch"), kind: Work, clusterOf: () => hub, current: worksOf, isOwn: isOfSameBinding, ownAnnotations: [APPLIED_OVERRIDES, APPLIED_CLUSTER_OVERRIDES] }),
    }),
    createExecuteController({ deliveryFor, memberObjects, interpreter, ruleChanges: ruleChanges.works(), workStatus, clock }),
    createReflectController({ memberObjects, interpreter, ruleChanges: ruleChanges.works(), tellFailure, workStatus }),
    createAggregateController({ worksOf, templates, templateChanges: templates.source(bindingOf, { statusToo: true }), interpreter, ruleChanges: ruleChanges.bindings(), tellFailure, bindingStatus, templateStatus, clock }),
  ];
  const writers = (): { isQuiet(): boolean; close(): Promise<void> }[] => [workStatus, bindingStatus, ...templateWriters.values()];
  return {
    controllers,
    isQuiet: () => writers().every((writer) => writer.isQuiet()),
    async close() {
      await Promise.all(writers().map((writer) => writer.close()));
    },
  };
}
