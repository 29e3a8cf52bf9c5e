/**
 * Sums the members' conditions onto the template, so that clients that wait for a condition of the kind work on the hub
 * too. Karmada's rules have no conditions, so this is beside them: what the rules return stays as recorded.
 */
import { isObject, type DeepReadonly, type JsonObject, omitZero, textOf } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { conditionsIn } from "./joined-conditions.ts";
import type { StatusItem } from "./status-item.ts";

interface ConditionInput {
  /** The status as the rule of the kind aggregated it. */
  readonly status: JsonObject;
  /** The status that the template has now. */
  readonly before: JsonObject;
  /** One item for each member that has a share, also if it has not reported yet. */
  readonly items: readonly StatusItem[];
}

/** How the conditions of a kind are summed. */
export interface ConditionSums {
  /** The types that members report for the sum. */
  readonly types: readonly string[];
  /** The status with the summed conditions. Conditions without a time get one. */
  sum(input: ConditionInput): JsonObject;
}

export interface ConditionTypes {
  /** True if true on every member. */
  readonly everywhere?: readonly string[];
  /** True if true on some member. */
  readonly anywhere?: readonly string[];
  /** The reason of a type whose work is done; while members differ, the sum has the reason of one that is not done. */
  readonly doneReasons?: Readonly<Record<string, string>>;
}

/** The conditions of a member's object that are reported to the hub. Times are the hub's own. */
export function reflectConditions(object: DeepReadonly<KubernetesObject>, types: readonly string[]): JsonObject[] {
  const { status } = object as { status?: unknown };
  const found = conditionsIn(isObject(status) ? status : undefined);
  return types.flatMap((type) => found.filter((condition) => condition["type"] === type).map(textsIn));
}

/** Times and generations are the member's own. */
const textsIn = (condition: JsonObject): JsonObject =>
  Object.fromEntries(
    ["type", "status", "reason", "message"].flatMap((field) =>
      typeof condition[field] === "string" ? [[field, condition[field]]] : [],
    ),
  );

export function conditionSums({ everywhere = [], anywhere = [], doneReasons = {} }: ConditionTypes): ConditionSums {
  const types = [...everywhere, ...anywhere];
  return {
    types,
    sum({ status, items }) {
      const summed = types.flatMap((type) => {
        const reports = reportsOf(items, type);
        if (reports.every(({ condition }) => !condition)) return [];
        return [
          everywhere.includes(type) ? sumEverywhere(type, reports, doneReasons[type]) : sumAnywhere(type, reports),
        ];
      });
      return withConditions(status, types, summed);
    },
  };
}

/** The status with these conditions instead of those of the given types. */
export function withConditions(
  status: JsonObject,
  types: readonly string[],
  conditions: readonly JsonObject[],
): JsonObject {
  const { conditions: _before, ...rest } = status;
  const others = conditionsIn(status).filter(({ type }) => !types.includes(textOf(type)));
  const all = [...others, ...conditions];
  return all.length > 0 ? { ...rest, conditions: all } : rest;
}

interface Report {
  readonly cluster: string;
  readonly condition: JsonObject | undefined;
}

/** A kind whose whole status is reported has more in its conditions than is summed. */
const reportsOf = (items: readonly StatusItem[], type: string): Report[] =>
  items.map(({ clusterName, status }) => {
    const found = conditionsIn(isObject(status) ? status : undefined).find((condition) => condition["type"] === type);
    return { cluster: clusterName, condition: found && textsIn(found) };
  });

const valueOf = ({ condition }: Report): string => textOf(condition?.["status"]) || "Unknown";

/** False outweighs Unknown: a member that says so is more than one that says nothing. */
function sumEverywhere(type: string, reports: readonly Report[], doneReason: string | undefined): JsonObject {
  const others = reports.filter((report) => valueOf(report) !== "True");
  if (others.length === 0) {
    const first = reports.find(({ condition }) => textOf(condition?.["reason"]) !== doneReason) ?? reports[0];
    return { ...first?.condition, message: commonMessage(reports) };
  }
  const isFalse = others.some((report) => valueOf(report) === "False");
  const decisive = others.find((report) => valueOf(report) === (isFalse ? "False" : "Unknown") && report.condition);
  return {
    type,
    status: isFalse ? "False" : "Unknown",
    reason: textOf(decisive?.condition?.["reason"]) || "NotReported",
    message: `not True on ${listed(others)}`,
  };
}

function sumAnywhere(type: string, reports: readonly Report[]): JsonObject {
  const found = reports.filter((report) => valueOf(report) === "True");
  const first = found[0] ?? reports.find(({ condition }) => condition);
  return {
    type,
    status: found.length > 0 ? "True" : "False",
    ...omitZero({ reason: textOf(first?.condition?.["reason"]) }),
    message: found.length > 0 ? `True on ${listed(found)}` : commonMessage(reports),
  };
}

/** How many members a message names; a template may have thousands. */
const MAX_NAMED = 10;
const MAX_DETAIL = 200;

function listed(reports: readonly Report[]): string {
  const names = reports.slice(0, MAX_NAMED).map(({ cluster, condition }) => {
    const message = textOf(condition?.["message"]);
    const detail = message.length > MAX_DETAIL ? `${message.slice(0, MAX_DETAIL)}…` : message;
    return `${cluster} (${condition ? detail || textOf(condition["status"]) : "not reported"})`.toWellFormed();
  });
  const more = reports.length > MAX_NAMED ? ` and ${reports.length - MAX_NAMED} more` : "";
  return `${names.join(", ")}${more}`;
}

/** The message that the members share; otherwise each member's. */
function commonMessage(reports: readonly Report[]): string {
  const reported = reports.filter(({ condition }) => condition);
  const messages = new Set(reported.map(({ condition }) => textOf(condition?.["message"])));
  const [only = ""] = messages;
  return messages.size === 1 ? only : listed(reported);
}
