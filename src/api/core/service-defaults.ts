/**
 * What a Service is when its author leaves it open.
 *
 * Addresses and node ports are not allocated: no traffic flows through simulated clusters, and on the hub a Service is a
 * template whose members choose for themselves.
 */
import type { DeepReadonly } from "../../base/index.ts";
import { change, changeItems, fill } from "../fill.ts";
import type { Service, ServicePort, ServiceSpec } from "../facts/core-v1.ts";

type Read<T> = DeepReadonly<T>;

/** Three hours. */
const AFFINITY_SECONDS = 10800;

export function completeService(service: Read<Service>): Read<Service> {
  return change(service, "spec", completeSpec);
}

function completeSpec(spec: Read<ServiceSpec>): Read<ServiceSpec> {
  let result: Read<ServiceSpec> = fill(spec, { sessionAffinity: "None", type: "ClusterIP" });
  const { type } = result;
  const isExternal = type === "NodePort" || type === "LoadBalancer" || (type === "ClusterIP" && (result.externalIPs?.length ?? 0) > 0);
  result = fill(result, {
    ...(type !== "ExternalName" && { internalTrafficPolicy: "Cluster" }),
    ...(isExternal && { externalTrafficPolicy: "Cluster" }),
    ...(type === "LoadBalancer" && { allocateLoadBalancerNodePorts: true }),
    ...(result.sessionAffinity === "ClientIP" && { sessionAffinityConfig: { clientIP: { timeoutSeconds: AFFINITY_SECONDS } } }),
    ...(result.clusterIP && { clusterIPs: [result.clusterIP] }),
  });
  if (result.clusterIP === "None" && result.selector) result = fill(result, { ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" });
  return change(result, "ports", (ports) => changeItems<ServicePort>(ports, (port) => fill(fill(port, { protocol: "TCP" }), { targetPort: port.port })));
}
