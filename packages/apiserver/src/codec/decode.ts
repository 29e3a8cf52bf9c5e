/** Decodes request bodies: JSON, YAML, and the injected protobuf decoder. */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import {
  ApiError,
  badRequest,
  fieldErrorText,
  findDuplicateKeys,
  hasDuplicateKeys,
  invalid,
  jsonTypeName,
  notImplemented,
  parseYaml,
  parseYamlBody,
  readRepeatedKeys,
  undecodable,
  unsupportedMediaType,
} from "@flotilla/apimachinery";
import type { Kind, ProtobufCodec } from "@flotilla/apimachinery";
import { checkBody, checkDecoded } from "./body-limits.ts";
import { infiniteNumber, integerErrors, parseFor, wellFormed } from "./exact-json.ts";
import { yamlProblem } from "./yaml-problem.ts";
import type { ServedVersion } from "../resources/resources.ts";

/** Deeper than any real object; recursion over objects stays far from the stack limit. */
const MAX_DEPTH = 1000;

/** Findings from decoding the body. */
export interface Findings {
  /** Paths of duplicate keys in the body. */
  duplicates: readonly string[];
  /** The body, when it has duplicate keys: unknown fields are reported in one order with them. */
  text?: string;
  /** Problems with different wording that come first: YAML keys, operations of a JSON patch. */
  problems?: readonly string[];
  /** Fields that the kind does not have, in parts of the body that the request does not write. */
  unknown?: readonly string[];
}

export interface DecodedObject extends Findings {
  /** Owned by the request: it may be modified. */
  object: JsonObject;
  /** The stored object with which it already shares equal parts. */
  sharesWith?: JsonObject;
}

/** A decoded patch. */
export interface DecodedPatch extends Findings {
  value: Json;
}

/** Custom objects have no protobuf form. */
const ACCEPTED_CUSTOM =
  "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml";
const ACCEPTED = `${ACCEPTED_CUSTOM}, application/vnd.kubernetes.protobuf`;

export interface Body {
  bytes: Uint8Array;
  contentType: string | undefined;
}

export function mediaTypeOf(contentType: string | undefined): string {
  if (contentType === undefined || contentType === "") return "";
  // A header with parameters but no type is invalid, and is not treated like a missing header.
  return contentType.split(";", 1)[0]?.trim().toLowerCase() || contentType;
}

/**
 * Decodes the object in the body of a create or update of `served`, or of its `scale`, which is a built-in kind for
 * every resource.
 */
export function decodeObject(
  { bytes, contentType }: Body,
  served: ServedVersion,
  subresource: string | undefined,
  protobuf: ProtobufCodec | undefined,
): DecodedObject {
  const { kind } = served.resource;
  const builtIn = kind.builtIn || subresource === "scale";
  const mediaType = mediaTypeOf(contentType);
  checkBody(bytes, mediaType);
  switch (mediaType) {
    case "":
    case "application/json": {
      const text = decodeText(bytes);
      const object = asObject(parseJson(text, kind), text, kind.kind);
      const infinite = infiniteNumber(text);
      if (infinite !== undefined)
        throw undecodable({ sent: kind.kind, version: served.version, kind: kind.kind }, tooLargeNumber(infinite));
      if (builtIn) checkIntegers(object, text, served);
      else requireKind(object, text, served);
      const duplicates = hasDuplicateKeys(text, object) ? findDuplicateKeys(text) : [];
      if (duplicates.length === 0) return { object, duplicates };
      // For a repeated key, a Go struct merges the second value into the first; a map takes only the second, as
      // JSON.parse does.
      return { object: builtIn ? (wellFormed(readRepeatedKeys(text), text) as JsonObject) : object, duplicates, text };
    }
    case "application/yaml": {
      const text = decodeText(bytes);
      const { value, repeated } = readYaml(text, kind.kind);
      const object = asObject(checkDecoded(value, bytes), text, kind.kind);
      if (builtIn) checkIntegers(object, text, served);
      else requireKind(object, JSON.stringify(object), served);
      return { object, duplicates: [], problems: repeated.length > 0 ? [yamlProblem(repeated)] : undefined };
    }
    case "application/vnd.kubernetes.protobuf":
      if (!builtIn) throw unsupportedMediaType(ACCEPTED_CUSTOM);
      if (!protobuf) throw notImplemented("protobuf bodies");
      return { object: checkDecoded(protobuf.decode(bytes), bytes), duplicates: [] };
    default:
      throw unsupportedMediaType(builtIn ? ACCEPTED : ACCEPTED_CUSTOM);
  }
}

/**
 * Built-in kinds have quantities, which become strings: a rounded number would not be found when the object is stored.
 * Objects of all kinds are checked then.
 */
function checkIntegers(object: JsonObject, text: string, { resource: { kind } }: ServedVersion): void {
  const errors = integerErrors(object, text, kind);
  if (errors.length === 0) return;
  const { name } = isObject(object.metadata) ? object.metadata : {};
  throw invalid(kind.group, kind.kind, typeof name === "string" ? name : "", errors);
}

/** A custom object has no Go struct that provides a default for its type. */
function requireKind(object: JsonObject, text: string, served: ServedVersion): void {
  const expected = served.resource.kind.kind;
  for (const key of ["apiVersion", "kind"]) {
    const value = object[key] ?? "";
    if (typeof value !== "string")
      throw unrecognized(
        expected,
        `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeName(value)} into Go struct field .${key} of type string`,
        text,
      );
  }
  if (!object.kind) throw unrecognized(expected, `Object 'Kind' is missing in '${text}'`, text);
  if (!object.apiVersion)
    throw badRequest(`the API version in the data () does not match the expected API version (${served.apiVersion})`);
}

/** Decodes a patch of a built-in or custom kind: JSON, or YAML for apply. */
export function decodePatch(
  { bytes, contentType }: Body,
  kind: Pick<Kind, "builtIn" | "hasLongIntegers">,
): DecodedPatch {
  const mediaType = mediaTypeOf(contentType);
  checkBody(bytes, mediaType);
  const text = decodeText(bytes);
  const checkNumbers = (value: Json): void => {
    const errors = kind.builtIn ? integerErrors(value, text, kind) : [];
    if (errors.length > 0) throw badRequest(`error decoding patch: ${fieldErrorText(errors)}`);
  };
  if (mediaType.endsWith("yaml")) {
    const { value, repeated } = readApplied(text);
    checkNumbers(value);
    return {
      value: checkDecoded(value, bytes),
      duplicates: [],
      problems: repeated.length > 0 ? [`error converting YAML to JSON: ${yamlProblem(repeated)}`] : undefined,
    };
  }
  if (tooDeep(text)) throw badRequest("error decoding patch: exceeded max depth");
  try {
    const value = wellFormed(parseFor(kind, text), text);
    const infinite = infiniteNumber(text);
    if (infinite !== undefined) throw badRequest(`error decoding patch: ${tooLargeNumber(infinite)}`);
    checkNumbers(value);
    const duplicates = hasDuplicateKeys(text, value) ? findDuplicateKeys(text) : [];
    return { value, duplicates, text: duplicates.length > 0 ? text : undefined };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const where = mediaType === "application/strategic-merge-patch+json" ? "" : "error decoding patch: ";
    throw badRequest(where + syntaxProblem(error, text));
  }
}

/** Decodes any JSON or YAML value: options. */
export function decodeValue({ bytes, contentType }: Body, protobuf?: ProtobufCodec): Json {
  const mediaType = mediaTypeOf(contentType);
  checkBody(bytes, mediaType);
  if (mediaType === "application/vnd.kubernetes.protobuf") {
    if (!protobuf) throw notImplemented("protobuf bodies");
    return checkDecoded(protobuf.decode(bytes), bytes);
  }
  const text = decodeText(bytes);
  if (mediaType.endsWith("yaml")) return parseYaml(text);
  if (tooDeep(text)) throw badRequest("couldn't get version/kind; json parse error: exceeded max depth");
  try {
    return wellFormed(JSON.parse(text) as Json, text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(`couldn't get version/kind; json parse error: ${syntaxProblem(error, text)}`);
  }
}

/** Parses the YAML body of an object. */
function readYaml(text: string, kind: string): ReturnType<typeof parseYamlBody> {
  try {
    return parseYamlBody(text);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw unrecognized(kind, error.message.replace(/^error converting YAML to JSON: /, ""), text);
  }
}

/** Parses the body of an apply. */
function readApplied(text: string): ReturnType<typeof parseYamlBody> {
  try {
    return parseYamlBody(text);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw badRequest(`error decoding YAML: ${error.message}`);
  }
}

function decodeText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

function parseJson(text: string, kind: Pick<Kind, "kind" | "hasLongIntegers">): Json {
  const what = kind.kind;
  const problem = tooDeep(text) ? "exceeded max depth" : undefined;
  try {
    if (problem === undefined) return wellFormed(parseFor(kind, text), text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw unrecognized(what, `couldn't get version/kind; json parse error: ${syntaxProblem(error, text)}`, text);
  }
  throw unrecognized(what, `couldn't get version/kind; json parse error: ${problem}`, text);
}

/** Maps JavaScript's JSON syntax errors to Go's wording. */
const SYNTAX: readonly (readonly [RegExp, string])[] = [
  [/property name/, "looking for beginning of object key string"],
  [/after property value/, "after object key:value pair"],
  [/after array element/, "after array element"],
  [/':' after property name/, "after object key"],
  [/after JSON/, "after top-level value"],
  [/control character/, "in string literal"],
  [/escape/, "in string escape code"],
];

function syntaxProblem({ message }: SyntaxError, text: string): string {
  // This message quotes the character and part of the text, which can be anything.
  const token = /^Unexpected token '(.[^']?|')'/su.exec(message)?.[1];
  if (token !== undefined) return `invalid character ${quotedByte(token)} looking for beginning of value`;
  const position = Number(/position (\d+)/.exec(message)?.[1] ?? text.length);
  if (position >= text.length || /Unterminated string|end of JSON/.test(message)) return "unexpected end of JSON input";
  const where = SYNTAX.findLast(([pattern]) => pattern.test(message))?.[1] ?? "looking for beginning of value";
  return `invalid character ${quotedByte(String.fromCodePoint(text.codePointAt(position) ?? 0))} ${where}`;
}

/** Go reads bytes: it prints the first byte of a character, and unprintable ones as numbers. */
function quotedByte(character: string): string {
  const byte = Buffer.from(character)[0] ?? 0;
  if (byte === 0x27) return "'\\''";
  if (byte >= 0x20 && byte < 0x7f) return byte === 0x5c ? "'\\\\'" : `'${String.fromCharCode(byte)}'`;
  const named = GO_ESCAPES.get(byte);
  if (named !== undefined) return `'${named}'`;
  if (byte < 0x80) return `'\\x${byte.toString(16).padStart(2, "0")}'`;
  return byte < 0xa1 || byte === 0xad ? `'\\u${byte.toString(16).padStart(4, "0")}'` : `'${String.fromCharCode(byte)}'`;
}

const GO_ESCAPES: ReadonlyMap<number, string> = new Map([
  [7, "\\a"],
  [8, "\\b"],
  [9, "\\t"],
  [10, "\\n"],
  [11, "\\v"],
  [12, "\\f"],
  [13, "\\r"],
]);

const tooLargeNumber = (number: string): string =>
  `json: cannot unmarshal number ${number} into Go value of type float64`;

function asObject(value: Json, text: string, kind: string): JsonObject {
  if (value === null) return {};
  if (isObject(value)) {
    for (const field of ["apiVersion", "kind"]) {
      const stated = value[field] ?? "";
      if (typeof stated !== "string")
        throw unrecognized(
          kind,
          `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeName(stated)} into Go struct field .${field} of type string`,
          text,
        );
    }
    if (typeof value.apiVersion === "string" && value.apiVersion.split("/", 3).length > 2)
      throw unrecognized(kind, `unexpected GroupVersion string: ${value.apiVersion}`, text);
    return value;
  }
  throw unrecognized(
    kind,
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${TYPE_META}`,
    text,
  );
}

function unrecognized(kind: string, problem: string, text: string): Error {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${problem} (${summary(text)})`);
}

/** The Go type in which kind and version are decoded first. */
export const TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

const SHOWN_BYTES = 30;

/** The beginning of a body that could not be decoded: as text when it looks like JSON, otherwise in hexadecimal. */
function summary(text: string): string {
  if (text === "") return "<empty>";
  const bytes = Buffer.from(text);
  const start = bytes.subarray(0, SHOWN_BYTES).toString(text.startsWith("{") ? "utf8" : "hex");
  return bytes.byteLength > SHOWN_BYTES ? `${start} ...` : start;
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Counts brackets outside of strings without parsing. */
function tooDeep(text: string): boolean {
  // A text nests no deeper than half its length, so most bodies need no check.
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
