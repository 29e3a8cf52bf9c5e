/** Checks that the body of a request matches its path: kind, version, namespace and name. */
import {
  badRequest,
  checkMetadata,
  DecodeError,
  field,
  invalid,
  parseApiVersion,
  undecodable,
} from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { RequestContext } from "../request/context.ts";
import { checkReadable } from "./custom-body.ts";
import { metadataOf } from "../codec/metadata.ts";
import { memoized } from "../resources/resources.ts";
import type { ResourceTable } from "../resources/resources.ts";
import { textOf } from "../codec/text.ts";

/**
 * The body must have the endpoint's kind and name; omitted fields are filled in from the path. `stored` is the metadata
 * of the object to replace.
 */
export function checkIdentity(
  context: RequestContext,
  object: JsonObject,
  pathName: string | undefined,
  stored?: JsonObject,
): void {
  const { served } = context;
  const { kind } = served.resource;
  checkReadable(context, object, stored);
  const sentKind = textOf(object.kind ?? "") || kind.kind;
  const sentVersion = textOf(object.apiVersion ?? "") || served.apiVersion;
  if (sentKind !== kind.kind || sentVersion !== served.apiVersion)
    rejectKind(context, sentVersion, sentKind, metadataOf(object));
  if (kind.builtIn && !needsNoCheck(object.metadata, stored))
    checkMetadata(object.metadata ?? {}, { apiVersion: served.apiVersion, kind: kind.kind });
  checkPlace(context, metadataOf(object), pathName);
}

/** Fields that the server replaces, so they are not checked again later. */
export const REPLACED_METADATA = new Set([
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "managedFields",
]);

/** Whether metadata has none of the fields that must be checked at this point. */
function needsNoCheck(metadata: Json | undefined, stored: JsonObject = {}): boolean {
  if (!isObject(metadata)) return metadata === undefined || metadata === null;
  // Values that an update repeats from the stored object are valid.
  for (const key in metadata) if (REPLACED_METADATA.has(key) && metadata[key] !== stored[key]) return false;
  const { name, namespace } = metadata;
  return (name === undefined || typeof name === "string") && (namespace === undefined || typeof namespace === "string");
}

/** Checks the namespace and the name, for custom and built-in kinds alike. */
export function checkPlace(
  { served, namespace }: RequestContext,
  metadata: JsonObject,
  pathName: string | undefined,
): void {
  if (
    served.resource.namespaced &&
    typeof metadata.namespace === "string" &&
    metadata.namespace !== "" &&
    metadata.namespace !== namespace
  ) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (pathName === undefined) return;
  if (metadata.name === undefined || metadata.name === null || metadata.name === "")
    throw badRequest(`the name of the object (${pathName} based on URL) was undeterminable: name must be provided`);
  if (metadata.name !== pathName)
    throw badRequest(
      `the name of the object (${textOf(metadata.name)}) does not match the name on the URL (${pathName})`,
    );
}

/** Versions of Kubernetes groups that can be decoded although they are no longer served. */
const FORMER_VERSIONS: Readonly<Record<string, readonly string[]>> = {
  apps: ["v1beta1", "v1beta2"],
  batch: ["v1beta1"],
  policy: ["v1beta1"],
  "admissionregistration.k8s.io": ["v1beta1", "v1alpha1"],
  "authentication.k8s.io": ["v1beta1", "v1alpha1"],
  "authorization.k8s.io": ["v1beta1"],
  "certificates.k8s.io": ["v1beta1", "v1alpha1"],
  "coordination.k8s.io": ["v1beta1"],
  "discovery.k8s.io": ["v1beta1"],
  "events.k8s.io": ["v1beta1"],
  "networking.k8s.io": ["v1beta1"],
  "node.k8s.io": ["v1beta1", "v1alpha1"],
  "rbac.authorization.k8s.io": ["v1beta1", "v1alpha1"],
  "scheduling.k8s.io": ["v1beta1"],
  "storage.k8s.io": ["v1beta1", "v1alpha1"],
};
/** These kinds used to be in a separate group. */
const FORMER_EXTENSIONS = new Set(["Deployment", "DaemonSet", "ReplicaSet", "Ingress", "NetworkPolicy"]);

/** Whether a body has another decodable version of the kind. */
function isOtherVersion({ group, kind, versions }: Kind, sentGroup: string, version: string, sent: string): boolean {
  if (sent !== kind) return false;
  if (sentGroup === group)
    return (
      Object.hasOwn(versions, version) ||
      (Object.hasOwn(FORMER_VERSIONS, group) && FORMER_VERSIONS[group]?.includes(version) === true)
    );
  return sentGroup === "extensions" && version === "v1beta1" && FORMER_EXTENSIONS.has(kind);
}

function rejectKind(
  { cluster, served }: RequestContext,
  apiVersion: string,
  sent: string,
  metadata: JsonObject,
): never {
  const { kind } = served.resource;
  const { group, version } = parseApiVersion(apiVersion);
  if (kind.builtIn && !isOtherVersion(kind, group, version, sent)) {
    throw undecodable(
      { sent, version, kind: kind.kind },
      kindProblem(cluster.table, apiVersion, sent, kind.group, kind.kind),
    );
  }
  if (apiVersion !== served.apiVersion)
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${served.apiVersion})`,
    );
  throw invalid(kind.group, sent, textOf(metadata.name ?? ""), [field.invalid("kind", sent, `must be ${kind.kind}`)]);
}

/** The error for a patch that changes the kind of its object. */
export function otherKind({ cluster, served }: RequestContext, apiVersion: string, sent: string): DecodeError {
  const { kind } = served.resource;
  return new DecodeError(kindProblem(cluster.table, apiVersion, sent, kind.group, kind.kind));
}

/**
 * The error for an unknown kind. It names the file in which kube-apiserver registers its kinds, because clients see
 * that.
 */
export function unregisteredKind(sent: string, apiVersion: string): string {
  return `no kind ${JSON.stringify(sent)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
}

function kindProblem(table: ResourceTable, apiVersion: string, sent: string, group: string, kind: string): string {
  const known = memoized(
    table,
    "kinds that can be read",
    () =>
      new Set(
        table.resources
          .filter((resource) => resource.kind.builtIn)
          .flatMap(({ kind: { kind: name }, listKind, versions }) =>
            versions.flatMap((served) => [`${served.apiVersion} ${name}`, `${served.apiVersion} ${listKind}`]),
          ),
      ),
  );
  if (!known.has(`${apiVersion} ${sent}`)) return unregisteredKind(sent, apiVersion);
  return `converting (${parseApiVersion(apiVersion).version}.${sent}) to (${packageOf(group)}.${kind}): unknown conversion`;
}

/** The Go package of a group's types: the first part of its name. */
const packageOf = (group: string): string => (group === "" ? "core" : (group.split(".", 1)[0] ?? ""));
