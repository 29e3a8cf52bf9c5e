/** Paths to parts of a schema: `spec.taints[].effect`, and `spec.limits.*` for the values of a map. */

export const ITEMS = "[]";
export const VALUES = "*";

/** The steps of a path: names of fields, ITEMS and VALUES. The empty path has none. */
export const schemaSteps = (path: string): string[] =>
  path === "" ? [] : path.replaceAll(ITEMS, `.${ITEMS}`).split(".");
