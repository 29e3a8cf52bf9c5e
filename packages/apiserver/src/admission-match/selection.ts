/** The selectors of webhooks, policies and bindings. */
import { Namespace } from "@flotilla/kubernetes";
import { matchesLabels } from "@flotilla/apimachinery";
import type { LabelSelector } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createClusterReader } from "../clusters/cluster-reader.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { metadataOf } from "../codec/metadata.ts";
import { isNamespaceKind } from "../resources/resources.ts";
import type { AdmissionRequest } from "./admission-request.ts";

/** Objects that are in no namespace are selected, except a Namespace, whose own labels count. */
export function selectsNamespace(store: ObjectStore, selector: LabelSelector, request: AdmissionRequest): boolean {
  if (isEmpty(selector)) return true;
  const { context, operation, object, oldObject } = request;
  const { namespace, served, subresource } = context;
  if (isNamespaceKind(served.resource) && subresource === undefined)
    return matchesLabels(selector, labelsOf(operation === "DELETE" ? oldObject : object));
  const name = isNamespaceKind(served.resource) ? context.name : namespace;
  if (name === undefined) return true;
  const found = createClusterReader(store, context.cluster).get(Namespace, undefined, name);
  return matchesLabels(selector, found?.metadata.labels);
}

/** The new or the old object has the labels. */
export function selectsObject(selector: LabelSelector, { object, oldObject }: AdmissionRequest): boolean {
  if (isEmpty(selector)) return true;
  return [object, oldObject].some((one) => one !== undefined && matchesLabels(selector, labelsOf(one)));
}

const isEmpty = ({ requirements, matchesNothing }: LabelSelector): boolean =>
  !matchesNothing && requirements.length === 0;

function labelsOf(object: JsonObject | undefined): Record<string, string> | undefined {
  const { labels } = object ? metadataOf(object) : {};
  return isObject(labels) ? (labels as Record<string, string>) : undefined;
}
