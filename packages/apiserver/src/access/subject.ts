/**
 * Synthesized objects describe stored ones. A user who reads the first must be allowed to read the second: otherwise
 * the right to read explanations would reveal the content of objects that the user may not read.
 */
import { notFound, parseApiVersion } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { RequestContext } from "../request/context.ts";
import { confirm } from "../request/decisions.ts";
import type { Authorizer } from "../request/authorize.ts";

/**
 * Rejects with 403 with the error for the described object; 404 when its kind is no longer served, because the right to read
 * it cannot be checked.
 */
export async function confirmSubject(
  authorizer: Pick<Authorizer, "decide">,
  { cluster, user, served, name = "" }: RequestContext,
  object: DeepReadonly<JsonObject>,
): Promise<void> {
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
  confirm(request, await authorizer.decide(request));
}
