/** Renders what adopting would change, and what it changed, as text. Pure; Secret values are not shown. */
import type { Json } from "@flotilla/base";
import { renderField } from "../explain/render-fields.ts";
import { wrapLines } from "../text-layout.ts";
import type { Adopted } from "./adopted.ts";
import { formatSteps } from "./differences.ts";
import type { Difference } from "./differences.ts";
import { isRefused } from "./forecast.ts";
import type { MemberForecast, Forecast } from "./forecast.ts";
import type { AdoptionPlan } from "./plan-adoption.ts";
import { titleOf } from "./strip.ts";

/** More fields would not be read. */
const MAX_FIELDS = 20;
const MAX_LISTED = 3;
const HIDDEN = "(hidden)";

/** Fits the terminal width, if there is one. */
export function renderForecast(
  { forecasts, notes }: Pick<AdoptionPlan, "forecasts" | "notes">,
  width?: number,
): string {
  const parts = [
    ...forecasts.map(renderResource),
    ...(notes.length > 0 ? [["Note:", ...notes.map((note) => `  ${note}`)].join("\n")] : []),
  ];
  return wrapLines(parts.join("\n\n"), width);
}

function renderResource({ resource, members, problems }: Forecast): string {
  const { template, policy, overrides, replicas, neededBy } = resource;
  const total = replicas && [...replicas.values()].reduce((sum, count) => sum + count, 0);
  const made = [policy, overrides].flatMap((manifest) => (manifest ? [titleOf(manifest as never)] : []));
  const details = [
    ...(total === undefined ? [] : [`${total} replicas`]),
    ...(neededBy ? [`needed by ${neededBy}`] : []),
    ...(resource.isKnown ? ["already on the hub"] : []),
    ...(made.length > 0 ? [`with ${made.join(" and ")}`] : []),
  ];
  return [
    `${titleOf(template)}${details.length > 0 ? `: ${details.join(", ")}` : ""}`,
    ...problems.map((problem) => `  ! ${problem}`),
    ...members.flatMap((member) => renderMember(template.kind, member)),
  ].join("\n");
}

function renderMember(kind: string, forecast: MemberForecast): string[] {
  const { cluster, replicas, harmless, refused, problem } = forecast;
  const verdict =
    problem ??
    (refused.length > 0
      ? "running workloads would change"
      : harmless.length > 0
        ? "no pod changes"
        : "nothing changes");
  return [
    `  ${refused.length > 0 || problem ? "!" : " "} ${cluster}${replicas === undefined ? "" : ` (${replicas})`}: ${verdict}`,
    ...renderDifferences(kind, refused, "! "),
    ...renderDifferences(kind, harmless, "  "),
  ];
}

function renderDifferences(kind: string, differences: readonly Difference[], sign: string): string[] {
  const more = differences.length - MAX_FIELDS;
  return [
    ...differences.slice(0, MAX_FIELDS).map((difference) => `      ${sign}${renderDifference(kind, difference)}`),
    ...(more > 0 ? [`      ${sign}and ${more} more fields`] : []),
  ];
}

function renderDifference(kind: string, { steps, before, after }: Difference): string {
  const shown = (value: Json): Json => (kind === "Secret" && steps[0] !== "metadata" ? HIDDEN : value);
  return renderField({
    path: formatSteps(steps),
    before: before !== undefined ? shown(before) : undefined,
    after: after !== undefined ? shown(after) : undefined,
  });
}

/** One sentence, for an error. */
export function describeRefusal({ resource, members, problems }: Forecast): string {
  const { kind } = resource.template;
  const reasons = members.flatMap(({ cluster, refused, problem }) => {
    const [first] = refused;
    if (problem !== undefined) return [`on ${cluster} ${problem}`];
    return first
      ? [`on ${cluster} ${renderDifference(kind, first)}${refused.length > 1 ? ` and ${refused.length - 1} more` : ""}`]
      : [];
  });
  return `adopting ${titleOf(resource.template)} would change running workloads: ${[...problems, ...reasons].join("; ")}`;
}

/** Names only the first few, for an error; the text printed before it lists all of them. */
export function describeRefusals(refused: readonly Forecast[]): string {
  const more = refused.length - MAX_LISTED;
  return [...refused.slice(0, MAX_LISTED).map(describeRefusal), ...(more > 0 ? [`and ${more} more objects`] : [])].join(
    "; ",
  );
}

/** What to try next; empty where the problem already states it. */
export function adviceFor(forecasts: readonly Forecast[]): string {
  const members = forecasts.filter(isRefused).flatMap((forecast) => [...forecast.members]);
  const refused = members.flatMap((member) => [...member.refused]);
  if (refused.some(({ steps }) => steps[1] === "reserveOrdinals" || steps[1] === "ordinals"))
    return ". Members run the same ordinals, which must be unique in a fleet; use --scope cluster to count them per cluster";
  if (refused.length > 0)
    return ". Use --overrides to keep each member's values with an OverridePolicy, or --force to adopt anyway";
  return members.some(({ problem }) => problem !== undefined) &&
    forecasts.every(({ problems }) => problems.length === 0)
    ? ". Use --force to adopt anyway"
    : "";
}

export function renderAdopted(adopted: readonly Adopted[]): string {
  return adopted
    .flatMap(({ resource, members }) => [
      `${titleOf(resource.template)} is adopted`,
      ...members.flatMap(({ cluster, replicas, isUnchanged, fields }) => [
        `  ${cluster}${replicas === undefined ? "" : ` (${replicas})`}: ` +
          (isUnchanged
            ? fields.length === 0
              ? "unchanged"
              : "no pod changed"
            : "changed; run 'flotilla why' for details"),
        ...fields.map((field) => `      ${renderField(field)}`),
      ]),
    ])
    .join("\n");
}
