/** Reads parts of unvalidated objects: a value of an unexpected type counts as empty. Pure. */
import type { Json } from "@flotilla/base";

/** Numbers and booleans as written; empty for objects and lists. */
export const scalarText = (value: Json | undefined): string =>
  value === null || value === undefined || typeof value === "object" ? "" : String(value);
