/** Compares a result with a recording: nil equals empty, several results may be valid, errors are errors. */
import { isObject, InvariantError, messageOf, type Json, type JsonObject } from "@flotilla/base";
import type { CaseRunner, GoldenCase } from "./golden.ts";

export interface FunctionRunner {
  /** Returns the result in the shape of `want`. Throws if the original returns an error. */
  run(input: JsonObject): JsonObject;
  /** Compare the text of an error, because users see it. */
  errorTextMatters?: boolean;
}

/** The entry of a table that an input names, for formats with several kinds of cases. */
export function pick<T>(table: Readonly<Record<string, T>>, name: Json | undefined): T {
  const found = typeof name === "string" && Object.hasOwn(table, name) ? table[name] : undefined;
  if (found === undefined) throw new TypeError(`this runner does not know cases of ${JSON.stringify(name)}`);
  return found;
}

/** A runner for the common format: a function's input and result. */
export function compareResults({ run, errorTextMatters = false }: FunctionRunner): CaseRunner {
  return {
    check(line) {
      const got = attempt(run, line.input ?? {});
      const accepted = acceptedResults(line);
      if (accepted.some((want) => isAccepted(got, want, errorTextMatters))) return undefined;
      return `got ${JSON.stringify(got)}, want ${accepted.map((want) => JSON.stringify(want)).join(" or ")}`;
    },
  };
}

function acceptedResults({ want, wantAnyOf }: GoldenCase): JsonObject[] {
  if (wantAnyOf) return wantAnyOf;
  return want ? [want] : [];
}

function attempt(run: FunctionRunner["run"], input: JsonObject): JsonObject {
  try {
    return run(input);
  } catch (error) {
    // A bug of ours is not the expected error.
    if (error instanceof TypeError || error instanceof ReferenceError || error instanceof InvariantError) throw error;
    return { error: messageOf(error) };
  }
}

function isAccepted(got: JsonObject, want: JsonObject, errorTextMatters: boolean): boolean {
  // If the original crashed, an error is the right result.
  if (want["panic"] !== undefined) return got["error"] !== undefined;
  if (want["error"] !== undefined)
    return errorTextMatters ? got["error"] === want["error"] : got["error"] !== undefined;
  return equalGolden(got, want);
}

/** JSON equality in which an absent key, `null`, an empty list and an empty object are the same. */
export function equalGolden(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b || (isNil(a) && isNil(b))) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => equalGolden(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  return Object.keys({ ...a, ...b }).every((key) => equalGolden(own(a, key), own(b, key)));
}

const own = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

function isNil(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}
