/** What a few kinds need beyond their schema when they are written. Each is one small file or function; most kinds have none. */
import { equalJson, isObject } from "../base/index.ts";
import type { JsonObject } from "../base/index.ts";
import type { FieldError } from "../machinery/index.ts";
import { invalidValue } from "./context.ts";
import type { RequestContext } from "./context.ts";
import { isDefinition } from "./crd.ts";
import { prepareDefinition, validateDefinition } from "./crd-rules.ts";
import { completeNamespace, isNamespaceKind } from "./namespaces.ts";
import { completePod } from "./pods.ts";
import type { Resource } from "./resources.ts";

export interface Strategy {
  /** Changes the object in place, after defaulting. `old` is unset for a new object. */
  prepare?(object: JsonObject, old: JsonObject | undefined, context: RequestContext): void;
  validate?(object: JsonObject, old: JsonObject | undefined): FieldError[];
}

const namespace: Strategy = { prepare: completeNamespace };
const definition: Strategy = { prepare: prepareDefinition, validate: validateDefinition };

const BUILT_IN: Readonly<Record<string, Strategy>> = {
  "/Secret": { prepare: foldStringData, validate: keepImmutable },
  "/ConfigMap": { validate: keepImmutable },
  "/Pod": {
    prepare(pod, old) {
      if (!old) completePod(pod);
    },
  },
  "apps/Deployment": { validate: keepSelector },
  "apps/ReplicaSet": { validate: keepSelector },
  "apps/DaemonSet": { validate: keepSelector },
};

export function strategyOf(resource: Resource): Strategy | undefined {
  const { group, kind, builtIn } = resource.kind;
  if (!builtIn) return undefined;
  if (isNamespaceKind(resource)) return namespace;
  if (isDefinition(resource)) return definition;
  return BUILT_IN[`${group}/${kind}`];
}

/** `stringData` is for writing only: it ends up in `data`, encoded. */
function foldStringData(secret: JsonObject): void {
  const { stringData } = secret;
  if (!isObject(stringData)) return;
  const data: JsonObject = isObject(secret.data) ? { ...secret.data } : {};
  for (const [key, value] of Object.entries(stringData)) data[key] = Buffer.from(String(value)).toString("base64");
  secret.data = data;
  delete secret.stringData;
}

/** A ConfigMap or Secret that says so never changes its content again. */
function keepImmutable(object: JsonObject, old: JsonObject | undefined): FieldError[] {
  if (old?.immutable !== true) return [];
  const errors: FieldError[] = [];
  for (const field of ["immutable", "data", "binaryData"]) {
    if (!equalJson(object[field], old[field])) errors.push({ type: "Forbidden", field, message: "Forbidden: field is immutable when `immutable` is set" });
  }
  return errors;
}

/** Pods are found by the selector, so it can never change. */
function keepSelector(object: JsonObject, old: JsonObject | undefined): FieldError[] {
  const selector = (object.spec as JsonObject | undefined)?.selector;
  if (!old || equalJson(selector, (old.spec as JsonObject | undefined)?.selector)) return [];
  return [invalidValue("spec.selector", selector, "field is immutable")];
}
