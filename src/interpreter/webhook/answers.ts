/**
 * What a successful answer says about each operation. An answer is believed as far as the operation goes and no further: its
 * types are checked, and a patch may change what an object says but not which object it is.
 */
import { isObject, messageOf } from "../../base/index.ts";
import type { Json, JsonObject } from "../../base/index.ts";
import { applyJsonPatch, formatQuantity, labelSelectorOf, tryParseQuantity } from "../../machinery/index.ts";
import type { LabelSelectorObject } from "../../machinery/index.ts";
import type { AnyObject } from "../interpreter.ts";
import type { Component, Dependency, ReplicaRequirements, Replicas } from "../kind-interpreter.ts";
import { countOf, fieldOf, objectOf, objectsOf, textOf, textsOf, wrongType } from "./answer-fields.ts";
import { parseJson, shown } from "./context.ts";
import { WebhookError } from "./webhook-error.ts";

const RESPONSE = "response";
/** As long as a binding takes it. */
const MAX_COMPONENT_NAME = 32;

export function readReplicas(response: JsonObject): Replicas {
  const replicas = countOf(response, "replicas", RESPONSE);
  if (replicas === undefined) throw new WebhookError("answer", "response.replicas is missing");
  const requirements = readRequirements(response, RESPONSE);
  return { replicas, ...(requirements && { requirements }) };
}

export function readComponents(response: JsonObject): Component[] {
  const names = new Set<string>();
  return (objectsOf(response, "components", RESPONSE) ?? []).map((component, index) => {
    const place = `${RESPONSE}.components[${index}]`;
    const name = textOf(component, "name", place) ?? "";
    if (name === "" || name.length > MAX_COMPONENT_NAME) throw wrongType(`${place}.name`, `a name of 1 to ${MAX_COMPONENT_NAME} characters`);
    if (names.has(name)) throw new WebhookError("answer", `${place}.name is ${shown(name)} a second time`);
    names.add(name);
    const requirements = readRequirements(component, place);
    return { name, replicas: countOf(component, "replicas", place) ?? 0, ...(requirements && { requirements }) };
  });
}

function readRequirements(of: JsonObject, at: string): ReplicaRequirements | undefined {
  const given = objectOf(of, "replicaRequirements", at);
  if (!given) return undefined;
  const place = `${at}.replicaRequirements`;
  const nodeClaim = readNodeClaim(given, place);
  const resourceRequest = readQuantities(given, place);
  const namespace = textOf(given, "namespace", place);
  const priorityClassName = textOf(given, "priorityClassName", place);
  return { ...(nodeClaim && { nodeClaim }), ...(resourceRequest && { resourceRequest }), ...(namespace && { namespace }), ...(priorityClassName && { priorityClassName }) };
}

function readNodeClaim(requirements: JsonObject, at: string): ReplicaRequirements["nodeClaim"] {
  const given = objectOf(requirements, "nodeClaim", at);
  if (!given) return undefined;
  const place = `${at}.nodeClaim`;
  const hardNodeAffinity = objectOf(given, "hardNodeAffinity", place);
  const nodeSelector = textsOf(given, "nodeSelector", place);
  const tolerations = objectsOf(given, "tolerations", place);
  return { ...(hardNodeAffinity && { hardNodeAffinity }), ...(nodeSelector && { nodeSelector }), ...(tolerations && { tolerations }) };
}

/** In the form in which they are stored, so that an equal amount is no change. */
function readQuantities(requirements: JsonObject, place: string): Record<string, string> | undefined {
  const given = objectOf(requirements, "resourceRequest", place);
  if (!given) return undefined;
  return Object.fromEntries(
    Object.entries(given).map(([name, amount]) => {
      const quantity = typeof amount === "string" || typeof amount === "number" ? tryParseQuantity(amount) : undefined;
      if (!quantity) throw wrongType(`${place}.resourceRequest[${shown(name)}]`, "a quantity");
      return [name, formatQuantity(quantity)];
    }),
  );
}

export function readDependencies(response: JsonObject): Dependency[] {
  return (objectsOf(response, "dependencies", RESPONSE) ?? []).map((given, index) => {
    const place = `${RESPONSE}.dependencies[${index}]`;
    const apiVersion = textOf(given, "apiVersion", place);
    const kind = textOf(given, "kind", place);
    const namespace = textOf(given, "namespace", place);
    const name = textOf(given, "name", place);
    const labelSelector = readSelector(given, place);
    if (!apiVersion || !kind) throw new WebhookError("answer", `${place} lacks ${apiVersion ? "kind" : "apiVersion"}`);
    if (!name && !labelSelector) throw new WebhookError("answer", `${place} has neither name nor labelSelector`);
    return { apiVersion, kind, ...(namespace && { namespace }), ...(name && { name }), ...(labelSelector && { labelSelector }) };
  });
}

function readSelector(dependency: JsonObject, at: string): JsonObject | undefined {
  const selector = objectOf(dependency, "labelSelector", at);
  if (!selector) return undefined;
  const place = `${at}.labelSelector`;
  const matchLabels = textsOf(selector, "matchLabels", place);
  const matchExpressions = objectsOf(selector, "matchExpressions", place)?.map((expression, index) => readExpression(expression, `${place}.matchExpressions[${index}]`));
  const read: LabelSelectorObject = { ...(matchLabels && { matchLabels }), ...(matchExpressions && { matchExpressions }) };
  try {
    labelSelectorOf(read);
  } catch (error) {
    throw new WebhookError("answer", `${place} selects nothing that can be found (${messageOf(error)})`, { cause: error });
  }
  return read as JsonObject;
}

function readExpression(expression: JsonObject, place: string): { key: string; operator: string; values?: string[] } {
  const values = fieldOf(expression, "values");
  if (values !== undefined && !(Array.isArray(values) && values.every((value) => typeof value === "string"))) throw wrongType(`${place}.values`, "a list of texts");
  return { key: textOf(expression, "key", place) ?? "", operator: textOf(expression, "operator", place) ?? "", ...(values && { values }) };
}

/** A status is an object wherever it is kept, so nothing else is one. */
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

/** The object as the answer's patch makes it; the object itself when the answer has none. Shares with it what stays the same. */
export function readPatched(response: JsonObject, object: AnyObject): AnyObject {
  const patch = textOf(response, "patch", RESPONSE) ?? "";
  const patchType = textOf(response, "patchType", RESPONSE);
  if (patch === "" && patchType === undefined) return object;
  if (patchType !== "JSONPatch") throw wrongType(`${RESPONSE}.patchType`, "JSONPatch");
  if (patch === "") throw new WebhookError("answer", "response.patch is missing");
  const operations = parseJson(decodeBase64(patch), "response.patch");
  return sameObject(applyPatch(object, operations), object);
}

/** Standard base64 with its padding. Node would pass over what is none, and a patch with a hole in it may still be a patch. */
function decodeBase64(text: string): Buffer {
  const compact = text.replaceAll(/[\r\n]/g, "");
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) throw wrongType(`${RESPONSE}.patch`, "base64");
  return Buffer.from(compact, "base64");
}

function applyPatch(object: AnyObject, operations: Json): Json {
  try {
    return applyJsonPatch(object as unknown as Json, Array.isArray(operations) ? operations.map(withRootReplaced) : operations);
  } catch (error) {
    throw new WebhookError("answer", "response.patch does not fit the object", { cause: error });
  }
}

/** To the library of Karmada's interpreters, to add the document as a whole is to replace it; to the one of the API server it is a mistake. */
function withRootReplaced(operation: Json): Json {
  return isObject(operation) && operation["op"] === "add" && operation["path"] === "" ? { ...operation, op: "replace" } : operation;
}

function sameObject(patched: Json, object: AnyObject): AnyObject {
  const { metadata } = isObject(patched) ? patched : {};
  if (!isObject(patched) || !isObject(metadata)) throw new WebhookError("answer", "response.patch leaves no object");
  const before: [field: string, before: string | undefined, after: Json | undefined][] = [
    ["apiVersion", object.apiVersion, patched["apiVersion"]],
    ["kind", object.kind, patched["kind"]],
    ["metadata.name", object.metadata.name, metadata["name"]],
    ["metadata.namespace", object.metadata.namespace, metadata["namespace"]],
  ];
  const changed = before.find(([, was, is]) => was !== is);
  if (changed) throw new WebhookError("answer", `response.patch changes ${changed[0]}, and so which object it is`);
  return patched as unknown as AnyObject;
}
