/** The rows of the fleet in the page. Views are redrawn at most once per frame, whatever arrives. */
import { useEffect, useReducer } from "preact/hooks";
import { unpackWorkloads } from "../src/wire.ts";
import type { Finding, FindingsMessage, FleetMessage, MemberRow, Scope, WorkloadRow } from "../src/wire.ts";
import { linkState, onLink, subscribe } from "./stream.ts";
import type { LinkState } from "./stream.ts";

export interface Fleet {
  /** False until the first snapshot. */
  loaded: boolean;
  /** Why there are no rows. */
  error: string;
  scope: Scope;
  members: readonly MemberRow[];
  member(name: string): MemberRow | undefined;
  workloads: readonly WorkloadRow[];
  workload(id: string): WorkloadRow | undefined;
  findings: readonly Finding[];
  /** Undefined until they are computed for the first time. */
  checked: FindingsMessage | undefined;
  link: LinkState;
  /** Grows with every change. */
  version: number;
}

const members = new Map<string, MemberRow>();
const workloads = new Map<string, WorkloadRow>();
const listeners = new Set<() => void>();
let frame = 0;
let sortedMembers: MemberRow[] | undefined;
let sortedWorkloads: WorkloadRow[] | undefined;

const byName = new Intl.Collator("en", { numeric: true }).compare;

const fleet: Fleet = {
  loaded: false,
  error: "",
  scope: { hidden: [], live: false },
  get members() {
    return (sortedMembers ??= [...members.values()].sort((a, b) => byName(a.name, b.name)));
  },
  member: (name) => members.get(name),
  get workloads() {
    return (sortedWorkloads ??= [...workloads.values()].sort(
      (a, b) => byName(a.namespace, b.namespace) || byName(a.name, b.name) || byName(a.kind, b.kind),
    ));
  },
  workload: (id) => workloads.get(id),
  findings: [],
  checked: undefined,
  link: "connecting",
  version: 0,
};

function changed(): void {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    fleet.version += 1;
    for (const listener of listeners) listener();
  });
  // A hidden page has no frames; it catches up when it is shown.
}

export function startFleet(): void {
  subscribe<FleetMessage>(
    { name: "fleet" },
    (message) => {
      if (message.type === "snapshot") {
        members.clear();
        workloads.clear();
        fleet.scope = message.scope;
        fleet.loaded = true;
        fleet.error = "";
      } else {
        for (const name of message.goneMembers) members.delete(name);
        for (const id of message.goneWorkloads) workloads.delete(id);
      }
      for (const row of message.members) members.set(row.name, row);
      let isNew = message.type === "snapshot" || message.goneWorkloads.length > 0;
      for (const row of unpackWorkloads(message.workloads)) {
        isNew ||= !workloads.has(row.id);
        workloads.set(row.id, row);
      }
      sortedMembers = undefined;
      // The order only depends on names; rows that changed are put in place.
      if (isNew) sortedWorkloads = undefined;
      else if (sortedWorkloads) sortedWorkloads = sortedWorkloads.map((row) => workloads.get(row.id) ?? row);
      changed();
    },
    (reason) => {
      fleet.error = reason;
      changed();
    },
  );
  subscribe<FindingsMessage>({ name: "findings" }, (message) => {
    fleet.findings = message.findings;
    fleet.checked = message;
    changed();
  });
  fleet.link = linkState();
  onLink((state) => {
    fleet.link = state;
    changed();
  });
}

/** Draws the component again when the fleet changed. */
export function useFleet(): Fleet {
  const [, redraw] = useReducer<number, null>((count) => count + 1, 0);
  useEffect(() => {
    const listener = (): void => redraw(null);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return fleet;
}
