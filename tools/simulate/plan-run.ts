/** What happens in a run, as data, decided by its seed alone: shrinking drops steps, and the rest stays as it was. */
import { createSeededRandom } from "@flotilla/base";
import { createDraw } from "./draw.ts";
import type { Draw } from "./draw.ts";
import type { MemberOptions } from "./simulated-fleet.ts";
import type { LinkFault } from "./link.ts";
import { drawReleaseAction, drawStrategy, isReleasedKind } from "./releases/draw-release.ts";
import type { ReleaseAction, ReleasedKind } from "./releases/draw-release.ts";

export const KINDS = ["Deployment", "CloneSet", "StatefulSet", "Job", "ConfigMap", "ClusterRole"] as const;
export type WorkloadKind = (typeof KINDS)[number];

export interface Placement {
  type: "Divided" | "Duplicated";
  /** The weight of each member; the keys are the members. */
  weights: Readonly<Record<string, number>>;
}

export type Action =
  | { do: "apply"; kind: WorkloadKind; replicas: number; image: string; partition: number }
  | { do: "place"; kind: WorkloadKind; placement: Placement }
  | { do: "scale"; kind: WorkloadKind; replicas: number }
  | { do: "release" | "roll back"; kind: WorkloadKind; image: string }
  | { do: "partition"; kind: "CloneSet"; partition: number }
  | { do: "pause"; kind: WorkloadKind; isPaused: boolean }
  | { do: "delete"; kind: WorkloadKind }
  | { do: "override"; kind: WorkloadKind; member: string; value: string | undefined }
  | { do: "edit on member"; kind: WorkloadKind; member: string; replicas: number }
  | { do: "taint"; member: string; effect: "NoSchedule" | "NoExecute" | undefined }
  | { do: "cordon" | "drain" | "uncordon"; member: string }
  | { do: "unjoin" | "join"; member: string }
  /** A budget for the pods of the CloneSet, whose policy then takes along what its workload needs. */
  | { do: "companion" }
  | { do: "manifest work"; member: string; value: string | undefined }
  | ReleaseAction;

export type Fault =
  | { fault: "kill hub"; calls: number }
  | { fault: "kill agent"; member: string; forMs: number }
  | { fault: "link"; link: string; kind: LinkFault; forMs: number }
  | { fault: "disk"; kind: "full" | "failed flush" | "lying flush"; forMs: number }
  | { fault: "clock"; process: string; byMs: number };

export type Step = { afterMs: number } & (Action | Fault);

export interface Plan {
  seed: number;
  members: readonly MemberOptions[];
  podMs: number;
  /** Users change no placement, and faults end before workloads are moved: stricter invariants hold. */
  isSteady: boolean;
  steps: readonly Step[];
}

const MINUTE_MS = 60_000;

export function planRun(seed: number): Plan {
  const random = createSeededRandom(seed ^ 0x5eed);
  const draw = createDraw(random);
  const count = draw.integer(2, 3);
  const hasPull = draw.chance(0.4);
  const members: MemberOptions[] = Array.from({ length: count }, (_, index) => ({
    name: `member${index + 1}`,
    mode: hasPull && index === count - 1 ? "Pull" : "Push",
  }));
  const names = members.map(({ name }) => name);
  const isSteady = draw.chance(0.5);
  const kinds = draw.some(KINDS, draw.integer(1, 3));
  const led = new Set<ReleasedKind>(kinds.filter((kind) => isReleasedKind(kind)).filter(() => draw.chance(0.5)));
  const steps: Step[] = [];
  // A choice of its own: the others stay as they are.
  const hasCompanion = kinds.includes("CloneSet") && createDraw(createSeededRandom(seed ^ 0xb0d6)).chance(0.5);
  for (const kind of kinds) {
    if (isReleasedKind(kind) && led.has(kind)) steps.push({ afterMs: 0, ...drawStrategy(draw, kind, names) });
    steps.push({ afterMs: 0, do: "place", kind, placement: drawPlacement(draw, kind, names) });
    const partition = kind === "CloneSet" && !led.has(kind) ? seed % 4 : 0;
    steps.push({ afterMs: 0, ...drawApply(draw, kind), partition });
  }
  if (hasCompanion) steps.push({ afterMs: 0, do: "companion" });
  if (draw.chance(0.3)) steps.push({ afterMs: 0, do: "manifest work", member: draw.one(names), value: "1" });
  steps.push({ afterMs: 20_000, do: "override", kind: draw.one(kinds), member: draw.one(names), value: "first" });
  const length = draw.integer(5, 14);
  for (let at = 0; at < length; at++) {
    const afterMs = draw.one([0, 0, 50, 1_000, 5_000, 20_000]);
    const step = draw.chance(0.4)
      ? drawFault(draw, members, isSteady)
      : led.size > 0 && draw.chance(0.6)
        ? drawReleaseAction(draw, draw.one([...led]), at)
        : drawAction(draw, { kinds, names, isSteady, at, led });
    steps.push({ afterMs, ...step });
  }
  return { seed, members, podMs: draw.one([0, 1_000]), isSteady, steps };
}

function drawPlacement(draw: Draw, kind: WorkloadKind, names: readonly string[]): Placement {
  const chosen = draw.chance(0.6) ? names : draw.some(names, draw.integer(1, names.length));
  const hasReplicas = kind !== "ConfigMap" && kind !== "ClusterRole";
  return {
    type: hasReplicas && draw.chance(0.75) ? "Divided" : "Duplicated",
    weights: Object.fromEntries(chosen.toSorted().map((name) => [name, draw.integer(1, 3)])),
  };
}

function drawApply(draw: Draw, kind: WorkloadKind): Extract<Action, { do: "apply" }> {
  return {
    do: "apply",
    kind,
    replicas: draw.integer(kind === "Job" ? 1 : 0, 7),
    image: "app:1",
    partition: 0,
  };
}

interface ActionInput {
  kinds: readonly WorkloadKind[];
  names: readonly string[];
  isSteady: boolean;
  at: number;
  led: ReadonlySet<WorkloadKind>;
}

function drawAction(draw: Draw, input: ActionInput): Action {
  const { kinds, names, isSteady, at, led } = input;
  const kind = draw.one(kinds);
  const member = draw.one(names);
  const runs = kind === "Deployment" || kind === "CloneSet" || kind === "StatefulSet";
  const choices: (() => Action)[] = [
    () => ({ do: "override", kind, member, value: draw.chance(0.7) ? `v${at}` : undefined }),
    () => ({ do: "manifest work", member, value: draw.chance(0.7) ? `${at}` : undefined }),
  ];
  if (runs) {
    const scale = (): Action => ({ do: "scale", kind, replicas: draw.integer(0, 8) });
    const release = (): Action => ({ do: "release", kind, image: `app:${at + 2}` });
    choices.push(scale, scale, release, release);
    choices.push(() => ({ do: "roll back", kind, image: "app:1" }));
    if (kind !== "StatefulSet") choices.push(() => ({ do: "pause", kind, isPaused: draw.chance(0.5) }));
    // A release in waves has the partition.
    if (kind === "CloneSet" && !led.has(kind))
      choices.push(() => ({ do: "partition", kind, partition: draw.integer(0, 5) }));
  }
  if (!isSteady) {
    choices.push(() => ({ do: "delete", kind }));
    choices.push(() => drawApply(draw, kind));
    choices.push(() => ({ do: "place", kind, placement: drawPlacement(draw, kind, names) }));
    choices.push(() => ({ do: "taint", member, effect: draw.one(["NoSchedule", "NoExecute", undefined]) }));
    choices.push(() => ({ do: draw.one(["cordon", "drain", "uncordon"]), member }));
    choices.push(() => ({ do: draw.chance(0.5) ? "unjoin" : "join", member }));
    if (runs) choices.push(() => ({ do: "edit on member", kind, member, replicas: draw.integer(0, 9) }));
  }
  return draw.one(choices)();
}

function drawFault(draw: Draw, members: readonly MemberOptions[], isSteady: boolean): Fault {
  const { name, mode } = draw.one(members);
  const forMs = draw.one([1_000, 15_000, MINUTE_MS]);
  const choices: (() => Fault)[] = [
    () => ({ fault: "kill hub", calls: draw.integer(1, 120) }),
    () => ({ fault: "kill hub", calls: draw.integer(1, 30) }),
    () => ({
      fault: "link",
      link: mode === "Push" ? `hub to ${name}` : `agent of ${name}`,
      kind: draw.one(["cut", "half-open", "delay", "loss", "errors", "lag", "end-watches"]),
      forMs,
    }),
    () => ({
      fault: "link",
      link: "hub api",
      kind: draw.one(["delay", "loss", "errors", "lag", "end-watches"]),
      forMs,
    }),
    () => ({ fault: "disk", kind: draw.one(["full", "failed flush"]), forMs: 5_000 }),
  ];
  if (mode === "Pull") choices.push(() => ({ fault: "kill agent", member: name, forMs }));
  if (!isSteady) {
    choices.push(() => ({ fault: "disk", kind: "lying flush", forMs: 30_000 }));
    choices.push(() => ({
      fault: "clock",
      process: draw.one(["hub", mode === "Pull" ? `agent of ${name}` : "members"]),
      byMs: draw.one([-3_600_000, -30_000, 30_000, 3_600_000]),
    }));
  }
  return draw.one(choices)();
}

export const isFault = (step: Step): step is Step & Fault => "fault" in step;
