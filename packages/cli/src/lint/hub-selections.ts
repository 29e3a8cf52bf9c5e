/**
 * Finds which policy selectors match existing objects on a real hub, and which targets of autoscalers exist there. Reads
 * at most one object each.
 */
import { formatLabelSelector, HUB } from "@flotilla/apimachinery";
import { createKindResolver, UnknownKindError } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import type { JsonObject } from "@flotilla/base";
import { formatPath, itemsAt, objectAt, textAt, valueAt } from "./fields.ts";
import type { LintManifest } from "./lint-manifest.ts";
import { TARGET } from "./scalers.ts";
import { namespaceOf, readSelector } from "./selectors.ts";

/** The paths of such selectors, by policy, and of such targets, by autoscaler. */
export type Selections = ReadonlyMap<LintManifest, ReadonlySet<string>>;

export async function readSelections(
  client: Client,
  manifests: readonly LintManifest[],
  signal: AbortSignal,
): Promise<Selections> {
  const kinds = createKindResolver({ client, cluster: HUB });
  const selections = new Map<LintManifest, Set<string>>();
  for (const policy of manifests.filter(({ group }) => group === "policy.karmada.io")) {
    const found = new Set<string>();
    for (const { item, path } of itemsAt(policy.object, "spec", "resourceSelectors")) {
      if (await isThere(item, policy)) found.add(formatPath(path));
    }
    selections.set(policy, found);
  }
  for (const scaler of manifests.filter(({ group }) => group === "autoscaling.karmada.io"))
    if (await isThere(objectAt(scaler.object, ...TARGET), scaler))
      selections.set(scaler, new Set([formatPath(TARGET)]));
  return selections;

  async function isThere(selector: JsonObject, policy: LintManifest): Promise<boolean> {
    try {
      const kind = await kinds.resolve({ apiVersion: textAt(selector, "apiVersion"), kind: textAt(selector, "kind") });
      const namespace = textAt(selector, "namespace") || (policy.kind.startsWith("Cluster") ? "" : namespaceOf(policy));
      const labels =
        valueAt(selector, "labelSelector") === undefined
          ? undefined
          : readSelector(objectAt(selector, "labelSelector"));
      const name = textAt(selector, "name");
      const { items } = await client.list(kind, {
        cluster: HUB,
        limit: 1,
        namespace: kind.scope === "Namespaced" && namespace !== "" ? namespace : undefined,
        fieldSelector: name !== "" ? `metadata.name=${name}` : undefined,
        labelSelector: labels ? formatLabelSelector(labels) : undefined,
        signal,
      });
      return items.length > 0;
    } catch (error) {
      if (error instanceof UnknownKindError) return false;
      throw error;
    }
  }
}
