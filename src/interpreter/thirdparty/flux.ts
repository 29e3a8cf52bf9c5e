/**
 * What Flux's kinds have in common. Every member's Flux reconciles its own copy and says in a Ready condition how that
 * went; the template shows the members' conditions side by side, and of values that should be the same everywhere the
 * last one reported. Somebody who suspends the reconciliation on a member keeps it suspended.
 *
 * The rules hold for all versions of a kind. Karmada's hold for one each, and read fewer of the references that a copy
 * cannot work without: certificates, proxies and variables are brought along here.
 */
import type { KubernetesObject } from "../../api/index.ts";
import { isObject, type DeepReadonly, type Json, type JsonObject } from "../../base/index.ts";
import { InterpretError } from "../interpret-error.ts";
import type { Dependency, KindInterpreter, StatusItem } from "../kind-interpreter.ts";
import { replaceStatus, reportedStatuses, statusOf, sumOf } from "../replica-status.ts";
import { observedGenerationOf, reflectFields } from "./counters.ts";
import { isReady, joinConditions } from "./joined-conditions.ts";

export interface FluxObject extends KubernetesObject {
  spec?: JsonObject;
  status?: JsonObject;
}

export interface FluxKind {
  readonly group: string;
  readonly kind: string;
  /** The reasons with which a Ready condition tells success. */
  readonly readyReasons: readonly string[];
  readonly status: {
    /** Shown as the last member says that says something. */
    readonly last?: readonly string[];
    /** Like these, but kept while no member says anything. */
    readonly kept?: readonly string[];
    readonly summed?: readonly string[];
    /** Brought back from the members only. */
    readonly others?: readonly string[];
  };
  /** What a copy refers to: where in the spec, with dots between the fields. */
  readonly references: {
    readonly secrets?: readonly string[];
    readonly configMaps?: readonly string[];
    readonly serviceAccounts?: readonly string[];
    /** Lists whose elements name a Secret or a ConfigMap by kind. */
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
    isHealthy: ({ status }) => isReady(status, readyReasons),
    dependencies: (object) => dependenciesOf(rules, object),
  };
}

function retainSuspend(
  desired: DeepReadonly<FluxObject>,
  observed: DeepReadonly<FluxObject>,
): DeepReadonly<FluxObject> {
  const { suspend } = specOf(observed, "keeping what a member decides for");
  if (suspend === undefined || suspend === null) return desired;
  return { ...desired, spec: { ...specOf(desired, "keeping what a member decides for"), suspend } };
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
  for (const field of last) put(field, lastSaid(statuses, field));
  // A template that is on no cluster has nothing to remember.
  for (const field of kept) put(field, lastSaid(statuses, field) ?? (items.length > 0 ? before[field] : undefined));
  for (const field of summed) put(field, sumOf(statuses, field));
  next["observedGeneration"] = observedGenerationOf(template, items);
  return next;
}

function lastSaid(statuses: readonly JsonObject[], field: string): Json | undefined {
  const status = statuses.findLast((each) => each[field] !== undefined && each[field] !== null && each[field] !== "");
  return status?.[field];
}

const presence = (list: JsonObject[]): JsonObject[] | undefined => (list.length > 0 ? list : undefined);

/** Each once, by kind and name. Throws for a reference that names nothing: the copy could never work. */
function dependenciesOf({ references }: FluxKind, object: DeepReadonly<FluxObject>): Dependency[] {
  const { secrets = [], configMaps = [], serviceAccounts = [], lists = [] } = references;
  const spec = specOf(object, "finding the dependencies of");
  const { namespace } = object.metadata;
  const found = new Map<string, Dependency>();
  const note = (kind: string, name: string): void =>
    void found.set(`${kind}/${name}`, { apiVersion: "v1", kind, ...(namespace && { namespace }), name });
  const noteAt = (kind: string, path: string): void => {
    const reference = at(spec, path);
    if (reference === undefined || reference === null) return;
    const name = nameIn(reference, object, path);
    // An empty name is Flux's way to say that there is none.
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
