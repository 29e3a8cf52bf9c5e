/** Adds to a message about a script where in its file that is, and the line itself. */
import { LuaSyntaxError } from "../../interpreter/index.ts";
import type { Place, ScriptText } from "./script-text.ts";

/** `cause` is the failure of the script, which knows the line and, when it does not compile, the column. */
export function withPlace(message: string, cause: unknown, script: ScriptText): string {
  const found = placeIn(cause, script);
  if (!found) return `${script.file}: ${message}`;
  const { place, length } = found;
  return `${script.file}:${place.line}:${place.column}: ${message}\n${script.excerpt(place, length)}`;
}

function placeIn(cause: unknown, script: ScriptText): { place: Place; length: number } | undefined {
  if (cause instanceof LuaSyntaxError && cause.position) {
    const { line, column } = cause.position;
    const token = /near '(.*)':/s.exec(cause.message)?.[1] ?? "";
    // The reader has the last byte of the word that it stumbles over.
    const bytes = Buffer.byteLength(token);
    const start = script.placeOf(line, Math.max(1, column - bytes + 1));
    return start && { place: start, length: token.includes("\n") ? 1 : token.length };
  }
  const line = cause instanceof Error ? /<string>:(\d+):/.exec(cause.message)?.[1] : undefined;
  const place = line === undefined ? undefined : script.startOf(Number(line));
  return place && { place, length: script.lengthAt(place) };
}
