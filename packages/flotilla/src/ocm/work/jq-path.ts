/**
 * The path subset of jq: `.spec.replicas`, `.data["a.b"]`, `.spec.containers[0]`, `.spec.containers[] | select(.name ==
 * "web") | .image`, and several of these with commas. Any other jq syntax is rejected.
 */
import { isObject, type Json } from "@flotilla/base";
import { badRequest } from "@flotilla/apimachinery";
import { addPlace, type FieldLocations } from "./field-locations.ts";

/** A value and its location. */
interface Spot {
  value: unknown;
  holder?: object;
  key?: string;
}
type Step = (spots: readonly Spot[]) => Spot[];

const MAX_LENGTH = 4096;
const MAX_SPOTS = 10_000;
const NAME = /^\.([A-Za-z_][A-Za-z0-9_]*)/;
const TEXT_FIELD = /^\.?\[\s*("(?:[^"\\]|\\.)*")\s*\]|^\.("(?:[^"\\]|\\.)*")/;
const INDEX = /^\.?\[\s*(-?\d+)\s*\]/;
const EACH = /^\.?\[\s*\]/;
const SELECT = /^select\s*\(\s*([^()]+?)\s*(==|!=)\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null)\s*\)/;

/** Throws a bad request for any other expression. */
export function compileJqPath(expression: string): (object: unknown, places: FieldLocations) => void {
  if (expression.length > MAX_LENGTH) throw badRequest(`it is longer than ${MAX_LENGTH} characters`);
  const branches = splitOutside(expression, ",").map(stepsOf);
  return (object, places) => {
    for (const steps of branches) {
      const spots = steps.reduce<Spot[]>((found, step) => step(found).slice(0, MAX_SPOTS), [{ value: object }]);
      for (const { holder, key } of spots) if (holder && key !== undefined) addPlace(places, holder, key);
    }
  };
}

function stepsOf(branch: string): Step[] {
  return splitOutside(branch, "|").flatMap((part) => {
    const steps: Step[] = [];
    for (let rest = part.trim(); rest !== "";) {
      const [step, length] = readStep(rest);
      steps.push(step);
      rest = rest.slice(length).trimStart();
    }
    if (steps.length === 0) throw badRequest("a part of it is empty");
    return steps;
  });
}

function readStep(text: string): [Step, number] {
  const select = SELECT.exec(text);
  if (select)
    return [
      selectStep(stepsOf(select[1] ?? ""), select[2] === "==", JSON.parse(select[3] ?? "null") as Json),
      select[0].length,
    ];
  const named = NAME.exec(text);
  if (named) return [fieldStep(named[1] ?? ""), named[0].length];
  const quoted = TEXT_FIELD.exec(text);
  if (quoted) return [fieldStep(String(JSON.parse(quoted[1] ?? quoted[2] ?? '""'))), quoted[0].length];
  const index = INDEX.exec(text);
  if (index) return [indexStep(Number(index[1])), index[0].length];
  const each = EACH.exec(text);
  if (each) return [eachStep, each[0].length];
  if (text === ".") return [(spots) => [...spots], 1];
  throw badRequest(
    `Flotilla understands paths, [] and select(path == value) of jq, and not ${JSON.stringify(text.slice(0, 40))}`,
  );
}

const fieldStep =
  (key: string): Step =>
  (spots) =>
    spots.flatMap(({ value }) =>
      isObject(value) && Object.hasOwn(value, key) ? [{ value: value[key], holder: value, key }] : [],
    );

const indexStep =
  (index: number): Step =>
  (spots) =>
    spots.flatMap(({ value }) => {
      if (!Array.isArray(value)) return [];
      const place = index < 0 ? value.length + index : index;
      return place in value ? [{ value: value[place] as unknown, holder: value, key: String(place) }] : [];
    });

const eachStep: Step = (spots) =>
  spots.flatMap(({ value }): Spot[] => {
    if (Array.isArray(value))
      return value.map((item: unknown, index) => ({ value: item, holder: value, key: String(index) }));
    return isObject(value) ? Object.entries(value).map(([key, item]) => ({ value: item, holder: value, key })) : [];
  });

const selectStep =
  (steps: readonly Step[], isEqual: boolean, wanted: Json): Step =>
  (spots) =>
    spots.filter((spot) => {
      const found = steps.reduce<Spot[]>((inside, step) => step(inside), [spot]);
      // A missing value is null in jq.
      return ((found[0]?.value ?? null) === wanted) === isEqual;
    });

/** Splits at separators outside of quotes and brackets. */
function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let isQuoted = false;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (isQuoted && character === "\\") at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if ("([{".includes(character)) depth++;
    else if (")]}".includes(character)) depth--;
    else if (character === separator && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}
