/**
 * A JSON value as text for messages and comparisons: strings unchanged, an empty string for absent values, JSON for the
 * rest.
 */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
