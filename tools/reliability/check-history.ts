/**
 * Whether a history is one that a single correct store could have produced. Revisions name the order of all writes, so
 * nothing is searched: each write and each read has one place in that order, and it is checked that
 *
 * - every acknowledged write is there, with its value, once; nothing else is; no rejected write is,
 * - each conditional write follows the version that it required,
 * - no operation has a place before another one that had ended when it began (linearizability, per object and over all),
 * - each list is the state at its revision, and no rejection lacks a cause,
 * - each watch delivers what happened, all of it, in order, once, and nothing before it was written.
 *
 * Pure. `check-history.test.ts` has broken histories that it rejects.
 */
import type { History, Item, Operation, SeenEvent, WatchSpan } from "./history.ts";

export interface Violation {
  rule:
    | "disagreement" // Two answers differ about one revision.
    | "phantom" // A value that no client wrote, or a change that no client asked for.
    | "rejected write took effect"
    | "duplicate" // One write took effect twice.
    | "lost write"
    | "lost update" // A conditional write does not follow the version that it required.
    | "stale read"
    | "reordered write"
    | "causeless rejection"
    | "wrong list"
    | "watch order"
    | "duplicate event"
    | "lost event"
    | "phantom event";
  text: string;
}

/** A state of one object: a value, or its absence. */
interface Version {
  /** 0: before anything was written. */
  revision: number;
  value: string | undefined;
  source: string;
  /** When the write that made it began. */
  begunMs: number;
}

/** More of one rule do not help to find the cause. */
const MOST_PER_RULE = 20;

export function checkHistory(history: History): Violation[] {
  const checker = new Checker(history);
  checker.check();
  return checker.violations;
}

class Checker {
  readonly violations: Violation[] = [];
  readonly #history: History;
  /** Of each object, in the order of revisions. */
  readonly #versions = new Map<string, Version[]>();
  /** Of each object, the index of each revision in these. */
  readonly #indexes = new Map<string, ReadonlyMap<number, number>>();
  readonly #writes = new Map<string, Operation>();
  readonly #counts = new Map<string, number>();

  constructor(history: History) {
    this.#history = history;
  }

  check(): void {
    for (const operation of this.#history.operations)
      if (operation.value !== undefined) this.#writes.set(operation.value, operation);
    this.#collect();
    const operations = byKey(this.#history.operations);
    for (const [key, versions] of this.#versions) this.#checkVersions(key, versions, operations.get(key) ?? []);
    this.#checkAcknowledged();
    this.#checkConditions();
    this.#checkOrderOfObjects();
    this.#checkOrderOfAll();
    this.#checkLists();
    for (const span of this.#history.spans) this.#checkSpan(span);
    this.#checkEnds();
  }

  #violated(rule: Violation["rule"], text: string): void {
    const count = (this.#counts.get(rule) ?? 0) + 1;
    this.#counts.set(rule, count);
    if (count <= MOST_PER_RULE) this.violations.push({ rule, text });
  }

  /** Everything that was ever seen or acknowledged. */
  #collect(): void {
    const found = new Map<string, Map<number, Version>>();
    const revisions = new Map<number, string>();
    const add = (key: string, revision: number, value: string | undefined, source: string): void => {
      const owner = revisions.get(revision) ?? key;
      revisions.set(revision, owner);
      if (owner !== key)
        this.#violated("disagreement", `revision ${revision} is of ${owner} and, for ${source}, of ${key}`);
      let versions = found.get(key);
      if (!versions) found.set(key, (versions = new Map()));
      const known = versions.get(revision);
      if (!known) versions.set(revision, { revision, value, source, begunMs: -Infinity });
      else if (known.value !== value)
        this.#violated(
          "disagreement",
          `${key} at ${revision} is ${shown(known.value)} for ${known.source} and ${shown(value)} for ${source}`,
        );
    };
    for (const operation of this.#history.operations) {
      const { kind, key, outcome, revision, value, seen, items = [] } = operation;
      if (outcome !== "ok") continue;
      const source = named(operation);
      for (const item of items) add(item.key, item.revision, item.value, source);
      if (kind === "list" || revision === undefined) continue;
      if (kind === "get") add(key, revision, seen, source);
      else if (kind !== "delete") add(key, revision, value, source);
    }
    for (const { watcher, events } of this.#history.spans)
      for (const { type, key, revision, value } of events)
        add(key, revision, type === "DELETED" ? undefined : value, watcher);
    for (const { reader, items } of this.#history.ends)
      for (const { key, revision, value } of items) add(key, revision, value, `${reader} at the end`);
    for (const { key } of this.#history.operations) if (key !== "" && !found.has(key)) found.set(key, new Map());
    for (const [key, versions] of found) {
      const ordered = [
        { revision: 0, value: undefined, source: "the beginning", begunMs: -Infinity },
        ...[...versions.values()].sort((a, b) => a.revision - b.revision),
      ];
      this.#versions.set(key, ordered);
      this.#indexes.set(key, new Map(ordered.map(({ revision }, index) => [revision, index])));
    }
  }

  /** Each version was asked for, once. */
  #checkVersions(key: string, versions: readonly Version[], operations: readonly Operation[]): void {
    const deletions = new Map<number, Operation[]>();
    for (const operation of operations)
      if (operation.kind === "delete" && operation.expected !== undefined)
        deletions.set(operation.expected, [...(deletions.get(operation.expected) ?? []), operation]);
    const seen = new Map<string, number>();
    for (const [index, version] of versions.entries()) {
      const before = versions[index - 1];
      if (!before) continue;
      const { revision, value, source } = version;
      if (value === undefined) {
        const candidates = deletions.get(before.revision) ?? [];
        const possible = candidates.filter(({ outcome }) => outcome !== "rejected");
        version.begunMs = Math.min(...possible.map(({ invokedMs }) => invokedMs));
        if (possible.length > 0) continue;
        if (candidates.length > 0)
          this.#violated("rejected write took effect", `${key} was deleted at ${revision}: ${named(candidates[0])}`);
        else
          this.#violated(
            "phantom",
            `${key} was deleted at ${revision} after ${before.revision}, as ${source} saw, which no client asked for`,
          );
        continue;
      }
      const write = this.#writes.get(value);
      if (!write || write.key !== key) {
        this.#violated(
          "phantom",
          `${key} has ${shown(value)} at ${revision}, as ${source} saw, which no client wrote there`,
        );
        continue;
      }
      version.begunMs = write.invokedMs;
      if (write.outcome === "rejected")
        this.#violated("rejected write took effect", `${key} at ${revision}: ${named(write)} (${write.reason ?? ""})`);
      const first = seen.get(value);
      if (first !== undefined)
        this.#violated("duplicate", `${key}: ${named(write)} took effect at ${first} and at ${revision}`);
      seen.set(value, revision);
    }
  }

  #checkAcknowledged(): void {
    for (const operation of this.#history.operations) {
      const { kind, key, outcome, expected } = operation;
      if (outcome !== "ok" || kind !== "delete" || expected === undefined) continue;
      const next = this.#after(key, expected);
      if (next?.value !== undefined || !next)
        this.#violated(
          "lost write",
          `${named(operation)} was acknowledged, and ${expected} is followed by ${place(next)}`,
        );
    }
    for (const [key, operations] of byKey(this.#history.operations)) {
      const acknowledged = new Map<number, Operation>();
      for (const operation of operations) {
        const { kind, outcome, expected } = operation;
        if (outcome !== "ok" || kind !== "delete" || expected === undefined) continue;
        const other = acknowledged.get(expected);
        if (other)
          this.#violated("duplicate", `${key}: ${named(operation)} and ${named(other)} deleted the same version`);
        acknowledged.set(expected, operation);
      }
    }
  }

  /** Each write follows what it required. */
  #checkConditions(): void {
    for (const [key, versions] of this.#versions) {
      for (const [index, version] of versions.entries()) {
        const before = versions[index - 1];
        const write = version.value === undefined ? undefined : this.#writes.get(version.value);
        if (!before || !write) continue;
        if (write.kind === "create" && before.value !== undefined)
          this.#violated(
            "lost update",
            `${key}: ${named(write)} created it at ${version.revision} over ${place(before)}`,
          );
        if (write.kind !== "create" && before.value === undefined)
          this.#violated(
            "lost update",
            `${key}: ${named(write)} changed it at ${version.revision} when it did not exist`,
          );
        if (write.expected !== undefined && before.revision !== write.expected)
          this.#violated(
            "lost update",
            `${key}: ${named(write)} at ${version.revision} required ${write.expected} and follows ${place(before)}`,
          );
      }
    }
  }

  /**
   * Each operation has a place in the order of its object's versions, which is not before the place of an operation that
   * had ended when it began. What says only that something was or was not there takes the first such place.
   */
  #checkOrderOfObjects(): void {
    for (const [key, all] of byKey(this.#history.operations)) {
      const versions = this.#versions.get(key) ?? [];
      const indexes = this.#indexes.get(key) ?? new Map<number, number>();
      const deletedBy = (expected: number): number | undefined => {
        const index = (indexes.get(expected) ?? -2) + 1;
        return index > 0 && index < versions.length ? index : undefined;
      };
      const operations = all
        .filter(({ mayBeStale, kind }) => !mayBeStale && kind !== "list")
        .sort((a, b) => a.invokedMs - b.invokedMs);
      const ending = operations.toSorted((a, b) => a.completedMs - b.completedMs);
      const places = new Map<Operation, number>();
      let ended = 0;
      let reached = 0;
      let reachedBy: Operation | undefined;
      for (const operation of operations) {
        for (let other = ending[ended]; other && other.completedMs < operation.invokedMs; other = ending[++ended]) {
          const at = places.get(other) ?? 0;
          if (at > reached) [reached, reachedBy] = [at, other];
        }
        const exact = exactPlace(operation, indexes, deletedBy);
        if (exact !== undefined) {
          places.set(operation, exact);
          const isWrite = operation.kind !== "get";
          if (isWrite ? exact <= reached : exact < reached)
            this.#violated(
              isWrite ? "reordered write" : "stale read",
              `${named(operation)} is at ${place(versions[exact])}, after ${named(reachedBy)} had ended with ${place(versions[reached])}`,
            );
          const begunMs = versions[exact]?.begunMs ?? -Infinity;
          if (!isWrite && begunMs > operation.completedMs)
            this.#violated("phantom", `${named(operation)} has seen ${place(versions[exact])} before it was written`);
          continue;
        }
        const allowed = allowedBy(operation);
        if (!allowed) continue;
        const at = versions.findIndex(
          (version, index) => index >= reached && allowed(version) && version.begunMs <= operation.completedMs,
        );
        if (at >= 0) places.set(operation, at);
        else
          this.#violated(
            operation.kind === "get" ? "stale read" : "causeless rejection",
            `${named(operation)}: ${operation.reason ?? ""}, after ${named(reachedBy)} had ended with ${place(versions[reached])}`,
          );
      }
    }
  }

  /** Revisions are one order of all writes: a write that began later has a higher one, a list at least as high a one. */
  #checkOrderOfAll(): void {
    const isPlaced = ({ kind, outcome, revision, mayBeStale }: Operation): boolean =>
      outcome === "ok" && revision !== undefined && !mayBeStale && kind !== "delete";
    const operations = this.#history.operations.filter(isPlaced).sort((a, b) => a.invokedMs - b.invokedMs);
    const ending = operations.toSorted((a, b) => a.completedMs - b.completedMs);
    let ended = 0;
    let reached = 0;
    let reachedBy: Operation | undefined;
    for (const operation of operations) {
      for (let other = ending[ended]; other && other.completedMs < operation.invokedMs; other = ending[++ended])
        if ((other.revision ?? 0) > reached) [reached, reachedBy] = [other.revision ?? 0, other];
      const { kind, revision = 0 } = operation;
      if (kind === "get") continue;
      if (kind === "list" ? revision < reached : revision <= reached)
        this.#violated(
          kind === "list" ? "stale read" : "reordered write",
          `${named(operation)} has revision ${revision}, after ${named(reachedBy)} had ended with ${reached}`,
        );
    }
  }

  #checkLists(): void {
    for (const operation of this.#history.operations) {
      const { kind, outcome, revision, items } = operation;
      if (kind !== "list" || outcome !== "ok" || revision === undefined || !items) continue;
      const listed = new Map(items.map((item) => [item.key, item]));
      for (const [key, versions] of this.#versions) {
        const wanted = versionAt(versions, revision);
        const item = listed.get(key);
        if (item?.revision !== (wanted?.value === undefined ? undefined : wanted.revision))
          this.#violated(
            "wrong list",
            `${named(operation)} at ${revision} has ${key} at ${item?.revision ?? "no revision"}, which is ${place(wanted)}`,
          );
      }
    }
  }

  #checkSpan({ watcher, after, events, upTo }: WatchSpan): void {
    let last = after;
    const seen = new Set<number>();
    for (const event of events) {
      const { key, revision } = event;
      if (seen.has(revision))
        this.#violated("duplicate event", `${watcher}: ${key} at ${revision} was delivered twice`);
      else if (revision <= last)
        this.#violated("watch order", `${watcher}: ${key} at ${revision} was delivered after ${last}`);
      seen.add(revision);
      last = Math.max(last, revision);
      this.#checkEvent(watcher, event);
    }
    for (const [key, versions] of this.#versions)
      for (const { revision } of versions)
        if (revision > after && revision <= upTo && !seen.has(revision))
          this.#violated(
            "lost event",
            `${watcher} did not receive revision ${revision} of ${key}; its span is ${after} to ${upTo}`,
          );
  }

  #checkEvent(watcher: string, given: SeenEvent): void {
    const { type, key, revision, value, atMs } = given;
    const versions = this.#versions.get(key) ?? [];
    const index = this.#indexes.get(key)?.get(revision) ?? 0;
    const version = versions[index];
    const before = versions[index - 1];
    if (!version || !before) return; // Every event is a version.
    const wanted = version.value === undefined ? "DELETED" : before.value === undefined ? "ADDED" : "MODIFIED";
    if (type !== wanted)
      this.#violated("phantom event", `${watcher}: ${key} at ${revision} is ${type}, but follows ${place(before)}`);
    if (type === "DELETED" && value !== before.value)
      this.#violated(
        "phantom event",
        `${watcher}: the deletion of ${key} at ${revision} has ${shown(value)}, and the last was ${place(before)}`,
      );
    if (version.begunMs > atMs)
      this.#violated("phantom event", `${watcher}: ${key} at ${revision} was delivered before it was written`);
  }

  #checkEnds(): void {
    for (const { reader, items } of this.#history.ends) {
      const found = new Map(items.map((item) => [item.key, item]));
      for (const [key, versions] of this.#versions) {
        const last = versions.at(-1);
        const item = found.get(key);
        if (item?.revision !== (last?.value === undefined ? undefined : last.revision))
          this.#violated(
            "lost write",
            `at the end ${reader} has ${item ? `${shown(item.value)} at ${item.revision}` : "nothing"} for ${key}, which was ${place(last)}`,
          );
      }
    }
  }

  #after(key: string, revision: number): Version | undefined {
    const versions = this.#versions.get(key) ?? [];
    return versions[(this.#indexes.get(key)?.get(revision) ?? -2) + 1];
  }
}

/** The index of the version that an operation has made or seen. */
function exactPlace(
  { kind, outcome, revision, expected }: Operation,
  indexes: ReadonlyMap<number, number>,
  deletedBy: (expected: number) => number | undefined,
): number | undefined {
  if (outcome !== "ok") return undefined;
  if (kind === "delete") return expected === undefined ? undefined : deletedBy(expected);
  return revision === undefined ? undefined : indexes.get(revision);
}

/** Which states explain an answer without a revision. */
function allowedBy({ outcome, reason, kind, expected }: Operation): ((version: Version) => boolean) | undefined {
  if (outcome === "unknown") return undefined;
  if (reason === "NotFound") return ({ value }) => value === undefined;
  if (reason === "AlreadyExists") return ({ value }) => value !== undefined;
  // A patch names no revision; its conflict says nothing.
  if (reason === "Conflict" && kind !== "patch")
    return ({ revision, value }) => value === undefined || revision !== expected;
  return undefined;
}

function byKey(operations: readonly Operation[]): Map<string, Operation[]> {
  const found = new Map<string, Operation[]>();
  for (const operation of operations) {
    const { key } = operation;
    const known = found.get(key);
    if (known) known.push(operation);
    else if (key !== "") found.set(key, [operation]);
  }
  return found;
}

/** The newest version that is not newer than a revision. */
function versionAt(versions: readonly Version[], revision: number): Version | undefined {
  let [from, to] = [0, versions.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((versions[middle]?.revision ?? 0) <= revision) from = middle + 1;
    else to = middle;
  }
  return versions[from - 1];
}

const shown = (value: string | undefined): string => (value === undefined ? "nothing" : `'${value}'`);

const place = (version: Version | Item | undefined): string =>
  version === undefined ? "nothing" : `${shown(version.value)} at ${version.revision}`;

function named(operation: Operation | undefined): string {
  if (!operation) return "the beginning";
  const { client, server, kind, key, value, expected, invokedMs } = operation;
  const what = [kind, key, value ?? "", expected === undefined ? "" : `expecting ${expected}`]
    .filter(Boolean)
    .join(" ");
  return `${what} (${client} at ${server}, ${Math.round(invokedMs)} ms)`;
}
