/** Renders one object across the fleet as text. Pure. */
import type { JsonObject } from "@flotilla/base";
import { formatAge } from "@flotilla/apimachinery";
import { renderTable } from "../text-table.ts";
import { wrapWords } from "../text-layout.ts";
import type { DescribedBinding, Description } from "./read-description.ts";
import { summariseObject } from "./summarise-object.ts";
import { harmless } from "./merged-table.ts";

interface DescriptionPage {
  nowMs: number;
  /** Columns of the terminal; if unset, lines are not wrapped. */
  width: number | undefined;
}

/** Further members are counted. */
const MAX_MEMBERS = 10;
const INDENT = "  ";
const LABEL_WIDTH = 13;

export function renderDescription(description: Description, page: DescriptionPage): string {
  const { resource, hub, binding, members, without, problems = [] } = description;
  const place = resource.namespace === undefined ? resource.name : `${resource.namespace}/${resource.name}`;
  const shown = members.slice(0, MAX_MEMBERS);
  const sections = [
    [`${resource.kind} ${place} (${resource.apiVersion})`],
    // Before everything else: what follows says nothing about it.
    ...renderNotChecked(description, page),
    ...(problems.length > 0 ? [["PROBLEMS", ...problems.flatMap((problem) => wrapped(problem, page))]] : []),
    ...(hub ? [["HUB", ...renderObject(hub, page)]] : []),
    ...(binding ? [renderBinding(binding, page)] : []),
    ...shown.map(({ cluster, object }) => [`MEMBER ${cluster}`, ...renderObject(object, page, hub)]),
    ...(members.length > shown.length
      ? [[`and ${members.length - shown.length} more members; use --clusters to show one of them`]]
      : []),
    ...(without.length > 0 && members.length > 0
      ? [
          [
            `NOT ON ${without.slice(0, MAX_MEMBERS).join(", ")}${without.length > MAX_MEMBERS ? ` and ${without.length - MAX_MEMBERS} more` : ""}`,
          ],
        ]
      : []),
    renderEvents(description, page),
  ];
  return sections
    .map(([title = "", ...lines]) => [title, ...lines.map((line) => `${INDENT}${line}`)].map(harmless).join("\n"))
    .join("\n\n");
}

function renderNotChecked({ failures, notChecked }: Description, page: DescriptionPage): string[][] {
  const lines = [...failures.map(({ cluster, reason }) => `${cluster}: ${reason}`), ...notChecked];
  return lines.length === 0 ? [] : [["NOT CHECKED", ...lines.flatMap((line) => wrapped(line, page))]];
}

/** For a copy, fields equal to the hub's object are omitted. */
function renderObject(object: JsonObject, page: DescriptionPage, hub?: JsonObject): string[] {
  const { created, generation, owner, deleting, finalizers, status, conditions, ...rest } = summariseObject(
    object,
    page.nowMs,
  );
  const known = hub && summariseObject(hub, page.nowMs);
  const [labels, annotations, containers, spec] = (["labels", "annotations", "containers", "spec"] as const).map(
    (part) => rest[part].filter((line) => !known?.[part].includes(line)),
  ) as [string[], string[], string[], string[]];
  return [
    ...field("created", [`${created}${generation === undefined ? "" : `, generation ${generation}`}`]),
    ...(deleting
      ? field("deleting", [finalizers.length > 0 ? `waits for ${finalizers.join(", ")}` : "in progress"])
      : []),
    ...(owner === undefined ? [] : field("owned by", [owner])),
    ...field("labels", labels),
    ...field("annotations", annotations),
    ...field("containers", containers),
    ...field("spec", spec),
    ...field("status", status),
    ...conditions.flatMap(({ type, status: value, reason, message, age }, index) => [
      `${(index === 0 ? "conditions" : "").padEnd(LABEL_WIDTH)}${type} ${value}${reason ? ` (${reason})` : ""}${age ? `, for ${age}` : ""}`,
      ...(message && value !== "True" ? wrapped(message, page, LABEL_WIDTH + 2) : []),
    ]),
  ];
}

const field = (label: string, values: readonly string[]): string[] =>
  values.map((value, index) => `${(index === 0 ? label : "").padEnd(LABEL_WIDTH)}${value}`);

function renderBinding({ name, conditions, clusters }: DescribedBinding, page: DescriptionPage): string[] {
  const rows = clusters.map(({ cluster, replicas, applied, health, message }) => [
    cluster,
    replicas === undefined ? "-" : String(replicas),
    applied === undefined ? "-" : applied ? "yes" : "no",
    health ?? "-",
    message ?? "",
  ]);
  return [
    `BINDING ${name}`,
    ...inStageOrder(conditions).flatMap(({ type, status, reason, message }) => [
      `${type} ${status}${reason ? ` (${reason})` : ""}`,
      ...(message && status !== "True" ? wrapped(message, page, 2) : []),
    ]),
    ...(rows.length > 0
      ? renderTable(
          ["CLUSTER", "REPLICAS", "APPLIED", "HEALTH RULE", "MESSAGE"],
          rows,
          3,
          page.width === undefined ? undefined : page.width - INDENT.length,
        ).split("\n")
      : ["not scheduled; run 'flotilla why' for the reason"]),
  ];
}

/** The order of the stages that write them; others follow. */
const STAGE_CONDITIONS = ["Scheduled", "Dispatched", "FullyApplied", "Healthy"];

function inStageOrder<T extends { readonly type: string }>(conditions: readonly T[]): T[] {
  const placeOf = ({ type }: T): number => {
    const index = STAGE_CONDITIONS.indexOf(type);
    return index === -1 ? STAGE_CONDITIONS.length : index;
  };
  return conditions.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Newest last, each with its message below. */
function renderEvents({ events, failures, notChecked }: Description, page: DescriptionPage): string[] {
  if (events.length === 0)
    return ["EVENTS", failures.length + notChecked.length > 0 ? "none in what was checked" : "none"];
  return [
    "EVENTS",
    ...events.flatMap(({ cluster, at, type, reason, object, message, count }) => [
      `${formatAge(page.nowMs - Date.parse(at))} ago  ${cluster}  ${type} ${reason}  ${object}${count > 1 ? `  ${count} times` : ""}`,
      ...wrapped(message, page, 2),
    ]),
  ];
}

/** Wraps foreign messages into indented lines. */
function wrapped(text: string, { width }: DescriptionPage, by = 0): string[] {
  const start = " ".repeat(by);
  const flat = text.replaceAll(/\s+/g, " ").trim();
  return (width === undefined ? [flat] : wrapWords(flat, width - by - INDENT.length)).map((line) => `${start}${line}`);
}
