/** Renders judgements: a block of text per attack, and a summary. Pure. */
import type { Judgement } from "./judge.ts";

const MARKS = { held: "held      ", broken: "BROKEN    ", "not tried": "not tried " } as const;

export function renderJudgement(judgement: Judgement): string {
  const { name, claim, outcome, tried, seen, problems, observation } = judgement;
  const { quiet, during, idleMiB, peakMiB, laterMiB, laterSeconds } = observation;
  const lines = [
    `${MARKS[outcome]} ${name}: ${claim}`,
    `           tried      ${tried}`,
    `           ${outcome === "not tried" ? "reason     " : "observed   "}${seen}`,
    ...problems.map((problem) => `           problem    ${problem}`),
  ];
  if (outcome !== "not tried")
    lines.push(
      `           probe      longest read ${ms(during.longestReadMs)}, write ${ms(during.longestWriteMs)} ` +
        `(without attack ${ms(quiet.longestReadMs)}, ${ms(quiet.longestWriteMs)})`,
      `           memory     ${mib(idleMiB)} before, ${mib(peakMiB)} at most, ` +
        (laterMiB === undefined ? "not measured later" : `${mib(laterMiB)} ${laterSeconds ?? 0} s later`),
    );
  return `${lines.join("\n")}\n`;
}

export function renderSummary(judgements: readonly Judgement[]): string {
  const count = (outcome: Judgement["outcome"]): number =>
    judgements.filter((judgement) => judgement.outcome === outcome).length;
  const names = (outcome: Judgement["outcome"]): string =>
    judgements.flatMap((judgement) => (judgement.outcome === outcome ? [judgement.name] : [])).join(", ");
  return [
    `${judgements.length} attacks: ${count("held")} held, ${count("broken")} broken, ${count("not tried")} not tried\n`,
    count("broken") > 0 ? `broken: ${names("broken")}\n` : "",
    count("not tried") > 0 ? `not tried: ${names("not tried")}\n` : "",
  ].join("");
}

const ms = (value: number): string => `${Math.round(value)} ms`;
const mib = (value: number | undefined): string => (value === undefined ? "not measured" : `${Math.round(value)} MiB`);
