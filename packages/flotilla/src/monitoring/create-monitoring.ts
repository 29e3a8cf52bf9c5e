/**
 * All metrics of a hub and its fleet, for Prometheus. Meters are passed to the components when they are created;
 * metrics maintained from events start with `follow`; the rest is computed on scrape. Nothing here writes to the API,
 * and no component waits for it.
 */
import {
  bindingName,
  Cluster,
  CLUSTER_POLICY_NAME,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  POLICY_NAME,
  POLICY_NAMESPACE,
  PropagationPolicy,
  ResourceBinding,
  Work,
} from "@flotilla/karmada";
import { CloneSet } from "@flotilla/openkruise";
import { ManagedCluster, ManifestWork, OcmPlacement } from "@flotilla/ocm";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly, Metric, MetricsText } from "@flotilla/base";
import type { LaneFigures } from "../delivery/member-lanes.ts";
import type { PlacementMeter } from "../ocm/placement/meter.ts";
import type { PipelineMeter } from "../propagation/meter.ts";
import type { Templates } from "../propagation/templates/templates.ts";
import type { Informers, Manager } from "@flotilla/controller-runtime";
import type { AutoscalingMeter } from "../autoscaling/autoscaling-meter.ts";
import { autoscalingMetrics, createAutoscalingMeter } from "./autoscaling-meter.ts";
import { controllerMeterMetrics, createControllerMeter } from "./controller-meter.ts";
import type { ControllerMeter } from "./controller-meter.ts";
import { createDeliveryMeter, deliveryMetrics } from "./delivery-meter.ts";
import type { DeliveryMeter } from "./delivery-meter.ts";
import { fleetMetrics, writeFleetGauges } from "./fleet-gauges.ts";
import { countMetrics, createObjectCounts } from "./object-counts.ts";
import type { ObjectCounts } from "./object-counts.ts";
import { createPipelineMeter, pipelineMetrics } from "./pipeline-meter.ts";
import { createPlacementMeter, placementMetrics } from "./placement-meter.ts";
import { createPropagationLatency, latencyMetrics } from "./propagation-latency.ts";
import { createRequestMeter, requestMetrics } from "./request-meter.ts";
import type { RequestMeter } from "./request-meter.ts";
import { stateMetrics, writeBuild, writeKruiseManagers, writeLanes, writeQueues, writeStore } from "./state-gauges.ts";
import type { StoreFigures } from "./state-gauges.ts";

export const monitoringMetrics: readonly Metric[] = [
  ...fleetMetrics,
  ...pipelineMetrics,
  ...controllerMeterMetrics,
  ...deliveryMetrics,
  ...latencyMetrics,
  ...requestMetrics,
  ...countMetrics,
  ...placementMetrics,
  ...autoscalingMetrics,
  ...stateMetrics,
];

export interface MonitoringOptions {
  hub: string;
  /** Flotilla's version. */
  version: string;
  /** The hub's informers. */
  informers: Informers;
  clock: Clock;
}

/** The components to observe, available once everything is wired. */
interface Monitored {
  templates: Pick<Templates, "source">;
  managers(): readonly Pick<Manager, "metrics">[];
  lanes(): readonly LaneFigures[];
  /** Unset where the store is in another process. */
  store?: (() => StoreFigures) | undefined;
  informersOf(cluster: string): Informers | undefined;
  serves(cluster: string, kind: Kind): boolean;
}

export interface Monitoring {
  pipeline: PipelineMeter;
  placements: PlacementMeter;
  autoscaling: AutoscalingMeter;
  controllers: Pick<ControllerMeter, "around">;
  deliveries: Pick<DeliveryMeter, "around">;
  requests: Pick<RequestMeter, "around">;
  /** Starts following events. Stops with the signal. */
  follow(monitored: Monitored, signal: AbortSignal): void;
  write(text: MetricsText): void;
}

export function createMonitoring({ hub, version, informers, clock }: MonitoringOptions): Monitoring {
  const clusters = informers.of(Cluster);
  const managedClusters = informers.of(ManagedCluster);
  const bindings = informers.of(ResourceBinding);
  const clusterBindings = informers.of<ResourceBinding>(ClusterResourceBinding);
  const works = informers.of(Work);
  const pipeline = createPipelineMeter();
  const placements = createPlacementMeter();
  const autoscaling = createAutoscalingMeter();
  const controllers = createControllerMeter();
  const latency = createPropagationLatency({ clock, targetsOf, policyCreated });
  const deliveries = createDeliveryMeter({ onDelivered: latency.delivered });
  const requests = createRequestMeter();
  let counts: ObjectCounts | undefined;
  let monitored: Monitored | undefined;

  function targetsOf({
    kind,
    metadata: { name, namespace },
  }: DeepReadonly<KubernetesObject>): readonly { readonly name: string }[] {
    const binding = (namespace ? bindings : clusterBindings).get({
      cluster: hub,
      namespace: namespace || undefined,
      name: bindingName(kind, name),
    });
    return binding?.spec.clusters ?? [];
  }

  function policyCreated({ metadata: { annotations = {} } }: DeepReadonly<KubernetesObject>): string | undefined {
    const [namespace, name, clusterPolicy] = [
      annotations[POLICY_NAMESPACE],
      annotations[POLICY_NAME],
      annotations[CLUSTER_POLICY_NAME],
    ];
    const policy =
      name === undefined
        ? informers.of(ClusterPropagationPolicy).get({ cluster: hub, name: clusterPolicy ?? "" })
        : informers.of(PropagationPolicy).get({ cluster: hub, namespace: namespace ?? "", name });
    return policy?.metadata.creationTimestamp;
  }

  return {
    pipeline: pipeline.meter,
    placements: placements.meter,
    autoscaling: autoscaling.meter,
    controllers,
    deliveries,
    requests,
    follow(what, signal) {
      monitored = what;
      counts = createObjectCounts({
        bindings: [bindings, clusterBindings],
        works,
        manifestWorks: informers.of(ManifestWork),
        placements: informers.of(OcmPlacement),
      });
      for (const informer of [bindings, clusterBindings]) {
        informer.subscribe(({ object, old, deleted }) => {
          if (!deleted && old?.metadata.generation !== object.metadata.generation)
            pipeline.meter.bindingsQueued(old ? "BindingUpdate" : "BindingAdd", 1);
        });
      }
      works.subscribe(latency.worked);
      clusters.subscribe(({ object, deleted }) => {
        if (deleted)
          for (const meter of [controllers, deliveries, latency, requests]) meter.forget(object.metadata.name);
      });
      const changes = what.templates.source<never>((event) => {
        latency.changed(event);
        return [];
      });
      changes.start(() => {}, signal);
    },
    write(text) {
      const members = clusters.list({ cluster: hub });
      writeBuild(text, version);
      writeFleetGauges(text, members, managedClusters.list({ cluster: hub }));
      for (const part of [pipeline, controllers, deliveries, latency, requests, placements, autoscaling])
        part.write(text);
      counts?.write(text, clock.now());
      if (!monitored) return;
      const { managers, lanes, store, informersOf, serves } = monitored;
      writeQueues(text, new Map(managers().flatMap((manager) => [...manager.metrics()])), counts?.unschedulable() ?? 0);
      writeLanes(text, lanes());
      if (store) writeStore(text, store());
      writeKruiseManagers(
        text,
        members.flatMap(({ metadata: { name: cluster } }) => {
          const seen = serves(cluster, CloneSet) ? informersOf(cluster) : undefined;
          return seen ? [{ cluster, informers: seen }] : [];
        }),
      );
    },
  };
}
