/**
 * The order in which a set of fields is written: the node itself, then fields by name, elements by their keys, by their value
 * and by their place. Programs compare `fieldsV1` as text, so it matters although JSON says that it does not.
 */
import { isObject, setOwn, type Json } from "../base/index.ts";
import { SELF, type FieldSet } from "./field-set.ts";

const RANKS = [SELF, "f", "k", "v", "i"];

/** The same set in order. What is in order already is answered as it is. */
export function inOrder(set: FieldSet): FieldSet {
  const keys = Object.keys(set);
  let isChanged = false;
  for (let index = 1; index < keys.length && !isChanged; index++) isChanged = compareElements(keys[index - 1] ?? "", keys[index] ?? "") > 0;
  if (isChanged) keys.sort(compareElements);
  const children = keys.map((key) => {
    const before = set[key] as FieldSet;
    const after = inOrder(before);
    if (after !== before) isChanged = true;
    return after;
  });
  if (!isChanged) return set;
  const ordered: FieldSet = {};
  for (const [index, key] of keys.entries()) setOwn(ordered, key, children[index]);
  return ordered;
}

function compareElements(a: string, b: string): number {
  const [kindA, kindB] = [a[0] ?? "", b[0] ?? ""];
  if (kindA !== kindB) return RANKS.indexOf(kindA) - RANKS.indexOf(kindB);
  if (kindA === "f" || kindA === SELF) return compareScalars(a, b);
  return compareValues(JSON.parse(a.slice(2)) as Json, JSON.parse(b.slice(2)) as Json);
}

/** The keys of an element are compared one after the other: first their names, then their values. */
function compareValues(a: Json, b: Json): number {
  if (!isObject(a) || !isObject(b)) return compareScalars(a, b);
  const [namesA, namesB] = [Object.keys(a), Object.keys(b)];
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
  const [textA, textB] = [String(a), String(b)];
  return textA < textB ? -1 : textA > textB ? 1 : 0;
}
