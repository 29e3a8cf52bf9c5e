/** Reads the requested objects on many clusters: page by page, in parallel, up to a limit. */
import { UsageError, defined, omitZero, textOf, objectOf, objectsOf } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { queryText, resourcePath } from "@flotilla/client";
import { ApiError, isNotFound } from "@flotilla/apimachinery";
import { ask } from "./ask.ts";
import type { Asking } from "./ask.ts";
import type { Discovery } from "./discovery.ts";
import { askEach } from "./each-place.ts";
import type { Gathered } from "./each-place.ts";
import type { Place } from "./members-places.ts";
import type { Target } from "./targets.ts";
import { ambiguousText } from "./served-types.ts";
import type { ServedType } from "./served-types.ts";

/** kubectl's page size. */
const PAGE = 500;
/** For all clusters together: users must narrow down larger results. */
export const MAX_OBJECTS = 100_000;

export interface Selection {
  targets: readonly Target[];
  /** Unset means all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** The Accept header. */
  accept: string;
}

/** The objects of one type on one cluster. */
interface Answered {
  type: ServedType;
  /** Tables, lists or objects, as the server sent them. */
  pages: JsonObject[];
  /** The resourceVersion of the list, where a watch starts. */
  resourceVersion: string;
  /** Names that were not found. */
  missing: string[];
}

export interface PlaceAnswer {
  /** With the word that requested it. */
  found: (Answered & { word: string })[];
  /** Words that match no type there. */
  unserved: string[];
}

/** Counts the objects read, up to a limit. */
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
        const isNamed = names.length > 0;
        const types = await (isNamed ? discovery.namesakesAt(place, word) : discovery.typesAt(place, word));
        if (types.length === 0) answer.unserved.push(word);
        if (isNamed) {
          const named = await Promise.all(types.map((type) => readNamed(asking, place, type, names, selection, room)));
          answer.found.push(...ownersOf(named, names).map((answered) => ({ word, ...answered })));
          continue;
        }
        for (const type of types) {
          // `all` and `deploy` may match the same type; it is shown once.
          if (answer.found.some((other) => other.type === type && other.missing.length === 0)) continue;
          answer.found.push({ word, ...(await readList(asking, place, type, selection, room)) });
        }
      }
    }
    return answer;
  });
}

/** The path of a type's collection: within a namespace, if the type is namespaced and one is given. */
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
      ...omitZero({ labelSelector, fieldSelector }),
      ...defined({ continue: next }),
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

/** Of the groups that serve a kind, those that have the names, or the first one. Throws if two have the same name. */
function ownersOf(answers: readonly Answered[], names: readonly string[]): Answered[] {
  for (const name of names) {
    const having = answers.filter(({ missing }) => !missing.includes(name)).map(({ type }) => type);
    if (having.length > 1) throw new UsageError(ambiguousText(having, name));
  }
  const having = answers.filter(({ pages }) => pages.length > 0);
  return having.length > 0 ? having : answers.slice(0, 1);
}

/** The one of several namesakes that has the object, or the first one. Throws if two have it. */
export async function readNamesake(
  asking: Asking,
  place: Place,
  types: readonly ServedType[],
  { namespace, name }: { namespace: string | undefined; name: string },
): Promise<{ type: ServedType; object: JsonObject | undefined } | undefined> {
  const answers = await Promise.all(
    types.map(async (type) => ({ type, object: await readOneObject(asking, place, type, namespace, name) })),
  );
  const having = answers.filter(({ object }) => object !== undefined);
  if (having.length > 1)
    throw new UsageError(
      ambiguousText(
        having.map(({ type }) => type),
        name,
      ),
    );
  return having[0] ?? answers[0];
}

/** Undefined when it does not exist. */
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

/** The objects of lists and single responses, each with apiVersion and kind, which list items lack. */
export function objectsIn({ type, pages }: Answered): JsonObject[] {
  const identity = { apiVersion: type.group ? `${type.group}/${type.version}` : type.version, kind: type.kind };
  return pages.flatMap((page) =>
    Array.isArray(page["items"]) ? objectsOf(page["items"]).map((item) => ({ ...identity, ...item })) : [page],
  );
}
