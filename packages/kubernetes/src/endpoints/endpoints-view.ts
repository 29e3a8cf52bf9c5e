/**
 * The pods of a Service: their addresses, ports and state. Pure; the slices and the Endpoints object are built from it.
 */
import { ZONE_LABEL } from "../well-known-names.ts";
import type { EndpointSlice } from "../endpointslice/endpointslice-kind.ts";
import type { Node } from "../node/node-kind.ts";
import type { Service } from "../service/service-kind.ts";
import type { ServicePort } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { isReady } from "../pod/pod-state.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";

export type ReadonlyService = DeepReadonly<Service>;
export type ReadonlySlice = DeepReadonly<EndpointSlice>;
export type Endpoint = NonNullable<ReadonlySlice["endpoints"]>[number];
export type EndpointPort = NonNullable<ReadonlySlice["ports"]>[number];
export type AddressType = "IPv4" | "IPv6";

/** A pod as one address of a Service. */
export interface Backend {
  pod: ReadonlyPod;
  addressType: AddressType;
  ports: readonly EndpointPort[];
  endpoint: Endpoint;
}

export const isHeadless = ({ spec }: ReadonlyService): boolean => !spec?.clusterIP || spec.clusterIP === "None";

/** Services without a selector are managed by users, and external names have no addresses. */
export function hasEndpoints({ spec }: ReadonlyService): boolean {
  return spec?.selector !== undefined && Object.keys(spec.selector).length > 0 && spec.type !== "ExternalName";
}

/** The address families of the Service. */
export function addressTypesOf({ spec }: ReadonlyService): readonly AddressType[] {
  const { ipFamilies, clusterIP } = spec ?? {};
  if (ipFamilies && ipFamilies.length > 0) return ipFamilies as readonly AddressType[];
  return [clusterIP && clusterIP !== "None" && isIPv6(clusterIP) ? "IPv6" : "IPv4"];
}

/** Addresses were validated on write. */
const isIPv6 = (address: string): boolean => address.includes(":");

/** Pods that have an address and are not finished. */
export function backendsOf(
  service: ReadonlyService,
  pods: readonly ReadonlyPod[],
  nodeNamed: (name: string) => DeepReadonly<Node> | undefined,
): Backend[] {
  return addressTypesOf(service).flatMap((addressType) =>
    pods.flatMap((pod) => {
      const { phase, podIP, podIPs = podIP ? [{ ip: podIP }] : [] } = pod.status ?? {};
      const addresses = podIPs.map(({ ip }) => ip).filter((ip) => ip !== "" && isIPv6(ip) === (addressType === "IPv6"));
      if (addresses.length === 0 || phase === "Succeeded" || phase === "Failed") return [];
      return [
        { pod, addressType, ports: portsOf(service, pod), endpoint: endpointOf(service, pod, addresses, nodeNamed) },
      ];
    }),
  );
}

function endpointOf(
  service: ReadonlyService,
  pod: ReadonlyPod,
  addresses: readonly string[],
  nodeNamed: (name: string) => DeepReadonly<Node> | undefined,
): Endpoint {
  const { name, namespace, uid, deletionTimestamp } = pod.metadata;
  const { nodeName, hostname, subdomain } = pod.spec;
  const serving = isReady(pod);
  const terminating = deletionTimestamp !== undefined;
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const zone = nodeName ? nodeNamed(nodeName)?.metadata.labels?.[ZONE_LABEL] : undefined;
  const hints = hintsOf(service, nodeName, zone);
  return {
    addresses,
    conditions: { ready, serving, terminating },
    // Only a pod with this Service as its subdomain has a hostname in it.
    hostname: hostname && subdomain === service.metadata.name ? hostname : undefined,
    targetRef: { kind: "Pod", namespace: namespace || undefined, name, uid: uid || undefined },
    nodeName: nodeName || undefined,
    zone: zone || undefined,
    hints: hints && ready ? hints : undefined,
  };
}

/** Zone hints for this address, if the Service prefers close endpoints. */
function hintsOf(
  { spec }: ReadonlyService,
  nodeName: string | undefined,
  zone: string | undefined,
): Endpoint["hints"] | undefined {
  const near = spec?.trafficDistribution;
  if (!zone || (near !== "PreferClose" && near !== "PreferSameZone" && near !== "PreferSameNode")) return undefined;
  return {
    forZones: [{ name: zone }],
    forNodes: near === "PreferSameNode" && nodeName ? [{ name: nodeName }] : undefined,
  };
}

/** A named port resolves to the pod's number for that name; pods without it do not offer the port. */
function portsOf({ spec }: ReadonlyService, pod: ReadonlyPod): EndpointPort[] {
  return (spec?.ports ?? []).flatMap((port) => {
    const number = targetNumber(port, pod);
    const { name = "", protocol = "TCP", appProtocol } = port;
    return number === undefined
      ? []
      : [{ name, protocol: protocol as "TCP", port: number, appProtocol: appProtocol || undefined }];
  });
}

function targetNumber(
  { targetPort, port, protocol = "TCP" }: DeepReadonly<ServicePort>,
  { spec }: ReadonlyPod,
): number | undefined {
  if (typeof targetPort !== "string") return targetPort || port;
  const sidecars = spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === "Always") ?? [];
  const ports = [...spec.containers, ...sidecars].flatMap((container) => container.ports ?? []);
  return ports.find((candidate) => candidate.name === targetPort && (candidate.protocol ?? "TCP") === protocol)
    ?.containerPort;
}
