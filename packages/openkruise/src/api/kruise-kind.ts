/**
 * The shared parts of OpenKruise's kinds: two versions of which the newer is stored, a status, and schemas from its
 * CRDs.
 */
import type { JsonObject } from "@flotilla/base";
import { definitionSchema, dynamicKind, lazyVersion } from "@flotilla/apimachinery";
import type { Column, Kind, KindVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";

/** Workloads that `kubectl scale` and autoscalers can scale. */
const SCALE = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".status.labelSelector",
};

interface KruiseKind {
  group?: "policy.kruise.io";
  kind: string;
  plural: string;
  shortNames?: string[];
  scope?: Kind["scope"];
  columns: Column[];
  hasScale?: true;
  /** For kinds that the newest release has only in v1alpha1; the others have it in their CRD. */
  v1beta1Schema?: () => KindVersion["schema"];
  toStorage(object: JsonObject): JsonObject;
  fromStorage(object: JsonObject): JsonObject;
}

export function kruiseKind<T extends KubernetesObject>(of: KruiseKind): Kind<T> {
  const {
    group = "apps.kruise.io",
    kind,
    plural,
    shortNames,
    scope = "Namespaced",
    columns,
    hasScale,
    toStorage,
    fromStorage,
  } = of;
  const schemaOf = (version: string) => (): KindVersion["schema"] => definitionSchema(`${plural}.${group}`, version);
  return {
    group,
    kind,
    plural,
    ...(shortNames && { shortNames }),
    scope,
    storageVersion: "v1beta1",
    versions: {
      v1beta1: lazyVersion(columns, of.v1beta1Schema ?? schemaOf("v1beta1")),
      v1alpha1: lazyVersion(columns, schemaOf("v1alpha1"), { toStorage, fromStorage }),
    },
    subresources: { status: true, ...(hasScale && { scale: SCALE }) },
    builtIn: false,
    hasGeneration: true,
  };
}

/** A kind of `apps.kruise.io` that members may have, but that Flotilla does not serve. */
export const unservedKind = (kind: string, plural: string): Kind =>
  dynamicKind({ group: "apps.kruise.io", version: "v1alpha1", kind, plural, scope: "Namespaced" });
