/** Where an object that the hub does not have may be instead, as the end of a sentence: for every command alike. */
import { HUB, isForbidden } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { didYouMean, FlotillaError } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import { resolveNamed } from "./resolve-type.ts";
import type { NamedObject } from "./resolve-type.ts";

/** Namespaces that are named when the object is not in the one that was specified. */
const MAX_NAMESPACES = 3;
/** Names that are compared with one that does not exist. */
const MAX_NAMES = 500;

interface MissingObject {
  kind: AnyKind | Kind;
  namespace?: string | undefined;
  name: string;
}

/** `command` is what to run for the object in another namespace: `why` for `flotilla why cloneset/web -n shop`. */
export async function nearestObject(
  client: Client,
  missing: MissingObject,
  command: string,
  signal: AbortSignal,
): Promise<string> {
  try {
    return (await elsewhere(client, missing, command, signal)) || (await nearby(client, missing, signal));
  } catch (error) {
    if (isForbidden(error)) return ""; // Only a hint.
    throw error;
  }
}

/** Throws `NotFound` if the hub does not have the object. */
export async function requireObject(
  client: Client,
  { type, name, namespace }: NamedObject,
  command: string,
  signal: AbortSignal,
): Promise<void> {
  const [kind] = await resolveNamed(client, { type, name, namespace }, signal);
  const where = { namespace: kind.scope === "Namespaced" ? namespace : undefined, name };
  if (await find(client, kind, { cluster: HUB, ...where }, { signal })) return;
  throw new FlotillaError(
    "NotFound",
    `${kind.kind} ${name}${where.namespace ? ` in namespace ${namespace}` : ""} not found on the ` +
      `hub${await nearestObject(client, { kind, ...where }, command, signal)}`,
  );
}

/** A similar name in the same place. */
async function nearby(client: Client, { kind, namespace, name }: MissingObject, signal: AbortSignal): Promise<string> {
  const { items } = await client.list(kind, { cluster: HUB, namespace, limit: MAX_NAMES, signal });
  return didYouMean(
    name,
    items.map(({ metadata }) => metadata.name),
  );
}

/** The namespaces that have an object of this name. Without the permission to list all, none is named. */
async function elsewhere(
  client: Client,
  { kind, namespace, name }: MissingObject,
  command: string,
  signal: AbortSignal,
): Promise<string> {
  if (namespace === undefined) return "";
  try {
    const { items } = await client.list(kind, { cluster: HUB, fieldSelector: `metadata.name=${name}`, signal });
    const namespaces = items.map(({ metadata }) => metadata.namespace ?? "");
    const [first] = namespaces;
    if (first === undefined) return "";
    const shown = namespaces.slice(0, MAX_NAMESPACES).join(", ");
    const more = namespaces.length > MAX_NAMESPACES ? ` and ${namespaces.length - MAX_NAMESPACES} more` : "";
    const isOne = namespaces.length === 1;
    const others = isOne ? "has another object" : "have other objects";
    return (
      `; namespace${isOne ? "" : "s"} ${shown}${more} ${others} of that name: ` +
      `run 'flotilla ${command} ${kind.kind.toLowerCase()}/${name} -n ${first}'`
    );
  } catch (error) {
    if (isForbidden(error)) return "";
    throw error;
  }
}
