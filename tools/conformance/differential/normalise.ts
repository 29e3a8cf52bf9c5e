/** Makes the responses of two servers comparable: what differs between any two runs becomes a placeholder. */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { comparedText } from "../../golden/message-dumps.ts";

export interface Response {
  readonly status: number;
  readonly type: string;
  readonly warnings: readonly string[];
  readonly body: Json;
  /** The body as it was sent. */
  readonly bytes?: Uint8Array;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** Addresses and ports that the servers allocate. */
const ALLOCATED = /\b10\.96\.\d+\.\d+\b/g;
const UNDECODABLE =
  /(cannot be handled as an? \w+: |to proper version: |patch: Invalid value: "\{…\}": |^Invalid value: "\{…\}": ).*/gs;
const VERSION_KEYS = new Set(["resourceVersion", "nodePort", "healthCheckNodePort"]);
const AGES = /^(?:<unknown>|<invalid>|(?:\d+[smhdy])+)$/;

export function normalised(response: Response, withoutVersion = false): Response {
  const { bytes: _, ...rest } = response;
  if (withoutVersion && isObject(rest.body) && isObject(rest.body.metadata)) delete rest.body.metadata.resourceVersion;
  return {
    ...rest,
    warnings: response.warnings.map(text).sort(),
    body: isObject(response.body) && response.body.kind === "Table" ? rowsOf(response.body) : value(response.body, ""),
  };
}

function text(given: string): string {
  return (
    comparedText(given)
      .replaceAll(UUID, "<uid>")
      .replaceAll(TIME, "<time>")
      .replaceAll(ALLOCATED, "<address>")
      .replaceAll(/(resourceVersion\W{1,8})\d+/g, "$1<allocated>")
      // A rejected patch is shown with the whole object; its order of fields is an accident.
      .replaceAll(/Invalid value: "(?:\{|map\[).*[}\]]"/gs, 'Invalid value: "{…}"')
      // Which of several values that cannot be decoded is named, and the Go type of a text.
      .replaceAll(UNDECODABLE, "$1…")
      .replaceAll(/(Invalid|Unsupported) value: null: /g, "$1 value: ")
      .replaceAll(/kube-api-access-[a-z0-9]{5}/g, "<token volume>")
  );
}

function value(given: Json, key: string): Json {
  if (VERSION_KEYS.has(key)) return "<allocated>";
  if (typeof given === "string") return text(given);
  if (Array.isArray(given)) {
    const items = given.map((item) => value(item, ""));
    return key === "managedFields" || key === "conditions" ? items.sort(byText) : items;
  }
  if (!isObject(given)) return given;
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, inner]) => (inner === null ? [] : [[text(name), value(inner, name)]])),
  );
}

const byText = (a: Json, b: Json): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

/** Of a table its columns and cells; ages differ. */
function rowsOf({ columnDefinitions, rows }: JsonObject): Json {
  const columns = (columnDefinitions as JsonObject[]).map(({ name, type, format, priority }) => ({
    name,
    type,
    format,
    priority,
  }));
  const cells = ((rows ?? []) as JsonObject[]).map((row) =>
    (row.cells as Json[]).map((cell) => (typeof cell === "string" && AGES.test(cell) ? "<age>" : value(cell, ""))),
  );
  return { columns: columns as unknown as Json, cells };
}

export interface Difference {
  readonly path: string;
  readonly real: Json | undefined;
  readonly ours: Json | undefined;
}

/** The first difference of two normalised responses; undefined if there is none. */
export function differenceOf(real: Response, ours: Response): Difference | undefined {
  if (real.status !== ours.status) return { path: "status", real: summary(real), ours: summary(ours) };
  if (real.type !== ours.type) return { path: "content-type", real: real.type, ours: ours.type };
  return compare(real.warnings as Json, ours.warnings as Json, "warnings") ?? compare(real.body, ours.body, "body");
}

function summary({ status, body }: Response): Json {
  const message = isObject(body) && typeof body.message === "string" ? body.message : "";
  return message === "" ? status : `${status} ${message}`;
}

function compare(real: Json | undefined, ours: Json | undefined, path: string): Difference | undefined {
  if (real === ours) return undefined;
  if (Array.isArray(real) && Array.isArray(ours)) {
    if (real.length !== ours.length) return { path: `${path}.length`, real, ours };
    for (const [index, item] of real.entries()) {
      const difference = compare(item, ours[index], `${path}[${index}]`);
      if (difference) return difference;
    }
    return undefined;
  }
  if (!isObject(real) || !isObject(ours)) return { path, real, ours };
  for (const key of Object.keys({ ...real, ...ours })) {
    const difference = compare(real[key], ours[key], `${path}.${key}`);
    if (difference) return difference;
  }
  return undefined;
}

/** What differences have in common, so that each is reported once. */
export function signatureOf(kind: string, { path, real, ours }: Difference): string {
  const shape = (side: Json | undefined): string =>
    (typeof side === "string" ? side : (JSON.stringify(side) ?? ""))
      .replaceAll(/"[^"]*"/g, '"…"')
      .replaceAll(/\d+/g, "0")
      .slice(0, 200);
  return `${kind} ${path.replaceAll(/\[\d+\]/g, "[]")}: ${shape(real)} | ${shape(ours)}`;
}
