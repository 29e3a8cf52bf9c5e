/** The tables of `/debug/api_priority_and_fairness/dump_…`, with the columns of kube-apiserver. Pure. */
import type { QueuedRequest } from "./fair-queues.ts";
import type { PriorityLevel } from "./priority-level.ts";

export type FlowDump = "priority_levels" | "queues" | "requests";

export const flowDumps: readonly FlowDump[] = ["priority_levels", "queues", "requests"];

export function renderFlowDump(of: FlowDump, levels: readonly PriorityLevel[], hasDetails: boolean): string {
  const sorted = levels.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (of === "priority_levels") return renderRows([LEVEL_COLUMNS, ...sorted.map(levelRow)]);
  if (of === "queues") return renderRows([QUEUE_COLUMNS, ...sorted.flatMap(queueRows)]);
  return renderRows([
    [...REQUEST_COLUMNS, ...(hasDetails ? DETAIL_COLUMNS : [])],
    ...sorted.flatMap((level) => requestRows(level, hasDetails)),
  ]);
}

const LEVEL_COLUMNS = [
  "PriorityLevelName",
  "ActiveQueues",
  "IsIdle",
  "IsQuiescing",
  "WaitingRequests",
  "ExecutingRequests",
  "DispatchedRequests",
  "RejectedRequests",
  "TimedoutRequests",
  "CancelledRequests",
];

function levelRow(level: PriorityLevel): string[] {
  const { name, waiting, running, counts, queues, isIdle, isQuiescing } = level;
  const active = queues?.queues.filter((queue) => queue.requests.length > 0).length ?? 0;
  return [
    name,
    active,
    isIdle,
    isQuiescing,
    waiting,
    running.size,
    counts.dispatched,
    counts.rejected,
    counts.timedOut,
    counts.cancelled,
  ].map(String);
}

const QUEUE_COLUMNS = [
  "PriorityLevelName",
  "Index",
  "PendingRequests",
  "ExecutingRequests",
  "SeatsInUse",
  "NextDispatchR",
  "InitialSeatsSum",
  "MaxSeatsSum",
  "TotalWorkSum",
];

/** Queues exist once a request of the level has waited. */
function queueRows({ name, queues, running }: PriorityLevel): string[][] {
  return (queues?.queues ?? []).map((queue) => {
    const executing = [...running].filter((request) => request.queue?.index === queue.index).length;
    return [
      name,
      queue.index,
      queue.requests.length,
      executing,
      queue.executing,
      seatSeconds(queue.nextStart),
      queue.seats,
      queue.seats,
      seatSeconds(queue.work),
    ].map(String);
  });
}

const seatSeconds = (seatMs: number): string => `${(seatMs / 1000).toFixed(8)}ss`;

const REQUEST_COLUMNS = [
  "PriorityLevelName",
  "FlowSchemaName",
  "QueueIndex",
  "RequestIndexInQueue",
  "FlowDistingsher",
  "ArriveTime",
  "InitialSeats",
  "FinalSeats",
  "AdditionalLatency",
  "StartTime",
];
const DETAIL_COLUMNS = ["UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"];

function requestRows({ name, queues, running }: PriorityLevel, hasDetails: boolean): string[][] {
  const row = (request: QueuedRequest, indexInQueue: number, startMs: number | undefined): string[] => [
    ...[
      name,
      request.schemaName,
      request.queue?.index ?? -1,
      indexInQueue,
      request.distinguisher,
      timeText(request.sinceMs),
      request.seats,
      0,
      "0s",
      startMs === undefined ? "0001-01-01T00:00:00Z" : timeText(startMs),
    ].map(String),
    ...(hasDetails ? detailsOf(request) : []),
  ];
  const waiting = (queues?.queues ?? []).flatMap(({ requests }) =>
    requests.map((request, index) => row(request, index, undefined)),
  );
  return [...waiting, ...Array.from(running, (request) => row(request, -1, request.startMs))];
}

function detailsOf({ attributes: { user, verb, path, resource } }: QueuedRequest): string[] {
  const [, root, first = "", second = ""] = path.split("/");
  const version = root === "apis" ? `${first}/${second}` : first;
  return [
    user.name,
    verb,
    path,
    resource?.namespace ?? "",
    resource?.name ?? "",
    resource ? version : "",
    resource?.resource ?? "",
    resource?.subresource ?? "",
  ];
}

const timeText = (ms: number): string => new Date(ms).toISOString();

/** Cells end in a comma and are aligned. */
function renderRows(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length + 2);
  const line = (row: readonly string[]): string =>
    row.map((cell, index) => (index < row.length - 1 ? `${cell},`.padEnd(widths[index] ?? 0) : cell)).join("");
  return rows.map((row) => `${line(row)}\n`).join("");
}
