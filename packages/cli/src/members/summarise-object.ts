/** Summarizes an object of any kind in a few lines. Pure. */
import { isObject, textOf, textsOf, objectOf, objectsOf } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { formatAge } from "@flotilla/apimachinery";
import { scalarText } from "./json-parts.ts";

export interface ObjectSummary {
  created: string;
  generation?: number;
  labels: string[];
  annotations: string[];
  owner?: string;
  deleting: boolean;
  finalizers: string[];
  /** `replicas: 4` and the other simple values, nested ones by their path. */
  spec: string[];
  status: string[];
  containers: string[];
  conditions: ConditionSummary[];
}

interface ConditionSummary {
  type: string;
  status: string;
  reason: string;
  message: string;
  /** How long the condition has had this status. */
  age: string;
}

const MAX_VALUES = 16;
const MAX_CHARACTERS = 120;
const MAX_DEPTH = 3;
/** Annotations that repeat the object or are internal records. */
const HIDDEN: readonly string[] = [
  "kubectl.kubernetes.io/last-applied",
  "deployment.kubernetes.io",
  "resourcetemplate.karmada.io",
  "work.karmada.io",
  "resourcebinding.karmada.io",
  "clusterresourcebinding.karmada.io",
  "propagationpolicy.karmada.io",
  "clusterpropagationpolicy.karmada.io",
  "flotilla.dev",
];
/** Secret values are never shown. */
const SECRET = "Secret";

export function summariseObject(object: JsonObject, nowMs: number): ObjectSummary {
  const metadata = objectOf(object["metadata"]);
  const spec = objectOf(object["spec"]);
  const status = objectOf(object["status"]);
  const owners = objectsOf(metadata["ownerReferences"]);
  const owner = owners.find(({ controller }) => controller === true) ?? owners[0];
  const created = textOf(metadata["creationTimestamp"]);
  return {
    created: created === "" ? "unknown" : `${created} (${formatAge(nowMs - Date.parse(created))} ago)`,
    generation: typeof metadata["generation"] === "number" ? metadata["generation"] : undefined,
    labels: pairsOf(metadata["labels"], "="),
    annotations: pairsOf(metadata["annotations"], ": "),
    owner: owner ? `${textOf(owner["kind"])}/${textOf(owner["name"])}` : undefined,
    deleting: metadata["deletionTimestamp"] !== undefined,
    finalizers: textsOf(metadata["finalizers"]),
    spec: valuesOf(Object.keys(spec).length > 0 ? withoutTemplate(spec) : contentOf(object)),
    status: valuesOf(Object.fromEntries(Object.entries(status).filter(([key]) => key !== "conditions"))),
    containers: containersOf(spec, status),
    conditions: conditionsOf(status, nowMs),
  };
}

/** The pod template is shown separately. */
function withoutTemplate(spec: JsonObject): JsonObject {
  const {
    template: _template,
    containers: _containers,
    initContainers: _initContainers,
    volumes: _volumes,
    tolerations: _tolerations,
    ...rest
  } = spec;
  return rest;
}

/** For kinds without a spec, their content: names only where it may be secret. */
function contentOf(object: JsonObject): JsonObject {
  const { apiVersion: _apiVersion, kind, metadata: _metadata, status: _status, ...rest } = object;
  if (kind !== SECRET) return rest;
  return Object.fromEntries(
    Object.entries(rest).map(([field, value]) => [
      field,
      isObject(value) ? Object.fromEntries(Object.keys(value).map((key) => [key, "(hidden)"])) : value,
    ]),
  );
}

function pairsOf(value: Json | undefined, joint: string): string[] {
  return limited(
    Object.entries(objectOf(value))
      .filter(([key]) => !HIDDEN.some((start) => key.startsWith(start)))
      .map(([key, text]) => shortened(`${key}${joint}${scalarText(text)}`)),
  );
}

function valuesOf(value: JsonObject): string[] {
  return limited([...scalarsIn(value, "", 1)].map(([path, text]) => shortened(`${path}: ${text}`)));
}

function* scalarsIn(value: JsonObject, before: string, depth: number): Generator<[string, string]> {
  for (const [key, item] of Object.entries(value)) {
    const path = before === "" ? key : `${before}.${key}`;
    if (isObject(item)) {
      if (depth < MAX_DEPTH) yield* scalarsIn(item, path, depth + 1);
    } else if (Array.isArray(item)) {
      if (item.length > 0)
        yield [
          path,
          item.every((each) => typeof each !== "object")
            ? item.map(scalarText).join(", ")
            : `${item.length} ${item.length === 1 ? "entry" : "entries"}`,
        ];
    } else if (item !== null && item !== "") yield [path, String(item)];
  }
}

function containersOf(spec: JsonObject, status: JsonObject): string[] {
  const template = objectOf(objectOf(spec["template"])["spec"]);
  const containers = objectsOf([template, spec].map((each) => each["containers"]).find(Array.isArray));
  const statuses = objectsOf(status["containerStatuses"]);
  return limited(
    containers.map(({ name, image }) => {
      const state = statuses.find((each) => each["name"] === name);
      return shortened(`${textOf(name)}: ${textOf(image)}${state ? ` (${stateOf(state)})` : ""}`);
    }),
  );
}

function stateOf({ ready, restartCount, state }: JsonObject): string {
  const [[word, detail] = ["", null]] = Object.entries(objectOf(state));
  const reason = textOf(objectOf(detail)["reason"]);
  return [
    ready === true ? "ready" : "not ready",
    ...(word === "" || (ready === true && word === "running") ? [] : [`${word}${reason === "" ? "" : `: ${reason}`}`]),
    `${Number(restartCount ?? 0)} restarts`,
  ].join(", ");
}

function conditionsOf({ conditions }: JsonObject, nowMs: number): ConditionSummary[] {
  return objectsOf(conditions)
    .slice(0, MAX_VALUES)
    .map((condition) => {
      const since = textOf(condition["lastTransitionTime"]);
      return {
        type: textOf(condition["type"]),
        status: textOf(condition["status"]),
        reason: textOf(condition["reason"]),
        message: textOf(condition["message"]),
        age: since === "" ? "" : formatAge(nowMs - Date.parse(since)),
      };
    });
}

const limited = (lines: string[]): string[] =>
  lines.length > MAX_VALUES ? [...lines.slice(0, MAX_VALUES), `and ${lines.length - MAX_VALUES} more`] : lines;
const shortened = (text: string): string => (text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text);
