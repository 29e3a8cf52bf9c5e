/**
 * Whether a member has the data of a ConfigMap or Secret. These kinds have no generation, so a copy does not show from
 * which version of its template it was made; its Work does, unless an override policy changes the data.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { APPLIED_CLUSTER_OVERRIDES, APPLIED_OVERRIDES } from "@flotilla/karmada";
import type { Work } from "@flotilla/karmada";
import { readWork } from "./read-work.ts";

type Template = DeepReadonly<KubernetesObject>;

/** Why the copy does not count as the current one; undefined if it does, or if the viewer may not read Works. */
export async function readDataReason(
  client: Client,
  template: Template,
  copy: JsonObject,
  cluster: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (template.metadata.generation !== undefined || equalJson(dataOf(template), dataOf(copy))) return undefined;
  const work = await readWork(client, template, cluster, signal);
  return work === "forbidden" ? undefined : dataReason(template, work, copy);
}

/** Pure. */
export function dataReason(
  template: Template,
  work: DeepReadonly<Work> | undefined,
  copy: DeepReadonly<JsonObject>,
): string | undefined {
  const sent = work?.spec.workload?.manifests?.[0];
  if (work === undefined || sent === undefined) return "the hub has not sent it yet";
  const { annotations = {} } = work.metadata;
  const isOverridden = APPLIED_OVERRIDES in annotations || APPLIED_CLUSTER_OVERRIDES in annotations;
  if (!isOverridden && !equalJson(dataOf(sent), dataOf(template))) return "the hub has not sent its change yet";
  return equalJson(dataOf(sent), dataOf(copy)) ? undefined : "its data is not what the hub sent";
}

const dataOf = (object: object): JsonObject => {
  const { data = {}, binaryData = {} } = object as { data?: JsonObject; binaryData?: JsonObject };
  return { data, binaryData };
};
