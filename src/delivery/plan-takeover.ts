/**
 * Decides how the fields of an object that was written by create or PUT become ours by apply: only then does a field that
 * a later manifest lacks disappear. Pure.
 */
import type { ManagedFieldsEntry } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { unionOf } from "../machinery/index.ts";
import type { FieldSet } from "../machinery/index.ts";

/** Who delivered to members before us: what they wrote was the template, so it is ours when we take over. */
const PREDECESSORS: ReadonlySet<string> = new Set(["karmada-controller-manager", "karmada-agent"]);

type Entry = DeepReadonly<ManagedFieldsEntry>;

/**
 * The new list of managers; undefined when there is nothing to take over. An object that is adopted changes hands whole: what
 * its maker stated and the manifest does not is removed, or two authors would be mixed into one workload.
 */
export function planTakeover(managedFields: readonly Entry[], manager: string, isAdopted: boolean): Entry[] | undefined {
  const isTaken = ({ manager: name = "", operation, subresource }: Entry): boolean => !subresource && (isAdopted ? name !== manager || operation === "Update" : operation === "Update" && (name === manager || PREDECESSORS.has(name)));
  const taken = managedFields.filter(isTaken);
  const [newest] = taken;
  if (!newest) return undefined;
  const isOwn = (entry: Entry): boolean => entry.manager === manager && entry.operation === "Apply" && !entry.subresource;
  const fields = [...managedFields.filter(isOwn), ...taken].map(({ fieldsV1 }) => fieldsV1 as FieldSet | undefined).reduce<FieldSet | undefined>(unionOf, undefined);
  const rest = managedFields.filter((entry) => !isTaken(entry) && !isOwn(entry));
  return [...rest, { ...newest, manager, operation: "Apply", fieldsV1: fields ?? {} }];
}
