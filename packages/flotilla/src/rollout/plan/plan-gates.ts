/**
 * Decides which gates of a wave are open. Pure: what has to be asked, a metric or a webhook, is asked by the controller,
 * and its answer is handed in. A gate that was asked stays open; soak time and windows are judged by the clock each time.
 */
import { defined, formatTime } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { FleetRolloutStatus, GateStatus } from "../kinds/fleet-rollout.ts";
import type { GateSpec, WaveSpec } from "../kinds/strategy-fields.ts";
import { durationMs } from "./durations.ts";
import { nextOpening } from "./plan-window.ts";

const GATE_TYPES = ["approval", "soak", "window", "metric", "webhook", "job", "images"] as const;
type GateType = (typeof GATE_TYPES)[number];

export const gateType = (gate: DeepReadonly<GateSpec>): GateType =>
  GATE_TYPES.find((type) => gate[type] !== undefined) ?? "approval";

/**
 * The entries of `spec.approvals` that open the approval gates of a wave, in their order: its name opens those before it,
 * and `NAME/after` those after it. Of a wave without approval before it, its name opens those after it.
 */
export function approvalsOf({ name, before, after }: DeepReadonly<Pick<WaveSpec, "name" | "before" | "after">>): {
  before?: string;
  after?: string;
} {
  const [isBefore, isAfter] = [before, after].map((gates) => gates?.some((gate) => gateType(gate) === "approval"));
  const end = isBefore ? `${name}/after` : name;
  return defined({ before: isBefore ? name : undefined, after: isAfter ? end : undefined });
}

/** What a window says that has no day, or whose time zone is unknown. */
export const NEVER_OPENS = "the window never opens";

/** The gates that the release waits for now. */
export const closedGates = (
  status: DeepReadonly<Pick<FleetRolloutStatus, "gates" | "wave" | "waveState">>,
): readonly DeepReadonly<GateStatus>[] =>
  status.waveState === "Open"
    ? []
    : (status.gates ?? []).filter(
        (gate) =>
          gate.wave === status.wave &&
          gate.when === (status.waveState === "After" ? "After" : "Before") &&
          gate.state !== "Open",
      );

export interface GateContext {
  readonly wave: string;
  readonly when: "Before" | "After";
  /** The entry of `approvals` that opens these gates. */
  readonly approval?: string | undefined;
  readonly approvals: readonly string[];
  readonly promotions: readonly string[];
  /** Who approved or promoted a wave. */
  readonly actorOf?: ((did: "approvals" | "promotions", wave: string) => string | undefined) | undefined;
  /** Since when the previous state is complete and healthy. */
  readonly healthySinceMs?: number | undefined;
  /** The answers so far, of all gates of the release. */
  readonly answers: readonly DeepReadonly<GateStatus>[];
  readonly nowMs: number;
}

export const isSameGate = (
  a: DeepReadonly<Pick<GateStatus, "wave" | "when" | "index">>,
  b: DeepReadonly<Pick<GateStatus, "wave" | "when" | "index">>,
): boolean => a.wave === b.wave && a.when === b.when && a.index === b.index;

/** By position; `againInMs` in a second list is when a gate opens by itself. */
export function planGates(
  gates: readonly DeepReadonly<GateSpec>[],
  context: GateContext,
): { gates: GateStatus[]; againInMs?: number | undefined } {
  let againInMs: number | undefined;
  const planned = gates.map((gate, index): GateStatus => {
    const { status, opensInMs } = planGate(gate, index, context);
    if (opensInMs !== undefined) againInMs = Math.min(againInMs ?? opensInMs, opensInMs);
    return status;
  });
  return { gates: planned, againInMs };
}

function planGate(
  gate: DeepReadonly<GateSpec>,
  index: number,
  context: GateContext,
): { status: GateStatus; opensInMs?: number | undefined } {
  const { wave, when, approval = wave, approvals, promotions, actorOf, healthySinceMs, answers, nowMs } = context;
  const type = gateType(gate);
  const self = { wave, when, index, type };
  const before = answers.find((answer) => isSameGate(answer, self) && answer.type === type);
  const now = formatTime(nowMs);
  const open = (openedBy: string, message?: string): GateStatus =>
    before?.state === "Open"
      ? { ...before }
      : {
          ...self,
          state: "Open",
          openedBy,
          openedAt: now,
          checkedAt: before?.checkedAt,
          value: before?.value,
          message,
        };
  if (promotions.includes(wave) || promotions.includes("*"))
    return { status: open(actorOf?.("promotions", wave) ?? "promotion") };
  switch (type) {
    case "approval":
      return {
        status: approvals.includes(approval)
          ? open(actorOf?.("approvals", approval) ?? "approval")
          : { ...self, state: "Closed", message: gate.approval?.message ?? `wave ${approval} is not approved` },
      };
    case "soak": {
      const needsMs = durationMs(gate.soak ?? "0s");
      if (healthySinceMs === undefined)
        return { status: { ...self, state: "Closed", message: `soaks for ${gate.soak} once it is healthy` } };
      const leftMs = healthySinceMs + needsMs - nowMs;
      return leftMs <= 0
        ? { status: open("time") }
        : {
            status: { ...self, state: "Closed", message: `soaks until ${formatTime(nowMs + leftMs)}` },
            opensInMs: leftMs,
          };
    }
    case "window": {
      const opensInMs = gate.window ? nextOpening(gate.window, nowMs) : 0;
      if (opensInMs === 0) return { status: open("calendar") };
      const message = opensInMs === undefined ? NEVER_OPENS : `the window opens at ${formatTime(nowMs + opensInMs)}`;
      return { status: { ...self, state: "Closed", message }, opensInMs };
    }
    default:
      return {
        status: before ? { ...before } : { ...self, state: "Pending", message: `${type} has not been asked yet` },
      };
  }
}

/** `approval of wave half`: what a closed gate waits for, in a few words. */
export function renderGate({ type, wave, when, message }: DeepReadonly<GateStatus>): string {
  if (type === "approval") return `approval of ${wave}`;
  return `${type} ${when === "Before" ? "before" : "after"} ${wave}${message === undefined ? "" : `: ${message}`}`;
}
