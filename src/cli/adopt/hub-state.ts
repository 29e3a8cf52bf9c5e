/**
 * What the hub knows of an object already: nothing, a template that is held back, one that is under way, or all of it.
 * Reads only.
 */
import { executionNamespace, Work, workName } from "../../api/index.ts";
import { FlotillaError } from "../../base/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { find } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import type { Live } from "./member-reader.ts";
import type { Copy } from "./merge-copies.ts";
import { keyOf, titleOfFound } from "./select.ts";
import type { Found } from "./select.ts";
import { UNMANAGED } from "./strip.ts";

/**
 * `held`: its objects are left alone until the annotation goes. `underway`: Works are there, and not yet carried out
 * everywhere.
 */
export type Known = { state: "absent" } | { state: "held" | "underway" | "adopted"; template: Live };

const MANAGED = "karmada.io/managed";
const WORK_NAMESPACE = "work.karmada.io/namespace";
const WORK_NAME = "work.karmada.io/name";

/** Throws for an object that is on the hub and goes elsewhere, and unless `force` for one that another hub has. */
export async function knownOf(
  client: Client,
  found: Found,
  options: { force: boolean; isNeeded?: boolean },
  signal: AbortSignal,
): Promise<Known> {
  const { kind, copies } = found;
  const title = titleOfFound(found);
  const template = (await find(client, kind, { cluster: "hub", ...keyOf(found) }, { signal })) as Live | undefined;
  if (!template) {
    const other = copies.find(({ object }) => object.metadata.labels?.[MANAGED] === "true");
    if (other && !options.force)
      throw new FlotillaError(
        "Adopt",
        `${title} on ${other.cluster} is in the hands of a hub already (${ownerOf(other.object)}), and this hub has no template of it; let it go there first, or adopt it with --force`,
      );
    return { state: "absent" };
  }
  const held = template.metadata.annotations?.[UNMANAGED]?.split(",").map((name) => name.trim());
  if (held?.includes("true") || copies.some(({ cluster }) => held?.includes(cluster)))
    return { state: "held", template };
  if (options.isNeeded) return { state: "underway", template };
  const works = await Promise.all(copies.map(({ cluster }) => workOf(client, found, cluster, signal)));
  const without = copies.filter((_copy, index) => works[index] === undefined).map(({ cluster }) => cluster);
  if (without.length > 0)
    throw new FlotillaError(
      "Adopt",
      `${title} is on the hub and does not go to ${without.join(", ")}; a policy with conflictResolution Overwrite takes it there ('flotilla plan' shows what that changes), or delete the template, which a policy with preserveResourcesOnDeletion survives, and adopt it from all members at once`,
    );
  return { state: copies.every((copy) => isDelivered(found, copy)) ? "adopted" : "underway", template };
}

export function workOf(
  client: Client,
  found: Found,
  cluster: string,
  signal: AbortSignal,
): Promise<DeepReadonly<Work> | undefined> {
  return find(
    client,
    Work,
    { cluster: "hub", namespace: executionNamespace(cluster), name: workNameOf(found) },
    { signal },
  );
}

/** Whether the member's object says that this hub's Work brought it. */
export function isDelivered(found: Found, { cluster, object }: Copy): boolean {
  const { labels, annotations } = object.metadata;
  return (
    labels?.[MANAGED] === "true" &&
    annotations?.[WORK_NAMESPACE] === executionNamespace(cluster) &&
    annotations[WORK_NAME] === workNameOf(found)
  );
}

function workNameOf(found: Found): string {
  const { namespace = "", name } = keyOf(found);
  return workName(found.kind.kind, name, namespace);
}

const ownerOf = ({ metadata: { annotations = {} } }: Live): string =>
  annotations[WORK_NAME] ? `Work ${annotations[WORK_NAMESPACE] ?? ""}/${annotations[WORK_NAME]}` : `label ${MANAGED}`;
