/** The parameters of a policy, as a binding names them. */
import { labelSelectorOf, matchesLabels, parseApiVersion } from "@flotilla/apimachinery";
import type { ParamKind, ParamRef } from "@flotilla/apimachinery/facts/admissionregistration-v1.ts";
import { isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { metadataOf } from "../codec/metadata.ts";
import { objectIn } from "../codec/render.ts";
import { keyOf, memoized } from "../resources/resources.ts";
import type { ResourceTable, ServedVersion } from "../resources/resources.ts";

type Params = DeepReadonly<JsonObject> | undefined;

/** A policy is evaluated once for each parameter; undefined stands for an evaluation without one. */
export type FoundParams =
  | { readonly params: readonly Params[]; readonly problem?: undefined }
  | { readonly params?: undefined; readonly problem: string };

const WITHOUT_PARAMS: FoundParams = { params: [undefined] };
const problem = (text: string): FoundParams => ({ problem: text });

/** The version of the kind of parameters that a cluster serves. */
export function paramVersion(
  table: ResourceTable,
  { apiVersion = "", kind = "" }: DeepReadonly<ParamKind>,
): ServedVersion | undefined {
  const byKind = memoized(
    table,
    "versions by kind",
    () =>
      new Map(
        table.resources.flatMap((resource) =>
          resource.versions.map((served) => [`${served.apiVersion}/${resource.kind.kind}`, served] as const),
        ),
      ),
  );
  return byKind.get(`${apiVersion}/${kind}`);
}

/** `apps/v1, Kind=Deployment`, as messages name a kind. */
export function kindName({ apiVersion = "", kind = "" }: DeepReadonly<ParamKind>): string {
  const { group, version } = parseApiVersion(apiVersion);
  return `${group}/${version}, Kind=${kind}`;
}

export interface ParamRequest {
  readonly store: ObjectStore;
  readonly cluster: LogicalCluster;
  /** The kind of the policy's parameters; unset when the policy has none. */
  readonly kind: ServedVersion | undefined;
  readonly reference: DeepReadonly<ParamRef> | undefined;
  /** The namespace of the request, which is also that of namespaced parameters. */
  readonly namespace: string | undefined;
}

export function findParams(request: ParamRequest): FoundParams {
  const { kind, reference } = request;
  if (!kind || !reference) return WITHOUT_PARAMS;
  const { namespaced } = kind.resource;
  if (reference.namespace && !namespaced)
    return problem("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  const namespace = namespaced ? reference.namespace || request.namespace : undefined;
  if (namespaced && !namespace)
    return problem("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  const params = readParams(request, kind, reference, namespace);
  if (params.length === 0 && reference.parameterNotFoundAction === "Deny")
    return problem("no params found for policy binding with `Deny` parameterNotFoundAction");
  return { params };
}

function readParams(
  { store, cluster }: ParamRequest,
  kind: ServedVersion,
  { name, selector }: DeepReadonly<ParamRef>,
  namespace: string | undefined,
): Params[] {
  const { resource } = kind;
  if (name) {
    const { entry } = store.find(cluster, resource, keyOf(resource, cluster.name, namespace, name));
    return entry ? [objectIn(entry, kind)] : [];
  }
  const wanted = labelSelectorOf(selector ?? {});
  return store
    .list(cluster, resource, namespace)
    .map((entry) => objectIn(entry, kind))
    .filter((object) => {
      const { labels } = metadataOf(object);
      return matchesLabels(wanted, isObject(labels) ? (labels as Record<string, string>) : undefined);
    });
}
