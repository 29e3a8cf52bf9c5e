/**
 * Whether the server behind an APIService can be used, and what it serves. Checked when the APIService, its Service or its
 * endpoints change, and regularly: a server that is down is marked after half a minute at most.
 *
 * Reads:  the APIService, its Service and EndpointSlices; discovery of the server.
 * Writes: the condition `Available` in the status of the APIService.
 */
import { EndpointSlice, Endpoints, Service, SERVICE_NAME_LABEL } from "@flotilla/kubernetes";
import type { ApiServiceCondition } from "@flotilla/kubernetes";
import { formatTime, isObject } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { ClusterReader } from "@flotilla/apimachinery";
import { ask, problemOf } from "./remote-calls.ts";
import { versionInGroups, versionOfResources } from "./remote-discovery.ts";
import type { RemoteService } from "./remote-service.ts";

export type Verdict = Pick<ApiServiceCondition, "status" | "reason" | "message">;

const AGGREGATED =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;" +
  "v=v2beta1;as=APIGroupDiscoveryList,application/json";

const no = (reason: string, message: string): Verdict => ({ status: "False", reason, message });

/** Aggregated versions of one cluster. What is known of each may have megabytes. */
export const MAX_VERSIONS = 100;
export const aboveLimit = (): Verdict =>
  no(
    "TooManyAPIServices",
    `this cluster has more than ${MAX_VERSIONS} APIServices with a Service; the oldest ${MAX_VERSIONS} are used`,
  );

/** Whether the Service can be called at all; undefined when it can. Pure. */
export function serviceProblem(
  read: ClusterReader,
  { spec: { service } }: RemoteService,
  addressAnnotation: string | undefined,
): Verdict | undefined {
  const { namespace = "", name = "", port = 443 } = service ?? {};
  const found = read.get(Service, namespace, name);
  const about = `service/${name} in ${JSON.stringify(namespace)}`;
  if (!found) return no("ServiceNotFound", `${about} is not present`);
  const { type = "ClusterIP", ports = [] } = found.spec ?? {};
  if (type !== "ClusterIP") return undefined;
  if (addressAnnotation !== undefined && found.metadata.annotations?.[addressAnnotation] !== undefined)
    return undefined;
  const offered = ports.find((candidate) => candidate.port === port);
  if (!offered) return no("ServicePortError", `${about} is not listening on port ${port}`);
  const slices = read
    .list(EndpointSlice, namespace)
    .filter(({ metadata }) => metadata.labels?.[SERVICE_NAME_LABEL] === name);
  const old = read.get(Endpoints, namespace, name);
  if (slices.length === 0 && !old) return no("EndpointsNotFound", `cannot find endpointslices for ${about}`);
  const { name: portName = "" } = offered;
  const isReady =
    slices.some(
      ({ endpoints = [], ports: open }) =>
        endpoints?.some(({ conditions }) => conditions?.ready !== false) &&
        open?.some((candidate) => (candidate.name ?? "") === portName && candidate.port !== undefined),
    ) || old?.subsets?.some(({ addresses = [] }) => addresses.length > 0);
  if (isReady) return undefined;
  return no(
    "MissingEndpoints",
    `endpointslices for ${about} have no addresses with port name ${JSON.stringify(portName)}`,
  );
}

/** Asks the server. Sets what it serves when it answers. */
export async function askServer(
  remote: RemoteService,
  context: { clock: Clock; signal: AbortSignal },
): Promise<Verdict> {
  const { group, version } = remote;
  const path = `/apis/${group}/${version}`;
  try {
    const { status, json = null } = await ask(remote, path, context);
    if (status < 200 || status > 299)
      return no("FailedDiscoveryCheck", `failing or missing response from ${path}: bad status ${status}`);
    remote.discovered = (await groupsOf(remote, context)) ?? versionOfResources(json, group, version);
    remote.openApiUrl = await openApiUrlOf(remote, context);
    return { status: "True", reason: "Passed", message: "all checks passed" };
  } catch (error) {
    return no("FailedDiscoveryCheck", `failing or missing response from ${path}: ${problemOf(error)}`);
  }
}

async function groupsOf(
  remote: RemoteService,
  context: { clock: Clock; signal: AbortSignal },
): Promise<RemoteService["discovered"]> {
  const { status, contentType, json = null } = await ask(remote, "/apis", context, { accept: AGGREGATED });
  return status === 200 && contentType.includes("APIGroupDiscoveryList")
    ? versionInGroups(json, remote.group, remote.version)
    : undefined;
}

/** Servers need not have OpenAPI v3. */
async function openApiUrlOf(
  remote: RemoteService,
  context: { clock: Clock; signal: AbortSignal },
): Promise<string | undefined> {
  const { json } = await ask(remote, "/openapi/v3", context);
  const paths = isObject(json) && isObject(json.paths) ? json.paths : {};
  const entry = paths[`apis/${remote.group}/${remote.version}`];
  const url = isObject(entry) ? entry.serverRelativeURL : undefined;
  return typeof url === "string" && url.startsWith("/openapi/v3/") ? url : undefined;
}

/** The condition after a check; the same object when it says the same. */
export function conditionAfter(
  before: RemoteService["condition"],
  { status, reason = "", message = "" }: Verdict,
  nowMs: number,
): NonNullable<RemoteService["condition"]> {
  if (before && before.status === status && before.reason === reason && before.message === message) return before;
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(nowMs);
  return {
    type: "Available",
    status,
    lastTransitionTime,
    reason,
    message,
  };
}
