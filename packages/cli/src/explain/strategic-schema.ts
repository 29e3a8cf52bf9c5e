/** Strategic merge patches exist for built-in kinds only, as in kubectl: their schemas say which lists merge. */
import { gvkOf } from "@flotilla/apimachinery";
import type { Schema } from "@flotilla/apimachinery";
import { kubernetesKinds } from "@flotilla/kubernetes";

/** The schema that a strategic merge patch of this object follows; undefined for a kind without them. */
export function strategicSchema(object: { apiVersion: string; kind: string }): Schema | undefined {
  const { group, version, kind } = gvkOf(object);
  const versions = kubernetesKinds.find((known) => known.group === group && known.kind === kind)?.versions ?? {};
  return Object.hasOwn(versions, version) ? versions[version]?.schema : undefined;
}
