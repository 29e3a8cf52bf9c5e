/**
 * Reads variables, fields, elements and ternaries over them. A path such as `self.a.b[0]` is one unit for cost: one for
 * itself and one for each step, with no further unit when it is a branch of a ternary or the index of another path.
 */
import { describe, MessageValue } from "../values/collections.ts";
import { unescapeName } from "../syntax/escaping.ts";
import type { Evaluate, Frame } from "../values/frame.ts";
import { JsonMap } from "./json-values.ts";
import {
  CelDouble,
  CelError,
  CelList,
  CelMap,
  CelOptional,
  CelUint,
  type CelValue,
  isInt,
  typeNameOf,
} from "../values/values.ts";

/** One step of a path. */
export interface Step {
  /** The value of this step, or the error that there is none. Charges its own cost. */
  readonly read: (frame: Frame, value: CelValue) => CelValue;
  /** Like `read`, but an absent value is undefined instead of an error, and costs nothing. */
  readonly probe: (frame: Frame, value: CelValue) => CelValue | undefined;
  readonly isOptional: boolean;
}

/** A step with a constant key. */
export function constantStep(key: CelValue, isOptional: boolean): Step {
  const look =
    typeof key === "string" ? fieldLookup(key) : (value: CelValue): CelValue | undefined => lookup(value, key);
  return {
    isOptional,
    read(frame, value) {
      const found = look(value);
      frame.charge(1);
      return found === undefined ? absent(value, key) : found;
    },
    probe(frame, value) {
      const found = look(value);
      if (found !== undefined) frame.charge(1);
      return found;
    },
  };
}

/** A step with a computed key; `key` charges the cost of computing it. */
export function computedStep(key: Evaluate, isOptional: boolean): Step {
  return {
    isOptional,
    read(frame, value) {
      const computed = key(frame);
      const found = computed instanceof CelError ? computed : lookup(value, computed);
      frame.charge(1);
      return found === undefined ? absent(value, computed) : found;
    },
    probe(frame, value) {
      const computed = key(frame);
      const found = computed instanceof CelError ? computed : lookup(value, computed);
      if (found !== undefined) frame.charge(1);
      return found;
    },
  };
}

/** A field by name: the common case, with the name unescaped once. */
function fieldLookup(key: string): (value: CelValue) => CelValue | undefined {
  const name = unescapeName(key);
  return (value) => {
    if (value instanceof JsonMap && value.node.isObject) return name === undefined ? undefined : value.field(name);
    return lookup(value, key);
  };
}

/** Undefined for an absent value. */
function lookup(value: CelValue, key: CelValue): CelValue | undefined {
  if (value instanceof CelMap) return value.find(key);
  if (value instanceof CelList) {
    const index = indexOf(key);
    if (typeof index !== "number") return index;
    return index >= 0 && index < value.size ? value.at(index) : undefined;
  }
  return value instanceof CelError ? value : undefined;
}

function indexOf(key: CelValue): number | CelError {
  if (isInt(key)) return Number(key);
  if (key instanceof CelDouble && Number.isInteger(key.value)) return key.value;
  if (key instanceof CelUint) return Number(key.value);
  if (key instanceof CelDouble) return new CelError(`unsupported index value ${describe(key)} in list`);
  return new CelError(`unsupported index type '${typeNameOf(key)}' in list`);
}

function absent(value: CelValue, key: CelValue): CelValue {
  if (value instanceof MessageValue) return value.unset(key);
  return new CelError(
    value instanceof CelList ? `index out of bounds: ${describe(key)}` : `no such key: ${describe(key)}`,
  );
}

/** Follows the steps from a value. An optional value or step makes the result optional, and absence makes it none. */
export function walk(frame: Frame, start: CelValue, steps: readonly Step[]): CelValue {
  let value = start;
  let isOptional = false;
  if (value instanceof CelOptional && steps.length > 0) {
    if (value.value === undefined) return value;
    value = value.value;
    isOptional = true;
  }
  for (const step of steps) {
    if (value instanceof CelError) return value;
    isOptional ||= step.isOptional;
    if (isOptional) {
      const found = step.probe(frame, value);
      if (found === undefined) return CelOptional.none;
      value = found;
    } else value = step.read(frame, value);
  }
  return isOptional && !(value instanceof CelError) ? new CelOptional(value) : value;
}

/** Reports whether the last step of a path exists: `has(a.b.c)`. */
export function testStep(key: string): (frame: Frame, value: CelValue) => CelValue {
  const look = fieldLookup(key);
  return (frame, value) => {
    if (value instanceof CelError) return value;
    if (value instanceof CelOptional && value.value === undefined) return false;
    const found = look(value instanceof CelOptional ? (value.value as CelValue) : value);
    frame.charge(1);
    return found instanceof CelError ? found : found !== undefined;
  };
}
