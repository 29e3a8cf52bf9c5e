/** What of a manifest is applied when the member decided some of its fields. Pure. */
import { equalJson, isObject, setOwn } from "../base/index.ts";
import type { FieldSet } from "../machinery/index.ts";

export interface Applied<T> {
  /** What we state. */
  wanted: T;
  /** The fields that stay with whoever has them on the member. */
  left: readonly (readonly string[])[];
}

/**
 * The desired object without the fields whose value `retain` took from the member: what is left out of an apply stays
 * with whoever owns it there, so we never seize `replicas` from an autoscaler. A list that retain changed is stated as
 * retain made it, because leaving it out would take our part of it away as well; and so is a map that is atomic, such
 * as the spec of a Workflow. `owned` are the fields of the managers on the member, which show what is.
 */
export function withoutRetained<T>(
  desired: T,
  retained: unknown,
  owned: readonly (FieldSet | undefined)[] = [],
): Applied<T> {
  const left: string[][] = [];
  function visit(
    value: unknown,
    kept: unknown,
    path: readonly string[],
    sets: readonly (FieldSet | undefined)[],
  ): unknown {
    if (value === kept || !isObject(value) || !isObject(kept)) return value;
    const result: Record<string, unknown> = {};
    for (const key of Object.keys(value)) {
      const mine = value[key];
      const theirs = Object.hasOwn(kept, key) ? kept[key] : undefined;
      if (isObject(mine) && isObject(theirs)) {
        const inside = sets.flatMap((set) =>
          set && Object.hasOwn(set, `f:${key}`) ? [set[`f:${key}`] as FieldSet] : [],
        );
        setOwn(result, key, isOwnedWhole(inside) ? theirs : visit(mine, theirs, [...path, key], inside));
      } else if (equalJson(mine, theirs)) setOwn(result, key, mine);
      else if (Array.isArray(theirs)) setOwn(result, key, theirs);
      // What retain took out altogether is not wanted; anything else is the member's.
      else if (theirs !== undefined) left.push([...path, key]);
    }
    return result;
  }
  // The compiler cannot see that a part of T is still used as one.
  return { wanted: visit(desired, retained, [], owned) as T, left };
}

/** Everybody who owns the place owns it without its parts. */
const isOwnedWhole = (sets: readonly FieldSet[]): boolean =>
  sets.length > 0 && sets.every((set) => Object.keys(set).length === 0);
