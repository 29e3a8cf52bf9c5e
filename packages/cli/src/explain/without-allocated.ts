/**
 * Removes what a dry run allocated and an apply would allocate again: the node ports of a Service. They are not what will be
 * stored. Pure.
 */
import { gvkOf } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";

type Object = DeepReadonly<KubernetesObject>;
interface Port {
  readonly nodePort?: number;
}
interface ServiceSpec {
  readonly ports?: readonly Port[];
  readonly healthCheckNodePort?: number;
}

/** `tried` is the result of the dry run; `known` are the manifest and the stored object, whose ports stay. */
export function withoutAllocated(tried: Object, known: readonly (Object | undefined)[]): Object {
  if (tried.kind !== "Service" || gvkOf(tried).group !== "") return tried;
  const spec = specOf(tried);
  const kept = new Set(known.flatMap((object) => nodePortsOf(specOf(object))));
  const isNew = (port: number | undefined): boolean => port !== undefined && !kept.has(port);
  if (!nodePortsOf(spec).some(isNew)) return tried;
  const { healthCheckNodePort, ...rest } = spec;
  const ports = spec.ports?.map(({ nodePort, ...port }) => (isNew(nodePort) ? port : { nodePort, ...port }));
  const result = { ...tried, spec: { ...rest, ports } };
  return (isNew(healthCheckNodePort) || healthCheckNodePort === undefined
    ? result
    : { ...result, spec: { ...result.spec, healthCheckNodePort } }) as unknown as Object;
}

const specOf = (object: Object | undefined): ServiceSpec => {
  const { spec } = (object ?? {}) as { spec?: unknown };
  return isObject(spec) ? spec : {};
};

const nodePortsOf = ({ ports = [], healthCheckNodePort }: ServiceSpec): number[] =>
  [...ports.map(({ nodePort }) => nodePort), healthCheckNodePort].filter((port) => port !== undefined);
