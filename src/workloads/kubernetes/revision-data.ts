/**
 * The pod template as the revisions of Kubernetes' own kinds keep it. Keys are sorted, because upstream writes them
 * sorted and its clients look for the current revision by comparing bytes.
 */
import type { JsonObject } from "../../base/index.ts";
import { sortedKeys } from "../../machinery/index.ts";
import { podTemplateData } from "../revisions/pod-template-data.ts";
import type { PodTemplate } from "../revisions/pod-template-data.ts";

const known = new WeakMap<PodTemplate, JsonObject>();

/** Remembered by identity: every reconcile asks, and a template that an informer holds never changes. */
export function revisionData(template: PodTemplate): JsonObject {
  let data = known.get(template);
  if (!data) known.set(template, (data = sortedKeys(podTemplateData(template, "absent")) as JsonObject));
  return data;
}
