/**
 * The one place where texts meet js-yaml: three dialects, read and written with named options. Results have no
 * expanded aliases: a value that an alias names is the same object as its anchor's, so a short text stays small.
 */
import {
  boolYaml11Tag,
  CORE_SCHEMA,
  defineScalarTag,
  dump,
  DUMP_SCHEMA,
  FAILSAFE_SCHEMA,
  floatCoreTag,
  intYaml11Tag,
  load,
  loadAll,
  mergeTag,
  NOT_RESOLVED,
  nullYaml11Tag,
  type Schema,
  YAMLException,
} from "js-yaml";
import { FlotillaError } from "@flotilla/base";

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

/**
 * - `kubernetes`: YAML 1.1 booleans (`yes`, `on`), octal numbers with a leading zero, dates and `12:30` as text.
 * - `1.1`: version 1.1 without types that JSON lacks: a date stays a string, and there are no sets or binaries.
 * - `1.2`: the core schema of version 1.2, in which only `true` and `false` are booleans.
 */
export type YamlDialect = "kubernetes" | "1.1" | "1.2";

const SCHEMAS: Readonly<Record<YamlDialect, Schema>> = {
  kubernetes: FAILSAFE_SCHEMA.withTags(nullYaml11Tag, boolYaml11Tag, integerTag, floatTag, mergeTag),
  "1.1": FAILSAFE_SCHEMA.withTags(nullYaml11Tag, boolYaml11Tag, intYaml11Tag, floatCoreTag, mergeTag),
  "1.2": CORE_SCHEMA,
};

export interface LoadYamlOptions {
  dialect: YamlDialect;
  /** The last of several equal keys wins, as in JSON. Otherwise they are an error. */
  allowRepeatedKeys?: boolean;
  maxAliases?: number;
  maxDepth?: number;
}

/** A text is not valid YAML. The message does not quote the text, which may hold secrets. */
export class YamlError extends FlotillaError {
  readonly reason: string;
  /** Counted from 1; unset if the whole text is the problem. */
  readonly line: number | undefined;

  constructor({ reason, mark }: YAMLException) {
    const line = mark && mark.line + 1;
    super("Yaml", line === undefined ? reason : `line ${line}: ${reason}`);
    this.reason = reason;
    this.line = line;
  }

  get isRepeatedKey(): boolean {
    return this.reason.includes("duplicated mapping key");
  }
}

/** One document. Throws `YamlError`. */
export function loadYaml(text: string, options: LoadYamlOptions): unknown {
  return reading(() => load(text, parserOptions(options)));
}

/** All documents of a text. Throws `YamlError`. */
export function loadYamlDocuments(text: string, options: LoadYamlOptions): unknown[] {
  return reading(() => loadAll(text, parserOptions(options)));
}

function parserOptions({ dialect, allowRepeatedKeys = false, maxAliases, maxDepth }: LoadYamlOptions) {
  return {
    schema: SCHEMAS[dialect],
    json: allowRepeatedKeys,
    maxAliases,
    maxDepth,
  };
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new YamlError(error);
  }
}

/**
 * Sorted keys and lists flush with their key, as `kubectl get -o yaml` prints. Strings that a reader could mistake for
 * another type are quoted: any reader, or readers of one dialect.
 */
export function dumpYaml(value: unknown, { readBy }: { readBy: YamlDialect | "any" }): string {
  return dump(value, {
    schema: readBy === "any" ? DUMP_SCHEMA : SCHEMAS[readBy],
    sortKeys: true,
    noRefs: true,
    seqNoIndent: true,
    lineWidth: -1,
    quoteStyle: "double",
  });
}

/** Counts the values of a result with aliases expanded; stops at the limit, so an anchor that contains itself ends too. */
export function countYamlValues(value: unknown, limit: number): number {
  const waiting: unknown[] = [value];
  let count = 0;
  for (; waiting.length > 0 && count < limit; count++) {
    const next = waiting.pop();
    if (typeof next === "object" && next !== null) for (const item of Object.values(next)) waiting.push(item);
  }
  return count;
}
