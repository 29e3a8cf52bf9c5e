/** Reads the objects that a command line names on many clusters: page by page, side by side, within a bound. */
import type { JsonObject } from "../../base/index.ts";
import { queryText, resourcePath } from "../../client/index.ts";
import { ApiError, isNotFound } from "../../machinery/index.ts";
import { ask } from "./ask.ts";
import type { Asking } from "./ask.ts";
import type { Discovery } from "./discovery.ts";
import { askEach } from "./each-place.ts";
import type { Gathered } from "./each-place.ts";
import { objectOf, objectsOf, textOf } from "./json-parts.ts";
import type { Place } from "./places.ts";
import type { Target } from "./targets.ts";
import type { ServedType } from "./types.ts";

/** As kubectl asks for. */
const PAGE = 500;
/** Of all clusters together: more is not read by people, and has to be chosen from. */
export const MAX_OBJECTS = 100_000;

export interface Selection {
  targets: readonly Target[];
  /** Unset is all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** What the answers should be. */
  accept: string;
}

/** What one cluster has of one type. */
export interface Answered {
  type: ServedType;
  /** Tables, lists or objects, as the server sent them. */
  pages: JsonObject[];
  /** Where the list is; a watch goes on from there. */
  resourceVersion: string;
  /** Names that are not there. */
  missing: string[];
}

export interface PlaceAnswer {
  /** With the word that asked for it. */
  found: (Answered & { word: string })[];
  /** Words that mean nothing there. */
  unserved: string[];
}

/** Counts what was read, and says when it is enough. */
export interface Room {
  left: number;
}

export async function readObjects(
  asking: Asking,
  discovery: Discovery,
  places: readonly Place[],
  selection: Selection,
  room: Room,
): Promise<Gathered<PlaceAnswer>> {
  return askEach(places, asking.signal, async (place) => {
    const answer: PlaceAnswer = { found: [], unserved: [] };
    for (const { words, names } of selection.targets) {
      for (const word of words) {
        const types = await discovery.typesAt(place, word);
        if (types.length === 0) answer.unserved.push(word);
        for (const type of types) {
          // `all` and `deploy` may mean the same type; it is shown once.
          if (names.length === 0 && answer.found.some((other) => other.type === type && other.missing.length === 0))
            continue;
          answer.found.push({
            word,
            ...(await (names.length > 0
              ? readNamed(asking, place, type, names, selection, room)
              : readList(asking, place, type, selection, room))),
          });
        }
      }
    }
    return answer;
  });
}

/** The path of a type's collection: in a namespace, where it has one and one is given. */
export function collectionPath(
  { group, version, plural, scope }: Pick<ServedType, "group" | "version" | "plural" | "scope">,
  namespace: string | undefined,
  name?: string,
): string {
  return resourcePath({
    cluster: "",
    group,
    version,
    resource: plural,
    namespace: scope === "Namespaced" && namespace !== undefined ? namespace : undefined,
    name,
  });
}

export async function readList(
  asking: Asking,
  place: Place,
  type: ServedType,
  { namespace, labelSelector, fieldSelector, accept }: Omit<Selection, "targets">,
  room: Room,
): Promise<Answered> {
  const answered: Answered = { type, pages: [], resourceVersion: "", missing: [] };
  let next: string | undefined;
  do {
    const query: Record<string, string> = {
      limit: String(PAGE),
      ...(labelSelector && { labelSelector }),
      ...(fieldSelector && { fieldSelector }),
      ...(next !== undefined && { continue: next }),
    };
    const page = await ask(asking, place, `${collectionPath(type, namespace)}${queryText(query)}`, accept);
    answered.pages.push(page);
    room.left -= lengthOf(page);
    const metadata = objectOf(page["metadata"]);
    answered.resourceVersion = textOf(metadata["resourceVersion"]);
    next = textOf(metadata["continue"]) || undefined;
  } while (next !== undefined && room.left > 0);
  return answered;
}

function lengthOf({ rows, items }: JsonObject): number {
  return Array.isArray(rows) ? rows.length : Array.isArray(items) ? items.length : 1;
}

async function readNamed(
  asking: Asking,
  place: Place,
  type: ServedType,
  names: readonly string[],
  { namespace, accept }: Selection,
  room: Room,
): Promise<Answered> {
  const answered: Answered = { type, pages: [], resourceVersion: "", missing: [] };
  for (const name of names) {
    const page = await readOneObject(asking, place, type, namespace, name, accept);
    if (page) answered.pages.push(page);
    else answered.missing.push(name);
    room.left -= 1;
  }
  return answered;
}

/** Undefined when it is not there. */
export async function readOneObject(
  asking: Asking,
  place: Place,
  type: ServedType,
  namespace: string | undefined,
  name: string,
  accept?: string,
): Promise<JsonObject | undefined> {
  try {
    return await ask(asking, place, collectionPath(type, namespace, name), accept);
  } catch (error) {
    if (isNotFound(error) || isAbsent(error)) return undefined;
    throw error;
  }
}

const isAbsent = (error: unknown): boolean => error instanceof ApiError && error.status.code === 404;

/** The objects of lists and single answers, each with what it is: the items of a list do not repeat that. */
export function objectsIn({ type, pages }: Answered): JsonObject[] {
  const identity = { apiVersion: type.group ? `${type.group}/${type.version}` : type.version, kind: type.kind };
  return pages.flatMap((page) =>
    Array.isArray(page["items"]) ? objectsOf(page["items"]).map((item) => ({ ...identity, ...item })) : [page],
  );
}
