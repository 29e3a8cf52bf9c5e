/** Health as a shape and a word: never as a colour alone. */
import type { Health, MemberRow } from "../../src/wire.ts";
import { t } from "../i18n.ts";

export type Tone = "good" | "busy" | "stale" | "bad" | "idle";

export const toneOf: Readonly<Record<Health, Tone>> = {
  healthy: "good",
  progressing: "busy",
  stale: "stale",
  failed: "bad",
  unknown: "idle",
};
export const toneOfMember: Readonly<Record<MemberRow["state"], Tone>> = {
  ready: "good",
  slow: "busy",
  away: "bad",
  waiting: "stale",
};

export const wordOf = (health: Health): string =>
  ({
    healthy: t("healthy"),
    progressing: t("in progress"),
    stale: t("member away"),
    failed: t("failed"),
    unknown: t("unknown"),
  })[health];
export const wordOfMember = (state: MemberRow["state"]): string =>
  ({ ready: t("ready"), slow: t("slow"), away: t("away"), waiting: t("not accepted") })[state];

const SHAPES: Readonly<Record<Tone, string>> = {
  good: "M8 2.500a5.500 5.500 0 1 1 0 11a5.500 5.500 0 0 1 0-11Z",
  busy: "M8 3a5 5 0 0 1 0 10Z",
  stale: "M8 2 14 13.500H2Z",
  bad: "M4 2.500 8 6.500 12 2.500 13.500 4 9.500 8 13.500 12 12 13.500 8 9.500 4 13.500 2.500 12 6.500 8 2.500 4Z",
  idle: "M3 7h10v2H3Z",
};

export function Glyph({ tone, label }: { tone: Tone; label?: string }) {
  return (
    <svg
      class={`glyph ${tone}`}
      viewBox="0 0 16 16"
      width="12"
      height="12"
      role={label === undefined ? "presentation" : "img"}
      aria-label={label}
      aria-hidden={label === undefined}
    >
      {tone === "busy" && <circle cx="8" cy="8" r="5" fill="none" stroke="currentColor" stroke-width="1.600" />}
      <path d={SHAPES[tone]} fill="currentColor" />
    </svg>
  );
}

export function HealthWord({ health }: { health: Health }) {
  return (
    <span class={`state ${toneOf[health]}`}>
      <Glyph tone={toneOf[health]} />
      {wordOf(health)}
    </span>
  );
}

export function MemberWord({ state }: { state: MemberRow["state"] }) {
  return (
    <span class={`state ${toneOfMember[state]}`}>
      <Glyph tone={toneOfMember[state]} />
      {wordOfMember(state)}
    </span>
  );
}
