/**
 * Field sets, kept in the `fieldsV1` format of managed-fields entries, so that reading and writing an entry costs
 * nothing. A node is an object whose keys lead to children: `f:name` to a field, `k:{"name":"a"}` to the list element
 * with those keys, `v:"x"` to an element of a set, `i:0` to an index. The node `{}` is a member; a node with children
 * is a member only when it has the key `.`.
 *
 * The empty set is `undefined`. Sets are immutable; operations share structure.
 */
import { isObject, setOwn, type Json, type JsonObject } from "@flotilla/base";

export type FieldSet = JsonObject;

export const SELF = ".";
export const MEMBER: FieldSet = Object.freeze({});

/** The set with these children; `member` sets whether the node itself is a member. */
export function makeFieldSet(children: FieldSet | undefined, member: boolean): FieldSet | undefined {
  if (!children) return member ? MEMBER : undefined;
  return member ? { [SELF]: MEMBER, ...children } : children;
}

export function isMember(set: FieldSet): boolean {
  for (const key in set) return key === SELF || Object.hasOwn(set, SELF);
  return true;
}

export function childSet(set: FieldSet | undefined, key: string): FieldSet | undefined {
  return set !== undefined && key !== SELF && Object.hasOwn(set, key) ? (set[key] as FieldSet) : undefined;
}

export function unionOf(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === b || b === undefined) return a;
  if (a === undefined) return b;
  const children: FieldSet = {};
  for (const key in a) if (key !== SELF) setOwn(children, key, unionOf(a[key] as FieldSet, childSet(b, key)));
  for (const key in b) if (key !== SELF && !Object.hasOwn(a, key)) setOwn(children, key, b[key]);
  return makeFieldSet(orNothing(children), isMember(a) || isMember(b));
}

/** The members of `a` that are not members of `b`. A member of `b` does not remove its children in `a`. */
export function differenceOf(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return a;
  const loses = isMember(a) && isMember(b);
  if (!loses && !haveCommonChild(a, b)) return a;
  const children: FieldSet = {};
  let changed = false;
  for (const key in a) {
    if (key === SELF) continue;
    const before = a[key] as FieldSet;
    const rest = differenceOf(before, childSet(b, key));
    if (rest !== undefined) setOwn(children, key, rest);
    if (rest !== before) changed = true;
  }
  return !changed && !loses ? a : makeFieldSet(orNothing(children), !loses && isMember(a));
}

/** The set of one field, by the names on its path. */
export function singleField(path: readonly string[]): FieldSet {
  return path.reduceRight<FieldSet>((below, name) => ({ [`f:${name}`]: below }), MEMBER);
}

/** Reports whether a field is a member of a set. */
export function hasField(set: Json | undefined, path: readonly string[]): boolean {
  let node = isObject(set) ? set : undefined;
  for (const name of path) node = childSet(node, `f:${name}`);
  return node !== undefined && isMember(node);
}

/** The set without one field. */
export function fieldSetDifference(set: Json | undefined, path: readonly string[]): FieldSet | undefined {
  return isObject(set) ? differenceOf(set, singleField(path)) : undefined;
}

function haveCommonChild(a: FieldSet, b: FieldSet): boolean {
  for (const key in b) if (key !== SELF && Object.hasOwn(a, key)) return true;
  return false;
}

export function intersectionOf(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return undefined;
  const children: FieldSet = {};
  for (const key in a) {
    if (key === SELF) continue;
    const both = intersectionOf(a[key] as FieldSet, childSet(b, key));
    if (both !== undefined) setOwn(children, key, both);
  }
  return makeFieldSet(orNothing(children), isMember(a) && isMember(b));
}

function orNothing(children: FieldSet): FieldSet | undefined {
  for (const _key in children) return children;
  return undefined;
}

/** The set of a whole object: its root has children and is never a member itself. */
export function asRoot(set: FieldSet | undefined): FieldSet | undefined {
  if (set === undefined || !isMember(set)) return set;
  const { [SELF]: _self, ...children } = set;
  return orNothing(children);
}

/** Clients send entries too; deeper nesting than any schema has is rejected. */
const MAX_DEPTH = 128;

/** Reports whether a client's `fieldsV1` is a valid field set. */
export function isFieldSet(value: Json | undefined, depth = 0): value is FieldSet {
  if (!isObject(value) || depth > MAX_DEPTH) return false;
  for (const key in value) if (!isPathElement(key) || !isFieldSet(value[key], depth + 1)) return false;
  return true;
}

function isPathElement(key: string): boolean {
  if (key === SELF || key.startsWith("f:")) return true;
  if (key.startsWith("v:") || key.startsWith("k:{")) return isJson(key.slice(2));
  // Leading zeros are accepted, as in Go, although they are invalid JSON. No list has more elements than this.
  return /^i:-?\d{1,15}$/.test(key);
}

/** Elements are compared as text, and ordered by their parsed JSON, so the JSON must be valid. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** The members as readable paths, `.spec.ports[port=80,protocol="TCP"].name`: at each level the members first. */
export function* membersOf(set: FieldSet, prefix = ""): Generator<string> {
  const keys = Object.keys(set)
    .filter((key) => key !== SELF)
    .sort();
  for (const key of keys) if (isMember(set[key] as FieldSet)) yield prefix + formatElement(key);
  for (const key of keys) yield* membersOf(set[key] as FieldSet, prefix + formatElement(key));
}

/** One step of a path: `.name`, `[name="a"]`, `[="x"]` or `[0]`. */
export function formatElement(key: string): string {
  const rest = key.slice(2);
  if (key.startsWith("f:")) return `.${rest}`;
  if (key.startsWith("v:")) return `[=${rest}]`;
  if (!key.startsWith("k:")) return `[${rest}]`;
  return `[${formatKeys(rest)}]`;
}

/** Invalid JSON from a client is shown unchanged. */
function formatKeys(text: string): string {
  try {
    return Object.entries(JSON.parse(text) as JsonObject)
      .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
      .join(",");
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
