/**
 * Compares a response with a recorded one, by the rules of the recordings: null equals absence, a few lists are sets.
 */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { comparedText } from "../../message-dumps.ts";
import type { Bindings } from "./placeholders.ts";
import type { Answer, WantedAnswer } from "./scenario.ts";

interface Rules {
  /** The response may contain more than is expected. */
  subset: boolean;
  /** Keys whose lists are sets. */
  unordered: readonly string[];
  looseMessage: boolean;
}

type Difference = string | undefined;
const EXACT: Rules = { subset: false, unordered: [], looseMessage: false };
const COMPARED_HEADERS = ["location", "retry-after", "etag", "cache-control", "allow"];

export function compareAnswer(want: WantedAnswer, have: Answer, bindings: Bindings): Difference {
  const unordered = Array.isArray(want.unordered) ? want.unordered : want.unordered ? ["causes", "events"] : [];
  const rules: Rules = { subset: want.compare === "subset", unordered, looseMessage: want.looseMessage ?? false };
  if (want.events) {
    if (want.closed !== undefined && want.closed !== have.closed) return differ("closed", want.closed, have.closed);
    return compareValue(want.events, have.events, "events", bindings, rules);
  }
  if (want.calls) return compareValue(want.calls, have.calls, "calls", bindings, rules);
  if (have.waitedInVain) return `timed out; the last response was ${have.status} ${shorten(have.body ?? have.text)}`;
  if (want.status !== have.status)
    return `status: want ${want.status}, have ${have.status} ${shorten(have.body ?? have.text)}`;
  const headers = compareHeaders(want, have, bindings);
  if (headers !== undefined || want.binary) return headers;
  if (want.text !== undefined)
    return want.looseMessage ? undefined : compareValue(want.text, have.text, "text", bindings, rules);
  if (want.body !== undefined) {
    const difference = compareBody(want.body, have.body, bindings, rules, want.unordered === true);
    if (difference !== undefined) return difference;
  }
  return want.claims && compareValue(want.claims, have.claims, "claims", bindings, rules);
}

/** An unspecified order of errors also shows in the message, so the message is not compared. */
function compareBody(
  want: Json,
  have: Json | undefined,
  bindings: Bindings,
  rules: Rules,
  anyOrder: boolean,
): Difference {
  if (!anyOrder || !isObject(want) || want.kind !== "Status" || !isObject(have))
    return compareValue(want, have, "body", bindings, rules);
  const { message: _want, ...wantRest } = want;
  const { message: _have, ...haveRest } = have;
  return compareValue(wantRest, haveRest, "body", bindings, rules);
}

function compareHeaders(
  { headers: want = {} }: WantedAnswer,
  { headers: have }: Answer,
  bindings: Bindings,
): Difference {
  const type = want["content-type"];
  if (type !== undefined && mediaType(type) !== mediaType(have["content-type"]))
    return differ("content-type", type, have["content-type"]);
  const warnings = compareSet(listOf(want.warning), listOf(have.warning), "warning", bindings, EXACT);
  if (warnings !== undefined) return warnings;
  for (const name of COMPARED_HEADERS) {
    const difference =
      want[name] === undefined ? undefined : compareValue(want[name], have[name], name, bindings, EXACT);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

const listOf = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];
const mediaType = (text: string | string[] | undefined): string =>
  listOf(text).join("").toLowerCase().replaceAll(/\s/g, "").split(";").toSorted().join(";");

function compareValue(
  want: Json | undefined,
  have: Json | undefined,
  at: string,
  bindings: Bindings,
  rules: Rules,
): Difference {
  if (want === null || want === undefined)
    return have === null || have === undefined ? undefined : differ(at, want, have);
  if (typeof want === "string") return matchesText(want, have, bindings) ? undefined : differ(at, want, have);
  if (Array.isArray(want))
    return Array.isArray(have) ? compareList(want, have, at, bindings, rules) : differ(at, want, have);
  if (isObject(want)) return isObject(have) ? compareObject(want, have, at, bindings, rules) : differ(at, want, have);
  return want === have ? undefined : differ(at, want, have);
}

/** An error message is compared without the Go values in it. */
function matchesText(want: string, have: Json | undefined, bindings: Bindings): boolean {
  if (bindings.matches(want, have)) return true;
  const compared = comparedText(want);
  return compared !== want && typeof have === "string" && bindings.matches(compared, comparedText(have));
}

const managerKey = (entry: Json): string =>
  isObject(entry) ? JSON.stringify([entry.manager, entry.operation, entry.apiVersion, entry.subresource ?? ""]) : "";
const conditionKey = (entry: Json): string => (isObject(entry) && typeof entry.type === "string" ? entry.type : "");

function compareList(
  want: readonly Json[],
  have: readonly Json[],
  at: string,
  bindings: Bindings,
  rules: Rules,
): Difference {
  const key = at.slice(at.lastIndexOf(".") + 1);
  if (key === "managedFields") return compareSet(want, have, at, bindings, rules, managerKey);
  if (key === "conditions" && want.every((item) => conditionKey(item) !== ""))
    return compareSet(want, have, at, bindings, rules, conditionKey);
  if (rules.subset || rules.unordered.includes(key)) return compareSet(want, have, at, bindings, rules);
  if (want.length !== have.length) return differ(`${at}.length`, want as Json, have as Json);
  for (const [index, item] of want.entries()) {
    const difference = compareValue(item, have[index], `${at}[${index}]`, bindings, rules);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function compareObject(want: JsonObject, given: JsonObject, at: string, bindings: Bindings, rules: Rules): Difference {
  const have = withoutItemTypes(want, given);
  const used = new Set<string>();
  for (const [wanted, value] of Object.entries(want)) {
    if (rules.looseMessage && wanted === "message" && /^body(\.details\.causes\[.*\])?$/.test(at)) {
      used.add(wanted);
      continue;
    }
    const key = bindings.findKey(wanted, have) ?? wanted;
    used.add(key);
    const difference = compareValue(value, own(have, key), `${at}.${wanted}`, bindings, rules);
    if (difference !== undefined) return difference;
  }
  const extra = rules.subset ? undefined : Object.keys(have).find((key) => !used.has(key) && own(have, key) !== null);
  return extra === undefined ? undefined : differ(`${at}.${extra}`, undefined, own(have, extra));
}

const own = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** Items of built-in lists have no kind in the real server; a server may add it. */
function withoutItemTypes(want: JsonObject, have: JsonObject): JsonObject {
  if (
    !Array.isArray(want.items) ||
    !Array.isArray(have.items) ||
    typeof want.kind !== "string" ||
    !want.kind.endsWith("List")
  )
    return have;
  if (want.items.some((item) => isObject(item) && item.kind !== undefined)) return have;
  const items = have.items.map((item) => {
    if (!isObject(item)) return item;
    const { kind: _kind, apiVersion: _version, ...rest } = item;
    return rest;
  });
  return { ...have, items };
}

/** Lists without a fixed order. With `keyOf`, elements of equal key are compared, which gives a better difference. */
function compareSet(
  want: readonly Json[],
  have: readonly Json[],
  at: string,
  bindings: Bindings,
  rules: Rules,
  keyOf?: (item: Json) => string,
): Difference {
  const left = [...have];
  for (const item of want) {
    let closest: Difference;
    const index = left.findIndex((candidate) => {
      const attempt = bindings.copy();
      const difference = compareValue(item, candidate, keyOf ? `${at}[${keyOf(item)}]` : `${at}[]`, attempt, rules);
      if (difference === undefined) bindings.take(attempt);
      else if (keyOf && bindings.copy().matches(keyOf(item), keyOf(candidate))) closest ??= difference;
      return difference === undefined;
    });
    if (index < 0) return closest ?? `${at}: nothing matches ${shorten(item)} in ${shorten(left)}`;
    if (!rules.subset) left.splice(index, 1);
  }
  return rules.subset || left.length === 0 ? undefined : differ(at, undefined, left);
}

const differ = (at: string, want: Json | undefined, have: Json | undefined): string =>
  `${at}: want ${shorten(want)}, have ${shorten(have)}`;

function shorten(value: Json | undefined): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
