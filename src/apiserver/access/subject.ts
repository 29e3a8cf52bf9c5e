/**
 * Objects that are made up when somebody reads them tell about stored ones. Whoever reads one must be allowed to read
 * the other: the right to explanations alone would otherwise show what is in an object that its reader may not see.
 */
import { parseApiVersion } from "../../api/index.ts";
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import { notFound } from "../../machinery/index.ts";
import type { RequestContext } from "../context.ts";
import { accessDenied } from "../request/authorize.ts";
import type { Authorizer } from "../request/authorize.ts";

/**
 * Throws 403 in the words for the object that it is about; 404 when that is no longer served, so that nobody can be
 * asked about it.
 */
export function confirmSubject(
  authorizer: Pick<Authorizer, "decide">,
  { cluster, user, served, name = "" }: RequestContext,
  object: DeepReadonly<JsonObject>,
): void {
  const subject = served.resource.kind.source?.about?.(object);
  if (!subject) return;
  const { group } = parseApiVersion(subject.apiVersion);
  const resource = cluster.table.resources.find(({ kind }) => kind.kind === subject.kind && kind.group === group)?.name;
  if (!resource) throw notFound(served.resource.name, name);
  const request = {
    user,
    cluster: cluster.name,
    verb: "get",
    resource: { group: resource.group, resource: resource.resource, namespace: subject.namespace, name: subject.name },
  };
  const { allowed, reason } = authorizer.decide(request);
  if (!allowed) throw accessDenied(request, reason);
}
