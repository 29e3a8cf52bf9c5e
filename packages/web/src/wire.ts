/**
 * What the console server and the page exchange over `/ui/stream`. Both sides import this file.
 *
 * The page subscribes to topics; the server answers with one snapshot and then changes. A change carries whole rows, so
 * applying it twice is harmless. After a reconnect the page subscribes again and receives a new snapshot.
 */

/** The health of a workload, or of its copy on one member, worst last. */
export const HEALTH = ["unknown", "healthy", "progressing", "stale", "failed"] as const;
export type Health = (typeof HEALTH)[number];

export interface MemberRow {
  name: string;
  mode: "push" | "pull";
  /** `ready`, `slow` for an agent that is late, `away` when the member does not respond, `waiting` until it is accepted. */
  state: "ready" | "slow" | "away" | "waiting";
  /** Why it is not ready. */
  message: string;
  version: string;
  /** `3/3`; empty when unknown. */
  nodes: string;
  /** Cores and bytes; 0 when unknown. */
  cpu: { free: number; all: number };
  memory: { free: number; all: number };
  region: string;
  taints: readonly string[];
  /** New workloads are kept away. */
  cordoned: boolean;
  /** The annotation of the simulation that cuts its network is set. */
  cut: boolean;
  /** Registered through Karmada's API, Open Cluster Management's, or both. */
  apis: readonly ("karmada" | "ocm")[];
  /** When its agent last renewed its lease; empty for push-mode members. */
  heard: string;
  created: string;
}

export interface Cell {
  member: string;
  /** Replicas; -1 when the copy has none, or they are unknown. */
  desired: number;
  ready: number;
  updated: number;
  health: Health;
}

export interface WorkloadRow {
  /** `apps.kruise.io/v1beta1/CloneSet/shop/web` */
  id: string;
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  /** -1 when unknown, or for objects without replicas. */
  desired: number;
  ready: number;
  updated: number;
  health: Health;
  /** What is wrong, in a few words; empty when healthy. */
  note: string;
  policy: string;
  cells: readonly Cell[];
}

export interface Finding {
  /** Equal for the same problem, so that a snoozed one stays snoozed. */
  id: string;
  severity: "problem" | "warning";
  /** `member member2`, `CloneSet shop/web` */
  about: string;
  seen: string;
  fix: string;
  commands: readonly string[];
  /** What the page can open. */
  object?: { kind: string; namespace: string; name: string };
  /** The check or the category that found it. */
  from: string;
}

/** Columns: one array per field, texts by their index in `texts`, health as one digit per row. */
export interface PackedWorkloads {
  texts: string[];
  apiVersion: number[];
  kind: number[];
  namespace: number[];
  name: string[];
  desired: number[];
  ready: number[];
  updated: number[];
  health: string;
  note: number[];
  policy: number[];
  /** The number of cells of each row. */
  cells: number[];
  member: number[];
  cellDesired: number[];
  cellReady: number[];
  cellUpdated: number[];
  cellHealth: string;
}

/** Whether the rows cover everything: a viewer with rights in some namespaces sees only those. */
export interface Scope {
  /** Undefined: all namespaces. */
  namespaces?: readonly string[];
  /** Kinds that the viewer may not list. */
  hidden: readonly string[];
  /** Cells come from members directly; otherwise from what members reported to the hub, up to 3 s later. */
  live: boolean;
}

export type FleetMessage =
  | { type: "snapshot"; scope: Scope; members: readonly MemberRow[]; workloads: PackedWorkloads }
  | {
      type: "change";
      members: readonly MemberRow[];
      goneMembers: readonly string[];
      workloads: PackedWorkloads;
      /** Ids. */
      goneWorkloads: readonly string[];
    };

export interface ObjectRef {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
}

export interface PodRow {
  name: string;
  phase: string;
  /** `Running`, `ImagePullBackOff`, `Terminating`: what kubectl prints. */
  state: string;
  ready: boolean;
  restarts: number;
  image: string;
  node: string;
  containers: readonly string[];
  created: string;
  updated: boolean;
}

export interface CopyRow {
  member: string;
  work: string;
  desired: number;
  ready: number;
  updated: number;
  health: Health;
  applied: boolean | undefined;
  /** Why it is not applied, or what is wrong. */
  message: string;
  drift: string;
  /** The copy is read from the member now; otherwise this is what the member last reported. */
  live: boolean;
  /** Why it is not live; empty when it is, or when the member is not read. */
  notLive: string;
  partition: string;
  images: readonly string[];
  pods: readonly PodRow[];
  /** Pods that are not in `pods`. */
  morePods: number;
}

/** One workload from its template to the pods on its members. */
export interface ObjectView {
  ref: ObjectRef;
  /** The object of the hub; undefined when it does not exist. */
  template: unknown;
  policy: string;
  binding: string;
  conditions: readonly { type: string; status: string; reason: string; message: string; at: string }[];
  copies: readonly CopyRow[];
  /** What could not be read, and is therefore missing here. */
  notes: readonly string[];
  /** Members whose copies are not listed because there are too many. */
  moreCopies: number;
}

export interface LogLine {
  member: string;
  pod: string;
  container: string;
  time: string;
  text: string;
}

export interface LogsMessage {
  lines: readonly LogLine[];
  /** What could not be followed, or was left out. */
  notes: readonly string[];
  /** Lines that were left out because they arrived faster than they could be sent. */
  lost: number;
  sources: readonly { member: string; pod: string; container: string; state: "open" | "ended" | "failed" }[];
}

export interface HistoryEntry {
  at: string;
  /** Where it happened: `hub`, or a member. */
  place: string;
  type: "change" | "decision" | "event" | "warning" | "drift";
  object: string;
  who: string;
  text: string;
  count: number;
}

/** From the page. */
export type ClientMessage =
  | { type: "subscribe"; sub: number; topic: Topic }
  | { type: "unsubscribe"; sub: number }
  /** A hidden page receives one message in five seconds. */
  | { type: "visible"; visible: boolean };

export type Topic =
  | { name: "fleet" }
  | { name: "findings" }
  | { name: "object"; ref: ObjectRef }
  | { name: "history"; ref?: ObjectRef }
  | {
      name: "logs";
      ref: ObjectRef;
      members?: readonly string[];
      pod?: string;
      container?: string;
      tail: number;
    };

/** From the server. */
export type ServerMessage =
  | { sub: number; data: FleetMessage | FindingsMessage | ObjectView | LogsMessage | HistoryMessage }
  /** The subscription failed and is over. */
  | { sub: number; error: string }
  /** The session is over; `reason` is a sentence. The page stops and asks to sign in. */
  | { end: string };

export interface FindingsMessage {
  findings: readonly Finding[];
  /** What could not be checked. */
  notChecked: readonly string[];
  at: string;
}

export interface HistoryMessage {
  entries: readonly HistoryEntry[];
  notes: readonly string[];
}

/**
 * The first byte of a frame: UTF-8 JSON, or the same compressed with gzip. Four bytes follow: 0 before a
 * `ServerMessage`; otherwise the subscription, before a `FleetMessage` whose bytes all tabs share.
 */
export const FRAME = { plain: 0, gzip: 1 } as const;

export const workloadId = ({ apiVersion, kind, namespace, name }: ObjectRef): string =>
  `${apiVersion}/${kind}/${namespace}/${name}`;

export function packWorkloads(rows: Iterable<WorkloadRow>): PackedWorkloads {
  const texts: string[] = [];
  const known = new Map<string, number>();
  const indexOf = (text: string): number => {
    let index = known.get(text);
    if (index === undefined) known.set(text, (index = texts.push(text) - 1));
    return index;
  };
  const packed: PackedWorkloads = {
    texts,
    apiVersion: [],
    kind: [],
    namespace: [],
    name: [],
    desired: [],
    ready: [],
    updated: [],
    health: "",
    note: [],
    policy: [],
    cells: [],
    member: [],
    cellDesired: [],
    cellReady: [],
    cellUpdated: [],
    cellHealth: "",
  };
  const [health, cellHealth]: [number[], number[]] = [[], []];
  for (const row of rows) {
    packed.apiVersion.push(indexOf(row.apiVersion));
    packed.kind.push(indexOf(row.kind));
    packed.namespace.push(indexOf(row.namespace));
    packed.name.push(row.name);
    packed.desired.push(row.desired);
    packed.ready.push(row.ready);
    packed.updated.push(row.updated);
    health.push(HEALTH.indexOf(row.health));
    packed.note.push(indexOf(row.note));
    packed.policy.push(indexOf(row.policy));
    packed.cells.push(row.cells.length);
    for (const cell of row.cells) {
      packed.member.push(indexOf(cell.member));
      packed.cellDesired.push(cell.desired);
      packed.cellReady.push(cell.ready);
      packed.cellUpdated.push(cell.updated);
      cellHealth.push(HEALTH.indexOf(cell.health));
    }
  }
  packed.health = health.join("");
  packed.cellHealth = cellHealth.join("");
  return packed;
}

export function unpackWorkloads(packed: PackedWorkloads): WorkloadRow[] {
  const { texts } = packed;
  const textAt = (index: number | undefined): string => texts[index ?? 0] ?? "";
  const healthAt = (digits: string, index: number): Health => HEALTH[digits.charCodeAt(index) - 48] ?? "unknown";
  let next = 0;
  return packed.name.map((name, row) => {
    const ref = {
      apiVersion: textAt(packed.apiVersion[row]),
      kind: textAt(packed.kind[row]),
      namespace: textAt(packed.namespace[row]),
      name,
    };
    const cells: Cell[] = [];
    for (let left = packed.cells[row] ?? 0; left > 0; left--, next++)
      cells.push({
        member: textAt(packed.member[next]),
        desired: packed.cellDesired[next] ?? -1,
        ready: packed.cellReady[next] ?? -1,
        updated: packed.cellUpdated[next] ?? -1,
        health: healthAt(packed.cellHealth, next),
      });
    return {
      id: workloadId(ref),
      ...ref,
      desired: packed.desired[row] ?? -1,
      ready: packed.ready[row] ?? -1,
      updated: packed.updated[row] ?? -1,
      health: healthAt(packed.health, row),
      note: textAt(packed.note[row]),
      policy: textAt(packed.policy[row]),
      cells,
    };
  });
}
