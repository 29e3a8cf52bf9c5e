/**
 * Watches one type on many clusters. A lost cluster is reported once, retried with growing pauses, and reported when it
 * is back; the others continue. Changes in between are shown then, and unchanged objects are not repeated.
 */
import { FlotillaError, isObject, sleep, omitZero, textOf, objectOf } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { queryText } from "@flotilla/client";
import { ApiError, isExpired } from "@flotilla/apimachinery";
import type { Status } from "@flotilla/apimachinery";
import { open } from "./ask.ts";
import type { Asking } from "./ask.ts";
import type { Discovery } from "./discovery.ts";
import { reasonOf } from "./each-place.ts";
import { createLineSplitter } from "./line-splitter.ts";
import type { Place } from "./members-places.ts";
import { collectionPath, MAX_OBJECTS, readList } from "./read-objects.ts";
import type { Selection } from "./read-objects.ts";
import type { ServedType } from "./served-types.ts";

type Change = "ADDED" | "MODIFIED" | "DELETED";

export interface WatchedEvent {
  place: Place;
  type: ServedType;
  change: Change;
  /** A Table, a list or an object, as requested. */
  answer: JsonObject;
  /** Whether an object of the response is new or changed. */
  isChanged(uid: string): boolean;
}

export interface Watching {
  word: string;
  selection: Omit<Selection, "targets">;
  /** The objects of a response: their uids and resourceVersions. */
  identify(answer: JsonObject): { uid: string; resourceVersion: string }[];
  show(event: WatchedEvent): Promise<void>;
  /** Called when a cluster is lost, or back. */
  notify(text: string): void;
}

/** What of a cluster was already shown. */
export interface Shown {
  type: ServedType;
  /** Where to continue; empty when unknown, so that it must be listed again. */
  resourceVersion: string;
  /** The resourceVersions by uid. */
  versions: Map<string, string>;
}

/** An API server accepts objects of at most 3 MiB. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024;
const PAUSE_MS = { first: 1_000, last: 30_000 };
/** A cluster that vanished silently is noticed when its watch restarts. */
const WATCH_SECONDS = 60;
const GRACE_SECONDS = 15;

/** Runs until the signal is aborted. `shown` is keyed by the name of the place. */
export async function watchPlaces(
  asking: Asking,
  discovery: Discovery,
  places: readonly Place[],
  shown: ReadonlyMap<string, Shown>,
  watching: Watching,
): Promise<void> {
  await Promise.all(places.map((place) => watchPlace(asking, discovery, place, shown.get(place.name), watching)));
}

async function watchPlace(
  asking: Asking,
  discovery: Discovery,
  place: Place,
  before: Shown | undefined,
  watching: Watching,
): Promise<void> {
  const { signal, clock } = asking;
  let shown = before;
  // A failed list was already reported.
  let isAway = before === undefined;
  let pauseMs = PAUSE_MS.first;
  while (!signal.aborted) {
    const startMs = clock.now();
    try {
      if (!shown?.resourceVersion) shown = await listAgain(asking, discovery, place, shown, watching);
      if (!shown) return;
      if (isAway) watching.notify(`${place.name}: back`);
      isAway = false;
      await follow(asking, place, shown, watching);
      pauseMs = PAUSE_MS.first;
    } catch (error) {
      if (signal.aborted) return;
      if (shown && isExpired(error)) {
        shown.resourceVersion = "";
        continue;
      }
      if (!isAway) watching.notify(`${place.name}: lost: ${reasonOf(place, error)}; retrying until it responds`);
      isAway = true;
    }
    // A server that ends its watches at once is not queried in a tight loop.
    if (isAway || clock.now() - startMs < PAUSE_MS.first) {
      await pause(asking, pauseMs);
      pauseMs = Math.min(pauseMs * 2, PAUSE_MS.last);
    }
  }
}

/** Ctrl-C ends a watch normally. */
async function pause({ clock, signal }: Asking, ms: number): Promise<void> {
  try {
    await sleep(clock, ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Lists again and shows new or changed objects; undefined where the type is not served. */
async function listAgain(
  asking: Asking,
  discovery: Discovery,
  place: Place,
  before: Shown | undefined,
  watching: Watching,
): Promise<Shown | undefined> {
  const type = before?.type ?? (await discovery.typesAt(place, watching.word))[0];
  if (!type) return undefined;
  const { pages, resourceVersion } = await readList(asking, place, type, watching.selection, { left: MAX_OBJECTS });
  const versions = new Map<string, string>();
  for (const answer of pages) {
    for (const { uid, resourceVersion: version } of watching.identify(answer)) versions.set(uid, version);
    await watching.show({
      place,
      type,
      change: before && before.versions.size > 0 ? "MODIFIED" : "ADDED",
      answer,
      isChanged: (uid) => before?.versions.get(uid) !== versions.get(uid),
    });
  }
  return { type, resourceVersion, versions };
}

/** Runs until the server ends the watch, or should have. */
async function follow(asking: Asking, place: Place, shown: Shown, watching: Watching): Promise<void> {
  const { namespace, labelSelector, fieldSelector, accept } = watching.selection;
  const query: Record<string, string> = {
    watch: "true",
    allowWatchBookmarks: "true",
    timeoutSeconds: String(WATCH_SECONDS),
    resourceVersion: shown.resourceVersion,
    ...omitZero({ labelSelector, fieldSelector }),
  };
  const late = new AbortController();
  const timer = asking.clock.after((WATCH_SECONDS + GRACE_SECONDS) * 1000, () =>
    late.abort(new FlotillaError("NoAnswer", "it neither sent an event nor ended the watch in time")),
  );
  const splitter = createLineSplitter(MAX_EVENT_BYTES);
  try {
    const signal = AbortSignal.any([asking.signal, late.signal]);
    for await (const chunk of await open(
      { ...asking, signal },
      place,
      `${collectionPath(shown.type, namespace)}${queryText(query)}`,
      accept,
    )) {
      for (const line of splitter.push(chunk)) await take(line.toString(), place, shown, watching);
    }
  } finally {
    timer.cancel();
  }
}

async function take(line: string, place: Place, shown: Shown, watching: Watching): Promise<void> {
  if (line.trim() === "") return;
  const event: unknown = JSON.parse(line);
  if (!isObject(event) || !isObject(event["object"]))
    throw new FlotillaError("Member", "the watch returned something that is not an event");
  const { type: change, object: answer } = event;
  if (change === "ERROR") throw new ApiError(answer as unknown as Status);
  const objects = watching.identify(answer);
  const newest = objects.at(-1)?.resourceVersion || listVersion(answer);
  if (newest) shown.resourceVersion = newest;
  if (change === "BOOKMARK") return;
  for (const { uid, resourceVersion } of objects) {
    if (change === "DELETED") shown.versions.delete(uid);
    else shown.versions.set(uid, resourceVersion);
  }
  await watching.show({ place, type: shown.type, change: change as Change, answer, isChanged: () => true });
}

function listVersion({ metadata }: JsonObject): string {
  return textOf(objectOf(metadata)["resourceVersion"]);
}
