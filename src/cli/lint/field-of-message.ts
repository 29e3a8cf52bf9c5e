/** The field that a message of the API server is about: `spec.template.spec.containers[0].image: Required value`. */
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

/** A message that begins with its field, without it: it is told beside the message. */
export function withoutField(message: string, field: FieldPath | undefined): string {
  const start = field && `${formatPath(field)}: `;
  return start !== undefined && message.startsWith(start) ? message.slice(start.length) : message;
}
