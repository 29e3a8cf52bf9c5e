/** Reads the objects that `-f` and `-k` name, for `plan`, `apply`, `delete` and `lint`. */
import { FlotillaError, UsageError } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { execKubectl, kubectlPath } from "../kubectl.ts";
import { manifestsOf } from "./customizations.ts";
import { readDocuments } from "./documents.ts";
import { download, Sources } from "./sources.ts";
import type { Source } from "./sources.ts";

/** The flags that name manifests. */
export interface ManifestNames {
  filename: readonly string[];
  recursive: boolean;
  /** A folder with a kustomization. */
  kustomize: string | undefined;
}

export interface ManifestTools {
  readInput(): Promise<string>;
  signal: AbortSignal;
  /** Names kubectl. */
  environment: Readonly<Record<string, string | undefined>>;
}

/** In the order of the files. Throws `UsageError` if the files have no objects. */
export async function readManifests(names: ManifestNames, tools: ManifestTools): Promise<JsonObject[]> {
  const manifests = manifestsOf((await readSources(names, tools)).flatMap(readDocuments)).map(({ object }) => object);
  const given = describeNames(names);
  if (given !== "" && manifests.length === 0) throw new UsageError(`${given} contains no objects`);
  return manifests;
}

/** The texts of the files, or what kustomize builds. */
export async function readSources(
  { filename, recursive, kustomize }: ManifestNames,
  { readInput, signal, environment }: ManifestTools,
): Promise<Source[]> {
  if (kustomize !== undefined && filename.length > 0) throw new UsageError("use either -f or -k, not both");
  if (kustomize !== undefined) return [{ name: kustomize, text: await build(kustomize, environment, signal) }];
  return new Sources({ readInput, download: (url) => download(url, signal) }).read(filename, { recursive });
}

/** Empty if no flag names manifests. */
export const describeNames = ({ filename, kustomize }: Pick<ManifestNames, "filename" | "kustomize">): string =>
  kustomize ?? filename.join(", ");

async function build(folder: string, environment: ManifestTools["environment"], signal: AbortSignal): Promise<string> {
  const kubectl = kubectlPath(environment);
  if (kubectl === undefined)
    throw new FlotillaError(
      "NoKubectl",
      `building ${folder} needs kubectl, which contains kustomize, and kubectl was not found; install it, set ` +
        "KUBECTL=/path/to/kubectl, or pass the built manifests with -f",
    );
  return execKubectl(kubectl, ["kustomize", folder], signal);
}
