/** Finds several versions of one object among the files of a folder: the steps of a release, in apply order. Pure. */
import { dirname } from "node:path";
import { identityOf } from "./lint-fleet.ts";
import type { LintManifest } from "./lint-manifest.ts";

/** Each manifest with the next one, and the one after that. */
export function successorsIn(
  manifests: readonly LintManifest[],
): [LintManifest, LintManifest, LintManifest | undefined][] {
  return [
    ...Map.groupBy(manifests, (manifest) => `${dirname(manifest.file)}/${identityOf(manifest)}`).values(),
  ].flatMap((same) =>
    same
      .slice(1)
      .map((next, index): [LintManifest, LintManifest, LintManifest | undefined] => [
        same[index] ?? next,
        next,
        same[index + 2],
      ]),
  );
}
