/**
 * What a build of a checkout was made from. `bin/flotilla` starts `dist` of a checkout as long as none of these files has
 * changed: 400 files load in less than half of the time, and half of the memory, that 2,400 sources take.
 */
import { readFileSync, statSync } from "node:fs";

/** By path from the root of the checkout. */
export type BuiltFrom = Record<string, Stamp>;

/** Size, and the time of the last change as the file system keeps it. That time cannot be set, unlike the time of the last modification. */
type Stamp = readonly [bytes: number, changedMs: number];

/** Undefined if there is no such file. */
export function stampOf(path: string): Stamp | undefined {
  const file = statSync(path, { throwIfNoEntry: false });
  return file && [file.size, file.ctimeMs];
}

/** Whether every file is as it was when the build read it. `record` is the file that holds a `BuiltFrom`; root ends with `/`. */
export function isCurrent(record: string, root: string): boolean {
  const files = Object.entries(readRecord(record) ?? {});
  return (
    files.length > 0 &&
    files.every(([path, [bytes, changedMs]]) => {
      const found = stampOf(root + path);
      return found?.[0] === bytes && found[1] === changedMs;
    })
  );
}

/** Undefined without a record that is whole: a full disk or a loss of power may have cut it off. The sources are right in any case. */
function readRecord(record: string): BuiltFrom | undefined {
  try {
    return JSON.parse(readFileSync(record, "utf8")) as BuiltFrom;
  } catch {
    return undefined;
  }
}
