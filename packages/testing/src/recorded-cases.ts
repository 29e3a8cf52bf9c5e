/** Reads cases recorded from the real programs: one case per line, gzipped. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

export interface RecordedCase<I, W> {
  name: string;
  input: I;
  want: W;
}

export function readCases<I, W>(file: URL, kind: string): RecordedCase<I, W>[] {
  const text = gunzipSync(readFileSync(file)).toString();
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as RecordedCase<I & { kind: string }, W>)
    .filter(({ input }) => input.kind === kind);
}
