/**
 * Sets the server's fields of a Service: linked fields, IP families, and the addresses and ports from the cluster's
 * pools. The API server implements the pools; this decides what is allocated from them, in which order, and which error
 * is returned when allocation fails.
 */
import type { DeepReadonly } from "@flotilla/base";
import { field, internalError, invalid, type FieldError } from "@flotilla/apimachinery";
import type { Service, ServicePort } from "@flotilla/apimachinery/facts/core-v1.ts";
import { completeFamilies } from "./service-families.ts";
import {
  isHeadless,
  needsHealthPort,
  needsNodePorts,
  nodePortsOf,
  wantsNodePorts,
  withFields,
  type Spec,
} from "./service-fields.ts";
import { dropUnused, keepAllocated, linkAddresses } from "./service-transitions.ts";

type Read<T> = DeepReadonly<T>;

/** A number or address from a pool, or the error. */
export type Allocated<T> = { readonly value: T } | { readonly problem: string };

/** The pools of a cluster, for one Service. An allocated value is not allocated again. */
export interface ServicePools {
  /** Unset requests any address. */
  address(requested?: string): Allocated<string>;
  port(requested?: number): Allocated<number>;
}

/** Returns the Service to be stored. Throws 422 when allocation fails. */
export function prepareService(
  service: Read<Service>,
  old: Read<Service> | undefined,
  pools: ServicePools,
): Read<Service> {
  const { name } = service.metadata;
  const refuse = (errors: readonly FieldError[]): never => {
    throw invalid("", "Service", name, errors);
  };
  const before = old && (old.spec ?? {});
  let spec: Spec = service.spec ?? {};
  if (before) spec = keepAllocated(spec, before);
  spec = linkAddresses(spec, before);
  const families = completeFamilies(spec, before);
  if (families.errors.length > 0) refuse(families.errors);
  spec = families.spec;

  // Existing addresses are kept, and validation rejects changes; only a Service without an address gets one.
  if (!before || (before.type === "ExternalName" && spec.type !== "ExternalName"))
    spec = allocateAddress(spec, name, pools, refuse);
  if (needsNodePorts(spec))
    spec = before ? reallocatePorts(spec, before, pools, refuse) : allocatePorts(spec, pools, refuse);
  if (needsHealthPort(spec) && !(before && needsHealthPort(before))) spec = allocateHealthPort(spec, pools);
  if (before) spec = dropUnused(spec, before);
  // An external name has no endpoints inside the cluster.
  if (spec.type === "ExternalName") spec = withFields(spec, { internalTrafficPolicy: undefined });
  return withStatus(spec === service.spec ? service : { ...service, spec }, old);
}

type RejectWith = (errors: readonly FieldError[]) => never;

function allocateAddress(spec: Spec, name: string, pools: ServicePools, refuse: RejectWith): Spec {
  if (spec.type === "ExternalName" || isHeadless(spec)) return spec;
  const requested = spec.clusterIPs?.[0];
  const drawn = pools.address(requested);
  if ("value" in drawn) return withFields(spec, { clusterIP: drawn.value, clusterIPs: [drawn.value] });
  if (requested === undefined)
    throw internalError(`failed to allocate a serviceIP for Service ${JSON.stringify(name)}: ${drawn.problem}`);
  return refuse([
    field.invalid("spec.clusterIPs", spec.clusterIPs, `failed to allocate IP ${requested}: ${drawn.problem}`),
  ]);
}

const portAt = (index: number): string => `spec.ports[${index}].nodePort`;

function anyPort(pools: ServicePools): number {
  const drawn = pools.port();
  if ("value" in drawn) return drawn.value;
  throw internalError(`failed to allocate a nodePort: ${drawn.problem}`);
}

function thisPort(requested: number, index: number, pools: ServicePools, refuse: RejectWith): number {
  const drawn = pools.port(requested);
  return "value" in drawn ? drawn.value : refuse([field.invalid(portAt(index), requested, drawn.problem)]);
}

/** A port number used with two protocols shares its node port, unless two are requested. */
function allocatePorts(spec: Spec, pools: ServicePools, refuse: RejectWith): Spec {
  const drawn = new Map<number, number>();
  const wants = wantsNodePorts(spec);
  const ports = (spec.ports ?? []).map((port, index, all): Read<ServicePort> => {
    const { port: number, nodePort } = port;
    if (!nodePort && !wants) return port;
    const shared = drawn.get(number);
    if (shared !== undefined)
      return !nodePort || nodePort === shared
        ? { ...port, nodePort: shared }
        : { ...port, nodePort: thisPort(nodePort, index, pools, refuse) };
    const requested = all.find((other) => other.port === number && other.nodePort)?.nodePort;
    const value = requested ? thisPort(requested, index, pools, refuse) : anyPort(pools);
    drawn.set(number, value);
    return { ...port, nodePort: value };
  });
  return withFields(spec, { ports });
}

/** Node ports that the Service already has are kept; the others are allocated. */
function reallocatePorts(spec: Spec, before: Spec, pools: ServicePools, refuse: RejectWith): Spec {
  const own = new Set(nodePortsOf(before));
  const wants = wantsNodePorts(spec);
  const ports = (spec.ports ?? []).map((port, index): Read<ServicePort> => {
    const { nodePort } = port;
    if (!nodePort) return wants ? { ...port, nodePort: anyPort(pools) } : port;
    if (!own.has(nodePort)) {
      thisPort(nodePort, index, pools, refuse);
      own.add(nodePort);
    }
    return port;
  });
  return withFields(spec, { ports });
}

function allocateHealthPort(spec: Spec, pools: ServicePools): Spec {
  const { healthCheckNodePort: requested } = spec;
  const drawn = pools.port(requested || undefined);
  if ("value" in drawn) return withFields(spec, { healthCheckNodePort: drawn.value });
  throw internalError(
    requested
      ? `failed to allocate requested HealthCheck NodePort ${requested}: ${drawn.problem}`
      : `failed to allocate a HealthCheck NodePort 0: ${drawn.problem}`,
  );
}

/** A Service that is no longer a load balancer has no load balancer addresses. */
function withStatus(service: Read<Service>, old: Read<Service> | undefined): Read<Service> {
  if (!old || service.spec?.type === "LoadBalancer" || !service.status?.loadBalancer?.ingress) return service;
  return { ...service, status: { ...service.status, loadBalancer: {} } };
}

/** The addresses and ports that a stored Service holds from its cluster's pools. */
export function allocatedToService(service: Read<Service>): { addresses: readonly string[]; ports: readonly number[] } {
  const spec = service.spec ?? {};
  const { clusterIPs = [], healthCheckNodePort } = spec;
  return {
    addresses: spec.type === "ExternalName" || isHeadless(spec) ? [] : clusterIPs,
    ports: [...nodePortsOf(spec), ...(healthCheckNodePort ? [healthCheckNodePort] : [])],
  };
}
