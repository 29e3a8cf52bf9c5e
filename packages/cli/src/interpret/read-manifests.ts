/** Reads the objects that `-f` names, for `plan`, `apply` and `delete`. */
import { UsageError } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { manifestsOf } from "./customizations.ts";
import { readDocuments } from "./documents.ts";
import { download, Sources } from "./sources.ts";

/** In the order of the files. Throws `UsageError` if the files have no objects. */
export async function readManifests(
  { filename, recursive }: { filename: readonly string[]; recursive: boolean },
  { readInput, signal }: { readInput(): Promise<string>; signal: AbortSignal },
): Promise<JsonObject[]> {
  const reader = new Sources({ readInput, download: (url) => download(url, signal) });
  const sources = await reader.read(filename, { recursive });
  const manifests = manifestsOf(sources.flatMap(readDocuments)).map(({ object }) => object);
  if (filename.length > 0 && manifests.length === 0) throw new UsageError(`${filename.join(", ")} contains no objects`);
  return manifests;
}
