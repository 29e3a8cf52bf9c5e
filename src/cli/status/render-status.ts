/** The status of a fleet as text that fits eighty columns, as far as names do. Pure. */
import { formatAge } from "../../machinery/index.ts";
import { renderTable } from "../output.ts";
import type { FleetStatus, MemberStatus, Unwell } from "./fleet-status.ts";

const WIDTH = 80;
/** More workloads are counted, unless all are asked for. */
const MAX_WORKLOADS = 20;
const MAX_PLACEMENT = 36;

export function renderStatus(status: FleetStatus, options: { nowMs: number; all: boolean }): string {
  const { server, members, notShown } = status;
  return [
    `hub ${server}`,
    members.length > 0 ? renderMembers(members, options.nowMs) : "No members yet.",
    ...renderObjects(status),
    renderUnwell(status.unwell),
    renderWorkloads(status, options.all),
    ...(notShown.length > 0 ? [`Not shown, because you may not list them: ${notShown.join(", ")}`] : []),
  ].join("\n\n");
}

function renderMembers(members: readonly MemberStatus[], nowMs: number): string {
  const rows = members.map((member) => [member.name, member.mode, karmadaWord(member), ocmWord(member), member.version || "-", member.nodes || "-", member.free?.cpu ?? "-", member.free?.memory ?? "-", member.heard === undefined ? "-" : formatAge(nowMs - Date.parse(member.heard))]);
  const [header = "", ...lines] = renderTable(["MEMBER", "MODE", "KARMADA", "OCM", "VERSION", "NODES", "CPU", "MEMORY", "HEARD"], rows, 2).split("\n");
  return [header, ...lines.flatMap((line, index) => [line, ...(members[index]?.taints ?? []).map((taint) => `  taint ${taint}`)])].join("\n");
}

function karmadaWord({ ready }: MemberStatus): string {
  if (ready === undefined) return "-";
  return ready === "True" ? "Ready" : ready === "False" ? "NotReady" : ready;
}

function ocmWord({ available, accepted }: MemberStatus): string {
  if (available === undefined) return "-";
  if (!accepted) return "NotAccepted";
  return available === "True" ? "Available" : available === "False" ? "NotAvailable" : available;
}

function renderObjects({ objects }: FleetStatus): string[] {
  const { manifestWorks, placements, replicaSets } = objects;
  if (manifestWorks + placements + replicaSets === 0) return [];
  return [[counted(manifestWorks, "ManifestWork"), counted(placements, "Placement"), counted(replicaSets, "ManifestWorkReplicaSet")].join(", ")];
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

function renderUnwell({ counts, worst }: Unwell): string {
  const kinds = Object.entries(counts);
  if (kinds.length === 0) return "Everything is well.";
  const total = kinds.map(([trouble, count]) => `${count} ${plural(trouble, count)}`).join(", ");
  const lines = worst.flatMap(({ kind, namespace, name, reason }) => renderTrouble(`${kind} ${namespace ? `${namespace}/` : ""}${name}:`, reason));
  return [`NOT WELL: ${total}`, ...lines].join("\n");
}

/** In one line where it fits; otherwise the reason has two of its own. 'flotilla why' has it whole. */
function renderTrouble(what: string, reason: string): string[] {
  const line = `  ${what} ${reason}`;
  if (line.length <= WIDTH) return [line];
  const room = WIDTH - 4;
  const space = reason.lastIndexOf(" ", room);
  const end = reason.length <= room || space <= 0 ? room : space;
  const rest = reason.slice(end).trimStart();
  return [`  ${what}`, `    ${reason.slice(0, end)}`, ...(rest ? [`    ${cut(rest, room)}`] : [])];
}

/** `member not available` and `members not available`. */
function plural(trouble: string, count: number): string {
  const [what = "", ...rest] = trouble.split(" ");
  return [count === 1 ? what : `${what}s`, ...rest].join(" ");
}

const cut = (text: string, width: number): string => (text.length > width ? `${text.slice(0, width - 1)}…` : text);

function renderWorkloads({ workloads, objects, notShown }: FleetStatus, all: boolean): string {
  if (workloads.length === 0) return objects.manifestWorks > 0 || notShown.includes("resourcebindings") ? "No workloads are propagated by policies." : "No workloads are propagated yet: apply one together with a PropagationPolicy.";
  const shown = all ? workloads : workloads.slice(0, MAX_WORKLOADS);
  const table = renderTable(
    ["NAMESPACE", "NAME", "KIND", "READY", "APPLIED", "PLACEMENT"],
    shown.map(({ namespace, name, kind, desired, ready, applied, placement }) => [namespace, name, kind, desired === undefined ? "-" : `${ready}/${desired}`, applied, (all ? placement : cut(placement, MAX_PLACEMENT)) || "<not scheduled>"]),
    2,
  );
  return shown.length < workloads.length ? `${table}\nand ${workloads.length - shown.length} more; --all shows them` : table;
}
