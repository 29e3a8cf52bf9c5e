/**
 * Objects as protobuf documents. A message is encoded from the parsed object; it is cached with the entry until the next
 * full garbage collection, because lists and gets of the same objects come in groups.
 */
import { encodeDocument, encodeMessage, protobufEnvelope } from "@flotilla/apimachinery";
import type { ProtobufCodec, Status } from "@flotilla/apimachinery";
import { required } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { ServedVersion } from "../resources/resources.ts";
import { messageIn, objectAt, objectIn } from "./render.ts";
import type { StoredObject } from "./stored-object.ts";

export const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** The forms of an object in protobuf: whole, or its metadata in a version of `meta.k8s.io`. */
export type MessageForm = "object" | "v1" | "v1beta1";

/** The types of a kind's version; undefined for a kind without a protobuf form, such as a custom one. */
export function tableFor(
  codec: ProtobufCodec | undefined,
  { resource, apiVersion }: ServedVersion,
): string | undefined {
  return resource.kind.builtIn ? codec?.tableOf(apiVersion, resource.kind.kind) : undefined;
}

/** Renders the entries of one version in one form. */
export interface MessageRenderer {
  /** The message of an entry, as an item of a list. */
  message(entry: StoredObject): Uint8Array;
  /** Whether `message` returns what is cached. */
  isKnown(entry: StoredObject): boolean;
  /** A document with the last state of the object, at the revision of a change; not cached. */
  documentAt(entry: StoredObject, revision: number): Uint8Array;
  /** A whole object that is not stored: a bookmark. */
  document(object: JsonObject): Uint8Array;
  readonly apiVersion: string;
  readonly kind: string;
  readonly listKind: string;
}

/** `metadata` selects which metadata is served, where that differs from the object's. */
export function rendererOf(
  codec: ProtobufCodec | undefined,
  served: ServedVersion,
  form: MessageForm,
  metadata: (object: JsonObject) => JsonObject,
): MessageRenderer {
  if (form !== "object") {
    const apiVersion = `meta.k8s.io/${form}`;
    const kind = "PartialObjectMetadata";
    const document = (object: JsonObject): Uint8Array =>
      encodeDocument("meta-v1", kind, { apiVersion, kind }, metadata(object));
    return {
      message: (entry) => encodeMessage("meta-v1", kind, metadata(objectIn(entry, served))),
      isKnown: () => false,
      documentAt: (entry, revision) => document(objectAt(entry, served, revision)),
      document,
      apiVersion,
      kind,
      listKind: "PartialObjectMetadataList",
    };
  }
  const { apiVersion, resource } = served;
  const { kind } = resource.kind;
  const table = required(tableFor(codec, served), `the protobuf types of ${apiVersion} ${kind}`);
  const document = (object: JsonObject): Uint8Array => encodeDocument(table, kind, { apiVersion, kind }, object);
  return {
    message: (entry) => messageIn(entry, served, (object) => encodeMessage(table, kind, object)),
    isKnown: (entry) => messageIn(entry, served) !== undefined,
    documentAt: (entry, revision) => document(objectAt(entry, served, revision)),
    document,
    apiVersion,
    kind,
    listKind: resource.listKind,
  };
}

/** A document around messages of so many bytes in all. */
export { protobufEnvelope };

/** An object that names its kind; undefined for a kind without a protobuf form. */
export function documentOf(codec: ProtobufCodec, object: JsonObject | Status): Uint8Array | undefined {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== "string" || typeof kind !== "string") return undefined;
  const table = codec.tableOf(apiVersion, kind);
  return table === undefined ? undefined : encodeDocument(table, kind, { apiVersion, kind }, object as JsonObject);
}

export const statusDocument = (status: Status): Uint8Array =>
  encodeDocument("meta-v1", "Status", { apiVersion: "v1", kind: "Status" }, status as unknown as JsonObject);
