/**
 * What an update of a Service means for the fields that the server fills in. A client that leaves them out wants to
 * keep them; one that changes the type no longer needs some of them; linked fields (`clusterIP` and `clusterIPs`)
 * follow each other.
 */
import { equalJson } from "../../base/index.ts";
import {
  isExternallyAccessible,
  needsClusterAddress,
  needsHealthPort,
  needsNodePorts,
  nodePortsOf,
  sameAddresses,
  wantsNodePorts,
  withFields,
  type Spec,
} from "./service-fields.ts";

type Port = NonNullable<Spec["ports"]>[number];

/** Values that were allocated before and that the client did not send again. */
export function keepAllocated(spec: Spec, old: Spec): Spec {
  let result = spec;
  if (needsClusterAddress(old) && needsClusterAddress(spec)) {
    if (!result.clusterIP) result = withFields(result, { clusterIP: old.clusterIP });
    if (!result.clusterIPs?.length && old.clusterIPs?.length)
      result = withFields(result, { clusterIPs: old.clusterIPs });
  }
  if (wantsNodePorts(old) && wantsNodePorts(spec)) result = keepNodePorts(result, old);
  if (needsHealthPort(old) && needsHealthPort(spec) && !result.healthCheckNodePort)
    result = withFields(result, { healthCheckNodePort: old.healthCheckNodePort });
  return result;
}

/** Ports are told apart by name; a number that the client gave to another port is not handed out a second time. */
function keepNodePorts(spec: Spec, old: Spec): Spec {
  if (!spec.ports?.some(({ nodePort }) => !nodePort)) return spec;
  const sent = new Set(nodePortsOf(spec));
  const byName = new Map((old.ports ?? []).map(({ name = "", nodePort }) => [name, nodePort]));
  const ports = spec.ports.map((port) => {
    const before = port.nodePort ? undefined : byName.get(port.name ?? "");
    return before && !sent.has(before) ? { ...port, nodePort: before } : port;
  });
  return withFields(spec, { ports });
}

/** Older clients know the single address only. */
export function linkAddresses(spec: Spec, old: Spec | undefined): Spec {
  const { clusterIP = "", clusterIPs = [] } = spec;
  if (!old) return clusterIP && clusterIPs.length === 0 ? withFields(spec, { clusterIPs: [clusterIP] }) : spec;
  const { clusterIP: oldAddress = "", clusterIPs: oldAddresses = [] } = old;
  if (clusterIP === oldAddress)
    return oldAddresses.length > 0 && clusterIPs.length === 0 ? withFields(spec, { clusterIPs: oldAddresses }) : spec;
  if (!equalJson(clusterIPs, oldAddresses)) return spec;
  return withFields(spec, { clusterIPs: clusterIP === "" ? undefined : [clusterIP] });
}

/**
 * Fields that the new type has no use for go, unless the client changed them too: that is a mistake for validation to
 * name.
 */
export function dropUnused(spec: Spec, old: Spec): Spec {
  let result = spec;
  if (needsClusterAddress(old) && !needsClusterAddress(spec)) {
    if (sameAddresses(old, spec)) result = withFields(result, { clusterIP: undefined, clusterIPs: undefined });
    if (equalJson(old.ipFamilies, spec.ipFamilies)) result = withFields(result, { ipFamilies: undefined });
    if (old.ipFamilyPolicy === spec.ipFamilyPolicy) result = withFields(result, { ipFamilyPolicy: undefined });
  }
  if (needsNodePorts(old) && !needsNodePorts(spec) && keepsWithin(nodePortsOf(spec), nodePortsOf(old)))
    result = withFields(result, { ports: result.ports?.map(withoutNodePort) });
  if (needsHealthPort(old) && !needsHealthPort(spec) && old.healthCheckNodePort === spec.healthCheckNodePort)
    result = withFields(result, { healthCheckNodePort: undefined });
  if (old.type === "LoadBalancer" && spec.type !== "LoadBalancer") {
    if (old.allocateLoadBalancerNodePorts === spec.allocateLoadBalancerNodePorts)
      result = withFields(result, { allocateLoadBalancerNodePorts: undefined });
    if (old.loadBalancerClass === spec.loadBalancerClass) result = withFields(result, { loadBalancerClass: undefined });
  }
  if (
    isExternallyAccessible(old) &&
    !isExternallyAccessible(spec) &&
    old.externalTrafficPolicy === spec.externalTrafficPolicy
  )
    result = withFields(result, { externalTrafficPolicy: undefined });
  return result;
}

function withoutNodePort(port: Port): Port {
  const { nodePort: _, ...rest } = port;
  return rest;
}

const keepsWithin = (some: readonly number[], all: readonly number[]): boolean =>
  some.every((value) => all.includes(value));
