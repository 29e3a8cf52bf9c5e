/**
 * YAML as Kubernetes parses it: YAML 1.1 booleans (`yes`, `on`), octal numbers with a leading zero, dates and `12:30`
 * as text, keys as strings. The result is JSON: aliases are expanded into copies up to a limit.
 */
import {
  boolYaml11Tag,
  defineScalarTag,
  dump,
  EVENT_ID,
  getScalarValue,
  load,
  loadAll,
  mapTag,
  mergeTag,
  NOT_RESOLVED,
  nullYaml11Tag,
  parseEvents,
  Schema,
  seqTag,
  strTag,
  YAMLException,
  type LoadOptions,
} from "js-yaml";
import { setOwn, type Json, type JsonObject } from "../base/index.ts";
import { ApiError, badRequest } from "./status.ts";

/**
 * Aliases multiply: nine levels of nine give a billion values. The largest request is 3 MiB, which holds fewer values
 * than this.
 */
const MAX_VALUES = 1_000_000;
const MAX_ALIASES = 10_000;
const MAX_DEPTH = 200;
/**
 * Go's parser rejects a document that consists almost entirely of aliases long before it is large. Beyond the first
 * thousand values at most this share may come from aliases, decreasing between `from` and `to` values.
 */
const ALIASED = { free: 100, countsAfter: 1000, most: 0.99, least: 0.1, from: 400_000, to: 4_000_000 } as const;

const INTEGER = /^[-+]?(0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]*|[1-9][0-9_]*)$/;
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;

/** Integers as Go parses them: no sexagesimals, so `22:22` is text. */
const integerTag = defineScalarTag<number>("tag:yaml.org,2002:int", {
  implicit: true,
  identify: (data: unknown) => Number.isInteger(data),
  resolve(source) {
    if (!INTEGER.test(source)) return NOT_RESOLVED;
    const negative = source.startsWith("-");
    const digits = source.replace(/^[-+]/, "").replaceAll("_", "");
    const value = Number(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits);
    if (!Number.isFinite(value)) return NOT_RESOLVED;
    return negative && value !== 0 ? -value : value;
  },
});

const floatTag = defineScalarTag<number>("tag:yaml.org,2002:float", {
  implicit: true,
  identify: (data: unknown) => typeof data === "number",
  // An out-of-range number is text, as in Go.
  resolve: (source) => (FLOAT.test(source) && Number.isFinite(Number(source)) ? Number(source) : NOT_RESOLVED),
});

const kubernetesSchema = new Schema([
  strTag,
  seqTag,
  mapTag,
  nullYaml11Tag,
  boolYaml11Tag,
  integerTag,
  floatTag,
  mergeTag,
]);

export interface YamlOptions {
  /** Duplicate keys are an error. Otherwise the last one wins, as in JSON. */
  uniqueKeys?: boolean;
}

const loadOptions = ({ uniqueKeys = false }: YamlOptions): LoadOptions => ({
  schema: kubernetesSchema,
  json: !uniqueKeys,
  maxAliases: MAX_ALIASES,
  maxDepth: MAX_DEPTH,
});

/** One document; an empty text is `null`. Throws a bad request with the line of the error. */
export function parseYaml(text: string, options: YamlOptions = {}): Json {
  return reading(() => (text.trim() === "" ? null : new Copying(text).json(load(text, loadOptions(options)))));
}

/** One document, and its duplicate keys in the wording of Kubernetes' parser: `line 7: key "a" already set in map`. */
export function parseYamlBody(text: string): { value: Json; repeated: readonly string[] } {
  try {
    return {
      value: reading(() =>
        text.trim() === "" ? null : new Copying(text).json(load(text, loadOptions({ uniqueKeys: true }))),
      ),
      repeated: [],
    };
  } catch (error) {
    // Almost no document has duplicate keys, so the detailed search is only done for those that do.
    if (!(error instanceof ApiError) || !error.message.includes(DUPLICATED)) throw error;
    return { value: parseYaml(text), repeated: repeatedKeys(text) };
  }
}

const DUPLICATED = "duplicated mapping key";

function repeatedKeys(text: string): string[] {
  const found: string[] = [];
  /** For each open collection: the keys so far, and the key of the next value. */
  const open: { keys: Set<string> | undefined; key: string | undefined }[] = [];
  const lineAt = createLineCounter(text);
  for (const event of parseEvents(text, { maxDepth: MAX_DEPTH })) {
    if (event.type === EVENT_ID.DOCUMENT) continue;
    if (event.type === EVENT_ID.POP) {
      open.pop();
      continue;
    }
    const parent = open.at(-1);
    if (parent?.keys && parent.key === undefined) {
      parent.key = event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : "";
      if (event.type === EVENT_ID.SCALAR || event.type === EVENT_ID.ALIAS) continue;
    } else if (parent?.keys && parent.key !== undefined) {
      const { keys, key } = parent;
      const start =
        event.type === EVENT_ID.SCALAR
          ? event.valueStart
          : event.type === EVENT_ID.ALIAS
            ? event.anchorStart
            : event.start;
      if (keys.has(key)) found.push(`line ${lineAt(start)}: key ${JSON.stringify(key)} already set in map`);
      keys.add(key);
      parent.key = undefined;
    }
    if (event.type === EVENT_ID.MAPPING) open.push({ keys: new Set(), key: undefined });
    else if (event.type === EVENT_ID.SEQUENCE) open.push({ keys: undefined, key: undefined });
  }
  return found;
}

const NEWLINE = 10;

/** The line of a position, counted from 1. Positions must be passed in order, so that the text is scanned once. */
export function createLineCounter(text: string): (position: number) => number {
  let line = 1;
  let counted = 0;
  return (position) => {
    for (; counted < position; counted++) if (text.charCodeAt(counted) === NEWLINE) line++;
    return line;
  };
}

/** All non-empty documents of a file. */
export function parseYamlDocuments(text: string, options: YamlOptions = {}): Json[] {
  return reading(() => {
    const copying = new Copying(text);
    return loadAll(text, loadOptions(options))
      .map((document) => copying.json(document))
      .filter((document) => document !== null);
  });
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = error.mark ? `line ${error.mark.line + 1}: ` : "";
    throw badRequest(`error converting YAML to JSON: yaml: ${line}${error.reason}`);
  }
}

/** Copies the parser's output into JSON without shared parts. A part that occurs twice came from an alias. */
class Copying {
  /** The parts that were already copied; undefined for a text without aliases. */
  readonly #copied: Set<object> | undefined;
  #values = 0;
  #aliased = 0;

  constructor(text: string) {
    this.#copied = text.includes("*") ? new Set() : undefined;
  }

  json(value: unknown, depth = 0, isAliased = false): Json {
    this.#count(isAliased);
    // Deeper than any parsed document: an anchor that contains itself.
    if (depth > MAX_DEPTH) throw excessiveAliasing();
    // An unpaired surrogate can be written as an escape and has no UTF-8 encoding.
    if (typeof value === "string") return value.toWellFormed();
    if (typeof value !== "object" || value === null) return (value ?? null) as Json;
    const isAgain = isAliased || this.#copied?.has(value) === true;
    this.#copied?.add(value);
    if (Array.isArray(value)) return value.map((item) => this.json(item, depth + 1, isAgain));
    const object: JsonObject = {};
    for (const [key, item] of Object.entries(value)) {
      this.#count(isAgain);
      setOwn(object, key.toWellFormed(), this.json(item, depth + 1, isAgain));
    }
    return object;
  }

  #count(isAliased: boolean): void {
    this.#values += 1;
    if (this.#values > MAX_VALUES) throw excessiveAliasing();
    if (!isAliased) return;
    this.#aliased += 1;
    if (
      this.#aliased > ALIASED.free &&
      this.#values > ALIASED.countsAfter &&
      this.#aliased / this.#values > allowedPart(this.#values)
    )
      throw excessiveAliasing();
  }
}

function allowedPart(values: number): number {
  const { most, least, from, to } = ALIASED;
  return values <= from ? most : most - (most - least) * ((values - from) / (to - from));
}

const excessiveAliasing = (): Error =>
  badRequest("error converting YAML to JSON: yaml: document contains excessive aliasing");

/** Sorted keys and lists flush with their key, as `kubectl get -o yaml` prints. */
export function formatYaml(value: unknown): string {
  return dump(value, { sortKeys: true, noRefs: true, seqNoIndent: true, lineWidth: -1, quoteStyle: "double" });
}
