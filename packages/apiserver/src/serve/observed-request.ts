/** What the metrics and the audit log state about a request. */
import type { RequestContext } from "../request/context.ts";
import type { ApiRequest } from "../request/request.ts";
import type { Verb } from "./operations.ts";
import type { ObservedRequest } from "./server-metrics.ts";

export function newObservation({ method }: ApiRequest): ObservedRequest {
  return {
    cluster: "",
    verb: method,
    group: "",
    version: "",
    resource: "",
    subresource: "",
    scope: "",
    dryRun: false,
  };
}

export const METRIC_VERBS: Readonly<Record<Verb, string>> = {
  get: "GET",
  list: "LIST",
  watch: "WATCH",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETECOLLECTION",
  connect: "CONNECT",
};

/**
 * Labels for the request metrics. Only names of served resources are used, so that clients cannot create arbitrary
 * series.
 */
export function observe(
  seen: ObservedRequest,
  { cluster, served, namespace, name, subresource = "", query }: RequestContext,
  verb: Verb,
  contentType: string | undefined,
): void {
  seen.cluster = cluster.name;
  seen.verb = verb === "patch" && contentType?.startsWith("application/apply-patch") ? "APPLY" : METRIC_VERBS[verb];
  seen.group = served.resource.name.group;
  seen.version = served.version;
  seen.resource = served.resource.name.resource;
  seen.subresource = subresource;
  seen.scope = name !== undefined ? "resource" : namespace !== undefined ? "namespace" : "cluster";
  seen.dryRun = verb !== "get" && verb !== "list" && verb !== "watch" && query.has("dryRun");
}
