/**
 * Values as Kubernetes prints them in error messages. They are Go values of unversioned types: every field is printed,
 * in the order of the type, under its Go name. Clients and their tests match these texts, so they are reproduced; only
 * errors use this code.
 */
import { isObject, type Json, type JsonObject } from "../../base/index.ts";
import { DEVICE_INTERNAL_TYPES } from "../resource/internal-types.ts";
import { STORAGE_INTERNAL_TYPES } from "../storage/internal-types.ts";
import { INTERNAL_TYPES } from "./pod-internal-types.ts";

interface InternalField {
  /** Empty for an embedded type, whose fields are printed inline. */
  goName: string;
  jsonName: string;
  type: string;
}

const layouts = new Map<string, readonly InternalField[]>();

const wordsOf = (type: string): string | undefined =>
  INTERNAL_TYPES[type] ?? STORAGE_INTERNAL_TYPES[type] ?? DEVICE_INTERNAL_TYPES[type];

function layoutOf(type: string): readonly InternalField[] {
  let layout = layouts.get(type);
  if (!layout) layouts.set(type, (layout = (wordsOf(type) ?? "").split(" ").filter(Boolean).map(readField)));
  return layout;
}

function readField(word: string): InternalField {
  if (word.startsWith(".")) return { goName: "", jsonName: "", type: word.slice(1) };
  const colon = word.indexOf(":");
  const [goName = "", jsonName = goName.charAt(0).toLowerCase() + goName.slice(1)] = word.slice(0, colon).split("=");
  return { goName, jsonName, type: word.slice(colon + 1) };
}

/** Converts a value of one of the internal types, or a list of them (`[]Toleration`), to its printed form. */
export function internalForm(type: string, value: unknown): Json {
  if (type.startsWith("*")) return value === undefined || value === null ? null : internalForm(type.slice(1), value);
  if (type.startsWith("[]"))
    return Array.isArray(value) ? value.map((item) => internalForm(type.slice(2), item)) : null;
  if (type.startsWith("map:"))
    return isObject(value) ? sortedMap(value, (item) => internalForm(type.slice(4), item)) : null;
  switch (type) {
    case "s":
      return typeof value === "string" ? value : "";
    case "n":
    case "j0":
      return typeof value === "number" || typeof value === "string" ? value : 0;
    case "b":
      return value === true;
    case "q":
      return typeof value === "string" ? value : "0";
    case "r":
      return (value ?? null) as Json;
    case "j":
      return value === undefined ? null : selectorForm(value);
    default:
      return structForm(type, isObject(value) ? value : {});
  }
}

function structForm(type: string, value: JsonObject): JsonObject {
  const shown: JsonObject = {};
  const given = type === "PodSpec" ? withHostFields(value) : value;
  for (const field of layoutOf(type)) {
    if (field.type === "meta") Object.assign(shown, metadataForm(given.metadata));
    else if (field.goName === "") Object.assign(shown, structForm(field.type, given));
    else shown[field.goName] = internalForm(field.type, given[field.jsonName]);
  }
  return shown;
}

/** The unversioned type keeps the host namespaces of a pod in the security context. */
function withHostFields(spec: JsonObject): JsonObject {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } = spec;
  const context = isObject(spec.securityContext) ? spec.securityContext : {};
  const shared = JSON.parse(
    JSON.stringify({ hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers }),
  ) as JsonObject;
  return { ...spec, securityContext: { ...context, ...shared } };
}

const METADATA = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
];

/** Metadata has the same type in every version, so it prints as JSON does, without empty fields. */
function metadataForm(metadata: unknown): JsonObject {
  const shown: JsonObject = {};
  if (!isObject(metadata)) return shown;
  for (const key of METADATA) {
    const value = metadata[key];
    if (value !== undefined && value !== null) shown[key] = isObject(value) ? sortedMap(value) : value;
  }
  return shown;
}

/** The printed form of a label selector: its two parts in order, labels sorted by key. */
export function selectorForm(selector: unknown): Json {
  if (!isObject(selector)) return (selector ?? null) as Json;
  const { matchLabels, matchExpressions } = selector;
  return {
    ...(isObject(matchLabels) && { matchLabels: sortedMap(matchLabels) }),
    ...(Array.isArray(matchExpressions) && {
      matchExpressions: matchExpressions.map((item) => {
        const { key = "", operator = "", values } = isObject(item) ? item : {};
        return { key, operator, ...(values !== undefined && { values }) };
      }),
    }),
  };
}

/** Maps print with their keys sorted. */
function sortedMap(map: JsonObject, form: (value: Json) => Json = (value) => value): JsonObject {
  const sorted: JsonObject = {};
  for (const key of Object.keys(map).sort())
    Object.defineProperty(sorted, key, {
      value: form(map[key] ?? null),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return sorted;
}

/** The printed form of a map: null when it is absent. */
export const mapForm = (map: unknown): Json => (isObject(map) ? sortedMap(map) : null);
