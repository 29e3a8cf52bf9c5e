/**
 * Encodes objects as Kubernetes' protobuf messages, byte for byte as Go does: every field that is not a pointer is
 * written, zero or not, pointers only when they are set, and maps in the order of their keys. The messages come from the
 * fact tables, like the decoder's; each type is compiled on first use.
 */
import { InvariantError, invariant, isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { structOf } from "./facts.ts";
import type { FactField, FactStruct, FactType, Leaf } from "./facts.ts";
import { WireWriter } from "./protobuf-writer.ts";

/** Writes one field with its tag, or nothing. */
type FieldWriter = (writer: WireWriter, value: Json | undefined) => void;
/** Writes the content of a message, without its tag and length. */
type ContentWriter = (writer: WireWriter, value: Json | undefined) => void;

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;

const output = new WireWriter();

/** The message of a type, without an envelope: as it is in a list. */
export function encodeMessage(table: string, name: string, object: Json | undefined): Uint8Array {
  return written((writer) => messageWriter(structOf(table, name))(writer, object));
}

const MAGIC = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);
/** The empty content encoding and content type. */
const ENVELOPE_END = Uint8Array.of(0x1a, 0x00, 0x22, 0x00);

/** The bytes before and after a message of so many bytes that make it a whole document, a `runtime.Unknown`. */
export function protobufEnvelope(
  apiVersion: string,
  kind: string,
  messageBytes: number,
): { head: Uint8Array; tail: Uint8Array } {
  const head = written((writer) => {
    writer.varint(messageBytes);
    writer.byte(0x12);
    writeTypeMeta(writer, apiVersion, kind);
    writer.bytes(MAGIC);
  });
  return { head, tail: ENVELOPE_END };
}

/** A whole document with one message. */
export function encodeDocument(
  table: string,
  name: string,
  { apiVersion, kind }: { apiVersion: string; kind: string },
  object: Json | undefined,
): Uint8Array {
  return written((writer) => {
    writer.bytes(ENVELOPE_END);
    const before = writer.length;
    messageWriter(structOf(table, name))(writer, object);
    writer.varint(writer.length - before);
    writer.byte(0x12);
    writeTypeMeta(writer, apiVersion, kind);
    writer.bytes(MAGIC);
  });
}

/** One event of a watch: its length in four bytes, then a `WatchEvent` with a whole document. */
export function protobufWatchFrame(type: string, document: Uint8Array): Uint8Array {
  return written((writer) => {
    writer.bytes(document);
    writer.varint(document.length);
    writer.byte(0x0a);
    writer.varint(writer.length);
    writer.byte(0x12);
    writer.text(type);
    writer.byte(0x0a);
    const { length } = writer;
    writer.bytes(Uint8Array.of(length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff));
  });
}

function writeTypeMeta(writer: WireWriter, apiVersion: string, kind: string): void {
  const before = writer.length;
  writer.text(kind);
  writer.byte(0x12);
  writer.text(apiVersion);
  writer.byte(0x0a);
  writer.varint(writer.length - before);
  writer.byte(0x0a);
}

function written(write: (writer: WireWriter) => void): Uint8Array {
  try {
    write(output);
    return output.copy();
  } finally {
    output.clear();
  }
}

const messages = new WeakMap<FactStruct, ContentWriter>();

function messageWriter(struct: FactStruct): ContentWriter {
  let writer = messages.get(struct);
  if (!writer) messages.set(struct, (writer = compileMessage(struct)));
  return writer;
}

function compileMessage(struct: FactStruct): ContentWriter {
  // From the end to the beginning, so the last field first. Compiled when first written: types may be recursive.
  let fields: { name: string; write: FieldWriter }[] | undefined;
  let empty: Uint8Array | undefined;
  const writeFields = (writer: WireWriter, object: JsonObject): void => {
    fields ??= struct.fields
      .filter(({ number }) => number > 0)
      .sort((a, b) => b.number - a.number)
      .map((field) => ({ name: field.name, write: fieldWriter(field) }));
    for (const { name, write } of fields) write(writer, name === "" ? object : object[name]);
  };
  return (writer, value) => {
    if (isObject(value)) return writeFields(writer, value);
    if (empty) return writer.bytes(empty);
    const before = writer.length;
    writeFields(writer, {});
    empty = writer.copy().subarray(0, writer.length - before);
  };
}

const isSet = (value: Json | undefined): value is Json => value !== undefined && value !== null;

function fieldWriter({ number, type }: FactField): FieldWriter {
  if (type.shape === "list") {
    const write = valueWriter(number, type.of);
    return (writer, list) => {
      if (!Array.isArray(list)) return;
      for (let index = list.length - 1; index >= 0; index--) write(writer, list[index]);
    };
  }
  if (type.shape === "map") return mapWriter(number, type.of);
  const write = valueWriter(number, type);
  // Absent bytes are nil in Go, and nil is not written.
  if (!type.pointer && !(type.shape === "leaf" && type.leaf === "bytes")) return write;
  return (writer, value) => {
    if (isSet(value)) write(writer, value);
  };
}

function mapWriter(number: number, of: FactType): FieldWriter {
  const tag = tagOf(number, DELIMITED);
  const isBytes = of.shape === "leaf" && of.leaf === "bytes";
  // A protobuf map cannot hold lists, so each list is wrapped in a message: a user's `extra`.
  const write = of.shape === "list" ? delimited(2, listContent(of.of)) : valueWriter(2, of);
  return (writer, map) => {
    if (!isObject(map)) return;
    const keys = sortedKeys(map);
    for (let index = keys.length - 1; index >= 0; index--) {
      const key = keys[index] ?? "";
      const value = map[key];
      const before = writer.length;
      if (!isBytes || isSet(value)) write(writer, value);
      writer.text(key);
      writer.byte(0x0a);
      writer.varint(writer.length - before);
      writer.varint(tag);
    }
  };
}

/** Most maps are stored in order. */
function sortedKeys(map: JsonObject): string[] {
  const keys = Object.keys(map);
  for (let index = 1; index < keys.length; index++)
    if ((keys[index - 1] ?? "") > (keys[index] ?? "")) return keys.sort();
  return keys;
}

function listContent(of: FactType): ContentWriter {
  const write = valueWriter(1, of);
  return (writer, list) => {
    if (!Array.isArray(list)) return;
    for (let index = list.length - 1; index >= 0; index--) write(writer, list[index]);
  };
}

/** Writes a value with its tag; an absent one as zero. */
function valueWriter(number: number, type: FactType): FieldWriter {
  if (type.shape === "struct") {
    const { struct } = type;
    return delimited(number, (writer, value) => messageWriter(struct)(writer, value));
  }
  invariant(type.shape === "leaf", "a protobuf field must not hold lists or maps of lists");
  return leafWriter(number, type.leaf);
}

function delimited(number: number, content: ContentWriter): FieldWriter {
  const tag = tagOf(number, DELIMITED);
  return (writer, value) => {
    const before = writer.length;
    content(writer, value);
    writer.varint(writer.length - before);
    writer.varint(tag);
  };
}

function leafWriter(number: number, leaf: Leaf): FieldWriter {
  const tag = tagOf(number, leaf === "float64" ? FIXED64 : NUMBERS.has(leaf) ? VARINT : DELIMITED);
  switch (leaf) {
    case "string":
      return (writer, value) => {
        writer.text(typeof value === "string" ? value : "");
        writer.varint(tag);
      };
    case "bool":
      return (writer, value) => {
        writer.byte(value === true ? 1 : 0);
        writer.varint(tag);
      };
    case "int32":
    case "int64":
      return (writer, value) => {
        writer.varint(typeof value === "number" ? value : 0);
        writer.varint(tag);
      };
    case "float64":
      return (writer, value) => {
        writer.double(typeof value === "number" ? value : 0);
        writer.varint(tag);
      };
    case "bytes":
      return (writer, value) => {
        const bytes = Buffer.from(typeof value === "string" ? value : "", "base64");
        writer.bytes(bytes);
        writer.varint(bytes.length);
        writer.varint(tag);
      };
    default:
      return delimited(number, leafContent(leaf));
  }
}

const NUMBERS: ReadonlySet<Leaf> = new Set(["bool", "int32", "int64"]);

/** Leaves that are messages. */
function leafContent(leaf: Leaf): ContentWriter {
  switch (leaf) {
    case "Time":
    case "MicroTime":
      return (writer, value) => writeTime(writer, value, leaf === "MicroTime");
    case "Quantity":
      return (writer, value) => {
        writer.text(typeof value === "string" ? value : typeof value === "number" ? String(value) : "0");
        writer.byte(0x0a);
      };
    case "IntOrString":
      return (writer, value) => {
        writer.text(typeof value === "string" ? value : "");
        writer.byte(0x1a);
        writer.varint(typeof value === "number" ? value : 0);
        writer.byte(0x10);
        writer.byte(typeof value === "string" ? 1 : 0);
        writer.byte(0x08);
      };
    case "RawObject":
    case "Json":
      return (writer, value) => {
        if (value === undefined || (value === null && leaf === "RawObject")) return;
        writer.text(JSON.stringify(value));
        writer.byte(0x0a);
      };
    case "SchemaOrArray":
      return (writer, value) => {
        if (Array.isArray(value)) schemas(2)(writer, value);
        else schema(1)(writer, value);
      };
    case "SchemaOrStringArray":
      return (writer, value) => {
        if (Array.isArray(value)) texts(writer, value);
        else schema(1)(writer, value);
      };
    case "SchemaOrBool":
      return (writer, value) => {
        if (isObject(value)) schema(2)(writer, value);
        writer.byte(value === true || isObject(value) ? 1 : 0);
        writer.byte(0x08);
      };
    default:
      throw new InvariantError(`${leaf} is not a message`);
  }
}

const schema = (number: number): FieldWriter =>
  delimited(number, (writer, value) => messageWriter(structOf("apiextensions-v1", "JSONSchemaProps"))(writer, value));
const schemas =
  (number: number): FieldWriter =>
  (writer, list) => {
    if (Array.isArray(list)) for (const each of list.toReversed()) schema(number)(writer, each);
  };
const texts: FieldWriter = (writer, list) => {
  if (Array.isArray(list)) for (const each of list.toReversed()) leafWriter(2, "string")(writer, each);
};

/** Seconds and nanoseconds, both written; the zero time, which JSON writes as null, is an empty message. */
function writeTime(writer: WireWriter, value: Json | undefined, isMicro: boolean): void {
  if (typeof value !== "string" || value === "") return;
  const ms = Date.parse(value);
  if (Number.isNaN(ms)) return;
  writer.varint(isMicro ? microsOf(value) * 1000 : 0);
  writer.byte(0x10);
  writer.varint(Math.floor(ms / 1000));
  writer.byte(0x08);
}

function microsOf(text: string): number {
  const dot = text.indexOf(".");
  if (dot < 0) return 0;
  const digits = /^\d{1,6}/.exec(text.slice(dot + 1))?.[0] ?? "";
  return Number(digits.padEnd(6, "0"));
}

const tagOf = (number: number, wire: number): number => number * 8 + wire;
