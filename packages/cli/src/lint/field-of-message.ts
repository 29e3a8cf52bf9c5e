/** Extracts the field from an API server message: `spec.template.spec.containers[0].image: Required value`. */
import { formatPath } from "./fields.ts";
import type { FieldPath } from "./fields.ts";

const FIELD = /(?:^|[\s[(:"])((?:spec|metadata|data|webhooks|status)(?:\.[A-Za-z_][\w-]*|\[\d+\]|\[[^\]\s]+\])+)/;

export function fieldOf(message: string): FieldPath | undefined {
  const [, text] = FIELD.exec(message) ?? [];
  return text === undefined
    ? undefined
    : Array.from(text.matchAll(/\[(\d+)\]|\[([^\]]+)\]|\.?([A-Za-z_][\w-]*)/g), ([, index, key, name = ""]) =>
        index === undefined ? (key ?? name) : Number(index),
      );
}

/** Strips a leading field from a message; it is shown beside the message. */
export function withoutField(message: string, field: FieldPath | undefined): string {
  const path = field && formatPath(field);
  if (path === undefined || !message.startsWith(path)) return message;
  const rest = message.slice(path.length);
  return rest.startsWith(": ") ? rest.slice(2) : rest.startsWith(" is ") ? rest.slice(1) : message;
}
