/**
 * Decodes protobuf request bodies: four bytes of magic, then `runtime.Unknown` with the kind and the object's bytes.
 * kubectl and client-go programs send built-in kinds in protobuf by default.
 *
 * Protobuf is less explicit than JSON: Go writes every field that is not a pointer, so a zero there means "not set" and
 * is dropped, while the zero of a pointer (`replicas: 0`) is significant. The fact tables define which fields are
 * pointers. Bytes are untrusted: all reads are bounded, and errors return 400.
 */
import { setOwn, type Json, type JsonObject } from "@flotilla/base";
import { badRequest, unsupportedMediaType } from "../status.ts";
import { structOf, type FactField, type FactStruct, type FactType, type Leaf } from "./facts.ts";
import { parseApiVersion } from "./meta.ts";
import { MAX_DEPTH, WireReader } from "./protobuf-wire.ts";

const MAGIC = [0x6b, 0x38, 0x73, 0x00];

/** apiVersion → table and its kinds. */
const KINDS: Readonly<Record<string, { table: string; kinds: readonly string[] }>> = {
  v1: {
    table: "core-v1",
    kinds:
      "Namespace ConfigMap Secret ServiceAccount Pod PodTemplate Node Event Service Endpoints ReplicationController PersistentVolume PersistentVolumeClaim ResourceQuota LimitRange Binding".split(
        " ",
      ),
  },
  "apps/v1": {
    table: "apps-v1",
    kinds: ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ControllerRevision"],
  },
  "authentication.k8s.io/v1": {
    table: "authentication-v1",
    kinds: ["TokenRequest", "TokenReview", "SelfSubjectReview"],
  },
  "authorization.k8s.io/v1": {
    table: "authorization-v1",
    kinds: ["SubjectAccessReview", "SelfSubjectAccessReview", "LocalSubjectAccessReview", "SelfSubjectRulesReview"],
  },
  "autoscaling/v1": { table: "autoscaling-v1", kinds: ["Scale", "HorizontalPodAutoscaler"] },
  "autoscaling/v2": { table: "autoscaling-v2", kinds: ["HorizontalPodAutoscaler"] },
  "batch/v1": { table: "batch-v1", kinds: ["Job", "CronJob"] },
  "certificates.k8s.io/v1": { table: "certificates-v1", kinds: ["CertificateSigningRequest"] },
  "coordination.k8s.io/v1": { table: "coordination-v1", kinds: ["Lease"] },
  "discovery.k8s.io/v1": { table: "discovery-v1", kinds: ["EndpointSlice"] },
  "events.k8s.io/v1": { table: "events-v1", kinds: ["Event"] },
  "networking.k8s.io/v1": {
    table: "networking-v1",
    kinds: ["Ingress", "IngressClass", "NetworkPolicy", "ServiceCIDR", "IPAddress"],
  },
  "node.k8s.io/v1": { table: "node-v1", kinds: ["RuntimeClass"] },
  "policy/v1": { table: "policy-v1", kinds: ["PodDisruptionBudget", "Eviction"] },
  "rbac.authorization.k8s.io/v1": {
    table: "rbac-v1",
    kinds: ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"],
  },
  "resource.k8s.io/v1": {
    table: "resource-v1",
    kinds: ["ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass"],
  },
  "scheduling.k8s.io/v1": { table: "scheduling-v1", kinds: ["PriorityClass"] },
  "storage.k8s.io/v1": {
    table: "storage-v1",
    kinds: ["StorageClass", "CSIDriver", "CSINode", "CSIStorageCapacity", "VolumeAttachment", "VolumeAttributesClass"],
  },
  "apiextensions.k8s.io/v1": { table: "apiextensions-v1", kinds: ["CustomResourceDefinition"] },
};

/** The object in a request body, in JSON form. Throws 400 for malformed bytes, 415 for a kind without a fact table. */
export function decodeProtobuf(body: Uint8Array): JsonObject {
  if (!MAGIC.every((byte, index) => body[index] === byte)) {
    throw badRequest(
      "the body does not begin with the protobuf prefix of Kubernetes; send application/json, or k8s\\0 and an encoded object",
    );
  }
  if (body.length === MAGIC.length) throw badRequest("the protobuf body is empty");
  const { apiVersion, kind, raw } = readEnvelope(body.subarray(MAGIC.length));
  const object = readStruct(new WireReader(raw), typeOf(apiVersion, kind), 0);
  return { apiVersion, kind, ...object };
}

function typeOf(apiVersion: string, kind: string): FactStruct {
  // Every group has its own DeleteOptions, and they are all identical.
  if (kind === "DeleteOptions") return structOf("meta-v1", "DeleteOptions");
  const group = Object.hasOwn(KINDS, apiVersion) ? KINDS[apiVersion] : undefined;
  if (!group?.kinds.includes(kind)) {
    const { group: name } = parseApiVersion(apiVersion);
    throw unsupportedMediaType(
      `Flotilla does not support ${kind}${name ? `.${name}` : ""} in protobuf; send application/json`,
    );
  }
  return structOf(group.table, kind);
}

function readEnvelope(bytes: Uint8Array): { apiVersion: string; kind: string; raw: Uint8Array } {
  const envelope: { apiVersion: string; kind: string; raw: Uint8Array } = {
    apiVersion: "",
    kind: "",
    raw: new Uint8Array(),
  };
  const reader = new WireReader(bytes);
  while (reader.next()) {
    if (reader.field === 1) {
      const typeMeta = new WireReader(reader.bytes());
      while (typeMeta.next()) {
        if (typeMeta.field === 1) envelope.apiVersion = typeMeta.text();
        else if (typeMeta.field === 2) envelope.kind = typeMeta.text();
        else typeMeta.skip();
      }
    } else if (reader.field === 2) envelope.raw = reader.bytes();
    else if (reader.field === 3 && reader.text() !== "")
      throw badRequest("protobuf bodies with a content encoding are not supported");
    else if (reader.field !== 3) reader.skip();
  }
  return envelope;
}

const numbered = new WeakMap<FactStruct, Map<number, FactField>>();

function fieldsByNumber(struct: FactStruct): Map<number, FactField> {
  let fields = numbered.get(struct);
  if (!fields) {
    fields = new Map(struct.fields.map((field) => [field.number, field]));
    numbered.set(struct, fields);
  }
  return fields;
}

function readStruct(reader: WireReader, struct: FactStruct, depth: number, into: JsonObject = {}): JsonObject {
  if (depth > MAX_DEPTH) throw badRequest(`the protobuf body is nested more than ${MAX_DEPTH} levels deep`);
  const fields = fieldsByNumber(struct);
  while (reader.next()) {
    const field = fields.get(reader.field);
    // A newer client may send fields unknown to this version.
    if (!field) reader.skip();
    else if (field.name === "" && field.type.shape === "struct")
      readStruct(new WireReader(reader.bytes()), field.type.struct, depth + 1, into);
    else readField(reader, field, depth, into);
  }
  return into;
}

function readField(reader: WireReader, { name, type, always }: FactField, depth: number, into: JsonObject): void {
  if (type.shape === "list") {
    const list = into[name] ?? (into[name] = []);
    if (Array.isArray(list)) readItems(reader, type.of, depth, list);
    return;
  }
  if (type.shape === "map") {
    const map = into[name] ?? (into[name] = {});
    readEntry(new WireReader(reader.bytes()), type.of, depth, map as JsonObject);
    return;
  }
  const value = readValue(reader, type, depth);
  if (value !== undefined && (type.pointer || !isUnset(type, value, always))) into[name] = value;
}

/** Whether a field that is not a pointer has its zero value. */
function isUnset(type: FactType, value: Json, always: boolean): boolean {
  if (type.shape === "struct") return Object.keys(value as JsonObject).length === 0;
  return !always && (value === "" || value === 0 || value === false);
}

/** Numbers may be packed into one field. */
function readItems(reader: WireReader, of: FactType, depth: number, into: Json[]): void {
  const isNumber = of.shape === "leaf" && (of.leaf === "int32" || of.leaf === "int64" || of.leaf === "bool");
  if (isNumber && reader.isDelimited) {
    const packed = new WireReader(reader.bytes());
    while (!packed.atEnd) into.push(of.leaf === "bool" ? packed.varint() !== 0 : packed.varint());
    return;
  }
  const value = readValue(reader, of, depth);
  into.push(value ?? null);
}

function readEntry(reader: WireReader, of: FactType, depth: number, into: JsonObject): void {
  let key = "";
  let value: Json | undefined;
  while (reader.next()) {
    if (reader.field === 1) key = reader.text();
    else if (reader.field === 2)
      value =
        of.shape === "list"
          ? readListMessage(new WireReader(reader.bytes()), of.of, depth)
          : readValue(reader, of, depth);
    else reader.skip();
  }
  setOwn(into, key, value ?? (of.shape === "struct" ? {} : of.shape === "list" ? [] : ""));
}

/** A protobuf map cannot hold lists, so each list is wrapped in a message: a user's `extra`. */
function readListMessage(reader: WireReader, of: FactType, depth: number): Json[] {
  const list: Json[] = [];
  while (reader.next()) {
    if (reader.field === 1) readItems(reader, of, depth, list);
    else reader.skip();
  }
  return list;
}

/** Undefined means null. */
function readValue(reader: WireReader, type: FactType, depth: number): Json | undefined {
  if (type.shape === "struct") return readStruct(new WireReader(reader.bytes()), type.struct, depth + 1);
  if (type.shape === "leaf") return readLeaf(reader, type.leaf, depth);
  throw badRequest("the protobuf body holds an unexpected list or map");
}

function readLeaf(reader: WireReader, leaf: Leaf, depth: number): Json | undefined {
  switch (leaf) {
    case "string":
      return reader.text();
    case "bool":
      return reader.varint() !== 0;
    case "int32":
    case "int64":
      return reader.varint();
    case "float64":
      return reader.double();
    case "bytes":
      return Buffer.from(reader.bytes()).toString("base64");
    case "Time":
    case "MicroTime":
      return readTime(new WireReader(reader.bytes()), leaf === "MicroTime");
    case "Quantity":
      return readFields(reader.bytes(), { 1: (inner) => inner.text() })[1] ?? "0";
    case "IntOrString": {
      const {
        1: type = 0,
        2: number = 0,
        3: text = "",
      } = readFields(reader.bytes(), {
        1: (inner) => inner.varint(),
        2: (inner) => inner.varint(),
        3: (inner) => inner.text(),
      });
      return type === 0 ? number : text;
    }
    case "RawObject":
    case "Json":
      return readFields(reader.bytes(), { 1: (inner) => parseJson(inner.text()) })[1];
    case "SchemaOrArray":
      return readSchemaOr(reader.bytes(), depth, 1, 2, "schemas");
    case "SchemaOrStringArray":
      return readSchemaOr(reader.bytes(), depth, 1, 2, "texts");
    case "SchemaOrBool":
      return readSchemaOr(reader.bytes(), depth, 2, 1, "flag");
    default:
      throw badRequest(`the protobuf body holds a ${leaf}, which no supported kind has`);
  }
}

/** The values of a small message, by field number; the last one of a number wins. */
function readFields(
  bytes: Uint8Array,
  read: Readonly<Record<number, (reader: WireReader) => Json>>,
): Record<number, Json> {
  const values: Record<number, Json> = {};
  const reader = new WireReader(bytes);
  while (reader.next()) {
    const readOne = read[reader.field];
    if (readOne) values[reader.field] = readOne(reader);
    else reader.skip();
  }
  return values;
}

/** A schema, or a simpler value in its place. */
function readSchemaOr(
  bytes: Uint8Array,
  depth: number,
  schemaField: number,
  otherField: number,
  other: "schemas" | "texts" | "flag",
): Json | undefined {
  const list: Json[] = [];
  const readSchema = (reader: WireReader): Json =>
    readStruct(new WireReader(reader.bytes()), structOf("apiextensions-v1", "JSONSchemaProps"), depth + 1);
  const values = readFields(bytes, {
    [schemaField]: readSchema,
    [otherField]: (reader) => {
      if (other === "flag") return reader.varint() !== 0;
      list.push(other === "texts" ? reader.text() : readSchema(reader));
      return list;
    },
  });
  return values[schemaField] ?? values[otherField];
}

/** An empty message is the zero time, which JSON writes as null. */
function readTime(reader: WireReader, micro: boolean): Json | undefined {
  let seconds: number | undefined;
  let nanos = 0;
  while (reader.next()) {
    if (reader.field === 1) seconds = reader.varint();
    else if (reader.field === 2) nanos = reader.varint();
    else reader.skip();
  }
  if (seconds === undefined) return undefined;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) throw badRequest("the protobuf body holds a time that is out of range");
  const text = date.toISOString().slice(0, 19);
  return micro ? `${text}.${String(Math.floor(nanos / 1000)).padStart(6, "0")}Z` : `${text}Z`;
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw badRequest(
      `the protobuf body holds invalid raw JSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
