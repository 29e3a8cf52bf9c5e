/**
 * Parses JSON with repeated keys as Go decodes it into a struct: the second value of a field is merged over the first,
 * so objects are merged and everything else is replaced. It is slow and only for the rare body in which
 * `findDuplicateKeys` found something.
 */
import { isObject, setOwn, type Json, type JsonObject } from "@flotilla/base";
import { MAX_STRICT_PROBLEMS } from "./duplicate-keys.ts";
import { formatPath, lengthOf, type PathStep } from "../field-path.ts";

/** The value of a valid JSON text. The caller must have checked its depth. */
export function readRepeatedKeys(text: string): Json {
  return new Reader(text, undefined).value(undefined);
}

/** The unknown and repeated fields in order of appearance: each is reported once, and nothing inside an unknown one. */
export function inOrderOfAppearance(text: string, unknown: readonly string[]): { field: string; repeated: boolean }[] {
  const reader = new Reader(text, new Set(unknown));
  reader.value(undefined);
  return reader.found;
}

const NUMBER_OR_WORD = /[-+.\w]+/y;
const STRING = /"(?:[^"\\]|\\.)*"/sy;
const SPACE = /[ \t\n\r]*/y;

class Reader {
  readonly found: { field: string; repeated: boolean }[] = [];
  readonly #text: string;
  readonly #unknown: ReadonlySet<string> | undefined;
  readonly #named = new Set<string>();
  readonly #path: PathStep[] = [];
  /** The number of enclosing unknown fields. */
  #ignored = 0;
  #at = 0;
  /** Lengths of the unknown paths. */
  readonly #lengths = new Set<number>();

  constructor(text: string, unknown: ReadonlySet<string> | undefined) {
    this.#text = text;
    this.#unknown = unknown;
    for (const path of unknown ?? []) this.#lengths.add(path.length);
  }

  /** The next value, merged over the previous one. */
  value(before: Json | undefined): Json {
    this.#skip(SPACE);
    const start = this.#text[this.#at];
    if (start === "{") return this.#object(isObject(before) ? before : {});
    if (start === "[") return this.#list();
    return JSON.parse(start === '"' ? this.#skip(STRING) : this.#skip(NUMBER_OR_WORD)) as Json;
  }

  #object(into: JsonObject): JsonObject {
    const keys = new Map<string, { isUnknown: boolean; isReported: boolean }>();
    this.#each("}", () => {
      const key = JSON.parse(this.#skip(STRING)) as string;
      this.#skip(SPACE);
      this.#at += 1;
      this.#path.push(key);
      const known = keys.get(key);
      // The third occurrence is not reported, which would take time proportional to its depth.
      const isUnknown = known?.isReported ? known.isUnknown : this.#note(known !== undefined);
      keys.set(key, { isUnknown, isReported: known !== undefined });
      if (isUnknown) this.#ignored += 1;
      setOwn(into, key, this.value(Object.hasOwn(into, key) ? into[key] : undefined));
      if (isUnknown) this.#ignored -= 1;
      this.#path.pop();
    });
    return into;
  }

  #list(): Json[] {
    const items: Json[] = [];
    this.#each("]", () => {
      this.#path.push(items.length);
      items.push(this.value(undefined));
      this.#path.pop();
    });
    return items;
  }

  #each(end: string, read: () => void): void {
    this.#at += 1;
    this.#skip(SPACE);
    while (this.#text[this.#at] !== end) {
      read();
      this.#skip(SPACE);
      if (this.#text[this.#at] === ",") this.#at += 1;
      this.#skip(SPACE);
    }
    this.#at += 1;
  }

  /** Records a field to report. True when it is an unknown one. */
  #note(repeated: boolean): boolean {
    if (!this.#unknown || this.#ignored > 0 || this.found.length >= MAX_STRICT_PROBLEMS) return false;
    // Most keys of a large body are neither, and their length alone shows it.
    if (!repeated && !this.#lengths.has(lengthOf(this.#path))) return false;
    const field = formatPath(this.#path);
    const isUnknown = this.#unknown.has(field);
    if ((isUnknown || repeated) && !this.#named.has(field)) {
      this.#named.add(field);
      this.found.push({ field, repeated: !isUnknown });
    }
    return isUnknown;
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += match.length;
    return match;
  }
}
