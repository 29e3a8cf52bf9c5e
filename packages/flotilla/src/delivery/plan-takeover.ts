/**
 * Decides who owns which fields before an apply. Fields written by create or PUT become ours by apply: only then does a
 * field that a later manifest omits disappear. Fields that the member now decides move to a keeper, because omitting
 * them would remove them. Pure.
 */
import { fieldSetDifference, hasField, singleField, unionOf } from "@flotilla/apimachinery";
import type { FieldSet, KubernetesObject, ManagedFieldsEntry } from "@flotilla/apimachinery";
import { equalJson, isObject, omitZero, ownOf } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { holdsIn } from "./matches-desired.ts";
import { parseKey } from "./drift.ts";

/** Karmada's field managers on members: they wrote the template, so their fields become ours on takeover. */
const PREDECESSORS: ReadonlySet<string> = new Set(["karmada-controller-manager", "karmada-agent"]);
/** The same for OCM works: OCM's agent writes under this name where it does not apply. */
export const STOCK_AGENTS: ReadonlySet<string> = new Set(["work"]);
/** Owns fields that were ours and are left to the member, until a client there writes them. */
export const KEEPER = "flotilla-retained";

type Entry = DeepReadonly<ManagedFieldsEntry>;

export interface Takeover {
  manager: string;
  manifest: DeepReadonly<KubernetesObject>;
  observed: DeepReadonly<KubernetesObject>;
  /** We did not create it. */
  isAdopted: boolean;
  /** Fields that the member decides. */
  left?: readonly (readonly string[])[];
  /** Managers whose fields become ours; unset are Karmada's. */
  predecessors?: ReadonlySet<string>;
}

/**
 * The new managedFields; undefined when there is nothing to take over. An adopted object is taken over completely:
 * fields that its creator set and the manifest omits are removed, because otherwise two authors would be mixed into one
 * workload. The pod template is the exception: while the manifest changes nothing in it, its additional fields stay,
 * and no pod is replaced.
 */
export function planTakeover({
  manager,
  manifest,
  observed,
  isAdopted,
  left = [],
  predecessors = PREDECESSORS,
}: Takeover): Entry[] | undefined {
  const managedFields = observed.metadata.managedFields ?? [];
  const isOwn = (entry: Entry): boolean =>
    entry.manager === manager && entry.operation === "Apply" && !entry.subresource;
  const isTaken = (entry: Entry): boolean => {
    const { manager: name = "", operation, subresource } = entry;
    if (subresource || isOwn(entry)) return false;
    return isAdopted || (operation === "Update" && (name === manager || predecessors.has(name)));
  };
  const taken = managedFields.filter(isTaken);
  const keepsPods = isAdopted && holdsIn(podTemplateOf(manifest), podTemplateOf(observed));
  const kept: Entry[] = [];
  let ours: FieldSet | undefined;
  for (const entry of managedFields) {
    if (isOwn(entry)) ours = unionOf(ours, fieldsOf(entry));
    else if (!isTaken(entry)) kept.push(entry);
    else {
      const [stated, unstated] = keepsPods ? splitPods(fieldsOf(entry), manifest) : [fieldsOf(entry), undefined];
      ours = unionOf(ours, stated);
      if (unstated) kept.push({ ...entry, fieldsV1: unstated });
    }
  }
  const handed = left.filter((path) => hasField(ours, path));
  if (taken.length === 0 && handed.length === 0) return undefined;
  const pattern = taken[0] ?? managedFields.find(isOwn) ?? {};
  for (const path of handed) ours = fieldSetDifference(ours, path);
  const entries: Entry[] = [...kept, { ...pattern, manager, operation: "Apply", fieldsV1: ours ?? {} }];
  if (handed.length === 0) return entries;
  const fields = handed.map(singleField).reduce<FieldSet | undefined>(unionOf, undefined);
  const isKeeper = (entry: Entry): boolean => entry.manager === KEEPER && !entry.subresource;
  const before = entries.find(isKeeper);
  return [
    ...entries.filter((entry) => !isKeeper(entry)),
    { ...pattern, manager: KEEPER, operation: "Update", fieldsV1: unionOf(before && fieldsOf(before), fields) ?? {} },
  ];
}

const fieldsOf = ({ fieldsV1 }: Entry): FieldSet | undefined => fieldsV1 as FieldSet | undefined;
const podTemplateOf = (object: unknown): unknown => ownOf(ownOf(object, "spec"), "template");

/**
 * Splits the fields of an entry: those without pod template fields that the manifest does not specify, and those pod
 * template fields.
 */
function splitPods(set: FieldSet | undefined, manifest: unknown): [FieldSet | undefined, FieldSet | undefined] {
  const spec = ownOf(set, "f:spec");
  const template = ownOf(spec, "f:template");
  if (!isObject(set) || !isObject(spec) || !isObject(template)) return [set, undefined];
  const [stated, unstated] = splitStated(template, podTemplateOf(manifest));
  if (!unstated) return [set, undefined];
  const { "f:template": _template, ...rest } = spec;
  return [
    { ...set, "f:spec": { ...rest, ...omitZero({ "f:template": stated }) } },
    { "f:spec": { "f:template": unstated } },
  ];
}

/** Splits a field set into the fields that a value specifies, and the rest. */
function splitStated(set: FieldSet, value: unknown): [FieldSet | undefined, FieldSet | undefined] {
  if (value === undefined) return [undefined, set];
  const stated: FieldSet = {};
  const unstated: FieldSet = {};
  let isLeaf = true;
  for (const step of Object.keys(set)) {
    isLeaf = false;
    if (step === ".") {
      stated[step] = {};
      continue;
    }
    const [inside, outside] = splitStated(set[step] as FieldSet, elementAt(value, step));
    if (inside) stated[step] = inside;
    if (outside) unstated[step] = outside;
  }
  return [isLeaf ? set : orNothing(stated), orNothing(unstated)];
}

function elementAt(value: unknown, step: string): unknown {
  if (step.startsWith("f:")) return ownOf(value, step.slice("f:".length));
  if (!Array.isArray(value)) return undefined;
  if (!step.startsWith("k:")) return value;
  const key = parseKey(step);
  return (
    key &&
    value.find((item) =>
      Object.entries(key).every(
        ([name, wanted]) => ownOf(item, name) === undefined || equalJson(ownOf(item, name), wanted),
      ),
    )
  );
}

function orNothing(set: FieldSet): FieldSet | undefined {
  for (const _key in set) return set;
  return undefined;
}
