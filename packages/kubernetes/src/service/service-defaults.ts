/**
 * Defaults of a Service. Addresses and node ports are not included: they are allocated from the cluster's pools when
 * the Service is stored (`service-families.ts`, and the API server's allocation).
 */
import type { DeepReadonly } from "@flotilla/base";
import { change, changeItems, fill } from "@flotilla/apimachinery";
import type { LoadBalancerIngress, Service, ServicePort, ServiceSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import { isExternallyAccessible, withFields } from "./service-fields.ts";

type Read<T> = DeepReadonly<T>;

/** Three hours. */
const AFFINITY_SECONDS = 10800;

export function completeService(service: Read<Service>): Read<Service> {
  const spec = completeSpec(service.spec ?? {});
  return completeServiceStatus(spec === service.spec ? service : { ...service, spec });
}

function completeSpec(spec: Read<ServiceSpec>): Read<ServiceSpec> {
  let result: Read<ServiceSpec> = fill(spec, { sessionAffinity: "None", type: "ClusterIP" });
  const { type, sessionAffinity, sessionAffinityConfig } = result;
  if (sessionAffinity === "None") result = withFields(result, { sessionAffinityConfig: undefined });
  if (sessionAffinity === "ClientIP" && sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    result = { ...result, sessionAffinityConfig: { clientIP: { timeoutSeconds: AFFINITY_SECONDS } } };
  }
  result = change(result, "ports", (ports) => changeItems<ServicePort>(ports, completePort));
  const hasClusterTraffic = type === "ClusterIP" || type === "NodePort" || type === "LoadBalancer";
  return fill(result, {
    externalTrafficPolicy: isExternallyAccessible(result) ? "Cluster" : undefined,
    internalTrafficPolicy: hasClusterTraffic ? "Cluster" : undefined,
    allocateLoadBalancerNodePorts: type === "LoadBalancer" || undefined,
  });
}

function completePort(port: Read<ServicePort>): Read<ServicePort> {
  const typed: Read<ServicePort> = fill(port, { protocol: "TCP" });
  return typed.targetPort ? typed : { ...typed, targetPort: typed.port ?? 0 };
}

/** A load balancer address has ipMode VIP unless it is set to Proxy. */
export function completeServiceStatus(service: Read<Service>): Read<Service> {
  if (service.spec?.type !== "LoadBalancer" || !service.status?.loadBalancer?.ingress) return service;
  const complete = (ingress: Read<LoadBalancerIngress>): Read<LoadBalancerIngress> =>
    ingress.ip ? fill(ingress, { ipMode: "VIP" }) : ingress;
  return change(service, "status", (status) =>
    change(status, "loadBalancer", (balancer) =>
      change(balancer, "ingress", (list) => changeItems<LoadBalancerIngress>(list, complete)),
    ),
  );
}
