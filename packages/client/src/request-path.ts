/** Request paths: the URL forms and methods of the Kubernetes API. */
import { badRequest } from "@flotilla/apimachinery";
import type { PatchType, ResourcePath, TransportRequest } from "./transport.ts";

export const METHODS: Readonly<Record<TransportRequest["verb"], string>> = {
  get: "GET",
  list: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};

/**
 * YAML is a superset of JSON, so an apply patch is sent as JSON under the only media type that every server supports.
 */
export const PATCH_MEDIA_TYPES: Readonly<Record<PatchType, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

/** `/apis/apps/v1/namespaces/shop/deployments/web/status`, under the cluster's root. */
export function resourcePath(path: ResourcePath): string {
  const { group, version, resource, namespace, name, subresource } = path;
  let text = group ? `/apis/${segment(group)}/${segment(version)}` : `/api/${segment(version)}`;
  if (namespace !== undefined) text += `/namespaces/${segment(namespace)}`;
  text += `/${segment(resource)}`;
  if (name !== undefined) text += `/${segment(name)}`;
  if (subresource !== undefined) text += `/${segment(subresource)}`;
  return text;
}

/** `?labelSelector=app%3Dweb`, or an empty string. */
export function queryText(query: Readonly<Record<string, string>> | undefined): string {
  let text = "";
  for (const key in query)
    text += `${text ? "&" : "?"}${encodeURIComponent(key)}=${encodeURIComponent(query[key] ?? "")}`;
  return text;
}

/** One path segment. Names come from manifests: an empty one would address the collection, and dots another object. */
export function segment(text: string): string {
  if (text === "" || text === "." || text === "..")
    throw badRequest(`${JSON.stringify(text)} cannot be used in a request path; name the object`);
  return encodeURIComponent(text);
}
