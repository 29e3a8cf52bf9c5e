/**
 * Shows a plan as it ends on the members: where a user's Retain rule keeps values of a member, its object is read and the
 * rule is run.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { InterpretError } from "@flotilla/kubernetes";
import { keeperOf, planRetained, planSetLater, rewrittenCopies } from "@flotilla/flotilla";
import type { FleetPlan, Interpreter, MemberChange } from "@flotilla/flotilla";
import type { PlanChanges } from "./own-changes.ts";
import { readMemberObjects } from "./read-member-objects.ts";

interface Dependencies {
  client: Client;
  interpreter: Pick<Interpreter, "retain" | "ownerOf">;
  clock: Clock;
  signal: AbortSignal;
}

interface RetainedChanges extends PlanChanges {
  notes: string[];
}

export async function withRetained(
  plan: FleetPlan,
  planned: PlanChanges,
  deps: Dependencies,
): Promise<RetainedChanges> {
  const { interpreter } = deps;
  const announced = await Promise.all(planned.changes.map((change) => withSetLater(plan, change, interpreter)));
  const kept = announced.filter((change) => keeperOf(change, interpreter) !== undefined);
  const rewritten = rewrittenCopies(plan, (template) => interpreter.ownerOf("retain", template) !== undefined);
  if (kept.length + rewritten.length === 0) return { ...planned, changes: announced, notes: [] };
  const { found: observed } = await readMemberObjects(deps, [...kept, ...rewritten]);
  const result: RetainedChanges = { changes: [], problems: [...planned.problems], notes: [] };
  for (const change of announced) {
    const keeper = keeperOf(change, interpreter);
    const object = observed.get(change);
    if (keeper !== undefined && object) await addCorrected(result, plan, change, object, interpreter);
    else result.changes.push(change);
    if (keeper !== undefined && !object)
      result.notes.push(
        `${titleOf(change)}: the Retain rule of ${keeper} may keep values of ${change.cluster}, which could not be read`,
      );
  }
  for (const change of rewritten) {
    const object = observed.get(change);
    if (object) result.changes.push(...(await changesByRule(plan, change, object, interpreter)));
  }
  return result;
}

/** What the rule changes in a copy of which the hub changes nothing else. Values that it keeps are not changes. */
async function changesByRule(
  plan: FleetPlan,
  change: MemberChange,
  observed: DeepReadonly<KubernetesObject>,
  interpreter: Pick<Interpreter, "retain" | "ownerOf">,
): Promise<MemberChange[]> {
  const ended: RetainedChanges = { changes: [], problems: [], notes: [] };
  await addCorrected(ended, plan, change, observed, interpreter);
  return ended.changes.filter(({ fields }) => fields.length > 0);
}

async function withSetLater(
  plan: FleetPlan,
  change: MemberChange,
  interpreter: Pick<Interpreter, "retain" | "ownerOf">,
): Promise<MemberChange> {
  if (change.action !== "create") return change;
  try {
    const later = await planSetLater(plan, change, interpreter);
    return later === undefined ? change : { ...change, note: [change.note, later].filter(Boolean).join("; ") };
  } catch (error) {
    // A rule may need what only the member has.
    if (error instanceof InterpretError) return change;
    throw error;
  }
}

async function addCorrected(
  { changes, problems, notes }: RetainedChanges,
  plan: FleetPlan,
  change: MemberChange,
  observed: DeepReadonly<KubernetesObject>,
  interpreter: Pick<Interpreter, "retain" | "ownerOf">,
): Promise<void> {
  try {
    const planned = await planRetained(plan, change, observed, interpreter);
    if (planned.outcome === "change") changes.push(planned.change);
    else if (planned.outcome === "none") notes.push(`${titleOf(change)} on ${change.cluster} stays: ${planned.note}`);
    else problems.push({ resource: titleOf(change), message: planned.message });
  } catch (error) {
    if (!(error instanceof InterpretError)) throw error;
    problems.push({ resource: titleOf(change), message: `${change.cluster}: ${error.message}` });
  }
}

const titleOf = ({ object: { kind, namespace, name } }: MemberChange): string =>
  `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
