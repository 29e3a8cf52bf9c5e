/** The parsed request of `flotilla interpret`, with the objects it names. */
import { UsageError } from "@flotilla/base";
import type { Share, StatusItem } from "@flotilla/kubernetes";
import type { Output } from "../output.ts";
import { isCustomization, kindText, manifestsOf, nameOf, targetOf, toCanonical } from "./customizations.ts";
import type { Manifest } from "./customizations.ts";
import { readDocuments } from "./documents.ts";
import { RulesError } from "./rules-error.ts";
import type { RuleInput } from "./run-rule.ts";
import { SourceError } from "./sources.ts";
import type { Sources } from "./sources.ts";

export interface InterpretRequest {
  files: readonly string[];
  recursive: boolean;
  operation: string | undefined;
  desiredFile: string | undefined;
  observedFile: string | undefined;
  statusFile: string | undefined;
  replicas: number;
  /** For Divide: `member1=5`. */
  shares: readonly string[];
  check: boolean;
  /** With `check`: also run the rules on objects of the hub and its members. */
  againstHub: boolean;
  showDocumentation: boolean;
  /** Fixture files. */
  tests: readonly string[];
}

export async function readInput(request: InterpretRequest, sources: Sources): Promise<RuleInput> {
  return {
    desired: await readObject("--desired-file", request.desiredFile, sources),
    observed: await readObject("--observed-file", request.observedFile, sources),
    statusItems: request.statusFile === undefined ? undefined : await readStatusItems(request.statusFile, sources),
    replicas: request.replicas,
    shares: request.shares.flatMap((text) => text.split(",")).map(readShare),
  };
}

function readShare(text: string): Share {
  const [, cluster, replicas] = /^([^=]+)=(\d{1,9})$/.exec(text) ?? [];
  if (cluster === undefined)
    throw new UsageError(`--share must be MEMBER=REPLICAS, for example member1=5, not '${text}'`);
  return { cluster, replicas: Number(replicas) };
}

async function readObject(flag: string, file: string | undefined, sources: Sources): Promise<RuleInput["desired"]> {
  if (file === undefined) return undefined;
  const manifests = manifestsOf((await sources.read([file])).flatMap(readDocuments));
  const [manifest, ...others] = manifests;
  if (!manifest || others.length > 0)
    throw new UsageError(`${flag} ${file} has ${manifests.length} objects; exactly one is required`);
  return manifest.object;
}

/** One item per document, or lists of them. */
async function readStatusItems(file: string, sources: Sources): Promise<StatusItem[]> {
  const items = (await sources.read([file])).flatMap(readDocuments).flatMap(({ value }) => value);
  if (items.some((item) => typeof item !== "object" || item === null || Array.isArray(item)))
    throw new SourceError(`reading ${file}: a status item must be a mapping with clusterName and status`);
  return items as unknown as StatusItem[];
}

export async function readManifests(sources: Sources, { files, recursive }: InterpretRequest): Promise<Manifest[]> {
  return manifestsOf((await sources.read(files, { recursive })).flatMap(readDocuments));
}

/** In canonical form; the hub's warnings about other forms are printed. */
export async function readCustomizations(
  sources: Sources,
  request: InterpretRequest,
  output: Output,
): Promise<Manifest[]> {
  const manifests = await readManifests(sources, request);
  const other = manifests.find((manifest) => !isCustomization(manifest));
  if (other)
    throw new SourceError(
      `reading ${other.file}:${other.line}: not a ResourceInterpreterCustomization, got ${kindText(other)}`,
    );
  if (request.files.length > 0 && manifests.length === 0)
    throw new SourceError(`no customization found in ${request.files.join(", ")}`);
  const known = new Map<string, Manifest>();
  return manifests.map((given) => {
    const before = known.get(nameOf(given));
    if (before)
      output.warn(
        `Warning: ${given.file}:${given.line}: ${nameOf(given)} replaces the customization of the same name in ` +
          `${before.file}:${before.line}, as it would on a hub`,
      );
    known.set(nameOf(given), given);
    const { manifest, errors, warnings } = toCanonical(given);
    if (errors.length > 0) throw new RulesError(errors.join("\n"));
    for (const warning of warnings) output.warn(`Warning: ${warning}`);
    const { apiVersion, kind } = targetOf(manifest);
    if (apiVersion === "" || kind === "")
      throw new RulesError(`${manifest.file}:${manifest.line}: spec.target needs an apiVersion and a kind`);
    return manifest;
  });
}
