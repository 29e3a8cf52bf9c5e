/**
 * The order in which a set of fields is written: the node itself, then fields by name, elements by their keys, by their value
 * and by their place. Programs compare `fieldsV1` as text, so it matters although JSON says that it does not.
 */
import { isObject, setOwn, type Json } from "../base/index.ts";
import type { FieldSet } from "./field-set.ts";

/** Fields and the node itself are already in order as text; elements of lists are not. */
const RANKS: Readonly<Record<string, number>> = { ".": 0, f: 1, k: 2, v: 3, i: 4 };

/** The key of an element as it is compared: its JSON is read once, however often it is compared. */
interface Element {
  readonly key: string;
  readonly rank: number;
  /** Undefined for fields and the node itself, which are compared by their keys. */
  readonly value: Json | undefined;
}

function elementOf(key: string): Element {
  const kind = key[0] ?? "";
  const value = kind === "k" || kind === "v" || kind === "i" ? (JSON.parse(key.slice(2)) as Json) : undefined;
  return { key, rank: RANKS[kind] ?? 0, value };
}

/** The same set in order. What is in order already is answered as it is: every write of an object comes by here. */
export function inOrder(set: FieldSet): FieldSet {
  let previous: Element | undefined;
  let isSorted = true;
  let changed: Map<string, FieldSet> | undefined;
  for (const key in set) {
    if (isSorted) {
      const element = elementOf(key);
      isSorted = previous === undefined || compareElements(previous, element) < 0;
      previous = element;
    }
    const before = set[key] as FieldSet;
    const after = inOrder(before);
    if (after !== before) (changed ??= new Map()).set(key, after);
  }
  if (isSorted && !changed) return set;
  const keys = Object.keys(set);
  const ordered: FieldSet = {};
  for (const key of isSorted ? keys : sorted(keys)) setOwn(ordered, key, changed?.get(key) ?? set[key]);
  return ordered;
}

const sorted = (keys: readonly string[]): string[] =>
  keys
    .map(elementOf)
    .sort(compareElements)
    .map(({ key }) => key);

function compareElements(a: Element, b: Element): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  if (a.value === undefined || b.value === undefined) return a.key < b.key ? -1 : 1;
  return compareValues(a.value, b.value);
}

/** The keys of an element are compared one after the other: first their names, then their values. */
function compareValues(a: Json, b: Json): number {
  if (!isObject(a) || !isObject(b)) return compareScalars(a, b);
  const namesA = Object.keys(a);
  const namesB = Object.keys(b);
  for (const [index, name] of namesA.entries()) {
    const other = namesB[index];
    if (other === undefined) return 1;
    const order = compareScalars(name, other) || compareScalars(a[name], b[other]);
    if (order !== 0) return order;
  }
  return namesA.length - namesB.length;
}

function compareScalars(a: Json | undefined, b: Json | undefined): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const textA = typeof a === "string" ? a : JSON.stringify(a ?? null);
  const textB = typeof b === "string" ? b : JSON.stringify(b ?? null);
  return textA < textB ? -1 : textA > textB ? 1 : 0;
}
