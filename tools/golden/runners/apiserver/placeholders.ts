/**
 * Values that differ between runs (uids, times, names) are `{{UID-1}}` in a recording. The first response that contains
 * one binds its value; from then on it must be that value, and later requests use it.
 */
import type { Json } from "@flotilla/base";

const PLACEHOLDER = /\{\{([A-Za-z0-9]+(?:-\d+)?)\}\}/g;
/** An age as of the recording day: "3 (2y319d ago)". */
const AGO = /\((?:\d+[smhdy])+ ago\)/g;
/** `{{REPEAT n text}}` keeps very large bodies short. */
const REPEAT = /\{\{REPEAT (\d+) (.*?)\}\}/g;

const UUID = String.raw`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`;
const SECONDS = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`;
const SHAPES: Readonly<Record<string, string>> = {
  UID: UUID,
  RV: String.raw`\d+`,
  LRV: String.raw`\d+`,
  TIME: `${SECONDS}Z`,
  MICROTIME: String.raw`${SECONDS}\.\d{6}Z`,
  NAME: "[bcdfghjklmnpqrstvwxz2456789]{5}",
  AGE: String.raw`(?:<unknown>|<invalid>|(?:\d+[smhdy])+)`,
  IP: String.raw`\d+\.\d+\.\d+\.\d+`,
  PORT: String.raw`\d+`,
  TOKEN: String.raw`[\w.-]+`,
  CONTINUE: String.raw`[\w=-]+`,
  CERT: String.raw`[\s\S]+`,
  ANY: String.raw`[\s\S]*`,
  NUMBER: String.raw`\d+`,
  HASH: "[0-9A-Fa-f]+",
};
/** Each occurrence is independent. */
const FREE = new Set(["TIME", "MICROTIME", "AGE", "CERT", "ANY", "NUMBER", "HASH"]);

/** A request needs a value that no response has bound. */
export class UnknownValueError extends Error {}

export class Bindings {
  readonly #values: Map<string, string>;

  constructor(values: Iterable<readonly [string, string]> = []) {
    this.#values = new Map(values);
  }

  set(name: string, value: string): void {
    this.#values.set(name, value);
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** For an attempt that may fail; `take` keeps its bindings. */
  copy(): Bindings {
    return new Bindings(this.#values);
  }

  take(other: Bindings): void {
    for (const [name, value] of other.#values) this.#values.set(name, value);
  }

  /** The text of a request with its placeholders filled in. */
  fill(text: string): string {
    return text
      .replaceAll(REPEAT, (_all, count: string, repeated: string) => repeated.repeat(Number(count)))
      .replaceAll(PLACEHOLDER, (all, name: string) => {
        const value = this.#values.get(name);
        if (value === undefined)
          throw new UnknownValueError(`the value of ${all} is unknown: no earlier response contained it`);
        return value;
      });
  }

  fillJson<T>(value: T): T {
    return JSON.parse(JSON.stringify(value), (_key, item: unknown) =>
      typeof item === "string" ? this.fill(item) : isRecord(item) ? this.#fillKeys(item) : item,
    ) as T;
  }

  #fillKeys(object: Record<string, unknown>): Record<string, unknown> {
    return Object.keys(object).some((key) => key.includes("{{"))
      ? Object.fromEntries(Object.entries(object).map(([key, value]) => [this.fill(key), value]))
      : object;
  }

  /** True if the text has the form of the recorded one, and every placeholder in it its value. New values are bound. */
  matches(recorded: string, have: Json | undefined): boolean {
    const wanted = recorded.replaceAll(AGO, "({{AGE}} ago)");
    if (!wanted.includes("{{")) return wanted === have;
    if (typeof have !== "string" && typeof have !== "number") return false;
    const { regex, names } = patternOf(wanted);
    const found = regex.exec(String(have));
    if (!found) return wanted.replaceAll(PLACEHOLDER, (all, name: string) => this.#values.get(name) ?? all) === have;
    return names.every((name, index) => this.#bind(name, found[index + 1] ?? ""));
  }

  #bind(name: string, value: string): boolean {
    const [kind = "", number] = name.split("-");
    if (FREE.has(kind)) return true;
    const known = this.#values.get(name);
    if (known !== undefined) return known === value;
    for (const [other, taken] of this.#values) {
      const [otherKind, otherNumber] = other.split("-");
      if (otherKind !== kind || number === undefined) continue;
      if (kind === "UID" && taken === value) return false;
      // resourceVersions are numbered by size.
      if (kind === "RV" && Math.sign(Number(value) - Number(taken)) !== Math.sign(Number(number) - Number(otherNumber)))
        return false;
    }
    this.#values.set(name, value);
    return true;
  }

  /** The key of `object` that matches an expected key with placeholders. */
  findKey(wanted: string, object: Record<string, unknown>): string | undefined {
    if (!wanted.includes("{{")) return wanted;
    const key = Object.keys(object).find((candidate) => this.copy().matches(wanted, candidate));
    if (key !== undefined) this.matches(wanted, key);
    return key;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const patterns = new Map<string, { regex: RegExp; names: string[] }>();

function patternOf(text: string): { regex: RegExp; names: string[] } {
  let pattern = patterns.get(text);
  if (!pattern) {
    const names: string[] = [];
    let source = "";
    let last = 0;
    for (const match of text.matchAll(PLACEHOLDER)) {
      const name = match[1] ?? "";
      names.push(name);
      source += `${RegExp.escape(text.slice(last, match.index))}(${SHAPES[name.split("-")[0] ?? ""] ?? String.raw`[\s\S]*?`})`;
      last = match.index + match[0].length;
    }
    pattern = { regex: new RegExp(`^${source}${RegExp.escape(text.slice(last))}$`), names };
    patterns.set(text, pattern);
  }
  return pattern;
}
