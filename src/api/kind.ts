/**
 * A kind is declared once: what it is called, in which versions it is served, its schema, columns and subresources. The
 * API server serves it, the client addresses it and the controllers are typed by it.
 *
 * Upstream kinds take names, schemas and defaults from the fact tables in `facts/`; a kind's file adds what a table
 * cannot say. A kind that is only known by its name (a manifest for a real member) is made by `dynamicKind`.
 */
import type { Duplex } from "node:stream";
import type { DeepReadonly, JsonObject } from "../base/index.ts";
import type { Schema } from "../machinery/index.ts";
import type { KubernetesObject } from "./meta.ts";

/** What `kubectl get` prints. A column reads a path or computes from the object. */
export interface Column {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "date";
  format?: string;
  description?: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  priority?: number;
  /** As in a CustomResourceDefinition: `.spec.replicas`. */
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
  /** The same as it came, still percent-encoded: for whoever passes it on. */
  rawPath: string;
  query: URLSearchParams;
  /** Lower-case names, without credentials and without what is about the connection to us: they may be passed on. */
  headers: Readonly<Record<string, string | undefined>>;
  /** Whose request it is, and may be: the server has asked its roles. */
  user: { name: string; uid?: string; groups: readonly string[]; extra?: Readonly<Record<string, readonly string[]>> };
  /** The protocol that the connection is to be given to, when the peer asks for one and that is possible. */
  upgrade?: string;
  body?: Uint8Array;
}
export interface ConnectResponse {
  status: number;
  headers: Record<string, string | string[]>;
  body: Uint8Array | AsyncIterable<Uint8Array>;
  /**
   * Comes with status 101: takes over the connection when its head is sent. Returns what to call when the peer goes
   * away.
   */
  upgrade?(socket: Duplex, head: Buffer): () => void;
}

/**
 * A subresource that is sent an object of another kind, which is acted upon and never stored: `pods/eviction` takes an
 * Eviction. What it does is code of the API server; this says what goes in and out, for decoding and discovery.
 */
export interface ActionShape {
  group: string;
  version: string;
  kind: string;
}

/**
 * A subresource through which one part of a spec is written, as `pods/resize` writes what containers may use. It is
 * read and written like the object itself; what lies outside of the part stays as it is stored. The kind's rules see
 * which one it was.
 */
export interface SpecPart {
  /** Unset is the spec. */
  of?: "spec" | "status";
  /** The spec that is stored, with the part of it that was sent. Pure. */
  take(sent: DeepReadonly<JsonObject>, stored: DeepReadonly<JsonObject>): DeepReadonly<JsonObject>;
}

/** The same for a part of the status that has writers of its own: who approves a certificate does not sign it. */
export type StatusPart = SpecPart & { of: "status" };

/** What the API server does differently for a kind. Everything is off unless stated. */
export interface KindTraits {
  /** What `metadata.name` may be; unset is `subdomain`. */
  names?: "subdomain" | "label" | "label-1035" | "path" | "address";
  /**
   * How the kind's own rules look at metadata when it is updated, beside the server's: as an update, as a new object,
   * or both. Clients see every finding as often as it was made. Unset is `{ update: true }`.
   */
  metadataChecks?: { update?: true; create?: true };
  /** Finalizers need not be qualified by a domain; of most kinds they must be. */
  plainFinalizers?: true;
  /** A PUT of an object that is not there creates it. */
  createOnUpdate?: true;
  /** A PUT must name the resourceVersion that it replaces. Custom kinds always insist. */
  requiresVersion?: true;
  /** A deletion that is done at once answers with what was deleted, not with a Status. */
  deletionAnswersObject?: true;
  /** Dependents stay when a deletion does not say what becomes of them. */
  orphansDependents?: true;
  /** A new object may come with a status, though that has a subresource of its own. */
  statusOnCreate?: true;
  /** Writers of the status change nothing of metadata. Of most kinds they may. */
  statusKeepsMetadata?: true;
  /** The spec is given once. Updates leave it as it is, and nobody owns it. */
  fixedSpec?: true;
  /** A new object has no generation yet; its first change makes it 1. */
  lateGeneration?: true;
  /** Labels are part of what the object wants: a change of them makes a new generation. */
  labelsCountAsSpec?: true;
  /** What may be selected by besides name and namespace: the field's text, as clients compare it. */
  selectableFields?: Readonly<Record<string, (object: DeepReadonly<JsonObject>) => string>>;
}

/**
 * Objects that code makes up whenever somebody reads them, such as the usage of nodes and pods; nobody can write them,
 * and nothing is stored.
 */
export interface ObjectSource {
  /** A promise for what takes more than looking it up. */
  get(
    cluster: string,
    namespace: string | undefined,
    name: string,
  ): JsonObject | undefined | Promise<JsonObject | undefined>;
  /** In key order: by namespace, then by name. */
  list(cluster: string, namespace: string | undefined): JsonObject[];
  /**
   * The stored object that this one tells about. Whoever gets this must be allowed to get that too. Only for kinds
   * whose only verb is `get`.
   */
  about?(object: DeepReadonly<JsonObject>): { apiVersion: string; kind: string; namespace?: string; name: string };
}

export interface KindVersion {
  schema: Schema;
  columns: Column[];
  /**
   * Set when this version is not the storage version. Pure; what the storage version cannot hold is lost, and the file
   * says so.
   */
  toStorage?(object: JsonObject): JsonObject;
  fromStorage?(object: JsonObject): JsonObject;
  /** The version is served with this Warning header. */
  deprecationWarning?: string;
  /**
   * Status and scale of this version, where a definition gives its versions different ones. Unset: those of the kind.
   */
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
  /** The version that is stored, and the one in which a client of this kind speaks. */
  readonly storageVersion: string;
  /**
   * Another kind whose objects these are: what is written to one shows in both. Every version then converts to that
   * kind's storage version.
   */
  readonly storedAs?: Kind;
  /** Served versions, the preferred one first. Schemas load on first use. */
  readonly versions: Readonly<Record<string, KindVersion>>;
  readonly subresources: {
    readonly status?: true;
    readonly scale?: ScalePaths;
    readonly connect?: Readonly<Record<string, ConnectHandler>>;
    readonly actions?: Readonly<Record<string, ActionShape>>;
    readonly parts?: Readonly<Record<string, SpecPart>>;
  };
  /** Set for a kind whose objects are made up; its verbs are `get` and `list`. */
  readonly source?: ObjectSource;
  /** Unset: everything. `["create"]` is a review, which is answered and never stored. */
  readonly verbs?: readonly string[];
  readonly traits?: KindTraits;
  /** Built-in kinds are part of Kubernetes; the others show up as CustomResourceDefinitions. */
  readonly builtIn: boolean;
  /** Objects that have a spec count its changes in `metadata.generation`. */
  readonly hasGeneration: boolean;
  /** Never set: carries the type, so that `client.get(Work, …)` answers a Work. */
  readonly type?: T;
}

/** The kind as a client needs it when nothing but its name is known. */
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

/** A kind spoken in another of its served versions. */
export function inVersion<T extends KubernetesObject>(kind: Kind, version: string): Kind<T> {
  return { ...kind, storageVersion: version } as Kind<T>;
}
