/**
 * Reads how far an object has been adopted: no template, a held-back template, a template whose Works are pending, or
 * fully adopted. Read-only.
 */
import { HUB } from "@flotilla/apimachinery";
import { executionNamespace, MANAGED_LABEL, Work, WORK_NAME, WORK_NAMESPACE, workName } from "@flotilla/karmada";
import { FlotillaError } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import type { Live } from "./member-reader.ts";
import type { Copy } from "./merge-copies.ts";
import { keyOf, titleOfFound } from "./select.ts";
import type { Found } from "./select.ts";
import { UNMANAGED } from "@flotilla/flotilla";
/**
 * `held`: the template's objects are not applied until the annotation is removed. `applying`: Works exist but are not
 * applied everywhere yet.
 */
export type Known = { state: "absent" } | { state: "held" | "applying" | "adopted"; template: Live };

/**
 * Throws for a template that is propagated to other members, and unless `force` for an object that another hub manages.
 */
export async function knownOf(
  client: Client,
  found: Found,
  options: { force: boolean; isNeeded?: boolean },
  signal: AbortSignal,
): Promise<Known> {
  const { kind, copies } = found;
  const title = titleOfFound(found);
  const template = (await find(client, kind, { cluster: HUB, ...keyOf(found) }, { signal })) as Live | undefined;
  if (!template) {
    const other = copies.find(({ object }) => object.metadata.labels?.[MANAGED_LABEL] === "true");
    if (other && !options.force)
      throw new FlotillaError(
        "Adopt",
        `${title} on ${other.cluster} is already managed by a hub (${ownerOf(other.object)}) and this hub has ` +
          "no template for it; release it there first, or adopt it with --force",
      );
    return { state: "absent" };
  }
  const held = template.metadata.annotations?.[UNMANAGED]?.split(",").map((name) => name.trim());
  if (held?.includes("true") || copies.some(({ cluster }) => held?.includes(cluster)))
    return { state: "held", template };
  if (options.isNeeded) return { state: "applying", template };
  const works = await Promise.all(copies.map(({ cluster }) => workOf(client, found, cluster, signal)));
  const without = copies.filter((_copy, index) => works[index] === undefined).map(({ cluster }) => cluster);
  if (without.length > 0)
    throw new FlotillaError(
      "Adopt",
      `${title} exists on the hub and is not propagated to ${without.join(", ")}; either use a policy with ` +
        "conflictResolution Overwrite to propagate it there ('flotilla plan' shows what that changes), or " +
        "delete the template, with preserveResourcesOnDeletion set in its policy, and adopt it from all " +
        "members at once",
    );
  return { state: copies.every((copy) => isDelivered(found, copy)) ? "adopted" : "applying", template };
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
    { cluster: HUB, namespace: executionNamespace(cluster), name: workNameOf(found) },
    { signal },
  );
}

/** Whether the member's object was applied from this hub's Work. */
export function isDelivered(found: Found, { cluster, object }: Copy): boolean {
  const { labels, annotations } = object.metadata;
  return (
    labels?.[MANAGED_LABEL] === "true" &&
    annotations?.[WORK_NAMESPACE] === executionNamespace(cluster) &&
    annotations[WORK_NAME] === workNameOf(found)
  );
}

function workNameOf(found: Found): string {
  const { namespace = "", name } = keyOf(found);
  return workName(found.kind.kind, name, namespace);
}

const ownerOf = ({ metadata: { annotations = {} } }: Live): string =>
  annotations[WORK_NAME]
    ? `Work ${annotations[WORK_NAMESPACE] ?? ""}/${annotations[WORK_NAME]}`
    : `label ${MANAGED_LABEL}`;
