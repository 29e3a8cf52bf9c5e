/** What a few kinds need beyond their schema when they are written. Each is one small file or function; most kinds have none. */
import { equalJson, isObject } from "../base/index.ts";
import type { JsonObject } from "../base/index.ts";
import type { FieldError } from "../machinery/index.ts";
import type { RequestContext } from "./context.ts";
import { isDefinition } from "./crd.ts";
import { completeDefinition, prepareDefinition, validateDefinition } from "./crd-rules.ts";
import { isNamespaceKind, labelNamespace, prepareNamespace } from "./namespaces.ts";
import { completePod } from "./pods.ts";
import type { Resource } from "./resources.ts";
import { textOf } from "./text.ts";

/** Both changes are made in place, at the top level and in metadata; what lies deeper is replaced, because it may be shared. */
export interface Strategy {
  /** Fills in what counts as part of the request: the writer owns it. */
  complete?(object: JsonObject): void;
  /** Sets what is the server's alone. `old` is unset for a new object. */
  prepare?(object: JsonObject, old: JsonObject | undefined, context: RequestContext): void;
  validate?(object: JsonObject, old: JsonObject | undefined): FieldError[];
}

const namespace: Strategy = { complete: labelNamespace, prepare: prepareNamespace };
const definition: Strategy = { complete: completeDefinition, prepare: prepareDefinition, validate: validateDefinition };

const BUILT_IN: Readonly<Record<string, Strategy>> = {
  "/Secret": { complete: foldStringData, validate: (secret, old) => [...dataErrors(secret, "data", true), ...keepImmutable(secret, old)] },
  "/ConfigMap": { validate: (configMap, old) => [...dataErrors(configMap, "[]", false), ...keepImmutable(configMap, old)] },
  "/Pod": {
    prepare(pod, old) {
      if (!old) completePod(pod);
    },
  },
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
  for (const [key, value] of Object.entries(stringData)) data[key] = Buffer.from(textOf(value)).toString("base64");
  secret.data = data;
  delete secret.stringData;
}

const MAX_DATA_BYTES = 1024 * 1024;

/** All values of a ConfigMap or Secret together. Base64 is counted by what it holds. */
function dataErrors({ data, binaryData }: JsonObject, field: string, isEncoded: boolean): FieldError[] {
  let total = 0;
  for (const value of Object.values(isObject(data) ? data : {})) total += isEncoded ? (textOf(value).length / 4) * 3 : Buffer.byteLength(textOf(value));
  for (const value of Object.values(isObject(binaryData) ? binaryData : {})) total += (textOf(value).length / 4) * 3;
  return total > MAX_DATA_BYTES ? [{ type: "TooLong", field, message: `Too long: may not be more than ${MAX_DATA_BYTES} bytes` }] : [];
}

/** A ConfigMap or Secret that says so never changes its content again. */
function keepImmutable(object: JsonObject, old: JsonObject | undefined): FieldError[] {
  const errors: FieldError[] = [];
  if (old?.immutable !== true) return errors;
  for (const field of ["immutable", "data", "binaryData"]) {
    if (!equalJson(object[field], old[field])) errors.push({ type: "Forbidden", field, message: "Forbidden: field is immutable when `immutable` is set" });
  }
  return errors;
}
