/**
 * Reads successful responses of operations that return a value; `answer-patch.ts` handles those that return a changed
 * object.
 */
import { messageOf } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { labelSelectorOf } from "@flotilla/apimachinery";
import type { LabelSelectorObject } from "@flotilla/apimachinery";
import type { Component, Dependency, ReplicaRequirements, Replicas } from "@flotilla/kubernetes";
import { countOf, fieldOf, objectOf, objectsOf, partOf, textOf, wrongType } from "./answer-fields.ts";
import { shown, WebhookError } from "@flotilla/client";

const RESPONSE = "response";
/** The limit of a binding's component names. */
const MAX_COMPONENT_NAME = 32;

export function readReplicas(response: JsonObject): Replicas {
  const replicas = countOf(response, "replicas", RESPONSE);
  if (replicas === undefined) throw new WebhookError("answer", "response.replicas is missing");
  const requirements = readRequirements(response, RESPONSE);
  return { replicas, requirements };
}

/** Names follow the rules of a binding: required and unique. */
export function readComponents(response: JsonObject): Component[] {
  const names = new Set<string>();
  return objectsOf(response, "components", RESPONSE).map((component, index) => {
    const place = `${RESPONSE}.components[${index}]`;
    const name = textOf(component, "name", place) ?? "";
    if (name === "" || name.length > MAX_COMPONENT_NAME)
      throw wrongType(`${place}.name`, `a name of 1 to ${MAX_COMPONENT_NAME} characters`);
    if (names.has(name)) throw new WebhookError("answer", `${place}.name: duplicate name ${shown(name)}`);
    names.add(name);
    // Components of an object share its namespace, so their requirements have no namespace field.
    const { namespace: _none, ...requirements } = readRequirements(component, place) ?? {};
    return {
      name,
      replicas: countOf(component, "replicas", place) ?? 0,
      requirements: fieldOf(component, "replicaRequirements") !== undefined ? requirements : undefined,
    };
  });
}

function readRequirements(of: JsonObject, place: string): ReplicaRequirements | undefined {
  const read = partOf("ReplicaRequirements", of, "replicaRequirements", place) as ReplicaRequirements | undefined;
  if (!read) return undefined;
  const { nodeClaim, resourceRequest, namespace, priorityClassName } = read;
  return {
    nodeClaim,
    resourceRequest,
    namespace: namespace || undefined,
    priorityClassName: priorityClassName || undefined,
  };
}

export function readDependencies(response: JsonObject): Dependency[] {
  return objectsOf(response, "dependencies", RESPONSE).map((given, index) => {
    const place = `${RESPONSE}.dependencies[${index}]`;
    const apiVersion = textOf(given, "apiVersion", place);
    const kind = textOf(given, "kind", place);
    const namespace = textOf(given, "namespace", place);
    const name = textOf(given, "name", place);
    const labelSelector = readSelector(given, place);
    if (!apiVersion || !kind) throw new WebhookError("answer", `${place} lacks ${apiVersion ? "kind" : "apiVersion"}`);
    if (!name && !labelSelector) throw new WebhookError("answer", `${place} has neither name nor labelSelector`);
    return {
      apiVersion,
      kind,
      namespace: namespace || undefined,
      name: name || undefined,
      labelSelector,
    };
  });
}

function readSelector(dependency: JsonObject, place: string): JsonObject | undefined {
  const read = partOf("LabelSelector", dependency, "labelSelector", place) as LabelSelectorObject | undefined;
  if (!read) return undefined;
  const { matchLabels, matchExpressions } = read;
  const selector: LabelSelectorObject = {
    matchLabels,
    matchExpressions,
  };
  try {
    labelSelectorOf(selector);
  } catch (error) {
    throw new WebhookError("answer", `${place}.labelSelector is invalid (${messageOf(error)})`, { cause: error });
  }
  return selector as JsonObject;
}

/** Every consumer requires a status to be an object, so no other type is accepted. */
export function readStatus(response: JsonObject): Json {
  const status = objectOf(response, "rawStatus", RESPONSE);
  if (!status) throw new WebhookError("answer", "response.rawStatus is missing");
  return status;
}

export function readHealth(response: JsonObject): boolean {
  const healthy = fieldOf(response, "healthy");
  if (typeof healthy !== "boolean") throw wrongType(`${RESPONSE}.healthy`, "true or false");
  return healthy;
}
