/**
 * The EndpointSlices of a Service, with as few writes as possible: an address stays in its slice, new ones fill slices
 * that change anyway, then those with room, and only then a new slice. Pure.
 */
import { ENDPOINT_SLICE_MANAGED_BY_LABEL, SERVICE_NAME_LABEL, HEADLESS_SERVICE_LABEL } from "../well-known-names.ts";
import { controllerReference } from "@flotilla/apimachinery";
import { compareText, equalJson, defined } from "@flotilla/base";
import { addressTypesOf, isHeadless } from "./endpoints-view.ts";
import type { AddressType, Backend, Endpoint, EndpointPort, ReadonlyService, ReadonlySlice } from "./endpoints-view.ts";

/** Upstream's limit per slice. */
const MAX_ENDPOINTS = 100;
const MANAGED_BY = "endpointslice-controller.k8s.io";

export interface SlicesPlan {
  create: readonly ReadonlySlice[];
  update: readonly ReadonlySlice[];
  remove: readonly ReadonlySlice[];
}

/** Slices that other controllers created for the same Service are ignored. */
export const isOurs = ({ metadata }: ReadonlySlice): boolean =>
  metadata.labels?.[ENDPOINT_SLICE_MANAGED_BY_LABEL] === MANAGED_BY;

export function planSlices(
  service: ReadonlyService,
  backends: readonly Backend[],
  existing: readonly ReadonlySlice[],
  suffix: () => string,
): SlicesPlan {
  const plan = { create: [] as ReadonlySlice[], update: [] as ReadonlySlice[], remove: [] as ReadonlySlice[] };
  const types = addressTypesOf(service);
  plan.remove.push(...existing.filter(({ addressType }) => !types.includes(addressType as AddressType)));
  for (const addressType of types) {
    const ofType = existing.filter((slice) => slice.addressType === addressType);
    const wanted = groupByPorts(backends.filter((backend) => backend.addressType === addressType));
    // A Service without addresses keeps an empty slice, so that clients see that it has none.
    if (wanted.size === 0) wanted.set("", { ports: [], endpoints: new Map() });
    const left = new Set(ofType);
    for (const [key, { ports, endpoints }] of wanted) {
      const slices = ofType.filter((slice) => portsKey(slice.ports ?? []) === key);
      for (const slice of slices) left.delete(slice);
      const isPlaceholder = endpoints.size === 0;
      fill(service, { addressType, ports, endpoints, slices, isPlaceholder }, plan, suffix);
    }
    plan.remove.push(...left);
  }
  return plan;
}

interface Group {
  addressType: AddressType;
  ports: readonly EndpointPort[];
  /** By pod. */
  endpoints: Map<string, Endpoint>;
  slices: readonly ReadonlySlice[];
  isPlaceholder: boolean;
}

function fill(
  service: ReadonlyService,
  group: Group,
  plan: { create: ReadonlySlice[]; update: ReadonlySlice[]; remove: ReadonlySlice[] },
  suffix: () => string,
): void {
  const { addressType, ports, endpoints, slices, isPlaceholder } = group;
  const missing = new Map(endpoints);
  const kept = slices.map((slice) => {
    const stay = (slice.endpoints ?? []).flatMap(({ targetRef }) => {
      const endpoint = missing.get(targetRef?.uid ?? "");
      missing.delete(targetRef?.uid ?? "");
      return endpoint ? [endpoint] : [];
    });
    return {
      slice,
      endpoints: stay,
      changes: !equalJson(stay, slice.endpoints ?? []) || !equalJson(labelsOf(service), slice.metadata.labels),
    };
  });
  const added = [...missing.values()];
  // Slices that are written anyway first, the fullest first.
  const byRoom = kept.toSorted(
    (a, b) => Number(b.changes) - Number(a.changes) || b.endpoints.length - a.endpoints.length,
  );
  for (const each of byRoom) {
    if (added.length === 0) break;
    const room = MAX_ENDPOINTS - each.endpoints.length;
    if (room <= 0 || (!each.changes && room < added.length && added.length < MAX_ENDPOINTS)) continue;
    each.endpoints.push(...added.splice(0, room));
    each.changes = true;
  }
  for (const { slice, endpoints: wanted, changes } of kept) {
    const isLast = isPlaceholder && slice === slices[0];
    if (wanted.length === 0 && !isLast) plan.remove.push(slice);
    else if (changes)
      plan.update.push({ ...slice, metadata: { ...slice.metadata, labels: labelsOf(service) }, endpoints: wanted });
  }
  while (added.length > 0)
    plan.create.push(makeSlice(service, addressType, ports, added.splice(0, MAX_ENDPOINTS), suffix()));
  if (isPlaceholder && slices.length === 0) plan.create.push(makeSlice(service, addressType, ports, [], suffix()));
}

function makeSlice(
  service: ReadonlyService,
  addressType: AddressType,
  ports: readonly EndpointPort[],
  endpoints: readonly Endpoint[],
  suffix: string,
): ReadonlySlice {
  const { name, namespace } = service.metadata;
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: `${name}-${suffix}`,
      generateName: `${name}-`,
      namespace: namespace || undefined,
      labels: labelsOf(service),
      ownerReferences: [controllerReference(service)],
    },
    addressType,
    endpoints,
    ports,
  };
}

function labelsOf(service: ReadonlyService): Record<string, string> {
  const { [HEADLESS_SERVICE_LABEL]: _headless, ...labels } = service.metadata.labels ?? {};
  return {
    ...labels,
    ...defined({ [HEADLESS_SERVICE_LABEL]: isHeadless(service) ? "" : undefined }),
    [SERVICE_NAME_LABEL]: service.metadata.name,
    [ENDPOINT_SLICE_MANAGED_BY_LABEL]: MANAGED_BY,
  };
}

/** Pods of one Service may have different port numbers under the same name: each set of ports has its own slices. */
function groupByPorts(backends: readonly Backend[]): Map<string, Pick<Group, "ports" | "endpoints">> {
  const groups = new Map<string, Pick<Group, "ports" | "endpoints">>();
  for (const { pod, ports, endpoint } of backends) {
    const key = portsKey(ports);
    const group = groups.get(key) ?? { ports, endpoints: new Map<string, Endpoint>() };
    group.endpoints.set(pod.metadata.uid ?? "", endpoint);
    groups.set(key, group);
  }
  return groups;
}

const portsKey = (ports: readonly EndpointPort[]): string =>
  ports
    .map(({ name = "", protocol = "TCP", port, appProtocol }) => JSON.stringify([name, protocol, port, appProtocol]))
    .toSorted(compareText)
    .join();
