/** A data directory for an ephemeral hub: its keys and kubeconfigs must not replace those of the user's own fleet. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FlotillaError } from "@flotilla/base";

/** Undefined unless the hub is ephemeral and the user has named no directory. It is removed in the end. */
export function temporaryData(flags: {
  ephemeral: boolean;
  data?: string | undefined;
}): ({ path: string } & Disposable) | undefined {
  if (!flags.ephemeral || flags.data !== undefined) return undefined;
  const path = makeTemporaryFolder("flotilla-");
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Only its owner may read it. */
export function makeTemporaryFolder(prefix: string): string {
  try {
    return mkdtempSync(join(tmpdir(), prefix));
  } catch (error) {
    throw temporaryFolderError(error);
  }
}

export const temporaryFolderError = (cause: unknown): FlotillaError =>
  new FlotillaError(
    "File",
    `creating a temporary folder in ${tmpdir()}; check its free space and permissions, or set TMPDIR to another folder`,
    { cause },
  );
