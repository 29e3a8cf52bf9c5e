/** Renders judgements: a block of text per attack, and a summary. Pure. */
import type { Judgement } from "./judge.ts";

const MARKS = { held: "held      ", broken: "BROKEN    ", "not tried": "not tried " } as const;

export function renderJudgement({ name, claim, outcome, tried, seen, problems, observation }: Judgement): string {
  const { quiet, during, idleMiB, peakMiB, laterMiB } = observation;
  const lines = [
    `${MARKS[outcome]} ${name}: ${claim}`,
    `           tried      ${tried}`,
    `           ${outcome === "not tried" ? "reason     " : "observed   "}${seen}`,
    ...problems.map((problem) => `           problem    ${problem}`),
  ];
  if (outcome !== "not tried")
    lines.push(
      `           bystander  longest read ${ms(during.longestReadMs)}, write ${ms(during.longestWriteMs)} (without attack ${ms(quiet.longestReadMs)}, ${ms(quiet.longestWriteMs)})`,
      `           memory     ${mib(idleMiB)} before, ${mib(peakMiB)} at most, ${laterMiB === undefined ? "not waited for" : mib(laterMiB)} a minute later`,
    );
  return `${lines.join("\n")}\n`;
}

export function renderSummary(judgements: readonly Judgement[]): string {
  const count = (outcome: Judgement["outcome"]): number =>
    judgements.filter((judgement) => judgement.outcome === outcome).length;
  const broken = judgements.filter(({ outcome }) => outcome === "broken").map(({ name }) => name);
  return [
    `${judgements.length} attacks: ${count("held")} held, ${count("broken")} broken, ${count("not tried")} not tried\n`,
    broken.length > 0 ? `broken: ${broken.join(", ")}\n` : "",
  ].join("");
}

const ms = (value: number): string => `${Math.round(value)} ms`;
const mib = (value: number | undefined): string => (value === undefined ? "not measured" : `${Math.round(value)} MiB`);
