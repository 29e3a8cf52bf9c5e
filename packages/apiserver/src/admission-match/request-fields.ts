/** The fields of a request as webhooks and expressions see them (`AdmissionRequest` of `admission.k8s.io/v1`). */
import { defined } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { isNamespaceKind } from "../resources/resources.ts";
import type { ServedVersion } from "../resources/resources.ts";
import type { AdmissionRequest, GroupVersionKind } from "./admission-request.ts";

/** A request in the version that the rules of a webhook or a policy name. */
export interface AdmissionQuestion {
  readonly request: AdmissionRequest;
  /** The version in which the objects are. */
  readonly served: ServedVersion;
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
}

/** The request of an AdmissionReview, without its uid. Expressions see the same fields. */
export function requestFields({ request, served, object, oldObject }: AdmissionQuestion): JsonObject {
  const { context, operation, name, dryRun, options } = request;
  const { subresource, user } = context;
  const fields: JsonObject = {
    kind: kindIn(request, served) as unknown as JsonObject,
    resource: resourceIn(served),
    requestKind: kindIn(request, context.served) as unknown as JsonObject,
    requestResource: resourceIn(context.served),
    operation,
    userInfo: {
      username: user.name,
      ...defined({ uid: user.uid }),
      groups: [...user.groups],
      ...defined({
        extra: user.extra
          ? Object.fromEntries(Object.entries(user.extra).map(([key, all]) => [key, [...all]]))
          : undefined,
      }),
    },
    object: object ?? null,
    oldObject: oldObject ?? null,
    dryRun,
    options: options ?? null,
  };
  if (subresource !== undefined) Object.assign(fields, { subResource: subresource, requestSubResource: subresource });
  if (name !== undefined) fields.name = name;
  // A Namespace is in itself.
  const namespace = isNamespaceKind(context.served.resource) ? name : context.namespace;
  if (namespace !== undefined) fields.namespace = namespace;
  return fields;
}

function kindIn({ kind }: AdmissionRequest, { resource, version }: ServedVersion): GroupVersionKind {
  return kind ?? { group: resource.kind.group, version, kind: resource.kind.kind };
}

const resourceIn = ({ resource: { name }, version }: ServedVersion): JsonObject => ({
  group: name.group,
  version,
  resource: name.resource,
});
