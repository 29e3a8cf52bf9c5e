/** Adds the position in the file, and the line itself, to a message about a script. */
import { LuaSyntaxError } from "@flotilla/lua";
import type { Place, ScriptText } from "./script-text.ts";

/** `cause` is the script's error, which knows the line and, when it does not compile, the column. */
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
    // The parser reports the last byte of the offending token.
    const bytes = Buffer.byteLength(token);
    const start = script.placeOf(line, Math.max(1, column - bytes + 1));
    return start && { place: start, length: token.includes("\n") ? 1 : token.length };
  }
  const line = cause instanceof Error ? /<string>:(\d+):/.exec(cause.message)?.[1] : undefined;
  const place = line === undefined ? undefined : script.startOf(Number(line));
  return place && { place, length: script.lengthAt(place) };
}
