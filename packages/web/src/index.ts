/** What the console server shares with the page: the wire format, and how the page is built in a checkout. */
export { FRAME, packWorkloads, workloadId } from "./wire.ts";
export type {
  Cell,
  ClientMessage,
  CopyRow,
  Finding,
  FindingsMessage,
  FleetMessage,
  Health,
  HistoryEntry,
  HistoryMessage,
  LogLine,
  LogsMessage,
  MemberRow,
  ObjectRef,
  ObjectView,
  PodRow,
  Scope,
  ServerMessage,
  Topic,
  WorkloadRow,
} from "./wire.ts";
export { buildPage } from "./build-page.ts";
