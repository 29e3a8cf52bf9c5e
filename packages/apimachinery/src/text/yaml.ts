/**
 * YAML as Kubernetes parses it: YAML 1.1 booleans (`yes`, `on`), octal numbers with a leading zero, dates and `12:30`
 * as text, keys as strings. The result is JSON: aliases are expanded into copies up to a limit.
 */
import { setOwn, type Json, type JsonObject } from "@flotilla/base";
import { badRequest } from "../status.ts";
import { dumpYaml, loadYaml, loadYamlDocuments, YamlError, type LoadYamlOptions } from "../yaml-dialects.ts";
import { createLineCounter, MAX_YAML_DEPTH, walkYaml } from "../yaml-walk.ts";

/**
 * Aliases multiply: nine levels of nine give a billion values. The largest request is 3 MiB, which holds fewer values
 * than this.
 */
const MAX_VALUES = 1_000_000;
const MAX_ALIASES = 10_000;
/**
 * Go's parser rejects a document that consists almost entirely of aliases long before it is large. Beyond the first
 * thousand values at most this share may come from aliases, decreasing between `from` and `to` values.
 */
const ALIASED = { free: 100, countsAfter: 1000, most: 0.99, least: 0.1, from: 400_000, to: 4_000_000 } as const;

export interface YamlOptions {
  /** Duplicate keys are an error. Otherwise the last one wins, as in JSON. */
  uniqueKeys?: boolean;
}

const loadOptions = ({ uniqueKeys = false }: YamlOptions): LoadYamlOptions => ({
  dialect: "kubernetes",
  allowRepeatedKeys: !uniqueKeys,
  maxAliases: MAX_ALIASES,
  maxDepth: MAX_YAML_DEPTH,
});

/** One document; an empty text is `null`. Throws a bad request with the line of the error. */
export function parseYaml(text: string, options: YamlOptions = {}): Json {
  return reading(() => readDocument(text, options));
}

/** One document, and its duplicate keys in the wording of Kubernetes' parser: `line 7: key "a" already set in map`. */
export function parseYamlBody(text: string): { value: Json; repeated: readonly string[] } {
  return reading(() => {
    try {
      return { value: readDocument(text, { uniqueKeys: true }), repeated: [] };
    } catch (error) {
      // Almost no document has duplicate keys, so the detailed search is only done for those that do.
      if (!(error instanceof YamlError) || !error.isRepeatedKey) throw error;
      return { value: readDocument(text, {}), repeated: repeatedKeys(text) };
    }
  });
}

function readDocument(text: string, options: YamlOptions): Json {
  return text.trim() === "" ? null : new Copying(text).json(loadYaml(text, loadOptions(options)));
}

function repeatedKeys(text: string): string[] {
  const found: string[] = [];
  const keysOf = new Map<object, Set<string>>();
  /** The second of two equal keys, until its value follows: the message names the line of the value. */
  let repeated: { parent: object; key: string } | undefined;
  const lineAt = createLineCounter(text);
  for (const { kind, parent, start, value } of walkYaml(text)) {
    if (repeated && parent === repeated.parent) {
      found.push(`line ${lineAt(start)}: key ${JSON.stringify(repeated.key)} already set in map`);
      repeated = undefined;
    }
    if (kind !== "key" || !parent) continue;
    const key = value();
    const keys = keysOf.get(parent) ?? new Set();
    if (keys.has(key)) repeated = { parent, key };
    keysOf.set(parent, keys.add(key));
  }
  return found;
}

/** All non-empty documents of a file. */
export function parseYamlDocuments(text: string, options: YamlOptions = {}): Json[] {
  return reading(() => {
    const copying = new Copying(text);
    return loadYamlDocuments(text, loadOptions(options))
      .map((document) => copying.json(document))
      .filter((document) => document !== null);
  });
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw badRequest(`error converting YAML to JSON: yaml: ${error.message}`);
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
    if (depth > MAX_YAML_DEPTH) throw excessiveAliasing();
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
  return dumpYaml(value, { readBy: "any" });
}
