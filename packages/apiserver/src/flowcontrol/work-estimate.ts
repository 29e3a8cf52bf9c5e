/** How many seats a request takes, after Kubernetes' estimate. Pure. */

const OBJECTS_PER_SEAT = 100;
const MAX_SEATS = 10;
const WATCHERS_PER_SEAT = 10;
const WRITES = new Set(["create", "update", "patch", "delete", "deletecollection"]);
/** No request takes more than this part of the seats of its level, so that others run beside it. Not compared with Kubernetes. */
const MAX_PART_OF_LEVEL = 0.15;

export interface EstimatedRequest {
  verb: string;
  /** A list or watch of one object by a field selector is a get. */
  isSingle: boolean;
  query: URLSearchParams;
}

/** What a request costs besides itself, if it is asked for. */
export interface RequestLoad {
  /** The stored objects of the resource. */
  objects(): number;
  /** Watches that a write notifies. */
  watchers(): number;
}

export function seatsFor({ verb, isSingle, query }: EstimatedRequest, load: RequestLoad, levelSeats: number): number {
  const most = Math.max(1, Math.min(MAX_SEATS, Math.ceil(levelSeats * MAX_PART_OF_LEVEL)));
  if (WRITES.has(verb)) return Math.max(1, Math.min(most, seatsOfWatchers(load.watchers())));
  if ((verb !== "list" && verb !== "watch") || isSingle) return 1;
  const resourceVersion = query.get("resourceVersion") ?? "";
  // A watch that continues from a version has no initial objects.
  if (
    verb === "watch" &&
    query.get("sendInitialEvents") !== "true" &&
    resourceVersion !== "" &&
    resourceVersion !== "0"
  )
    return 1;
  const seats = Math.ceil(objectsOf(load.objects(), query) / OBJECTS_PER_SEAT);
  return Math.max(1, Math.min(most, seats));
}

/**
 * Watchers are notified before a write is answered. Kubernetes does so afterwards and adds 5 ms for each seat; here the seats
 * last as long as the request, which includes that work.
 */
const seatsOfWatchers = (watchers: number): number =>
  watchers < WATCHERS_PER_SEAT ? 1 : Math.ceil(watchers / WATCHERS_PER_SEAT);

/** Every list is served from memory: a page costs its own objects, and with a selector all of them are compared. */
function objectsOf(count: number, query: URLSearchParams): number {
  const limit = Number(query.get("limit") ?? 0);
  const isSelected = Boolean(query.get("labelSelector")) || Boolean(query.get("fieldSelector"));
  return limit > 0 && !isSelected ? Math.min(limit, count) : count;
}
