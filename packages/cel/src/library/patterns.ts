/** Regular expressions: matching and finding. */
import { ArrayList } from "../values/collections.ts";
import type { Row } from "../types/functions.ts";
import { compilePattern } from "@flotilla/apimachinery";
import { matchesPattern, search } from "../values/regex.ts";
import { CelError, type CelInt, type CelValue, NO_SUCH_OVERLOAD } from "../values/values.ts";

function matches(text: CelValue, pattern: CelValue): CelValue {
  return typeof text === "string" && typeof pattern === "string" ? matchesPattern(text, pattern) : NO_SUCH_OVERLOAD;
}

const illegal = ({ message }: CelError): CelError => new CelError(`Illegal regex: ${message}`);

function find(text: string, pattern: string): CelValue {
  const found = search(pattern, (work) => compilePattern(pattern).find(text, 0, work));
  if (found instanceof CelError) return illegal(found);
  return found ? text.slice(found.start, found.end) : "";
}

function findAll(text: string, pattern: string, limit: CelInt = -1): CelValue {
  const found = search(pattern, (work) => [...compilePattern(pattern).findAll(text, Number(limit), work)]);
  return found instanceof CelError ? illegal(found) : new ArrayList(found);
}

export const patterns: readonly Row[] = [
  ["matches", "matches", "(string, string) -> bool", matches, "checks itself"],
  ["matches", "matches_string", "string.(string) -> bool", matches, "checks itself"],
  ["find", "string_find_string", "string.(string) -> string", find],
  ["findAll", "string_find_all_string", "string.(string) -> list(string)", findAll],
  ["findAll", "string_find_all_string_int", "string.(string, int) -> list(string)", findAll],
];
