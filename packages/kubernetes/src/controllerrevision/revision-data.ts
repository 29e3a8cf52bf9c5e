/**
 * The pod template in the revisions of Kubernetes' own kinds. Keys are sorted, because upstream writes them sorted and
 * its clients find the current revision by comparing bytes.
 */
import type { JsonObject } from "@flotilla/base";
import { sortedKeys } from "@flotilla/apimachinery";
import { podTemplateData } from "./pod-template-data.ts";
import type { PodTemplate } from "./pod-template-data.ts";

const known = new WeakMap<PodTemplate, JsonObject>();

/** Cached by identity: every reconcile calls it, and templates in an informer are immutable. */
export function revisionData(template: PodTemplate): JsonObject {
  let data = known.get(template);
  if (!data) known.set(template, (data = sortedKeys(podTemplateData(template, "absent")) as JsonObject));
  return data;
}
