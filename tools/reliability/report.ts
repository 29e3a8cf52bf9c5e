/** What a run has shown: figures, and what was wrong. Pure. */
import type { CampaignResult, HappenedFault } from "./campaign.ts";
import type { FaultKind } from "./faults.ts";

interface Figures {
  faults: number;
  /** The longest time without an acknowledged write of any client, in all and while each kind of fault lasted. */
  longestPauseMs: number;
  kinds: { kind: FaultKind; count: number; longestPauseMs: number }[];
}

function figuresOf({
  faults,
  acknowledgedMs,
  fromMs,
  toMs,
}: Pick<CampaignResult, "faults" | "acknowledgedMs" | "fromMs" | "toMs">): Figures {
  const kinds = Map.groupBy(faults, ({ kind }) => kind);
  const pauses = pausesBetween(acknowledgedMs, fromMs, toMs);
  const longestIn = (happened: readonly HappenedFault[]): number =>
    longest(pauses.filter((pause) => happened.some((fault) => pause.fromMs < fault.toMs && pause.toMs > fault.fromMs)));
  return {
    faults: faults.length,
    longestPauseMs: longest(pauses),
    kinds: [...kinds].map(([kind, happened]) => ({
      kind,
      count: happened.length,
      longestPauseMs: longestIn(happened),
    })),
  };
}

interface Pause {
  fromMs: number;
  toMs: number;
}

function pausesBetween(times: readonly number[], fromMs: number, toMs: number): Pause[] {
  const inside = [fromMs, ...times.filter((time) => time > fromMs && time < toMs), toMs];
  return inside.slice(1).map((time, index) => ({ fromMs: inside[index] ?? time, toMs: time }));
}

const longest = (pauses: readonly Pause[]): number =>
  pauses.reduce((most, pause) => Math.max(most, pause.toMs - pause.fromMs), 0);

export const isSound = ({ violations, deliveries, ends, problems }: CampaignResult): boolean =>
  violations.length + deliveries.wentBack.length + deliveries.notArrived.length + ends.length + problems.length === 0;

export function renderReport(result: CampaignResult): string {
  const { seed, operations, acknowledged, unknown, events, spans, violations, deliveries, ends, problems } = result;
  const { faults, longestPauseMs, kinds } = figuresOf(result);
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  const width = Math.max(0, ...kinds.map(({ kind }) => kind.length));
  const list = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
  return [
    `seed ${seed}: ${Math.round((result.toMs - result.fromMs) / 1000)} s, ${faults} faults`,
    `operations ${operations}, acknowledged writes ${acknowledged}, without a known outcome ${unknown}`,
    `watch events ${events} in ${spans} spans`,
    `releases acknowledged ${deliveries.released}, changes on the member ${deliveries.arrived}`,
    `longest time without an acknowledged write ${seconds(longestPauseMs)}`,
    ...kinds.map(
      ({ kind, count, longestPauseMs: pause }) =>
        `  ${kind.padEnd(width)}  ${String(count).padStart(3)}  ${seconds(pause)}`,
    ),
    ...list(
      "violations",
      violations.map(({ rule, text }) => `${rule}: ${text}`),
    ),
    ...list("on the member", [...deliveries.wentBack, ...deliveries.notArrived]),
    ...list("processes that ended by themselves", ends),
    ...list("problems", problems),
    isSound(result) ? "the history is that of one correct store" : "NOT the history of one correct store",
    "",
  ].join("\n");
}
