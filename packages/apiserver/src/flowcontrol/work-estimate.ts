/** How many seats a request takes, after Kubernetes' estimate. Pure. */

const OBJECTS_PER_SEAT = 100;
const MAX_LIST_SEATS = 10;
/** No request takes more than this part of the seats of its level, so that others run beside it. Not compared with Kubernetes. */
const MAX_PART_OF_LEVEL = 0.15;

export interface EstimatedRequest {
  verb: string;
  /** A list or watch of one object by a field selector is a get. */
  isSingle: boolean;
  query: URLSearchParams;
}

/** `count` returns the stored objects of the resource. */
export function seatsFor({ verb, isSingle, query }: EstimatedRequest, count: () => number, levelSeats: number): number {
  if (verb !== "list" && verb !== "watch") return 1;
  if (isSingle) return 1;
  const resourceVersion = query.get("resourceVersion") ?? "";
  // A watch that continues from a version has no initial objects.
  if (
    verb === "watch" &&
    query.get("sendInitialEvents") !== "true" &&
    resourceVersion !== "" &&
    resourceVersion !== "0"
  )
    return 1;
  const most = Math.max(1, Math.min(MAX_LIST_SEATS, Math.ceil(levelSeats * MAX_PART_OF_LEVEL)));
  const seats = Math.ceil(objectsOf(count(), query) / OBJECTS_PER_SEAT);
  return Math.max(1, Math.min(most, seats));
}

/** Every list is served from memory: a page costs its own objects, and with a selector all of them are compared. */
function objectsOf(count: number, query: URLSearchParams): number {
  const limit = Number(query.get("limit") ?? 0);
  const isSelected = Boolean(query.get("labelSelector")) || Boolean(query.get("fieldSelector"));
  return limit > 0 && !isSelected ? Math.min(limit, count) : count;
}
