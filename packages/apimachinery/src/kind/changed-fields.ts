/** Names the fields in which two values differ, for messages about immutable objects. */
import { equalJson, isObject } from "@flotilla/base";

/** A message that lists more fields is not read. */
const MAX_LISTED = 10;

/** "; changed: `spec.hostname`,`spec.containers[0].name`", to append to a message. Values are not shown. */
export function changedFields(before: unknown, after: unknown, at = ""): string {
  const fields = [...differences(before, after, at)];
  const listed = fields.slice(0, MAX_LISTED).map((field) => `\`${field}\``);
  const others = fields.length > MAX_LISTED ? ` and ${fields.length - MAX_LISTED} more` : "";
  return fields.length === 0 ? "" : `; changed: ${listed.join(",")}${others}`;
}

/** The innermost fields; a list with more or fewer items is one field. */
function* differences(before: unknown, after: unknown, at: string): Iterable<string> {
  if (equalJson(before, after)) return;
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      yield* differences(valueOf(before, key), valueOf(after, key), at === "" ? key : `${at}.${key}`);
  } else if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [index, item] of before.entries()) yield* differences(item, after[index], `${at}[${index}]`);
  } else yield at;
}

const valueOf = (object: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;
