/** Renders the status of a fleet as text that fits the terminal; without a terminal nothing is shortened. Pure. */
import { formatAge } from "@flotilla/apimachinery";
import { capitalised } from "@flotilla/base";
import { conciseReason } from "../health/concise.ts";
import { controllersProblem } from "../health/controllers-state.ts";
import { splitNotChecked } from "../health/not-checked.ts";
import type { Paint } from "../paint.ts";
import { plain } from "../paint.ts";
import { renderTable } from "../text-table.ts";
import { displayWidth, shorten, wrapWords, counted } from "../text-layout.ts";
import type { FleetStatus, MemberStatus, RunStatus, UnhealthySummary, WorkloadStatus } from "./fleet-status.ts";
import { someOfEach } from "./unhealthy.ts";
import { UNCLAIMED } from "./unselected.ts";

/** Further workloads are counted, except with --all. */
const MAX_WORKLOADS = 20;
/** In `notShown`. */
const BINDINGS = "resourcebindings";
const MAX_RELEASES = 10;
const MAX_UNHEALTHY = 10;
const MAX_UNSELECTED = 3;
const MAX_PLACEMENT = 36;
/** On a terminal; 'flotilla why' shows the full reason. */
const MAX_REASON_LINES = 2;

export interface StatusPage {
  nowMs: number;
  all: boolean;
  /** More columns. */
  wide?: boolean;
  /** The columns of the terminal. */
  width?: number | undefined;
  paint?: Paint;
}

export function renderStatus(status: FleetStatus, page: StatusPage): string {
  const { server, members, notShown, unhealthy } = status;
  // Problems come before the tables, which may be longer than a screen.
  const isUnhealthy = Object.keys(unhealthy.counts).length > 0;
  const sick = unhealthy.worst.filter(({ kind }) => kind === "member").map(({ name }) => name);
  const notChecked = splitNotChecked(status.notChecked, new Set(sick));
  return [
    [`hub ${server}${renderControllers(status, page)}`, ...renderComponents(status, page)].join("\n"),
    ...renderNotChecked(notShown, notChecked.first, page),
    ...(isUnhealthy ? renderUnhealthy(unhealthy, page) : []),
    ...renderNotChecked([], notChecked.following, page),
    ...(members.length > 0
      ? [renderMembers(members, page)]
      : MEMBER_KINDS.some((kind) => notShown.includes(kind))
        ? []
        : ["No members yet."]),
    ...renderObjects(status),
    ...(isUnhealthy || status.isNamespaceMissing ? [] : [renderNoProblems(status, page)]),
    ...renderIneffective(status, page),
    ...renderReleases(status, page),
    ...renderWorkloads(status, page),
    ...renderWithoutPolicy(status, page),
    ...renderUnselected(status, page),
  ].join("\n\n");
}

function renderNotChecked(
  notShown: readonly string[],
  notChecked: readonly string[],
  { width, paint = plain }: StatusPage,
): string[] {
  const lines = [
    ...(notShown.length > 0 ? [`${notShown.join(", ")}: you are not allowed to list them`] : []),
    ...notChecked,
  ];
  if (lines.length === 0) return [];
  const wrapped = lines.flatMap((line) => (width === undefined ? [line] : wrapWords(line, width - 4)));
  return [[paint.yellow("NOT CHECKED:"), ...wrapped.map((line) => `  ${line}`)].join("\n")];
}

/** In the first line: without controllers, everything below is old. */
const renderControllers = ({ controllers }: FleetStatus, { paint = plain }: StatusPage): string =>
  controllersProblem(controllers)
    ? ` ${paint.red(
        controllers.state === "partial"
          ? `without controllers of ${controllers.missing.join(", ")}`
          : "without running controllers: nothing is propagated",
      )}`
    : "";

function renderComponents({ components, controllers }: FleetStatus, { width }: StatusPage): string[] {
  // Without controllers, the components that they embody do not run: the first line has the cause.
  if (components.length === 0 || controllersProblem(controllers)) return [];
  const counts = `components ${components.map(({ namespace, total, unready: { length } }) => `${total - length}/${total} in ${namespace}`).join(", ")}`;
  const unready = components.flatMap(({ namespace, unready: names }) =>
    names.map((name) => `  ${name} in ${namespace} is not ready`),
  );
  return [counts, ...unready].flatMap((line) => (width === undefined ? [line] : wrapWords(line, width)));
}

const MEMBER_COLUMNS = ["MEMBER", "MODE", "KARMADA", "OCM", "VERSION", "NODES", "CPU", "MEMORY"];

function renderMembers(members: readonly MemberStatus[], { nowMs, width, wide, paint = plain }: StatusPage): string {
  // The hub asks members that it pushes to; only agents report themselves.
  const hasAgents = members.some(({ heard }) => heard !== undefined);
  const rows = members.map((member) => [
    member.name,
    member.mode,
    painted(karmadaWord(member), paint),
    painted(ocmWord(member), paint),
    member.version || "-",
    member.nodes || "-",
    member.free?.cpu ?? "-",
    member.free?.memory ?? "-",
    ...(hasAgents ? [member.heard === undefined ? "-" : formatAge(nowMs - Date.parse(member.heard))] : []),
    ...(wide ? [member.region ?? "-", member.age] : []),
  ]);
  const [header = "", ...lines] = renderTable(
    [...MEMBER_COLUMNS, ...(hasAgents ? ["LAST SEEN"] : []), ...(wide ? ["REGION", "AGE"] : [])],
    rows,
    2,
    width,
  ).split("\n");
  return [
    header,
    ...lines.flatMap((line, index) => [line, ...(members[index]?.taints ?? []).map((taint) => `  taint ${taint}`)]),
  ].join("\n");
}

const painted = (word: string, { green, red }: Paint): string =>
  word === "Ready" || word === "Available" ? green(word) : word.startsWith("Not") ? red(word) : word;

/** A registration that is being deleted is not shown as healthy, whatever its last condition. */
const LEAVING = "Leaving";

function karmadaWord({ ready, leaving }: MemberStatus): string {
  if (ready === undefined) return "-";
  if (leaving?.includes("karmada")) return LEAVING;
  return ready === "True" ? "Ready" : ready === "False" ? "NotReady" : ready;
}

function ocmWord({ available, accepted, leaving }: MemberStatus): string {
  if (available === undefined) return "-";
  if (leaving?.includes("ocm")) return LEAVING;
  if (!accepted) return "NotAccepted";
  return available === "True" ? "Available" : available === "False" ? "NotAvailable" : available;
}

function renderObjects({ objects }: FleetStatus): string[] {
  const { manifestWorks, placements, replicaSets } = objects;
  if (manifestWorks + placements + replicaSets === 0) return [];
  return [
    [
      counted(manifestWorks, "ManifestWork"),
      counted(placements, "Placement"),
      counted(replicaSets, "ManifestWorkReplicaSet"),
    ].join(", "),
  ];
}

/** The kinds of members; a user who may not list one of them does not see all members. */
const MEMBER_KINDS = ["clusters", "managedclusters"];

export const noNamespace = (name = "", hint = ""): string =>
  `the hub has no namespace ${name}${hint}; 'kubectl get namespaces' lists those that it has`;

/** Nothing is claimed about what was not looked at. */
function renderNoProblems(status: FleetStatus, { width }: StatusPage): string {
  const { checked, notShown, notChecked, namespace, controllers } = status;
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  const isPartial = notShown.length + notChecked.length > 0;
  if (checked.length === 0) return `Nothing could be checked${where}.`;
  // They may have died since.
  const when =
    controllers.state === "running" ? ` (the controllers last reported ${formatAge(controllers.forMs)} ago)` : "";
  const line = `${isPartial ? "No problems found in what was checked" : "No problems found"}${where}${when}: ${checked.join(", ")}.`;
  return width === undefined ? line : wrapWords(line, width).join("\n");
}

/** A release that waits for its approval is not unhealthy, so it has a heading of its own. */
const WAITING = "release waiting for a decision";

function renderUnhealthy({ counts, worst }: UnhealthySummary, page: StatusPage): string[] {
  const { red, yellow } = page.paint ?? plain;
  const { [WAITING]: waiting, ...others } = counts;
  const [held = [], rest = []] = [true, false].map((is) => worst.filter(({ problem }) => (problem === WAITING) === is));
  return [
    ...(Object.keys(others).length > 0
      ? [renderProblems(red("UNHEALTHY:"), { counts: others, worst: rest }, page)]
      : []),
    ...(waiting ? [renderProblems(yellow("WAITING:"), { counts: { [WAITING]: waiting }, worst: held }, page)] : []),
  ];
}

function renderProblems(heading: string, { counts, worst }: UnhealthySummary, { all, width }: StatusPage): string {
  const total = Object.entries(counts)
    .map(([problem, count]) => `${count} ${plural(problem, count)}`)
    .join(", ");
  const shown = all ? worst : someOfEach(worst, MAX_UNHEALTHY);
  const lines = shown.flatMap(({ kind, namespace, name, reason }) => {
    const object = `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
    return renderProblem(`${object}:`, conciseReason(reason, object), width);
  });
  const more =
    shown.length < worst.length ? [`  … and ${worst.length - shown.length} more; use --all to show them`] : [];
  return [`${heading} ${total}`, ...lines, ...more].join("\n");
}

/** On one line if it fits; otherwise the reason has its own lines. */
function renderProblem(what: string, reason: string, width: number | undefined): string[] {
  const line = `  ${what} ${reason}`;
  if (width === undefined || displayWidth(line) <= width) return [line];
  const room = width - 4;
  const [first = "", ...rest] = wrapWords(reason, room);
  const lines = rest.length < MAX_REASON_LINES ? [first, ...rest] : [first, rest.join(" ")];
  return [`  ${shorten(what, width - 2)}`, ...lines.map((text) => `    ${shorten(text, room)}`)];
}

/** `member not available` and `members not available`. */
function plural(problem: string, count: number): string {
  const [what = "", ...rest] = problem.split(" ");
  const many = what.endsWith("y") ? `${what.slice(0, -1)}ies` : `${what}s`;
  return [count === 1 ? what : many, ...rest].join(" ");
}

/** Where releases are that have not ended; those that need a person are also listed above. */
function renderReleases({ releases }: FleetStatus, { all, width }: StatusPage): string[] {
  if (releases.length === 0) return [];
  const shown = all ? releases : releases.slice(0, MAX_RELEASES);
  const table = renderTable(
    ["NAMESPACE", "RELEASE OF", "PHASE", "WAVE", "UPDATED", "WAITS FOR"],
    shown.map(({ namespace, target, phase, wave, updated, total, waitingFor }) => [
      namespace,
      target,
      phase,
      wave ?? "-",
      `${updated}/${total}`,
      waitingFor ?? "-",
    ]),
    2,
    width,
  );
  return shown.length < releases.length
    ? [`${table}\nand ${releases.length - shown.length} more; use --all to show them`]
    : [table];
}

function renderWorkloads(status: FleetStatus, { all, width, wide }: StatusPage): string[] {
  const { workloads, objects, notShown, namespace, isNamespaceMissing } = status;
  if (workloads.length === 0 && notShown.includes(BINDINGS)) return [];
  if (isNamespaceMissing) return [`${capitalised(noNamespace(namespace))}.`];
  if (workloads.length === 0 && namespace !== undefined)
    return [
      `No workloads of namespace ${namespace} are propagated${notShown.includes("manifestworks") ? " by policies" : ""}.`,
    ];
  if (workloads.length === 0)
    return objects.manifestWorks > 0 || notShown.includes("manifestworks")
      ? ["No workloads are propagated by policies."]
      : ["No workloads are propagated yet: apply one together with a PropagationPolicy."];
  const shown = all ? workloads : workloads.slice(0, MAX_WORKLOADS);
  const table = renderTable(
    ["NAMESPACE", "NAME", "KIND", "READY", "APPLIED", "PLACEMENT", ...(wide ? ["POLICY"] : [])],
    shown.map((workload) => [
      workload.namespace || "-",
      workload.name,
      workload.kind,
      renderReady(workload),
      workload.withoutPolicy && workload.applied === "True" ? "NoPolicy" : workload.applied,
      (all || wide || width === undefined ? workload.placement : shorten(workload.placement, MAX_PLACEMENT)) ||
        "<not scheduled>",
      ...(wide ? [workload.policy ?? "-"] : []),
    ]),
    2,
    width,
  );
  return shown.length < workloads.length
    ? [`${table}\nand ${workloads.length - shown.length} more; use --all to show them`]
    : [table];
}

/** Not a problem: the other parts of the policies take effect. */
function renderIneffective({ ineffective }: FleetStatus, { width }: StatusPage): string[] {
  if (!ineffective || ineffective.parts === 0) return [];
  const { parts, policies } = ineffective;
  const where = policies === 1 ? "a policy" : `${policies} policies`;
  const line = `${parts === 1 ? `1 part of ${where} has` : `${parts} parts of ${where} have`} no effect: run 'flotilla doctor --only policies'.`;
  return [width === undefined ? line : wrapWords(line, width).join("\n")];
}

/** Not a problem: a policy may be deleted while its workloads run. */
function renderWithoutPolicy({ workloads }: FleetStatus, { width, all }: StatusPage): string[] {
  const names = workloads.flatMap(({ withoutPolicy, kind, namespace, name }) =>
    withoutPolicy ? [`${kind} ${namespace ? `${namespace}/` : ""}${name}`] : [],
  );
  if (names.length === 0) return [];
  const shown = names.slice(0, all ? names.length : MAX_UNSELECTED);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : "";
  const isOne = names.length === 1;
  const line =
    `No policy selects ${isOne ? "1 object" : `${names.length} objects`} any longer, so ` +
    `${isOne ? "it keeps its" : "they keep their"} members, and changed replicas do not reach them: ` +
    `${shown.join(", ")}${more}. 'flotilla why' shows what to do.`;
  return [width === undefined ? line : wrapWords(line, width).join("\n")];
}

/** Not a problem: it may be intended. */
function renderUnselected(
  { unselected: { count, names, types }, namespace, notShown }: FleetStatus,
  { width, all }: StatusPage,
): string[] {
  if (count === 0) return [];
  const shown = names.slice(0, all ? names.length : MAX_UNSELECTED);
  const more = count > shown.length ? ` and ${count - shown.length} more` : "";
  const where = namespace === undefined ? "-A" : `-n ${namespace}`;
  const [what, they, them] = count === 1 ? ["1 workload", "it is", "it"] : [`${count} workloads`, "they are", "them"];
  // Only its binding says whether a workload without a policy has copies.
  const line =
    (notShown.includes(BINDINGS)
      ? `No policy has claimed ${what} of the hub: ${shown.join(", ")}${more}. Whether members have copies of ${them} ` +
        `is not known, because you are not allowed to list ${BINDINGS}. `
      : `No policy selects ${what} of the hub, so ${they} propagated to no member: ${shown.join(", ")}${more}. `) +
    `'flotilla why TYPE/NAME -n NAMESPACE' explains one; to list ${them}:`;
  return [
    [
      ...(width === undefined ? [line] : wrapWords(line, width)),
      `  kubectl get ${types.join(",")} ${where} -l '${UNCLAIMED}'`,
    ].join("\n"),
  ];
}

function renderReady(status: WorkloadStatus): string {
  const { desired, ready, updated, outdated, state, run, stale } = status;
  const numbers = desired === undefined || ready === undefined ? "-" : `${ready}/${desired}`;
  const count = run ? renderRun(run) : (state ?? numbers);
  const notes = [
    ...(updated === undefined || outdated === undefined
      ? []
      : [
          `${updated} of ${desired ?? updated + outdated} updated`,
          // New pods beside as many old ones: the release has not replaced any yet.
          ...(desired !== undefined && updated >= desired ? [`${outdated} old`] : []),
        ]),
    ...(stale ? ["stale"] : []),
  ];
  return notes.length > 0 ? `${count} (${notes.join(", ")})` : count;
}

/** `4/4 Complete`, `Failed: 1 done, 2 failed`, or `2 active, 5 done, 1 failed`. */
export function renderRun(status: RunStatus): string {
  const { active, succeeded, failed, desired = succeeded, finished } = status;
  if (finished === "Complete") return `${succeeded}/${desired} ${finished}`;
  const ended = [`${succeeded} done`, ...(failed > 0 ? [`${failed} failed`] : [])].join(", ");
  return finished === undefined ? `${active} active, ${ended}` : `${finished}: ${ended}`;
}
