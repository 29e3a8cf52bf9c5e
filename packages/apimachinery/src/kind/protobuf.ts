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
import type { Kind } from "./kind.ts";
import { formatApiVersion, parseApiVersion } from "./meta.ts";
import { MAX_DEPTH, WireReader } from "./protobuf-wire.ts";

const MAGIC = [0x6b, 0x38, 0x73, 0x00];

/** `apiVersion kind` -> table. */
type Tables = ReadonlyMap<string, string>;

/** Protobuf documents of the built-in kinds, and of what their subresources receive and return. */
export interface ProtobufCodec {
  /** The object in a request body. */
  decode(body: Uint8Array): JsonObject;
  /** The fact table with the type of a kind; undefined for a kind without a protobuf form. */
  tableOf(apiVersion: string, kind: string): string | undefined;
}

/**
 * Decodes and encodes the built-in kinds among these, and what their subresources use: a pod's Eviction, a Scale, a
 * service account's TokenRequest.
 */
export function createProtobufCodec(kinds: readonly Kind[]): ProtobufCodec {
  const tables = tablesOf(kinds);
  return {
    decode: (body) => decodeProtobuf(body, tables),
    tableOf: (apiVersion, kind) => tables.get(`${apiVersion} ${kind}`),
  };
}

function tablesOf(kinds: readonly Kind[]): Tables {
  // The same for the scale of every kind.
  const tables = new Map([
    ["autoscaling/v1 Scale", "autoscaling-v1"],
    ["v1 Status", "meta-v1"],
  ]);
  const byApiVersion = new Map<string, string>();
  for (const { group, kind, versions } of kinds) {
    for (const [version, { facts }] of Object.entries(versions)) {
      if (facts === undefined) continue;
      const apiVersion = formatApiVersion(group, version);
      tables.set(`${apiVersion} ${kind}`, facts);
      byApiVersion.set(apiVersion, facts);
    }
  }
  // An action names the kind that it receives; its table is that of its group and version.
  for (const { subresources } of kinds) {
    for (const { group, version, kind } of Object.values(subresources.actions ?? {})) {
      const apiVersion = formatApiVersion(group, version);
      const facts = byApiVersion.get(apiVersion);
      if (facts !== undefined) tables.set(`${apiVersion} ${kind}`, facts);
    }
  }
  return tables;
}

/** The object in a request body, in JSON form. Throws 400 for malformed bytes, 415 for a kind without a fact table. */
function decodeProtobuf(body: Uint8Array, tables: Tables): JsonObject {
  if (!MAGIC.every((byte, index) => body[index] === byte)) {
    throw badRequest(
      "the body does not begin with the protobuf prefix of Kubernetes; send application/json, or k8s\\0 and an encoded object",
    );
  }
  if (body.length === MAGIC.length) throw badRequest("the protobuf body is empty");
  const { apiVersion, kind, raw } = readEnvelope(body.subarray(MAGIC.length));
  const object = readStruct(new WireReader(raw), typeOf(apiVersion, kind, tables), 0);
  return { apiVersion, kind, ...object };
}

function typeOf(apiVersion: string, kind: string, tables: Tables): FactStruct {
  // Every group has its own DeleteOptions, and they are all identical.
  if (kind === "DeleteOptions") return structOf("meta-v1", "DeleteOptions");
  const table = tables.get(`${apiVersion} ${kind}`);
  if (table === undefined) {
    const { group } = parseApiVersion(apiVersion);
    throw unsupportedMediaType(
      `Flotilla does not support ${kind}${group ? `.${group}` : ""} in protobuf; send application/json`,
    );
  }
  return structOf(table, kind);
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
