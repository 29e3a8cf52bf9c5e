/**
 * Detects that Flotilla itself changes a field of one object on one member to and fro, and stops writing the object. No
 * stage should do that; if one does, for example with a user's rule whose result depends on its own last result, pods
 * are replaced again and again. Another client that changes a field back is drift, and does not count: the sequence of
 * our own values is compared.
 *
 * An entry exists for each object that was changed in the last ten minutes, and for each stopped one. Entries are
 * dropped when the work is deleted (`forget`), when what the object is made from changes (`ask`, `reset`), and when they
 * are older than the window.
 */
import { hash } from "node:crypto";
import { isObject } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { idOfKey } from "@flotilla/controller-runtime";
import { holdsIn } from "./compare.ts";
import type { Manifest } from "./member-access.ts";
import { StoppedWriteError } from "./stopped-write.ts";

const WINDOW_MS = 10 * 60_000;
/** A field that has been changed to and fro this often is not changed again. */
const MAX_TURNS = 3;
/** Values remembered per field, and fields per object: an oscillation has few values and shows in every field. */
const MAX_VALUES = 8;
const MAX_FIELDS = 64;
/** Labels and annotations of the control planes describe a write, and differ with each. */
const OWN_KEYS = /(^|\.)(karmada|flotilla)\.(io|dev)\//;

/** Keys contain dots and slashes, so paths are joined with another character until they are shown. */
const SEPARATOR = "\0";

export class OscillationError extends StoppedWriteError {
  constructor(message: string) {
    super("Oscillation", message);
  }
}

/** A change that is about to be written. */
interface ObjectChange {
  /** The key of the work. */
  work: ObjectKey;
  cluster: string;
  /** The fields that are applied. */
  applied: Manifest;
  observed: Manifest;
  /** Identifies the template and the overrides that the object is made from: a change of them is not an oscillation. */
  ask: string;
}

/** Which objects a change of a policy or a rule concerns. */
type ObjectFilter = (object: Pick<Manifest, "apiVersion" | "kind"> & { namespace: string }) => boolean;

export interface Oscillations {
  /** Throws OscillationError when the change would turn a field round too often, and for every later one. */
  check(change: ObjectChange): void;
  /** Allows writes to the objects again, and returns the works of those that were stopped. */
  reset(concerns: ObjectFilter): ObjectKey[];
  forget(work: ObjectKey): void;
  /** The number of entries. */
  size(): number;
}

export interface OscillationsOptions {
  clock: Clock;
  /** Called with the number of stopped objects of a member when it changes. */
  onStopped?(cluster: string, stopped: number, isNew: boolean): void;
}

interface Field {
  values: string[];
  turnsAtMs: number[];
}

interface Entry {
  work: ObjectKey;
  cluster: string;
  object: Parameters<ObjectFilter>[0];
  ask: string;
  fields: Map<string, Field>;
  changedAtMs: number;
  stopped?: string;
}

export function createOscillations({ clock, onStopped = () => {} }: OscillationsOptions): Oscillations {
  /** By object; the one that was changed last is at the end. */
  const entries = new Map<string, Entry>();
  const byWork = new Map<string, Set<string>>();
  const stoppedBy = new Map<string, number>();

  function count(cluster: string, change: 1 | -1): void {
    const next = (stoppedBy.get(cluster) ?? 0) + change;
    if (next > 0) stoppedBy.set(cluster, next);
    else stoppedBy.delete(cluster);
    onStopped(cluster, next, change > 0);
  }

  function drop(id: string): void {
    const entry = entries.get(id);
    if (!entry) return;
    entries.delete(id);
    const work = idOfKey(entry.work);
    const others = byWork.get(work);
    others?.delete(id);
    if (others?.size === 0) byWork.delete(work);
    if (entry.stopped !== undefined) count(entry.cluster, -1);
  }

  /** Entries are in the order of their last change; stopped ones stay, and are passed over. */
  function dropOld(nowMs: number): void {
    for (const [id, { changedAtMs, stopped }] of entries) {
      if (nowMs - changedAtMs < WINDOW_MS) return;
      if (stopped === undefined) drop(id);
    }
  }

  function open({ work, cluster, applied, ask }: ObjectChange, id: string): Entry {
    const known = entries.get(id);
    if (known?.ask === ask) return known;
    drop(id);
    const { apiVersion, kind, metadata } = applied;
    const object = { apiVersion, kind, namespace: metadata.namespace ?? "" };
    const entry: Entry = { work, cluster, object, ask, fields: new Map(), changedAtMs: 0 };
    byWork.set(idOfKey(work), (byWork.get(idOfKey(work)) ?? new Set()).add(id));
    entries.set(id, entry);
    return entry;
  }

  return {
    check(change) {
      const nowMs = clock.now();
      dropOld(nowMs);
      const { applied, observed, work } = change;
      const { apiVersion, kind, metadata } = applied;
      const id = `${idOfKey(work)} ${apiVersion} ${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
      const entry = open(change, id);
      if (entry.stopped === undefined) {
        const turned = noteChange(entry, applied, observed, nowMs);
        entries.delete(id);
        entries.set(id, entry);
        if (turned === undefined) return;
        entry.stopped = `${kind} ${metadata.name}: the hub changed ${turned.replaceAll(SEPARATOR, ".")} to and fro ${MAX_TURNS} times within ten minutes, and no longer writes the object`;
        count(entry.cluster, 1);
      }
      throw new OscillationError(entry.stopped);
    },
    reset(concerns) {
      const works: ObjectKey[] = [];
      for (const [id, entry] of entries) {
        if (!concerns(entry.object)) continue;
        if (entry.stopped !== undefined) works.push(entry.work);
        drop(id);
      }
      return works;
    },
    forget(work) {
      for (const id of byWork.get(idOfKey(work)) ?? []) drop(id);
    },
    size: () => entries.size,
  };
}

/** The field that would be turned round too often; undefined when the change may be written. */
function noteChange(entry: Entry, applied: Manifest, observed: Manifest, nowMs: number): string | undefined {
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
  let turned: string | undefined;
  for (const [path, { before, after }] of changes) {
    const field = entry.fields.get(path) ?? { values: [before], turnsAtMs: [] };
    if (!entry.fields.has(path) && entry.fields.size === MAX_FIELDS) continue;
    entry.fields.set(path, field);
    if (field.values.at(-1) === after) continue;
    if (field.values.includes(after))
      field.turnsAtMs = [...field.turnsAtMs.filter((atMs) => nowMs - atMs < WINDOW_MS), nowMs];
    field.values = [...field.values, after].slice(-MAX_VALUES);
    if (field.turnsAtMs.length >= MAX_TURNS) turned ??= path;
  }
  return turned;
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
