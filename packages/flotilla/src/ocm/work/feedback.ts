/** Status feedback: values of a member's object that a work returns to the hub. */
import type { FeedbackRule, FeedbackValue, FieldValue } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { INEXACT_INTEGER, inexactIntegers, messageOf, type DeepReadonly, type Json } from "@flotilla/base";
import { compileStrictJsonPath, formatApiVersion, goJson } from "@flotilla/apimachinery";
import type { AnyDefinition } from "@flotilla/kubernetes";
import { knownDefinitions } from "../../interpreter/known-definitions.ts";

export interface FeedbackOptions {
  /** Objects, lists and multiple values are returned as JSON; otherwise only strings, integers and booleans are. */
  rawJson: boolean;
  maxRawLength: number;
}

export interface Feedback {
  values: FeedbackValue[];
  /** Values that could not be read; the others were. */
  problems: string[];
}

/**
 * Strings have no length limit of their own, but the status has to be stored: values of one object beyond this total
 * are omitted.
 */
const MAX_BYTES = 64 * 1024;

type Object = DeepReadonly<KubernetesObject>;
type Path = readonly [name: string, path: string];

/** OCM supports Deployment, DaemonSet, Job and Pod. The others are Flotilla's. */
const WELL_KNOWN: ReadonlyMap<string, readonly Path[]> = new Map(knownDefinitions.flatMap(wellKnownOf));

function wellKnownOf({ kind: { group, kind }, feedback }: AnyDefinition): [id: string, paths: readonly Path[]][] {
  if (!feedback) return [];
  const { versions, values } = feedback;
  return versions
    ? versions.map((version) => [`${formatApiVersion(group, version)} ${kind}`, values])
    : [[`${group} ${kind}`, values]];
}

export function readFeedback(
  object: Object,
  rules: readonly DeepReadonly<FeedbackRule>[],
  options: FeedbackOptions,
): Feedback {
  const feedback: Feedback = { values: [], problems: [] };
  let bytes = 0;
  for (const rule of rules) {
    for (const [name, path] of pathsOf(object, rule, feedback.problems)) {
      const { value, problem } = readValue(object, name, path, options);
      if (problem !== undefined) feedback.problems.push(problem);
      else if (value) {
        bytes += Buffer.byteLength(value.string ?? value.jsonRaw ?? "") + name.length;
        if (bytes <= MAX_BYTES) feedback.values.push({ name, fieldValue: value });
        else
          feedback.problems.push(`the value of ${name} is omitted: the values of one object exceed ${MAX_BYTES} bytes`);
      }
    }
  }
  return feedback;
}

function pathsOf(
  { apiVersion, kind }: Object,
  { type, jsonPaths = [] }: DeepReadonly<FeedbackRule>,
  problems: string[],
): readonly Path[] {
  const [group = "", version = group] = apiVersion.split("/");
  if (type === "WellKnownStatus") {
    const known = WELL_KNOWN.get(`${apiVersion} ${kind}`) ?? WELL_KNOWN.get(`${group} ${kind}`);
    if (!known) problems.push(`cannot find the wellknown statuses for resource with gvk ${apiVersion}, Kind=${kind}`);
    return known ?? [];
  }
  return jsonPaths.flatMap((path): Path[] => {
    if (!path.version || path.version === version) return [[path.name, path.path]];
    problems.push(`version set in the path ${path.name} is not matched for the related resource`);
    return [];
  });
}

function readValue(
  object: Object,
  name: string,
  path: string,
  { rawJson, maxRawLength }: FeedbackOptions,
): { value?: FieldValue; problem?: string } {
  let found: readonly unknown[] | undefined;
  try {
    found = compileStrictJsonPath(path)(object);
  } catch (error) {
    return { problem: `failed to parse json path ${path} of ${name} with error: ${messageOf(error)}` };
  }
  if (!found)
    return {
      problem: `failed to find value for ${name} with error: the path ${path} cannot be followed in this object`,
    };
  const value = found.length > 1 && rawJson ? found : found[0];
  if (value === undefined || value === null) return {};
  // A member keeps 64 bits. The hub cannot, so it reports such a value instead of showing another number.
  if (inexactIntegers(value).size > 0)
    return { problem: `the value of ${name} is omitted: an integer ${INEXACT_INTEGER}` };
  if (typeof value === "string") return { value: { type: "String", string: value } };
  if (typeof value === "boolean") return { value: { type: "Boolean", boolean: value } };
  if (typeof value === "number" && Number.isInteger(value)) return { value: { type: "Integer", integer: value } };
  if (!rawJson) return { problem: `the value of ${name} is not a string, an integer or a boolean` };
  const jsonRaw = goJson(value as Json);
  if (Buffer.byteLength(jsonRaw) > maxRawLength)
    return {
      problem: `the length of returned json raw string for name ${name} is larger than the maximum length ${maxRawLength}`,
    };
  return { value: { type: "JsonRaw", jsonRaw } };
}
