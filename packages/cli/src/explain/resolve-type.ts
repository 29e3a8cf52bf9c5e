/** Resolves `deploy`, `deployments`, `Deployment` or `clonesets.apps.kruise.io` to a kind, with the hub's discovery. */
import { HUB } from "@flotilla/apimachinery";
import { didYouMean, FlotillaError, UsageError } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import type { AnyKind, Client } from "@flotilla/client";
import { failureOf, readText } from "../members/ask.ts";
import { readTypes } from "../members/discovery.ts";
import { findType, idOf, kindOf, knownNames } from "../members/types.ts";
import type { ServedType } from "../members/types.ts";

/** In the hub's preferred version. Throws `UsageError` for a type that the hub does not serve. */
export async function resolveType(client: Client, type: string, signal: AbortSignal): Promise<AnyKind> {
  return (await resolveVersions(client, type, signal))[0];
}

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
  if (!found)
    throw new UsageError(
      `the hub does not serve the resource type '${type}'${didYouMean(type, knownNames(types))}; run 'kubectl api-resources' to list the types`,
    );
  const others = types.filter((other) => other !== found && idOf(other) === idOf(found));
  return [kindOf(found), ...others.map(kindOf)];
}

/** Every type in every version that the hub serves. */
export function typesOfHub(client: Client, signal: AbortSignal): Promise<ServedType[]> {
  return readTypes(async (path, accept = "application/json"): Promise<JsonObject> => {
    const { status, body } = await client.raw({ method: "GET", path, cluster: HUB, headers: { accept } }, signal);
    const text = await readText(body);
    if (status !== 200)
      throw new FlotillaError("Discovery", "reading the hub's API discovery", { cause: failureOf(status, text) });
    return JSON.parse(text) as JsonObject;
  });
}
