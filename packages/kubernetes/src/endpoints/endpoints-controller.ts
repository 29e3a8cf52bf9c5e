/**
 * The addresses of a Service, as EndpointSlices and as the older Endpoints.
 *
 * Reads: Service, Pod, Node (for zones), its EndpointSlices and Endpoints.
 * Writes: EndpointSlice, Endpoints. Pods of a rollout change within milliseconds of each other, so changes are batched
 * for a moment.
 */
import { SERVICE_NAME_LABEL } from "../well-known-names.ts";
import { EndpointSlice } from "../endpointslice/endpointslice-kind.ts";
import { Endpoints } from "./endpoints-kind.ts";
import { Node } from "../node/node-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { Service } from "../service/service-kind.ts";
import { equalJson, randomSuffix } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, keyOf, watch } from "@flotilla/controller-runtime";
import type { Controller, ObjectEvent } from "@flotilla/controller-runtime";
import { STATUS_DELAY_MS } from "../workloads/dependencies.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { isReady } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";
import { createEndpointsWriter } from "./endpoints-writer.ts";
import { isOurEndpoints, planEndpoints } from "./plan-endpoints.ts";
import { isOurs, planSlices } from "./plan-slices.ts";
import { backendsOf, hasEndpoints } from "./endpoints-view.ts";
import type { ReadonlyService, ReadonlySlice } from "./endpoints-view.ts";

const SERVICE_INDEX = "service";
/** Half a second for a thousand addresses. */
const GATHER_MS_PER_ENDPOINT = 0.5;

export function createEndpointsController(deps: WorkloadDependencies): Controller<ObjectKey> {
  const { informers, clock, random } = deps;
  const services = informers.of(Service);
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const slices = informers.of(EndpointSlice);
  const endpoints = informers.of(Endpoints);
  slices.addIndex(SERVICE_INDEX, ({ metadata }, cluster) =>
    metadata.labels?.[SERVICE_NAME_LABEL]
      ? [idOfKey({ cluster, namespace: metadata.namespace ?? "", name: metadata.labels[SERVICE_NAME_LABEL] })]
      : [],
  );
  const writer = createEndpointsWriter(deps);
  const changedSince = new Map<string, number>();

  return defineKeyedController<ObjectKey>({
    name: "endpoints",
    writes: [EndpointSlice, Endpoints],
    sources: [
      watch(Service, ({ cluster, object }) => [keyOf(cluster, object)]),
      watch(Pod, (event) => (changesEndpoints(event) ? servicesOf(event) : [])),
      watch(EndpointSlice, ({ cluster, object: { metadata } }) =>
        metadata.labels?.[SERVICE_NAME_LABEL]
          ? [
              {
                cluster,
                namespace: metadata.namespace || undefined,
                name: metadata.labels[SERVICE_NAME_LABEL],
              },
            ]
          : [],
      ),
      watch(Endpoints, ({ cluster, object }) => [keyOf(cluster, object)]),
    ],
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const service = services.get(key);
      if (!service) {
        // Slices are owned by the Service and deleted with it; the Endpoints object only shares its name.
        changedSince.delete(idOfKey(key));
        const left = endpoints.get(key);
        if (left && isOurEndpoints(left)) await writer.removeEndpoints(key, left, signal);
        return done;
      }
      if (!hasEndpoints(service) || service.metadata.deletionTimestamp) return done;
      const owner = { cluster: key.cluster, uid: service.metadata.uid ?? "" };
      const waitMs = writer.waitMs(owner);
      if (waitMs > 0) return { requeueAfterMs: waitMs };

      const existing = slices
        .by(SERVICE_INDEX, idOfKey(key))
        .filter((slice) => isOurs(slice) && !slice.metadata.deletionTimestamp);
      const before = endpoints.get(key);
      // A new Service is reconciled at once.
      const leftMs = existing.length === 0 || !before ? 0 : gatheringMs(key, existing);
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      changedSince.delete(idOfKey(key));
      const backends = backendsOf(service, podsOf(key.cluster, service), (name) =>
        nodes.get({ cluster: key.cluster, name }),
      );
      const plan = planSlices(service, backends, existing, () => randomSuffix(random));
      await writer.writeSlices(plan, service, owner, signal);
      const wanted = planEndpoints(service, backends, before);
      if (wanted && before) await writer.updateEndpoints(wanted, owner, signal);
      else if (wanted) await writer.createEndpoints(wanted, owner, signal);
      return done;
    },
  });

  /**
   * How much longer changes are batched: every reconcile of a Service costs in proportion to its size, so a large one
   * is reconciled less often.
   */
  function gatheringMs(key: ObjectKey, existing: readonly ReadonlySlice[]): number {
    const size = existing.reduce((sum, { endpoints: addresses = [] }) => sum + addresses.length, 0);
    const since = changedSince.get(idOfKey(key)) ?? clock.now();
    changedSince.set(idOfKey(key), since);
    return since + (deps.statusDelayMs ?? STATUS_DELAY_MS) + size * GATHER_MS_PER_ENDPOINT - clock.now();
  }

  function podsOf(cluster: string, { metadata, spec }: ReadonlyService): ReadonlyPod[] {
    const wanted = Object.entries(spec?.selector ?? {});
    return pods
      .list({ cluster, namespace: metadata.namespace ?? "" })
      .filter(({ metadata: { labels } }) => wanted.every(([key, value]) => labels?.[key] === value));
  }

  /** The Services that select the pod, or did before. */
  function servicesOf({ cluster, object, old }: ObjectEvent<Pod>): ObjectKey[] {
    const selects = ({ spec }: ReadonlyService, labels: Readonly<Record<string, string>> | undefined): boolean =>
      Object.entries(spec?.selector ?? {}).every(([key, value]) => labels?.[key] === value);
    return services
      .list({ cluster, namespace: object.metadata.namespace ?? "" })
      .filter(
        (service) =>
          hasEndpoints(service) &&
          (selects(service, object.metadata.labels) || (old !== undefined && selects(service, old.metadata.labels))),
      )
      .map((service) => keyOf(cluster, service));
  }
}

/** Whether a pod change affects the endpoints of a Service. */
function changesEndpoints({ object, old, deleted }: ObjectEvent<Pod>): boolean {
  if (deleted || !old) return object.status?.podIP !== undefined;
  const shown = ({ metadata, spec, status }: ReadonlyPod): unknown[] => [
    metadata.labels,
    metadata.deletionTimestamp,
    spec.nodeName,
    status?.podIP,
    status?.podIPs,
    status?.phase === "Succeeded" || status?.phase === "Failed",
  ];
  return isReady(object) !== isReady(old) || !equalJson(shown(object), shown(old));
}
