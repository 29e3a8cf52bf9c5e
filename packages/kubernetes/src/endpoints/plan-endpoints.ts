/** The Endpoints object of a Service: the older form of its addresses, all in one object. Pure. */
import { ENDPOINTS_MANAGED_BY_LABEL, HEADLESS_SERVICE_LABEL } from "../well-known-names.ts";
import type { Endpoints } from "./endpoints-kind.ts";
import { compareText, equalJson, defined, omitEmpty } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { isReady } from "../pod/pod-state.ts";
import { addressTypesOf, isHeadless } from "./endpoints-view.ts";
import type { Backend, EndpointPort, ReadonlyService } from "./endpoints-view.ts";

export type ReadonlyEndpoints = DeepReadonly<Endpoints>;
type Subset = NonNullable<ReadonlyEndpoints["subsets"]>[number];
type Address = NonNullable<Subset["addresses"]>[number];

/** A larger object would be too expensive to watch. */
const MAX_ADDRESSES = 1000;
const OVER_CAPACITY_ANNOTATION = "endpoints.kubernetes.io/over-capacity";
const MANAGED_BY = "endpoint-controller";

export const isOurEndpoints = ({ metadata }: ReadonlyEndpoints): boolean =>
  metadata.labels?.[ENDPOINTS_MANAGED_BY_LABEL] === MANAGED_BY;

/** The desired object, or undefined if it is correct. */
export function planEndpoints(
  service: ReadonlyService,
  backends: readonly Backend[],
  before: ReadonlyEndpoints | undefined,
): ReadonlyEndpoints | undefined {
  const [addressType] = addressTypesOf(service);
  const publishesAll = service.spec?.publishNotReadyAddresses === true;
  const shown = backends.filter(
    (backend) => backend.addressType === addressType && (publishesAll || !backend.pod.metadata.deletionTimestamp),
  );
  const { subsets, isTruncated } = truncated(subsetsOf(service, shown, publishesAll));
  const { name, namespace, labels } = service.metadata;
  const { [HEADLESS_SERVICE_LABEL]: _headless, ...kept } = labels ?? {};
  const wantedLabels = {
    ...kept,
    ...defined({ [HEADLESS_SERVICE_LABEL]: isHeadless(service) ? "" : undefined }),
    [ENDPOINTS_MANAGED_BY_LABEL]: MANAGED_BY,
  };
  const { [OVER_CAPACITY_ANNOTATION]: _capacity, ...annotations } = before?.metadata.annotations ?? {};
  const wantedAnnotations = isTruncated ? { ...annotations, [OVER_CAPACITY_ANNOTATION]: "truncated" } : annotations;
  const isRight =
    before &&
    equalJson(subsets, before.subsets ?? []) &&
    equalJson(wantedLabels, before.metadata.labels) &&
    equalJson(wantedAnnotations, before.metadata.annotations ?? {});
  if (isRight) return undefined;
  const metadata = {
    ...(before?.metadata ?? { name, namespace: namespace || undefined }),
    labels: wantedLabels,
    ...omitEmpty({ annotations: wantedAnnotations }),
  };
  return { apiVersion: "v1", kind: "Endpoints", metadata, subsets: subsets.length > 0 ? subsets : undefined };
}

/** Addresses with the same ports are grouped; a pod is in exactly one of the ready and not-ready lists. */
function subsetsOf(service: ReadonlyService, backends: readonly Backend[], publishesAll: boolean): Subset[] {
  const groups = new Map<string, { ports: readonly EndpointPort[]; ready: Address[]; notReady: Address[] }>();
  for (const { pod, ports, endpoint } of backends) {
    if (ports.length === 0 && (service.spec?.ports ?? []).length > 0) continue;
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, ready: [], notReady: [] };
    const { nodeName, hostname, targetRef, addresses } = endpoint;
    const address: Address = {
      ip: addresses[0] ?? "",
      hostname: hostname || undefined,
      nodeName: nodeName || undefined,
      targetRef,
    };
    (publishesAll || isReady(pod) ? group.ready : group.notReady).push(address);
    groups.set(key, group);
  }
  const byAddress = (a: Address, b: Address): number => compareText(a.ip, b.ip);
  return Array.from(groups.entries())
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([, { ports, ready, notReady }]) => ({
      addresses: ready.length > 0 ? ready.toSorted(byAddress) : undefined,
      notReadyAddresses: notReady.length > 0 ? notReady.toSorted(byAddress) : undefined,
      ports:
        ports.length > 0
          ? (ports.map(({ name, ...port }) => ({ name: name || undefined, ...port })) as Subset["ports"] & object)
          : undefined,
    }));
}

function truncated(subsets: Subset[]): { subsets: Subset[]; isTruncated: boolean } {
  const total = subsets.reduce(
    (sum, { addresses = [], notReadyAddresses = [] }) => sum + addresses.length + notReadyAddresses.length,
    0,
  );
  if (total <= MAX_ADDRESSES) return { subsets, isTruncated: false };
  let room = MAX_ADDRESSES;
  const take = (addresses: readonly Address[] | undefined): readonly Address[] => {
    const taken = (addresses ?? []).slice(0, room);
    room -= taken.length;
    return taken;
  };
  // Ready addresses take precedence.
  const ready = subsets.map(({ addresses }) => take(addresses));
  const notReady = subsets.map(({ notReadyAddresses }) => take(notReadyAddresses));
  const cut = subsets.map(({ ports }, place) => ({
    addresses: ready[place]?.length ? ready[place] : undefined,
    notReadyAddresses: notReady[place]?.length ? notReady[place] : undefined,
    ports,
  }));
  return { subsets: cut, isTruncated: true };
}
