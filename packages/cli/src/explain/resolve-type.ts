/** Resolves `deploy`, `deployments`, `Deployment` or `clonesets.apps.kruise.io` to a kind, with the hub's discovery. */
import { HUB, isForbidden } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { didYouMean, UsageError } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { AnyKind, Client, ObjectKey } from "@flotilla/client";
import { ambiguousText, findNamesakes, findType, idOf, kindOf, knownNames, titleOf } from "../members/served-types.ts";
import type { ServedType } from "../members/served-types.ts";
import { typesOfHub } from "../members/types-of-hub.ts";

/** An object of the hub, for TYPE/NAME. */
export interface NamedObject {
  type: string;
  name: string;
  /** For kinds in namespaces. */
  namespace: string;
}

/**
 * The kinds that TYPE/NAME may mean, in the hub's preferred versions: where several groups serve a kind of that name,
 * the one that has the object; `notify` is called if that is not the first. Several if none has it. Throws
 * `UsageError` if more than one has it.
 */
export async function resolveNamed(
  client: Client,
  { type, name, namespace }: NamedObject,
  signal: AbortSignal,
  notify: (text: string) => void = () => {},
): Promise<[AnyKind, ...AnyKind[]]> {
  const types = await typesOfHub(client, signal);
  const [first, ...others] = findNamesakes(types, type);
  if (!first) throw notServed(types, type);
  if (others.length === 0) return [kindOf(first)];
  const having = new Map<string, ServedType>();
  for (const candidate of [first, ...others]) {
    const key = { cluster: HUB, namespace: candidate.scope === "Namespaced" ? namespace : undefined, name };
    const object = await findAllowed(client, kindOf(candidate), key, signal);
    // Two groups may serve the same object, as for Events.
    if (object && !having.has(object.metadata.uid ?? "")) having.set(object.metadata.uid ?? "", candidate);
  }
  const [owner, ...competitors] = having.values();
  if (owner && competitors.length > 0) throw new UsageError(ambiguousText([owner, ...competitors], name));
  if (owner && owner !== first)
    notify(`using ${titleOf(owner)}/${name}: ${first.group || "the core group"} has no ${first.kind} of that name`);
  return owner ? [kindOf(owner)] : [kindOf(first), ...others.map(kindOf)];
}

/** A group that the user may not read does not count. */
async function findAllowed(
  client: Client,
  kind: AnyKind,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<DeepReadonly<KubernetesObject> | undefined> {
  try {
    return await find(client, kind, key, { signal });
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

const notServed = (types: readonly ServedType[], type: string): UsageError =>
  new UsageError(
    `the hub does not serve the resource type '${type}'${didYouMean(type, knownNames(types))}; run 'kubectl api-resources' to list the types`,
  );

/**
 * In every version that the hub serves, preferred first. Throws `UsageError` for a type that the hub does not serve.
 */
export async function resolveVersions(
  client: Client,
  type: string,
  signal: AbortSignal,
): Promise<[AnyKind, ...AnyKind[]]> {
  const types = await typesOfHub(client, signal);
  const found = findType(types, type);
  if (!found) throw notServed(types, type);
  const others = types.filter((other) => other !== found && idOf(other) === idOf(found));
  return [kindOf(found), ...others.map(kindOf)];
}
