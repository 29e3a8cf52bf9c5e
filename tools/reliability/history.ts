/**
 * What clients did and saw. Times are milliseconds on one clock, that of the process in which all clients run. Every write
 * has a value of its own, so a value names the write that it comes from.
 */
export interface Operation {
  client: string;
  /** The API server that was asked. */
  server: string;
  kind: "create" | "update" | "patch" | "delete" | "get" | "list";
  /** The object; empty for a list of all of them. */
  key: string;
  invokedMs: number;
  /** `Infinity` if no answer came, or one that does not say whether the write was made. */
  completedMs: number;
  /** `rejected`: the server has said that it did nothing. */
  outcome: "ok" | "rejected" | "unknown";
  /** Of a rejection, and of a get that found nothing. */
  reason?: "NotFound" | "AlreadyExists" | "Conflict";
  /** What a write stores. */
  value?: string;
  /** The revision of the object that an update or a deletion requires. */
  expected?: number;
  /** Of the object that was written or read; of a list, its own. */
  revision?: number;
  /** What a get returned. */
  seen?: string;
  /** What a list returned. */
  items?: readonly Item[];
  /** The request permitted an answer from an older state (`resourceVersion=0`). */
  mayBeStale?: boolean;
}

export interface Item {
  key: string;
  revision: number;
  value: string;
}

export interface SeenEvent extends Item {
  type: "ADDED" | "MODIFIED" | "DELETED";
  atMs: number;
}

/** The events of one reader from one list to the next. It continues over broken connections and at other servers. */
export interface WatchSpan {
  watcher: string;
  /** The revision of the list before it. */
  after: number;
  events: SeenEvent[];
  /** Everything up to here was delivered: the revision of the last event or bookmark. */
  upTo: number;
}

export interface History {
  operations: readonly Operation[];
  spans: readonly WatchSpan[];
  /** What each server listed at the end, after all faults, and what etcd itself has. */
  ends: readonly { reader: string; items: readonly Item[] }[];
}
