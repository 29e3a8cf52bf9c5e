/** Corrects a planned change of a member's object by what a user's Retain rule keeps there. Writes nothing. */
import { ApiError } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import type { DeepReadonly, Json } from "@flotilla/base";
import type { Interpreter } from "../interpreter/interpreter.ts";
import { exceededRelease, renderExceeded } from "../propagation/execute/release-limit.ts";
import type { Template } from "../propagation/templates/templates.ts";
import { isBookkeeping } from "./explain-bookkeeping.ts";
import { compareFields } from "../fields/field-changes.ts";
import type { FieldChange } from "../fields/field-changes.ts";
import { asObserved } from "./plan-existing.ts";
import { worksOf } from "./plan-fleet.ts";
import type { FleetPlan, MemberChange } from "./plan-fleet.ts";

/** What really happens: another change, nothing, or a release that is stopped. */
export type RetainedChange =
  | { outcome: "change"; change: MemberChange }
  | { outcome: "none"; note: string }
  | { outcome: "stopped"; message: string };

/** Values shown in a note; the others are counted. */
const SHOWN_FIELDS = 3;
const SHOWN_CHARACTERS = 100;

/** The user's object whose rule keeps values of the member; undefined when the change is as planned. */
export function keeperOf(
  { action, object }: MemberChange,
  interpreter: Pick<Interpreter, "ownerOf">,
): string | undefined {
  return action === "update" ? interpreter.ownerOf("retain", object) : undefined;
}

/**
 * Of a new copy: the values that the rule sets itself. It runs when the hub changes the copy, not when it creates it, so
 * these values come later. Undefined if it sets none. Throws `InterpretError` when the rule fails.
 */
export async function planSetLater(
  plan: FleetPlan,
  change: MemberChange,
  interpreter: Pick<Interpreter, "retain" | "ownerOf">,
): Promise<string | undefined> {
  const copy = worksOf(plan, change).after?.spec.workload?.manifests?.[0] as unknown as Template | undefined;
  const owner = copy && interpreter.ownerOf("retain", copy);
  if (!copy || owner === undefined) return undefined;
  const set = await fieldsSetByRule(copy, interpreter);
  if (set.length === 0) return undefined;
  const values = set.slice(0, SHOWN_FIELDS).map(({ path, after }) => `${path} to ${text(after)}`);
  return `the Retain rule of ${owner} sets ${values.join("; ")} when the hub next changes the copy`;
}

/**
 * The fields that a Retain rule changes where the member has what the copy asks for: their values are the rule's, not the
 * member's. Throws `InterpretError` when the rule fails.
 */
export async function fieldsSetByRule(
  copy: Template,
  interpreter: Pick<Interpreter, "retain">,
): Promise<readonly FieldChange[]> {
  return compareFields(copy, await interpreter.retain(copy, copy), isHidden).fields;
}

/** `observed` is the member's object. Throws `InterpretError` when the rule fails. */
export async function planRetained(
  plan: FleetPlan,
  change: MemberChange,
  observed: Template,
  interpreter: Pick<Interpreter, "retain" | "ownerOf">,
): Promise<RetainedChange> {
  const works = worksOf(plan, change);
  const [before, after] = [copyIn(works.before, observed), copyIn(works.after, observed)];
  const failed = [before, after].find((copy) => copy instanceof ApiError);
  if (failed) return { outcome: "stopped", message: `${change.cluster}: ${failed.message}` };
  if (!before || !after || before instanceof ApiError || after instanceof ApiError)
    return { outcome: "change", change };
  // The rule of the version that the member serves.
  const owner = interpreter.ownerOf("retain", after);
  if (owner === undefined) return { outcome: "change", change };
  const next = await interpreter.retain(after, observed);
  const exceeded = exceededRelease(after, next, observed);
  if (exceeded) return { outcome: "stopped", message: `${change.cluster}: ${renderExceeded(exceeded, owner)}` };
  const kept = compareFields(after, next, isHidden).fields;
  const { fields: copied, more: hidden } = compareFields(await interpreter.retain(before, observed), next, isHidden);
  const fields = [...copied, ...setByRule(kept, observed, next).filter(({ path }) => !isWithin(path, copied))];
  const ended = { ...change, fields, more: hidden > 0 ? hidden : undefined };
  // A value that the rule kept until now, and that the hub now asks for as well.
  if (kept.length === 0)
    return fields.length === 0
      ? { outcome: "none", note: "it has these values already" }
      : { outcome: "change", change: ended };
  const set = new Set((await fieldsSetByRule(after, interpreter)).map(({ path }) => path));
  const note = [
    ...keptNote(
      `the member decides, by the Retain rule of ${owner}`,
      kept.filter(({ path }) => !set.has(path)),
    ),
    ...keptNote(
      `the Retain rule of ${owner} decides`,
      kept.filter(({ path }) => set.has(path)),
    ),
  ].join("; ");
  if (fields.length === 0) return { outcome: "none", note };
  return { outcome: "change", change: { ...ended, note: [change.note, note].filter(Boolean).join("; ") } };
}

function keptNote(who: string, fields: readonly FieldChange[]): string[] {
  const shown = fields
    .slice(0, SHOWN_FIELDS)
    .map(({ path, before: ours, after: theirs }) => `${path} is ${text(theirs)}, the hub asks for ${text(ours)}`);
  const more = fields.length > SHOWN_FIELDS ? [`${fields.length - SHOWN_FIELDS} more fields`] : [];
  return fields.length === 0 ? [] : [`${who}: ${[...shown, ...more].join("; ")}`];
}

/** What the rule itself sets: neither the hub asks for it, nor has the member had it. */
function setByRule(kept: readonly FieldChange[], observed: Template, next: Template): FieldChange[] {
  const { fields } = compareFields(observed, next, isHidden);
  return fields.filter(({ path, after }) => after !== undefined && isWithin(path, kept));
}

const isWithin = (path: string, fields: readonly FieldChange[]): boolean =>
  fields.some((field) => field.path === path || path.startsWith(`${field.path}.`) || path.startsWith(`${field.path}[`));

/** A rule may copy the status as well; the hub sends none, so it decides nothing. */
const isHidden = (path: string): boolean => path === "status" || isBookkeeping(path);

function text(value: Json | undefined): string {
  if (value === undefined) return "unset";
  const whole = JSON.stringify(value);
  return whole.length > SHOWN_CHARACTERS ? `${whole.slice(0, SHOWN_CHARACTERS)}…` : whole;
}

/** The copy in a Work, as its member gets it. */
function copyIn(work: DeepReadonly<Work> | undefined, observed: Template): Template | ApiError | undefined {
  const manifest = work?.spec.workload?.manifests?.[0] as unknown as Template | undefined;
  return manifest && asObserved(manifest, observed);
}
