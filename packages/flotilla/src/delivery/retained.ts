/** Computes which part of a manifest is applied when the member decides some of its fields. Pure. */
import { equalJson, isObject, setOwn, ownOf } from "@flotilla/base";
import type { FieldSet } from "@flotilla/apimachinery";

export interface Applied<T> {
  /** The fields that we apply. */
  wanted: T;
  /** The fields that stay with their owners on the member. */
  left: readonly (readonly string[])[];
}

/**
 * The desired object without the fields whose value `retain` took from the member. A field omitted from an apply stays
 * with its owner there, so we never take `replicas` from an autoscaler. A value that is neither ours nor the member's was
 * set by the rule itself, and is applied. A list that retain changed is applied as retain
 * returned it, because omitting it would also remove our part of it; the same applies to an atomic map, such as the
 * spec of a Workflow. `owned` are the field sets of the managers on the member, which show which maps are atomic. A map
 * that was applied empty looks atomic as well, so it is left to the member with all its fields. So is a map of which we
 * have no field: without an owner nothing shows that it is atomic, as the selector of a Job is, and an empty one would
 * replace it.
 */
export function withoutRetained<T>(
  desired: T,
  retained: unknown,
  owned: readonly (FieldSet | undefined)[] = [],
  observed: unknown = retained,
): Applied<T> {
  const left: string[][] = [];
  function visit(
    value: unknown,
    kept: unknown,
    has: unknown,
    path: readonly string[],
    sets: readonly (FieldSet | undefined)[],
  ): unknown {
    if (value === kept || !isObject(value) || !isObject(kept)) return value;
    const result: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      const mine = value[key];
      const theirs = ownOf(kept, key);
      const there = ownOf(has, key);
      if (isEmpty(mine) && isObject(theirs) && !isEmpty(theirs)) {
        if (isSame(theirs, there))
          left.push([...path, key], ...Object.keys(theirs).map((name) => [...path, key, name]));
        else setOwn(result, key, visit(mine, theirs, there, [...path, key], []));
      } else if (isObject(mine) && isObject(theirs)) {
        const inside = sets.flatMap((set) =>
          set && Object.hasOwn(set, `f:${key}`) ? [set[`f:${key}`] as FieldSet] : [],
        );
        const ours = isOwnedWhole(inside) ? theirs : visit(mine, theirs, there, [...path, key], inside);
        if (isEmpty(ours) && !isEmpty(theirs) && isSame(theirs, there)) left.push([...path, key]);
        else setOwn(result, key, ours);
      } else if (equalJson(mine, theirs)) setOwn(result, key, mine);
      else if (Array.isArray(theirs)) setOwn(result, key, theirs);
      // A field that retain removed is not desired.
      else if (theirs !== undefined) keep(result, key, theirs, there, path);
    }
    // What we applied before and no longer desire disappears with the apply, unless it is left to the member.
    for (const key of Object.keys(kept))
      if (!Object.hasOwn(value, key) && kept[key] !== undefined) keep(result, key, kept[key], ownOf(has, key), path);
    return result;
  }
  /** A value that is not ours: the member's, or one that the rule itself sets, possibly in a part of a map. */
  function keep(
    result: Record<string, unknown>,
    key: string,
    theirs: unknown,
    there: unknown,
    path: readonly string[],
  ): void {
    if (isSame(theirs, there)) left.push([...path, key]);
    else if (isObject(theirs) && isObject(there)) setOwn(result, key, visit({}, theirs, there, [...path, key], []));
    else setOwn(result, key, theirs);
  }
  // The compiler cannot verify that a part of T is still used as a T.
  return { wanted: visit(desired, retained, observed, [], owned) as T, left };
}

/** Lua has one empty table for lists and maps. */
const isSame = (a: unknown, b: unknown): boolean => equalJson(a, b) || (isNothing(a) && isNothing(b));
const isNothing = (value: unknown): boolean => (Array.isArray(value) ? value.length === 0 : isEmpty(value));

const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

/** Every manager that owns this path owns it without its parts. */
const isOwnedWhole = (sets: readonly FieldSet[]): boolean =>
  sets.length > 0 && sets.every((set) => Object.keys(set).length === 0);
