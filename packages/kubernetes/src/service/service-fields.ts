/** Predicates on a Service's spec that several rules share. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import type { ServiceSpec } from "@flotilla/apimachinery/facts/core-v1.ts";

export type Spec = DeepReadonly<ServiceSpec>;

export const NO_ADDRESS = "None";

export const needsClusterAddress = ({ type }: Spec): boolean => type !== "ExternalName";
export const needsNodePorts = ({ type }: Spec): boolean => type === "NodePort" || type === "LoadBalancer";
export const needsHealthPort = ({ type, externalTrafficPolicy }: Spec): boolean =>
  type === "LoadBalancer" && externalTrafficPolicy === "Local";
export const isExternallyAccessible = ({ type, externalIPs = [] }: Spec): boolean =>
  type === "LoadBalancer" || type === "NodePort" || (type === "ClusterIP" && externalIPs.length > 0);
export const isHeadless = ({ clusterIPs = [] }: Spec): boolean =>
  clusterIPs.length === 1 && clusterIPs[0] === NO_ADDRESS;

/** A new NodePort Service always gets node ports; for a load balancer they are optional. */
export const wantsNodePorts = ({ type, allocateLoadBalancerNodePorts }: Spec): boolean =>
  type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts !== false);

export function sameAddresses(a: Spec, b: Spec): boolean {
  return (a.clusterIP ?? "") === (b.clusterIP ?? "") && equalJson(a.clusterIPs ?? [], b.clusterIPs ?? []);
}

export const nodePortsOf = ({ ports = [] }: Spec): number[] =>
  ports.flatMap(({ nodePort }) => (nodePort ? [nodePort] : []));

/** Returns the spec with fields set, or removed where the value is undefined; the same object when nothing changes. */
export function withFields(spec: Spec, fields: { [K in keyof ServiceSpec]?: Spec[K] | undefined }): Spec {
  let result: Record<string, unknown> | undefined;
  for (const key of Object.keys(fields) as (keyof ServiceSpec)[]) {
    const value = fields[key];
    if (equalJson(value, spec[key])) continue;
    result ??= { ...spec };
    if (value === undefined) Reflect.deleteProperty(result, key);
    else result[key] = value;
  }
  return (result as Spec | undefined) ?? spec;
}
