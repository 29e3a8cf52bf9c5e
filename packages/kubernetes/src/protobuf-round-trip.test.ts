/** Protobuf of every built-in kind: what is encoded is decoded to the same object. */
import { createProtobufCodec, encodeDocument, formatApiVersion, structOf } from "@flotilla/apimachinery";
import type { FactField, FactStruct, FactType } from "@flotilla/apimachinery";
import { createSeededRandom, required } from "@flotilla/base";
import type { Json, JsonObject, Random } from "@flotilla/base";
import { expect, test } from "vitest";
import { kubernetesKinds } from "./kubernetes-definitions.ts";

const codec = createProtobufCodec(kubernetesKinds);
const OBJECTS_PER_KIND = 4;
const SEED = 1;
const MAX_DEPTH = 5;

for (const { group, kind, versions } of kubernetesKinds) {
  for (const version of Object.keys(versions)) {
    const apiVersion = formatApiVersion(group, version);
    test(`${apiVersion} ${kind} is the same after protobuf`, () => {
      const table = required(codec.tableOf(apiVersion, kind), "its table");
      const random = createSeededRandom(SEED);

      for (let index = 0; index < OBJECTS_PER_KIND; index++) {
        const object = { apiVersion, kind, ...fieldsOf(structOf(table, kind), random, 0) };
        expect(codec.decode(encodeDocument(table, kind, { apiVersion, kind }, object))).toEqual(object);
      }
    });
  }
}

/** Some of the fields, with values that JSON keeps: no zero where a field is not a pointer. */
function fieldsOf(struct: FactStruct, random: Random, depth: number): JsonObject {
  const object: JsonObject = {};
  for (const field of struct.fields) {
    if (field.number === 0) continue;
    if (field.name === "" && field.type.shape === "struct") {
      Object.assign(object, fieldsOf(field.type.struct, random, depth));
      continue;
    }
    // Go writes structs and some scalars always, so they have a value after they were read.
    const { pointer, shape } = field.type;
    const isAlways = !pointer && (shape === "struct" || (shape === "leaf" && field.always));
    if (!isAlways && random.next() < (depth > 3 ? 0.7 : 0.4)) continue;
    const value = valueOf(field, field.type, random, depth);
    if (value !== undefined) object[field.name] = value;
  }
  return object;
}

function valueOf(field: FactField, type: FactType, random: Random, depth: number): Json | undefined {
  const number = Math.floor(random.next() * 1000) + 1;
  const word = `w${number.toString(36)}${number % 5 === 0 ? "é" : ""}`;
  switch (type.shape) {
    case "list": {
      if (depth > MAX_DEPTH) return undefined;
      const items = [0, 1].map(() => valueOf(field, type.of, random, depth + 1));
      return items.some((item) => item === undefined) ? undefined : (items as Json[]);
    }
    case "map": {
      if (depth > MAX_DEPTH) return undefined;
      const inner = valueOf(field, type.of, random, depth + 1);
      return inner === undefined ? undefined : { [`${word}-a`]: inner, [`${word}-b`]: inner };
    }
    case "struct": {
      if (depth > MAX_DEPTH && type.pointer) return undefined;
      const inner = fieldsOf(type.struct, random, depth + 1);
      return type.pointer || Object.keys(inner).length > 0 ? inner : undefined;
    }
    default:
  }
  switch (type.leaf) {
    case "string":
      return word;
    case "bool":
      return true;
    case "int32":
    case "int64":
      return number % 2 === 0 ? number : -number;
    case "float64":
      return number / 8;
    case "bytes":
      return Buffer.from(word).toString("base64");
    case "Time":
      return new Date(1_700_000_000_000 + number * 1000).toISOString().replace(".000Z", "Z");
    case "MicroTime":
      return `2024-01-01T00:00:00.${String(number).padStart(6, "0")}Z`;
    case "Quantity":
      return `${number}m`;
    case "IntOrString":
      return number % 2 === 0 ? number : word;
    case "RawObject":
      return { [word]: { nested: [number, null, "x"] } };
    case "Json":
      return [number, word, [null], {}][number % 4] ?? word;
    case "SchemaOrArray":
      return number % 2 === 0 ? { type: word } : [{ type: word }, { format: word }];
    case "SchemaOrStringArray":
      return number % 2 === 0 ? { type: word } : [word, "b"];
    case "SchemaOrBool":
      return number % 2 === 0 ? { type: word } : number % 3 === 0;
    default:
      throw new Error(`no value of type ${type.leaf}`);
  }
}
