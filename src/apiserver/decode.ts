/** From the bytes of a request to an object: JSON, YAML, and the one place where protobuf is plugged in. */
import { isObject } from "../base/index.ts";
import type { Json, JsonObject } from "../base/index.ts";
import { badRequest, findDuplicateKeys, notImplemented, parseYaml, tooLarge, unsupportedMediaType } from "../machinery/index.ts";
import type { DecodedPatch } from "./patch.ts";
import type { ServedVersion } from "./resources.ts";

export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** Deeper than anything real; what recurses over objects stays far from the end of the stack. */
const MAX_DEPTH = 1000;

export interface DecodedObject {
  /** Owned by the request: it may be changed. */
  object: JsonObject;
  /** Paths of keys that the body held more than once. */
  duplicates: readonly string[];
}

/** Turns the protobuf body of a built-in kind into its JSON form. Injected, because the field numbers are facts of `api`. */
export type ProtobufDecoder = (body: Uint8Array) => JsonObject;

const ACCEPTED = "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf";

export interface Body {
  bytes: Uint8Array;
  contentType: string | undefined;
}

export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** The object in the body of a create or update of `served`. */
export function decodeObject({ bytes, contentType }: Body, served: ServedVersion, decodeProtobuf: ProtobufDecoder | undefined): DecodedObject {
  checkSize(bytes);
  const { kind } = served.resource;
  switch (mediaTypeOf(contentType)) {
    case "":
    case "application/json": {
      const text = decodeText(bytes);
      return { object: asObject(parseJson(text, kind.kind), text, kind.kind), duplicates: findDuplicateKeys(text) };
    }
    case "application/yaml": {
      const text = decodeText(bytes);
      return { object: asObject(parseYaml(text), text, kind.kind), duplicates: [] };
    }
    case "application/vnd.kubernetes.protobuf":
      if (!kind.builtIn) throw unsupportedMediaType(ACCEPTED);
      if (!decodeProtobuf) throw notImplemented("protobuf bodies");
      return { object: decodeProtobuf(bytes), duplicates: [] };
    default:
      throw unsupportedMediaType(ACCEPTED);
  }
}

/** A patch: JSON, or YAML for apply. */
export function decodePatch({ bytes, contentType }: Body): DecodedPatch {
  checkSize(bytes);
  const text = decodeText(bytes);
  if (mediaTypeOf(contentType).endsWith("yaml")) return { value: parseYaml(text), duplicates: [] };
  if (tooDeep(text)) throw badRequest("error decoding patch: exceeded max depth");
  try {
    return { value: JSON.parse(text) as Json, duplicates: findDuplicateKeys(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(`error decoding patch: ${text === "" ? "unexpected end of JSON input" : error.message}`);
  }
}

/** Any JSON or YAML value: options. */
export function decodeValue({ bytes, contentType }: Body, what: string, decodeProtobuf?: ProtobufDecoder): Json {
  checkSize(bytes);
  const mediaType = mediaTypeOf(contentType);
  if (mediaType === "application/vnd.kubernetes.protobuf") {
    if (!decodeProtobuf) throw notImplemented("protobuf bodies");
    return decodeProtobuf(bytes);
  }
  const text = decodeText(bytes);
  return mediaType.endsWith("yaml") ? parseYaml(text) : parseJson(text, what);
}

export function checkSize(bytes: Uint8Array): void {
  if (bytes.byteLength > MAX_BODY_BYTES) throw tooLarge(`Request entity too large: limit is ${MAX_BODY_BYTES}`);
}

function decodeText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

function parseJson(text: string, what: string): Json {
  const problem = tooDeep(text) ? "exceeded max depth" : undefined;
  try {
    if (problem === undefined) return wellFormed(JSON.parse(text) as Json, text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw unrecognized(what, text === "" ? "unexpected end of JSON input" : error.message, text);
  }
  throw unrecognized(what, problem, text);
}

const LONE_SURROGATE = /\\u[dD][89a-fA-F]/;

/** Half of a surrogate pair has no bytes of its own; it is replaced here, so that what is parsed equals what is stored. */
function wellFormed(value: Json, text: string): Json {
  return LONE_SURROGATE.test(text) ? (JSON.parse(text, (_key, item: unknown) => (typeof item === "string" ? item.toWellFormed() : item)) as Json) : value;
}

function asObject(value: Json, text: string, kind: string): JsonObject {
  if (value === null) return {};
  if (isObject(value)) return value;
  const type = Array.isArray(value) ? "array" : typeof value;
  throw unrecognized(kind, `json: cannot unmarshal ${type} into an object`, text);
}

function unrecognized(kind: string, problem: string, text: string): Error {
  const start = text === "" ? "<empty>" : text.length > 30 ? `${text.slice(0, 30)} ...` : text;
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${problem} (${start})`);
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Brackets outside of strings, counted without parsing. */
function tooDeep(text: string): boolean {
  // A text nests no deeper than half its length, so most bodies need no look.
  if (text.length < 2 * MAX_DEPTH) return false;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return false;
}
