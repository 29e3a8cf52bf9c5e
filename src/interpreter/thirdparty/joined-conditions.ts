/**
 * Conditions of members that are shown side by side: those that say the same become one, and its message lists what
 * each cluster says, as in `oslo=Applied revision main, paris=Applied revision main`.
 */
import { isObject, type JsonObject } from "../../base/index.ts";
import { InterpretError } from "../interpret-error.ts";
import type { StatusItem } from "../kind-interpreter.ts";
import type { WithStatus } from "../replica-status.ts";

/** The API allows that many characters; a longer message would make the whole status impossible to store. */
const MESSAGE_LIMIT = 32_768;
/** Room to say how many members the message leaves out. */
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

/** Whether a controller says that its object is ready, with one of these reasons if any are given. */
export function isReady(status: unknown, reasons?: readonly string[]): boolean {
  if (!isObject(status)) return false;
  return conditionsIn(status).some(
    ({ type, status: value, reason }) =>
      type === "Ready" && value === "True" && (!reasons || reasons.some((each) => each === reason)),
  );
}

/**
 * One condition for each type, status and reason, in the order in which they first come; the rest of it is the first
 * one's. Throws for a condition without a message, which no controller writes.
 */
export function joinConditions(template: WithStatus, items: readonly StatusItem[]): JsonObject[] {
  const groups = new Map<string, Group>();
  // Members of one template mostly say the same in the same order, so the group of the member before is looked at
  // first.
  const guesses: Group[] = [];
  for (const { clusterName, status } of items) {
    if (!isObject(status)) continue;
    for (const [index, condition] of conditionsIn(status).entries()) {
      const text = `${clusterName}=${messageOf(condition, template, clusterName)}`;
      const guess = guesses[index];
      const group = guess && saysTheSame(guess.condition, condition) ? guess : groups.get(keyOf(condition));
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

const saysTheSame = (a: JsonObject, b: JsonObject): boolean =>
  a["type"] === b["type"] && a["status"] === b["status"] && a["reason"] === b["reason"];

/** Nothing is not the same as an empty text. */
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
