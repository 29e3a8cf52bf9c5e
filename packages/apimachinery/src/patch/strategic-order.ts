/** The order of a list after a strategic merge: the patch's items in its order, the others at the server's position. */
import { isObject, type Json } from "@flotilla/base";

/** The identity of an item: the merge key of maps, the value of scalars. */
export function identity(item: Json, mergeKey: string | undefined): string {
  return JSON.stringify(
    isObject(item) && mergeKey !== undefined ? (Object.hasOwn(item, mergeKey) ? item[mergeKey] : null) : item,
  );
}

/**
 * Items that `wanted` names are in that order. The others keep their order and come before the first named item that
 * the server had after them. New items that are not named come last.
 */
export function inServerOrder(
  merged: readonly Json[],
  wanted: readonly Json[],
  server: readonly Json[],
  mergeKey: string | undefined,
): Json[] {
  const wantedPlace = indexesByIdentity(wanted, mergeKey);
  const serverPlace = indexesByIdentity(server, mergeKey);
  const place = (places: ReadonlyMap<string, number>, item: Json): number => places.get(identity(item, mergeKey)) ?? -1;
  const serverOrder = (item: Json): number =>
    serverPlace.get(identity(item, mergeKey)) ?? merged.length + server.length;
  const named = merged
    .filter((item) => wantedPlace.has(identity(item, mergeKey)))
    .sort((a, b) => place(wantedPlace, a) - place(wantedPlace, b));
  const others = merged
    .filter((item) => !wantedPlace.has(identity(item, mergeKey)))
    .sort((a, b) => serverOrder(a) - serverOrder(b));
  const result: Json[] = [];
  let next = 0;
  for (const item of named) {
    const limit = place(serverPlace, item);
    while (next < others.length) {
      const at = place(serverPlace, others[next] as Json);
      if (at < 0 || at >= limit) break;
      result.push(others[next] as Json);
      next += 1;
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

function indexesByIdentity(items: readonly Json[], mergeKey: string | undefined): Map<string, number> {
  const places = new Map<string, number>();
  for (const [index, item] of items.entries())
    if (!places.has(identity(item, mergeKey))) places.set(identity(item, mergeKey), index);
  return places;
}
