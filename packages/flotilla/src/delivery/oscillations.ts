/**
 * Detects that Flotilla itself changes a field of one object on one member back and forth, and stops writing the object. No
 * stage should do that; if one does, for example with a user's rule whose result depends on its own last result, pods
 * are replaced again and again. Another client that changes a field back is drift, and does not count: the sequence of
 * our own values is compared. A series of new values does not count either, except one of a user's Retain rule: a rule
 * that gives a field another value each time, while the manifest stays the same, replaces pods for ever as well.
 *
 * A stop is reported in the condition `Applied` of the work, and holds until users change what the object is made from
 * (`ask`, `changed`). A process that starts reads it back from there, so that it survives a restart.
 *
 * An entry exists for each object that was changed in the last ten minutes, and for each stopped one. Entries are
 * dropped when the work is deleted (`forget`), when what the object is made from changes, and when they are older than
 * the window.
 */
import { hash } from "node:crypto";
import { equalJson, isObject } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { gvkOf } from "@flotilla/apimachinery";
import type { ObjectKey } from "@flotilla/client";
import { idOfKey } from "@flotilla/controller-runtime";
import { OSCILLATING } from "../flotilla-names.ts";
import { holdsIn } from "./matches-desired.ts";
import type { Manifest } from "./member-access.ts";
import { StoppedWriteError } from "./stopped-write.ts";

const WINDOW_MS = 10 * 60_000;
/** A field that has been changed back and forth this often is not changed again. */
const MAX_TURNS = 3;
/**
 * A field that a Retain rule has given this many values for one manifest gets no more. A rule that combines our part
 * of a list with the member's follows a change there with one value; a rule that follows itself gives one per write.
 */
const MAX_RULE_VALUES = 5;
/** Values remembered per field, and fields per object: an oscillation has few values and shows in every field. */
const MAX_VALUES = 8;
const MAX_FIELDS = 64;
/** Namespaces with policies and kinds with rules whose last change is kept: more than a large hub has. */
const MAX_CAUSES = 10_000;
/** Labels and annotations of the control planes describe a write, and differ with each. */
const OWN_KEYS = /(^|\.)(karmada|flotilla)\.(io|dev)\//;

/** Keys contain dots and slashes, so paths are joined with another character until they are shown. */
const SEPARATOR = "\0";

export class OscillationError extends StoppedWriteError {
  constructor(message: string) {
    super("Oscillation", message);
  }
}

/** What users wrote and the object is made from: a change of it is not an oscillation. */
export interface Ask {
  /** Identifies it. */
  id: string;
  /** Names it with its generation, for the message: `the template (generation 4)`. A stop is recognised by it. */
  text: string;
}

/** A manifest of a work that is being delivered. */
interface Delivered {
  /** The key of the work. */
  work: ObjectKey;
  cluster: string;
  object: Pick<Manifest, "apiVersion" | "kind"> & { metadata: { readonly name: string; readonly namespace?: string } };
  ask: Ask;
  /** The last report of its delivery. */
  applied: Reported | undefined;
}

interface Reported {
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** What a user's Retain rule made of a manifest. */
export interface RuleResult {
  /** The owner of the rule. */
  owner: string;
  manifest: Manifest;
  retained: Manifest;
}

interface WriteGuard {
  /**
   * Throws OscillationError when the change would turn a field round too often, or would give it one more value of a
   * Retain rule that gives another each time, and for every later change.
   */
  beforeChange(applied: Manifest, observed: Manifest, rule?: RuleResult): void;
  /** Throws OscillationError for a stopped object: it stays stopped while it happens to be as desired. */
  afterwards(): void;
}

/** What users changed: policies of a namespace (of all, if it is empty), or the rules of a kind. */
type Cause = { readonly namespace: string } | { readonly group: string; readonly kind: string };

export interface Oscillations {
  guard(delivered: Delivered): WriteGuard;
  /**
   * Allows writes to objects that were stopped before this change, and returns their works. The time is unset for a
   * change that happens now; on a start, everything that exists is reported with the time of its last change.
   */
  changed(cause: Cause, atMs?: number): ObjectKey[];
  /** The works of stopped objects. */
  stopped(): ObjectKey[];
  forget(work: ObjectKey): void;
  /** The number of entries. */
  size(): number;
}

export interface OscillationsOptions {
  clock: Clock;
  /** Called for each object of a member that is stopped or written again; `isNew` if it has just been found. */
  onStopped?(cluster: string, change: 1 | -1, isNew: boolean): void;
}

interface Field {
  values: string[];
  turnsAtMs: number[];
  /** When a Retain rule gave it another value for the same manifest. */
  ruledAtMs: number[];
}

/** A field that would be changed too often; `owner` is of the Retain rule that decides it. */
interface Excess {
  path: string;
  owner?: string;
}

interface Entry {
  work: ObjectKey;
  cluster: string;
  causes: readonly string[];
  ask: string;
  fields: Map<string, Field>;
  /** The digest of the manifest that a Retain rule was run for. */
  ruled?: string;
  changedAtMs: number;
  stopped?: { message: string; sinceMs: number };
}

export function createOscillations({ clock, onStopped = () => {} }: OscillationsOptions): Oscillations {
  /** By object; the one that was changed last is at the end. */
  const entries = new Map<string, Entry>();
  const byWork = new Map<string, Set<string>>();
  /** When each cause last changed, the one that changed last at the end. */
  const changedAtMs = new Map<string, number>();
  /** The latest change of the causes that are no longer kept. A stop before it counts as one before their change. */
  let forgottenAtMs = -1;

  function noteCause(key: string, atMs: number): void {
    const latestMs = Math.max(atMs, changedAtMs.get(key) ?? 0);
    changedAtMs.delete(key);
    changedAtMs.set(key, latestMs);
    if (changedAtMs.size <= MAX_CAUSES) return;
    const [oldest = "", oldestMs = 0] = changedAtMs.entries().next().value ?? [];
    changedAtMs.delete(oldest);
    forgottenAtMs = Math.max(forgottenAtMs, oldestMs);
  }

  function drop(id: string): void {
    const entry = entries.get(id);
    if (!entry) return;
    entries.delete(id);
    const work = idOfKey(entry.work);
    const others = byWork.get(work);
    others?.delete(id);
    if (others?.size === 0) byWork.delete(work);
    if (entry.stopped) onStopped(entry.cluster, -1, false);
  }

  /** Entries are in the order of their last change; stopped ones stay, and are passed over. */
  function dropOld(nowMs: number): void {
    for (const [id, entry] of entries) {
      if (nowMs - entry.changedAtMs < WINDOW_MS) return;
      if (!entry.stopped) drop(id);
    }
  }

  function open({ work, cluster, object, ask }: Delivered, id: string): Entry {
    const entry: Entry = {
      work,
      cluster,
      causes: causesOf(object),
      ask: ask.id,
      fields: new Map(),
      changedAtMs: clock.now(),
    };
    byWork.set(idOfKey(work), (byWork.get(idOfKey(work)) ?? new Set()).add(id));
    entries.set(id, entry);
    return entry;
  }

  function stop(entry: Entry, stopped: NonNullable<Entry["stopped"]>, isNew: boolean): void {
    entry.stopped = stopped;
    onStopped(entry.cluster, 1, isNew);
  }

  /** The entry for the same ask; one that another process stopped is read back from the report. */
  function find(delivered: Delivered, id: string): Entry | undefined {
    const known = entries.get(id);
    if (known?.ask === delivered.ask.id) return known;
    drop(id);
    const message = known ? undefined : stopIn(delivered);
    if (message === undefined) return undefined;
    const sinceMs = Date.parse(delivered.applied?.lastTransitionTime ?? "") || 0;
    if (causesOf(delivered.object).some((cause) => (changedAtMs.get(cause) ?? forgottenAtMs) >= sinceMs))
      return undefined;
    const entry = open(delivered, id);
    stop(entry, { message, sinceMs }, false);
    return entry;
  }

  return {
    guard(delivered) {
      const id = idOf(delivered);
      return {
        beforeChange(applied, observed, rule) {
          const nowMs = clock.now();
          dropOld(nowMs);
          const entry = find(delivered, id) ?? open(delivered, id);
          if (!entry.stopped) {
            const excess = noteChange(entry, { applied, observed, rule }, nowMs);
            entries.delete(id);
            entries.set(id, entry);
            if (!excess) return;
            stop(entry, { message: renderStop(delivered, excess), sinceMs: nowMs }, true);
          }
          throw new OscillationError(entry.stopped?.message ?? "");
        },
        afterwards() {
          const stopped = find(delivered, id)?.stopped;
          if (stopped) throw new OscillationError(stopped.message);
        },
      };
    },
    changed(cause, atMs = clock.now()) {
      const key = keyOfCause(cause);
      noteCause(key, atMs);
      const works: ObjectKey[] = [];
      for (const [id, { causes, stopped, work }] of entries) {
        if (!causes.includes(key) || (stopped && stopped.sinceMs > atMs)) continue;
        if (stopped) works.push(work);
        drop(id);
      }
      return works;
    },
    stopped: () => [...entries.values()].flatMap(({ stopped, work }) => (stopped ? [work] : [])),
    forget(work) {
      for (const id of byWork.get(idOfKey(work)) ?? []) drop(id);
    },
    size: () => entries.size,
  };
}

const keyOfCause = (cause: Cause): string =>
  "namespace" in cause ? `policies ${cause.namespace}` : `rules ${cause.group}/${cause.kind}`;

/** Policies without a namespace select objects of all. */
function causesOf(object: Delivered["object"]): string[] {
  const { group, kind } = gvkOf(object);
  return [{ namespace: "" }, { namespace: object.metadata.namespace ?? "" }, { group, kind }].map(keyOfCause);
}

function idOf({ work, object: { apiVersion, kind, metadata } }: Delivered): string {
  return `${idOfKey(work)} ${apiVersion} ${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
}

const startOf = ({ object }: Delivered): string => `${object.kind} ${object.metadata.name}: the hub changed `;
const endOf = ({ ask }: Delivered): string => `and no longer writes the object until ${ask.text} changes`;

function renderStop(delivered: Delivered, { path, owner }: Excess): string {
  const times =
    owner === undefined
      ? `back and forth ${MAX_TURNS} times within ten minutes,`
      : `${MAX_RULE_VALUES} times within ten minutes, because the Retain rule of ${owner} gives it another value each time,`;
  return `${startOf(delivered)}${path.replaceAll(SEPARATOR, ".")} ${times} ${endOf(delivered)}`;
}

/** The message of a stop for the same ask, if the work reports one. A work reports all of its failures in one message. */
function stopIn(delivered: Delivered): string | undefined {
  const { reason, message = "" } = delivered.applied ?? {};
  if (reason !== OSCILLATING) return undefined;
  return message
    .split("; ")
    .map((part) => part.slice(Math.max(0, part.indexOf(startOf(delivered)))))
    .find((part) => part.startsWith(startOf(delivered)) && part.endsWith(endOf(delivered)));
}

interface Change {
  applied: Manifest;
  observed: Manifest;
  rule: RuleResult | undefined;
}

/** The field that would be changed too often; undefined when the change may be written. */
function noteChange(entry: Entry, { applied, observed, rule }: Change, nowMs: number): Excess | undefined {
  const changes = new Map<string, { before: string; after: string }>();
  for (const [path, before, after] of changedLeaves(applied, observed, "")) {
    if (changes.size === MAX_FIELDS) break;
    changes.set(path, { before: digestOf(before), after: digestOf(after) });
  }
  // A field that we wrote and now leave out is removed.
  for (const [path, { values }] of entry.fields)
    if (!changes.has(path) && valueAt(applied, path) === undefined && valueAt(observed, path) !== undefined)
      changes.set(path, { before: values.at(-1) ?? "", after: digestOf(undefined) });
  entry.changedAtMs = nowMs;
  startManifest(entry, rule);
  const inWindow = (atMs: number): boolean => nowMs - atMs < WINDOW_MS;
  let excess: Excess | undefined;
  for (const [path, { before, after }] of changes) {
    const field = entry.fields.get(path) ?? { values: [before], turnsAtMs: [], ruledAtMs: [] };
    if (!entry.fields.has(path) && entry.fields.size === MAX_FIELDS) continue;
    entry.fields.set(path, field);
    if (field.values.at(-1) === after) continue;
    if (field.values.includes(after)) field.turnsAtMs = [...field.turnsAtMs.filter(inWindow), nowMs];
    field.values = [...field.values, after].slice(-MAX_VALUES);
    if (field.turnsAtMs.length >= MAX_TURNS) excess ??= { path };
    if (!rule || equalJson(valueAt(rule.manifest, path), valueAt(rule.retained, path))) continue;
    field.ruledAtMs = [...field.ruledAtMs.filter(inWindow), nowMs];
    if (field.ruledAtMs.length > MAX_RULE_VALUES) excess ??= { path, owner: rule.owner };
  }
  return excess;
}

/** A rule may give another value for another manifest: replicas and partitions change without a user. */
function startManifest(entry: Entry, rule: RuleResult | undefined): void {
  if (!rule) return;
  const digest = digestOf({ ...rule.manifest, metadata: undefined, status: undefined });
  if (entry.ruled !== digest) for (const field of entry.fields.values()) field.ruledAtMs = [];
  entry.ruled = digest;
}

/** Fields of the applied object that do not hold in the observed one. Lists are compared as a whole. */
function* changedLeaves(
  applied: unknown,
  observed: unknown,
  path: string,
): Generator<[path: string, before: unknown, after: unknown]> {
  if (applied === observed || holdsIn(applied, observed)) return;
  if (!isObject(applied) || !isObject(observed)) {
    yield [path, observed, applied];
    return;
  }
  for (const key of Object.keys(applied)) {
    if (isWriteRecord(path, key)) continue;
    yield* changedLeaves(applied[key], observed[key], path === "" ? key : `${path}${SEPARATOR}${key}`);
  }
}

function isWriteRecord(path: string, key: string): boolean {
  if (path === "") return key === "status";
  if (path === "metadata") return key !== "labels" && key !== "annotations";
  return path.startsWith(`metadata${SEPARATOR}`) && OWN_KEYS.test(key);
}

function valueAt(object: unknown, path: string): unknown {
  let value = object;
  for (const key of path.split(SEPARATOR))
    value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** Values are not kept: an object may be large, or a Secret. */
const digestOf = (value: unknown): string =>
  value === undefined ? "" : hash("sha256", JSON.stringify(value), "base64url").slice(0, 22);
