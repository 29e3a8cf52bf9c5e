/**
 * Compares the result that a fixture expects with the result of a rule, as Karmada's own tests do: quantities by value,
 * dependencies and components in any order, and not at all where the fixture has `{{EXCLUDE}}`.
 */
import { isObject, setOwn } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { scaledQuantity, tryParseQuantity } from "@flotilla/apimachinery";

export interface Difference {
  path: string;
  /** Undefined where nothing is expected. */
  want: Json | undefined;
  /** Undefined where nothing was returned. */
  have: Json | undefined;
}

/** Matches any value, or none. */
const EXCLUDE = "{{EXCLUDE}}";

/**
 * Results in which an empty string, list or map equals a missing one: Karmada reads the first three into types that
 * drop them, and consumers of a status cannot distinguish them. In a spec they differ: `emptyDir: {}` is a volume.
 */
const EMPTY_IS_ABSENT = new Set(["requires", "components", "dependencies", "status", "aggregatedStatus"]);
/** Lists whose order a script that iterates over a table cannot guarantee. */
const SORTED: Readonly<Record<string, readonly string[]>> = {
  components: ["name"],
  dependencies: ["apiVersion", "kind", "namespace", "name"],
};

/** All differences of one named result. A null field equals a missing one. */
export function compareResult(name: string, want: Json, have: Json | undefined): Difference[] {
  const normal = (value: Json | undefined): Json | undefined =>
    sortedBy(EMPTY_IS_ABSENT.has(name) ? withoutEmpties(value) : value, SORTED[name]);
  const differences: Difference[] = [];
  // Only the status of an aggregated object is written to the template, so other changes by the script do not count.
  const isSum = name === "aggregatedStatus" && isObject(want) && isObject(have);
  if (isSum) compare(`${name}.status`, normal(want["status"]), normal(have["status"]), differences, false);
  else compare(name, normal(want), normal(have), differences, false);
  return differences;
}

function compare(
  path: string,
  want: Json | undefined,
  have: Json | undefined,
  differences: Difference[],
  isQuantity: boolean,
): void {
  if (want === EXCLUDE) return;
  if (isNothing(want) && isNothing(have)) return;
  if (Array.isArray(want) && Array.isArray(have)) {
    for (let index = 0; index < Math.max(want.length, have.length); index++)
      compare(`${path}[${index}]`, want[index], have[index], differences, false);
    return;
  }
  if (isObject(want) && isObject(have)) {
    const areQuantities = path.endsWith("resourceRequest");
    for (const key of new Set([...Object.keys(want), ...Object.keys(have)])) {
      compare(
        fieldPath(path, key),
        Object.hasOwn(want, key) ? want[key] : undefined,
        Object.hasOwn(have, key) ? have[key] : undefined,
        differences,
        areQuantities,
      );
    }
    return;
  }
  if (want === have || (isQuantity && isSameQuantity(want, have))) return;
  differences.push({ path, want: want ?? undefined, have: have ?? undefined });
}

const isNothing = (value: Json | undefined): boolean => value === undefined || value === null;
const fieldPath = (path: string, key: string): string =>
  /^[A-Za-z_][\w-]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

function isSameQuantity(want: Json | undefined, have: Json | undefined): boolean {
  const [left, right] = [want, have].map((value) =>
    typeof value === "string" || typeof value === "number" ? tryParseQuantity(value) : undefined,
  );
  return left !== undefined && right !== undefined && scaledQuantity(left, -9) === scaledQuantity(right, -9);
}

/** Undefined for empty values; a list keeps its length. */
function withoutEmpties(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => withoutEmpties(item) ?? null);
  if (!isObject(value)) return value === "" ? undefined : value;
  const kept: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const clean = withoutEmpties(item);
    if (!isNothing(clean)) setOwn(kept, key, clean);
  }
  return Object.keys(kept).length === 0 ? undefined : kept;
}

function sortedBy(value: Json | undefined, fields: readonly string[] | undefined): Json | undefined {
  if (!fields || !Array.isArray(value)) return value;
  const keyOf = (item: Json): string =>
    fields.map((field) => (isObject(item) && typeof item[field] === "string" ? item[field] : "")).join("\0");
  return value
    .map((item) => ({ item, key: keyOf(item) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
    .map(({ item }) => item);
}

/** More differences add no information. */
const MAX_SHOWN = 20;
const MAX_VALUE_CHARACTERS = 400;

/** Each difference as its path and two lines, indented. */
export function renderDifferences(differences: readonly Difference[], indent: string): string[] {
  const lines = differences
    .slice(0, MAX_SHOWN)
    .flatMap(({ path, want, have }) => [
      `${indent}${path}`,
      `${indent}  want ${shown(want)}`,
      `${indent}  have ${shown(have)}`,
    ]);
  return differences.length > MAX_SHOWN
    ? [...lines, `${indent}… and ${differences.length - MAX_SHOWN} more differences`]
    : lines;
}

function shown(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text;
}
