/**
 * Common rules of Flux kinds. Every member's Flux reconciles its own copy and reports the result in a Ready condition;
 * the template shows the members' conditions side by side, and the last reported value of fields that should be the
 * same everywhere. A reconciliation suspended on a member stays suspended.
 *
 * The rules apply to all versions of a kind. Karmada's apply to one version each, and follow fewer of the references
 * that a copy requires: certificates, proxies and variables are propagated here.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import {
  InterpretError,
  isConditionReady,
  joinConditions,
  observedGenerationOf,
  reflectFields,
  replaceStatus,
  reportedStatuses,
  statusOf,
  sumOf,
} from "@flotilla/kubernetes";
import type { Dependency, KindInterpreter, StatusItem } from "@flotilla/kubernetes";

export interface FluxObject extends KubernetesObject {
  spec?: JsonObject;
  status?: JsonObject;
}

export interface FluxKind {
  readonly group: string;
  readonly kind: string;
  /** The reasons of a successful Ready condition. */
  readonly readyReasons: readonly string[];
  readonly status: {
    /** Shown from the last member that reports a value. */
    readonly last?: readonly string[];
    /** Like `last`, but kept while no member reports a value. */
    readonly kept?: readonly string[];
    readonly summed?: readonly string[];
    /** Reflected from members only. */
    readonly others?: readonly string[];
  };
  /** The references of a copy: paths in the spec, with dots between the fields. */
  readonly references: {
    readonly secrets?: readonly string[];
    readonly configMaps?: readonly string[];
    readonly serviceAccounts?: readonly string[];
    /** Lists whose elements reference a Secret or a ConfigMap by kind. */
    readonly lists?: readonly string[];
  };
}

export function fluxInterpreter(rules: FluxKind): KindInterpreter<FluxObject> {
  const { group, kind, readyReasons } = rules;
  const { last = [], kept = [], summed = [], others = [] } = rules.status;
  const reported = ["conditions", ...last, ...kept, ...summed, ...others];
  return {
    group,
    kind,
    retain: retainSuspend,
    reflectStatus: (object) => reflectFields(object, reported),
    aggregateStatus: (template, items) => replaceStatus(template, aggregate(rules, template, items)),
    isHealthy: ({ status }) => isConditionReady(status, readyReasons),
    dependencies: (object) => dependenciesOf(rules, object),
  };
}

function retainSuspend(
  desired: DeepReadonly<FluxObject>,
  observed: DeepReadonly<FluxObject>,
): DeepReadonly<FluxObject> {
  const { suspend } = specOf(observed, "retaining member fields of");
  if (suspend === undefined || suspend === null) return desired;
  return { ...desired, spec: { ...specOf(desired, "retaining member fields of"), suspend } };
}

function aggregate(
  { status: { last = [], kept = [], summed = [] } }: FluxKind,
  template: DeepReadonly<FluxObject>,
  items: readonly StatusItem[],
): JsonObject {
  const before = statusOf(template) ?? {};
  const statuses = reportedStatuses(items);
  const next: JsonObject = { ...before };
  const put = (field: string, value: Json | undefined): void => {
    if (value === undefined) delete next[field];
    else next[field] = value;
  };
  put("conditions", presence(joinConditions(template, items)));
  for (const field of last) put(field, lastReported(statuses, field));
  // A template without clusters keeps nothing.
  for (const field of kept) put(field, lastReported(statuses, field) ?? (items.length > 0 ? before[field] : undefined));
  for (const field of summed) put(field, sumOf(statuses, field));
  next["observedGeneration"] = observedGenerationOf(template, items);
  return next;
}

function lastReported(statuses: readonly JsonObject[], field: string): Json | undefined {
  const status = statuses.findLast((each) => each[field] !== undefined && each[field] !== null && each[field] !== "");
  return status?.[field];
}

const presence = (list: JsonObject[]): JsonObject[] | undefined => (list.length > 0 ? list : undefined);

/** Without duplicates, sorted by kind and name. Throws for a reference without a name: the copy could never work. */
function dependenciesOf({ references }: FluxKind, object: DeepReadonly<FluxObject>): Dependency[] {
  const { secrets = [], configMaps = [], serviceAccounts = [], lists = [] } = references;
  const spec = specOf(object, "finding the dependencies of");
  const { namespace } = object.metadata;
  const found = new Map<string, Dependency>();
  const note = (kind: string, name: string): void =>
    void found.set(`${kind}/${name}`, { apiVersion: "v1", kind, namespace: namespace || undefined, name });
  const noteAt = (kind: string, path: string): void => {
    const reference = at(spec, path);
    if (reference === undefined || reference === null) return;
    const name = nameIn(reference, object, path);
    // Flux uses an empty name for no reference.
    if (name !== "") note(kind, name);
  };
  for (const path of secrets) noteAt("Secret", path);
  for (const path of configMaps) noteAt("ConfigMap", path);
  for (const path of serviceAccounts) {
    const name = at(spec, path);
    if (typeof name === "string" && name !== "") note("ServiceAccount", name);
  }
  for (const path of lists) {
    for (const reference of listAt(spec, path)) {
      if (reference["kind"] !== "Secret" && reference["kind"] !== "ConfigMap") continue;
      const name = nameIn(reference, object, path);
      if (name === "") throw unnamed(object, path);
      note(reference["kind"], name);
    }
  }
  return [...found.values()];
}

function specOf(object: DeepReadonly<FluxObject>, doing: string): DeepReadonly<JsonObject> {
  if (isObject(object.spec)) return object.spec;
  throw new InterpretError(`${doing} ${object.kind} ${object.metadata.name}: spec is not an object`);
}

function at(spec: DeepReadonly<JsonObject>, path: string): unknown {
  let value: unknown = spec;
  for (const field of path.split(".")) value = isObject(value) ? value[field] : undefined;
  return value;
}

function listAt(spec: DeepReadonly<JsonObject>, path: string): JsonObject[] {
  const list = at(spec, path);
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function nameIn(reference: unknown, object: DeepReadonly<FluxObject>, path: string): string {
  const name = isObject(reference) ? reference["name"] : undefined;
  if (typeof name !== "string") throw unnamed(object, path);
  return name;
}

const unnamed = ({ kind, metadata }: DeepReadonly<FluxObject>, path: string): InterpretError =>
  new InterpretError(
    `finding the dependencies of ${kind} ${metadata.name}: spec.${path} has a reference without a name`,
  );
