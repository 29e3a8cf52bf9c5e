/**
 * The text of a JSON value for messages and comparisons: texts as they are, nothing for what is absent, JSON for the
 * rest.
 */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
