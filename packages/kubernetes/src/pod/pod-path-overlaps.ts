/** Finds conflicting files of one volume: the same path twice, or a path below another file. */
import type { DeepReadonly } from "@flotilla/base";
import type { Volume, VolumeProjection } from "@flotilla/apimachinery/facts/core-v1.ts";

type Read<T> = DeepReadonly<T>;

interface Placed {
  path: string;
  /** The source of the file, when a volume has several sources. */
  source: string;
}

export function overlapWarnings(volumes: readonly Read<Volume>[]): string[] {
  const warnings: string[] = [];
  for (const { name = "", configMap, secret, downwardAPI, projected } of volumes) {
    const warn = (what: string, files: readonly Placed[]): void => {
      for (const overlap of overlapsIn(files))
        warnings.push(`volume ${JSON.stringify(name)} (${what}): overlapping paths: ${overlap}`);
    };
    if (configMap?.items) warn(`ConfigMap ${JSON.stringify(configMap.name ?? "")}`, placed(configMap.items, ""));
    if (secret?.items) warn(`Secret ${JSON.stringify(secret.secretName ?? "")}`, placed(secret.items, ""));
    if (downwardAPI?.items) warn("DownwardAPI", placed(downwardAPI.items, ""));
    if (!projected) continue;
    for (const source of projected.sources ?? [])
      if (Object.keys(source).length === 0)
        warnings.push(`volume ${JSON.stringify(name)} (Projected) has no sources provided`);
    warn("Projected", (projected.sources ?? []).flatMap(filesOf));
  }
  return warnings;
}

const placed = (items: readonly { readonly path?: string }[], source: string): Placed[] =>
  items.map(({ path = "" }) => ({ path, source }));

function filesOf({ configMap, secret, downwardAPI, serviceAccountToken }: Read<VolumeProjection>): Placed[] {
  if (configMap?.items) return placed(configMap.items, `ConfigMap ${JSON.stringify(configMap.name ?? "")}`);
  if (secret?.items) return placed(secret.items, `Secret ${JSON.stringify(secret.name ?? "")}`);
  if (downwardAPI?.items) return placed(downwardAPI.items, "DownwardAPI");
  return serviceAccountToken ? placed([serviceAccountToken], "ServiceAccountToken") : [];
}

const shown = ({ path, source }: Placed): string =>
  source === "" ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`;

/** Volumes with more files than this are skipped: comparing them all takes quadratic time. */
const MAX_FILES = 1000;

function overlapsIn(files: readonly Placed[]): string[] {
  const overlaps: string[] = [];
  const before: Placed[] = [];
  if (files.length > MAX_FILES) return overlaps;
  for (const { path: given, source } of files) {
    const file: Placed = { path: given.replace(/\/+$/, ""), source };
    for (const other of before)
      if (
        file.path !== "" &&
        other.path !== "" &&
        (`${other.path}/`.startsWith(`${file.path}/`) || `${file.path}/`.startsWith(`${other.path}/`))
      )
        overlaps.push(`${shown(file)} with ${shown(other)}`);
    before.push(file);
  }
  return overlaps;
}
