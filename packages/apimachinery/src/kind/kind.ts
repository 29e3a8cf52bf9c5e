/**
 * A kind is declared once: its names, served versions, schema, columns and subresources. The API server serves it, the
 * client addresses it, and controllers use its type.
 *
 * Upstream kinds take names, schemas and defaults from the fact tables in `facts/`; a kind's file adds what a table
 * cannot express. `dynamicKind` creates a kind of which only the name is known (a manifest for a real member).
 */
import type { Duplex } from "node:stream";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { Schema } from "../schema.ts";
import type { FieldDescriptions } from "./field-descriptions.ts";
import type { KubernetesObject } from "./meta.ts";

/** A column of `kubectl get`. It reads a path or computes a value from the object. */
export interface Column {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "date";
  format?: string;
  description?: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  priority?: number;
  /** As in a CRD: `.spec.replicas`. */
  jsonPath?: string;
  /** For built-in kinds, whose columns are computed. `nowMs` is for ages. */
  value?(object: DeepReadonly<JsonObject>, nowMs: number): string | number | boolean | null;
}

export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

/** A subresource that code serves instead of storage: proxy, log, exec. */
export type ConnectHandler = (request: ConnectRequest, signal: AbortSignal) => Promise<ConnectResponse>;
export interface ConnectRequest {
  cluster: string;
  namespace?: string;
  name: string;
  method: string;
  /** What follows the subresource in the path, without a leading slash. */
  path: string;
  /** The same as received, still percent-encoded: for forwarding. */
  rawPath: string;
  query: URLSearchParams;
  /** Lower-case names, without credentials and hop-by-hop headers: safe to forward. */
  headers: Readonly<Record<string, string | undefined>>;
  /** The authenticated user, already authorized by the server. */
  user: { name: string; uid?: string; groups: readonly string[]; extra?: Readonly<Record<string, readonly string[]>> };
  /** The protocol to upgrade to, when the client requests one and the connection allows it. */
  upgrade?: string;
  body?: Uint8Array;
}
export interface ConnectResponse {
  status: number;
  headers: Record<string, string | string[]>;
  body: Uint8Array | AsyncIterable<Uint8Array>;
  /**
   * Used with status 101: takes over the connection after the response head is sent. Returns a function to call when
   * the client disconnects.
   */
  upgrade?(socket: Duplex, head: Buffer): () => void;
}

/**
 * A subresource that receives an object of another kind, which is executed and never stored: `pods/eviction` takes an
 * Eviction. The API server implements it; this declares input and output, for decoding and discovery.
 */
interface ActionShape {
  group: string;
  version: string;
  kind: string;
}

/**
 * A subresource that writes one part of a spec, as `pods/resize` writes container resources. It is read and written
 * like the object itself; fields outside the part keep their stored values. The kind's validation receives the
 * subresource name.
 */
export interface SpecPart {
  /** Unset means the spec. */
  of?: "spec" | "status";
  /** The stored spec with the sent part. Pure. */
  take(sent: DeepReadonly<JsonObject>, stored: DeepReadonly<JsonObject>): DeepReadonly<JsonObject>;
}

/** The same for a part of the status that has separate writers: the approver of a certificate does not sign it. */
export type StatusPart = SpecPart & { of: "status" };

/** Deviations of a kind from the API server's default behaviour. All are off unless set. */
export interface KindTraits {
  /** The format of `metadata.name`; unset is `subdomain`. */
  names?: "subdomain" | "label" | "label-1035" | "path" | "address";
  /**
   * How the kind's own validation checks metadata on update, besides the server's: as an update, as a new object, or
   * both. Clients receive an error once per check. Unset is `{ update: true }`.
   */
  metadataChecks?: { update?: true; create?: true };
  /** The same for an update of the status. Unset is `{ update: true }`. */
  statusMetadataChecks?: { update?: true; create?: true };
  /** Finalizers need not be qualified by a domain; for most kinds they must be. */
  plainFinalizers?: true;
  /** A PUT of an object that does not exist creates it. */
  createOnUpdate?: true;
  /** A PUT must name the resourceVersion that it replaces. Custom kinds always require it. */
  requiresVersion?: true;
  /** A deletion that completes immediately returns the deleted object, not a Status. */
  deletionReturnsObject?: true;
  /** Dependents are orphaned when a deletion sets no propagation policy. */
  orphansDependents?: true;
  /** A new object may have a status, although the status is a subresource. */
  statusOnCreate?: true;
  /** A status update does not change metadata. For most kinds it may. */
  statusKeepsMetadata?: true;
  /** The spec is immutable. Updates ignore it, and it has no field owner. */
  fixedSpec?: true;
  /** A new object has no generation; its first change sets it to 1. */
  lateGeneration?: true;
  /** Labels are part of the desired state: changing them increases the generation. */
  labelsCountAsSpec?: true;
  /**
   * Controllers of the group that the server trusts write these objects in large numbers, and record no field managers:
   * `root` in the server's root cluster as long as no other client wrote the object, `others` in every other cluster.
   */
  untrackedByControllers?: "root" | "others";
  /** The package in the names of OpenAPI schemas, for built-in kinds that are not Kubernetes'. */
  openApiPackage?: string;
  /** Field selectors besides name and namespace: returns the field's text, as clients compare it. */
  selectableFields?: Readonly<Record<string, (object: DeepReadonly<JsonObject>) => string>>;
}

/**
 * Synthesized objects, computed on each read, such as the usage of nodes and pods; they cannot be written and are not
 * stored.
 */
export interface ObjectSource {
  /** A promise when computing the object is asynchronous. */
  get(
    cluster: string,
    namespace: string | undefined,
    name: string,
    query: SourceQuery,
  ): JsonObject | undefined | Promise<JsonObject | undefined>;
  /** In key order: by namespace, then by name. */
  list(cluster: string, namespace: string | undefined, query: SourceQuery): JsonObject[] | Promise<JsonObject[]>;
  /**
   * The stored object that this one describes. A reader of this object must also be allowed to get that one. Only for
   * kinds whose only verb is `get`.
   */
  about?(object: DeepReadonly<JsonObject>): { apiVersion: string; kind: string; namespace?: string; name: string };
}

/** The request for synthesized objects. */
export interface SourceQuery {
  /** As sent. The server selects among the returned objects, so a source may ignore it. */
  readonly labelSelector: string;
  /** Adds a `Warning:` header to the response. */
  readonly warn: (message: string) => void;
  readonly signal: AbortSignal;
}

/** What commands need to know of a workload kind without its controllers. */
export interface WorkloadTraits {
  /** Its pods end: it progresses for as long as they run. */
  readonly runsToCompletion?: true;
  /** A pod on each node: its replicas, if it has any, do not count its pods. */
  readonly runsOnEveryNode?: true;
  /** It starts runs of another kind on a schedule. */
  readonly isScheduled?: true;
  /** Its status does not say how the last run ended. */
  readonly hidesEndedRuns?: true;
  /** Where its pod template may be; `spec.template` by default. */
  readonly podTemplates?: readonly (readonly string[])[];
}

export interface KindVersion {
  schema: Schema;
  columns: Column[];
  /** Fields that lists may be selected by, as paths: `.status.phase`. For kinds that are served as definitions. */
  selectableFields?: readonly string[];
  /** The fact table with the Go types of a built-in version; protobuf bodies are decoded with it. */
  facts?: string;
  /**
   * Set when this version is not the storage version. Pure; fields that the storage version lacks are lost, and the
   * file documents them.
   */
  toStorage?(object: JsonObject): JsonObject;
  fromStorage?(object: JsonObject): JsonObject;
  /** The version is served with this Warning header. */
  deprecationWarning?: string;
  /** Status and scale of this version, where a CRD declares them per version. Unset: those of the kind. */
  subresources?: { readonly status?: true; readonly scale?: ScalePaths };
}

export interface Kind<T extends KubernetesObject = KubernetesObject> {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  /** The version that is stored, and that a client of this kind uses. */
  readonly storageVersion: string;
  /**
   * Another kind that stores the objects: a write to one is visible in both. Every version then converts to that kind's
   * storage version.
   */
  readonly storedAs?: Kind;
  /** Served versions, the preferred one first. Schemas load on first use. */
  readonly versions: Readonly<Record<string, KindVersion>>;
  /** By field path. The schemas of the versions have them; a path may exist in only some versions. */
  readonly descriptions?: FieldDescriptions;
  readonly subresources: {
    readonly status?: true;
    readonly scale?: ScalePaths;
    readonly connect?: Readonly<Record<string, ConnectHandler>>;
    readonly actions?: Readonly<Record<string, ActionShape>>;
    readonly parts?: Readonly<Record<string, SpecPart>>;
  };
  /** Set for a kind with synthesized objects; its verbs are `get` and `list`. */
  readonly source?: ObjectSource;
  /** Unset: all verbs. `["create"]` is a review, which is answered and never stored. */
  readonly verbs?: readonly string[];
  readonly traits?: KindTraits;
  /** Labels of the CustomResourceDefinition that serves the kind. */
  readonly definitionLabels?: Readonly<Record<string, string>>;
  /** Set for kinds that users create to run pods. */
  readonly workload?: WorkloadTraits;
  /** Built-in kinds are part of Kubernetes; the others are served as CRDs. */
  readonly builtIn: boolean;
  /**
   * Set for the kind of a CRD in a cluster that is left to other controllers: it is what its CRD says, and rules of ours
   * for a kind of the same name are not for it.
   */
  readonly foreign?: true;
  /**
   * Set for the kind of a CRD whose objects no code of ours calculates with: integers keep 64 bits, as bigints where a
   * number cannot keep them. In objects of other kinds they are rejected.
   */
  readonly hasLongIntegers?: true;
  /** Objects that have a spec count its changes in `metadata.generation`. */
  readonly hasGeneration: boolean;
  /** Never set: carries the type, so that `client.get(Work, …)` returns a Work. */
  readonly type?: T;
}

/** A kind for clients that only know its name. */
export function dynamicKind(names: {
  group: string;
  version: string;
  kind: string;
  plural: string;
  scope: "Namespaced" | "Cluster";
}): Kind<KubernetesObject & JsonObject> {
  const { group, version, kind, plural, scope } = names;
  return {
    group,
    kind,
    plural,
    scope,
    storageVersion: version,
    versions: { [version]: { schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true }, columns: [] } },
    subresources: { status: true },
    builtIn: false,
    hasGeneration: true,
  };
}

/** The kind in another of its served versions. */
export function inVersion<T extends KubernetesObject>(kind: Kind, version: string): Kind<T> {
  return { ...kind, storageVersion: version } as Kind<T>;
}
