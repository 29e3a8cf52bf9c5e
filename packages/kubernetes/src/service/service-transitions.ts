/**
 * Handles server-set fields in Service updates. Omitted fields keep their values; a change of type releases fields it
 * no longer needs; linked fields (`clusterIP` and `clusterIPs`) follow each other.
 */
import { equalJson } from "@flotilla/base";
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

/** Keeps allocated values that the client omitted. */
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

/** Ports are matched by name; a node port that the client assigned to another port is not reused. */
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

/** Older clients only know the single address. */
export function linkAddresses(spec: Spec, old: Spec | undefined): Spec {
  const { clusterIP = "", clusterIPs = [] } = spec;
  if (!old) return clusterIP && clusterIPs.length === 0 ? withFields(spec, { clusterIPs: [clusterIP] }) : spec;
  const { clusterIP: oldAddress = "", clusterIPs: oldAddresses = [] } = old;
  if (clusterIP === oldAddress)
    return oldAddresses.length > 0 && clusterIPs.length === 0 ? withFields(spec, { clusterIPs: oldAddresses }) : spec;
  if (!equalJson(clusterIPs, oldAddresses)) return spec;
  return withFields(spec, { clusterIPs: clusterIP === "" ? undefined : [clusterIP] });
}

/** Removes fields that the new type does not use, unless the client changed them too: validation reports those. */
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
