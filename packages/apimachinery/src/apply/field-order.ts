/**
 * The serialization order of a field set: the node itself, then fields by name, elements by keys, by value and by
 * index. Programs compare `fieldsV1` as text, so the order matters although JSON objects are unordered.
 */
import { isObject, setOwn, type Json } from "@flotilla/base";
import { MEMBER, type FieldSet } from "./field-set.ts";

/** Fields and the node itself are already ordered as text; elements of lists are not. */
const RANKS: Readonly<Record<string, number>> = { ".": 0, f: 1, k: 2, v: 3, i: 4 };

/** The parsed key of an element: its JSON is parsed once, regardless of the number of comparisons. */
interface Element {
  readonly key: string;
  readonly rank: number;
  /** Undefined for fields and the node itself, which are compared by their keys. */
  readonly value: Json | undefined;
}

const elements = new Map<string, Element>();
/**
 * Names of containers, ports and variables recur; keys beyond this number, which clients may invent, are not cached.
 */
const MAX_ELEMENTS = 10_000;
const MAX_KEPT_KEY = 64;

function elementOf(key: string): Element {
  const known = elements.get(key);
  if (known) return known;
  const kind = key[0] ?? "";
  const element = {
    key,
    rank: RANKS[kind] ?? 0,
    value:
      kind === "k" || kind === "v"
        ? (JSON.parse(key.slice(2)) as Json)
        : kind === "i"
          ? Number(key.slice(2))
          : undefined,
  };
  if (elements.size < MAX_ELEMENTS && key.length <= MAX_KEPT_KEY) elements.set(key, element);
  return element;
}

/** The same set in order. A set that is already in order is returned unchanged: every write of an object calls this. */
export function inOrder(set: FieldSet): FieldSet {
  let previous: string | undefined;
  let isSorted = true;
  let changed: Map<string, FieldSet> | undefined;
  for (const key in set) {
    isSorted &&= previous === undefined || compareKeys(previous, key) < 0;
    previous = key;
    const before = set[key] as FieldSet;
    const after = before === MEMBER ? before : inOrder(before);
    if (after !== before) (changed ??= new Map()).set(key, after);
  }
  if (isSorted && !changed) return set;
  const keys = Object.keys(set);
  const ordered: FieldSet = {};
  for (const key of isSorted ? keys : sorted(keys)) setOwn(ordered, key, changed?.get(key) ?? set[key]);
  return ordered;
}

/** Most keys are fields, `f:name`, which are already in order. */
const isField = (key: string): boolean => key.startsWith("f");

function compareKeys(a: string, b: string): number {
  if (isField(a) && isField(b)) return a < b ? -1 : 1;
  return compareElements(elementOf(a), elementOf(b));
}

/** Each key is parsed once, regardless of the number of comparisons. */
function sorted(keys: readonly string[]): string[] {
  if (keys.every(isField)) return keys.toSorted();
  return keys
    .map(elementOf)
    .sort(compareElements)
    .map(({ key }) => key);
}

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
