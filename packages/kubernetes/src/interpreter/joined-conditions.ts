/**
 * Merges members' conditions for display: equal conditions become one whose message lists each cluster's message, as in
 * `oslo=Applied revision main, paris=Applied revision main`.
 */
import { isObject, type JsonObject } from "@flotilla/base";
import { InterpretError } from "./interpret-error.ts";
import type { StatusItem } from "./status-item.ts";
import type { WithStatus } from "./replica-status.ts";

/** The API's limit in characters; with a longer message the whole status could not be stored. */
const MESSAGE_LIMIT = 32_768;
/** Leaves room for the number of members that the message leaves out. */
const MESSAGE_ROOM = MESSAGE_LIMIT - 32;

interface Group {
  condition: JsonObject;
  message: string;
  leftOut: number;
}

export function conditionsIn(status: JsonObject | undefined): JsonObject[] {
  const conditions = status?.["conditions"];
  return Array.isArray(conditions) ? conditions.filter(isObject) : [];
}

/** Whether a controller reports its object as ready, with one of the given reasons, if any. */
export function isConditionReady(status: unknown, reasons?: readonly string[]): boolean {
  if (!isObject(status)) return false;
  return conditionsIn(status).some(
    ({ type, status: value, reason }) =>
      type === "Ready" && value === "True" && (!reasons || reasons.some((each) => each === reason)),
  );
}

/**
 * One condition for each type, status and reason, in order of first occurrence; the other fields are the first one's.
 * Throws for a condition without a message, which no controller writes.
 */
export function joinConditions(template: WithStatus, items: readonly StatusItem[]): JsonObject[] {
  const groups = new Map<string, Group>();
  // Members of one template usually report the same conditions in the same order, so the previous member's group is
  // tried first.
  const guesses: Group[] = [];
  for (const { clusterName, status } of items) {
    if (!isObject(status)) continue;
    for (const [index, condition] of conditionsIn(status).entries()) {
      const text = `${clusterName}=${messageOf(condition, template, clusterName)}`;
      const guess = guesses[index];
      const group = guess && isSameCondition(guess.condition, condition) ? guess : groups.get(keyOf(condition));
      if (group) append(group, text);
      guesses[index] = group ?? begin(groups, condition, text);
    }
  }
  return Array.from(groups.values(), ({ condition, message, leftOut }) => ({
    ...condition,
    message: leftOut > 0 ? `${message}, and ${leftOut} more` : message,
  }));
}

function messageOf({ type, message }: JsonObject, { kind, metadata }: WithStatus, clusterName: string): string {
  if (typeof message === "string") return message;
  throw new InterpretError(
    `summing the status of ${kind} ${metadata.name}: condition ${JSON.stringify(type ?? "")} of cluster ${clusterName} has no message`,
  );
}

const isSameCondition = (a: JsonObject, b: JsonObject): boolean =>
  a["type"] === b["type"] && a["status"] === b["status"] && a["reason"] === b["reason"];

/** Absent differs from an empty string. */
function keyOf({ type, status, reason }: JsonObject): string {
  return [type, status, reason].map((value) => (typeof value === "string" ? value : "\0")).join("\n");
}

function begin(groups: Map<string, Group>, condition: JsonObject, text: string): Group {
  const group = { condition, message: text.slice(0, MESSAGE_ROOM).toWellFormed(), leftOut: 0 };
  groups.set(keyOf(condition), group);
  return group;
}

function append(group: Group, text: string): void {
  if (group.leftOut > 0 || group.message.length + text.length + 2 > MESSAGE_ROOM) group.leftOut += 1;
  else group.message += `, ${text}`;
}
