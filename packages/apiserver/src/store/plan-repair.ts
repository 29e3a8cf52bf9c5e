/**
 * Decides how a damaged store is repaired: which rows are kept, and from where each damaged object is restored. Pure.
 *
 * The newest intact row of a key is its current value, unless the table of current entries names a newer row that is
 * damaged. So an entry that is lost or changed is restored without loss; a value that is damaged is replaced by an older
 * one.
 */
import { totalWith } from "./sqlite-checksum.ts";
import type { IntactRow, KeyHistory, StoreFacts } from "./sqlite-facts.ts";

export interface Remedy {
  key: string;
  problem: "the entry is missing or damaged" | "the value is damaged" | "the object is missing";
  /** `log`: the value itself, nothing is lost. `history`: an older value. `nothing`: there is no intact copy. */
  from: "log" | "history" | "snapshot" | "nothing";
  /** The revision of the value to restore; 0 when there is none. */
  revision: number;
}

export interface RepairPlan {
  /** The rows that stay current. */
  kept: ReadonlyMap<string, IntactRow>;
  remedies: readonly Remedy[];
  /** Damaged rows of former values and deletions. */
  damagedHistory: number;
  /** Objects that existed and of which not even the key can be read. */
  unknownObjects: number;
}

/** `snapshot` has the revisions of the objects in a snapshot, if there is one. */
export function planRepair(facts: StoreFacts, snapshot: ReadonlyMap<string, number>): RepairPlan {
  const kept = new Map<string, IntactRow>();
  const remedies: Remedy[] = [];
  const newestOf = newestDamaged(facts);
  const owned = new Set(Array.from(facts.keys.values(), ({ newest }) => newest.revision));
  /** An entry with a changed key: the object itself is found by the key in the log. */
  const hasChangedKey = (key: string, { revision }: IntactRow): boolean => !facts.keys.has(key) && owned.has(revision);
  const isTrusted =
    hasRightTotals(facts) && !Array.from(facts.pointers).some(([key, pointer]) => hasChangedKey(key, pointer));
  const keys = new Set([...facts.pointers.keys(), ...facts.keys.keys()]);
  for (const key of keys) {
    const pointer = facts.pointers.get(key);
    const history = facts.keys.get(key);
    if (pointer && isSame(pointer, history)) {
      kept.set(key, pointer);
      continue;
    }
    if (!pointer && (isTrusted || !history || history.newest.isDeletion)) continue;
    if (pointer && hasChangedKey(key, pointer)) continue;
    remedies.push(remedyFor(key, { pointer, history, newestDamaged: newestOf.get(key) ?? 0 }, facts, snapshot));
  }
  const isEmpty = keys.size === 0;
  if (isEmpty)
    for (const [key, revision] of snapshot)
      remedies.push({ key, problem: "the object is missing", from: "snapshot", revision });
  const current = new Set(Array.from(facts.pointers.values(), ({ revision }) => revision));
  return {
    kept,
    remedies,
    damagedHistory: [...facts.damagedRows.keys()].filter((revision) => !current.has(revision)).length,
    unknownObjects: isEmpty ? 0 : Math.max(0, (facts.state?.objects ?? 0) - kept.size - remedies.length),
  };
}

const isSame = (pointer: IntactRow, history: KeyHistory | undefined): boolean =>
  history?.value !== undefined &&
  !history.newest.isDeletion &&
  history.newest.revision === pointer.revision &&
  history.newest.sum === pointer.sum;

interface Found {
  pointer: IntactRow | undefined;
  history: KeyHistory | undefined;
  /** The newest damaged row with this key; 0 without one. */
  newestDamaged: number;
}

function remedyFor(
  key: string,
  { pointer, history, newestDamaged: damaged }: Found,
  facts: StoreFacts,
  snapshot: ReadonlyMap<string, number>,
): Remedy {
  const value = history?.value;
  const isValueDamaged =
    damaged > (history?.newest.revision ?? 0) || (pointer !== undefined && facts.damagedRows.has(pointer.revision));
  if (
    value &&
    history.newest.revision === value.revision &&
    !isValueDamaged &&
    !isNewerMissing(pointer, history, facts)
  )
    return { key, problem: "the entry is missing or damaged", from: "log", revision: value.revision };
  const saved = snapshot.get(key) ?? 0;
  const problem = "the value is damaged";
  if (saved > (value?.revision ?? 0)) return { key, problem, from: "snapshot", revision: saved };
  return value
    ? { key, problem, from: "history", revision: value.revision }
    : { key, problem, from: "nothing", revision: 0 };
}

/** The entry names a later row, which does not exist any more; an impossible revision is a damaged entry. */
const isNewerMissing = (pointer: IntactRow | undefined, { newest }: KeyHistory, { state }: StoreFacts): boolean =>
  pointer !== undefined && pointer.revision > newest.revision && pointer.revision <= (state?.revision ?? Infinity);

/** The entries are those that were written: none is missing, and none was added. */
function hasRightTotals({ state, pointers }: StoreFacts): boolean {
  let total = 0;
  for (const { sum } of pointers.values()) total = totalWith(total, sum, 0);
  return state !== undefined && state.objects === pointers.size && state.total === total;
}

function newestDamaged({ damagedRows }: StoreFacts): ReadonlyMap<string, number> {
  const newest = new Map<string, number>();
  for (const [revision, key] of damagedRows) newest.set(key, Math.max(revision, newest.get(key) ?? 0));
  return newest;
}
