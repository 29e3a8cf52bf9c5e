/**
 * The address of a Service in a logical cluster. There is no kube-proxy between the server and the cluster's Services, so
 * a ready endpoint is called directly; the certificate must still be for the Service. Where pods are simulated, or run
 * as plain processes, the Service itself says where it is served.
 */
import { Endpoints, EndpointSlice, Service, SERVICE_NAME_LABEL } from "@flotilla/kubernetes";
import type { ClusterReader } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { WebhookError } from "@flotilla/client";
import type { ServiceLocation } from "@flotilla/client";

interface Address {
  host: string;
  port: number;
}

/**
 * Throws `WebhookError` for a Service that does not exist or has nothing to call. The annotation says where a Service is
 * served instead of at its endpoints, as `HOST:PORT`; unset: there is no such annotation.
 */
export function serviceAddress(
  read: ClusterReader,
  { namespace, name, port }: ServiceLocation,
  annotation: string | undefined,
): Address {
  const service = read.get(Service, namespace, name);
  if (!service) throw unusable(`service ${JSON.stringify(name)} not found in namespace ${JSON.stringify(namespace)}`);
  const annotated = annotation === undefined ? undefined : service.metadata.annotations?.[annotation];
  if (annotation !== undefined && annotated !== undefined) return annotatedAddress(annotation, annotated);
  const { type, externalName, ports = [] } = service.spec ?? {};
  if (type === "ExternalName") {
    if (!externalName) throw unusable(`service ${JSON.stringify(name)} has no externalName`);
    return { host: externalName, port };
  }
  const offered = ports.find((candidate) => candidate.port === port);
  if (!offered) throw unusable(`service ${JSON.stringify(name)} has no port ${port}`);
  const address =
    sliceAddress(read, namespace, name, offered.name) ?? endpointsAddress(read, namespace, name, offered.name);
  if (!address) throw unusable(`no endpoints available for service ${JSON.stringify(name)}`);
  return address;
}

function annotatedAddress(annotation: string, text: string): Address {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw unusable(`the annotation ${annotation} is ${JSON.stringify(text)}, which is not HOST:PORT`);
  return { host, port: Number(port) };
}

function sliceAddress(read: ClusterReader, namespace: string, service: string, portName = ""): Address | undefined {
  for (const slice of read.list(EndpointSlice, namespace)) {
    if (slice.metadata.labels?.[SERVICE_NAME_LABEL] !== service || slice.addressType === "FQDN") continue;
    const port = portIn(slice.ports, portName);
    const ready = slice.endpoints?.find(({ conditions, addresses }) => conditions?.ready !== false && addresses[0]);
    const host = ready?.addresses[0];
    if (host !== undefined && port !== undefined) return { host, port };
  }
  return undefined;
}

function endpointsAddress(read: ClusterReader, namespace: string, service: string, portName = ""): Address | undefined {
  for (const { addresses = [], ports } of read.get(Endpoints, namespace, service)?.subsets ?? []) {
    const port = portIn(ports, portName);
    const host = addresses[0]?.ip;
    if (host !== undefined && port !== undefined) return { host, port };
  }
  return undefined;
}

const portIn = (
  ports: DeepReadonly<{ name?: string; port?: number }[]> | undefined,
  name: string,
): number | undefined => ports?.find((candidate) => (candidate.name ?? "") === name)?.port;

const unusable = (problem: string): WebhookError => new WebhookError("configuration", problem);
