/** Renders a plan as text: on the hub and per cluster, what is created, changed and deleted. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import type { MemberChange } from "@flotilla/flotilla";
import { nameMembers } from "../health/name-members.ts";
import { renderTable } from "../text-table.ts";
import type { PlanResult } from "./plan-input.ts";
import type { PlannedRelease } from "./planned-releases.ts";
import { wrapLines, counted } from "../text-layout.ts";
import { renderField } from "./render-fields.ts";

const SIGNS = { create: "+", update: "~", delete: "-" } as const;

/** Fits the terminal width, if there is one. */
export function renderPlan(result: DeepReadonly<PlanResult>, width?: number): string {
  const { hub, changes, problems, warnings, releases, unplanned, notes, unreachable = [] } = result;
  const byCluster = Map.groupBy(changes, ({ cluster }) => cluster);
  const sections = [
    titleOf(hub.length, changes.length, byCluster.size, {
      isPartial: unplanned.length > 0,
      waitsFor: releases.flatMap(({ waitingFor }) => waitingFor ?? [])[0],
    }),
    ...(hub.length > 0 ? [["hub", ...hub.flatMap(renderChange)].join("\n")] : []),
    ...[...byCluster].map(([cluster, ofCluster]) => [cluster, ...ofCluster.flatMap(renderChange)].join("\n")),
    ...(releases.length > 0
      ? [
          [
            changes.length > 0 ? "Releases, of which the changes above are the first step:" : "Releases:",
            ...releases.flatMap((release) => renderRelease(release, width)),
          ].join("\n"),
        ]
      : []),
    ...(unreachable.length > 0
      ? [
          [
            "Unreachable; these changes wait until the members are back:",
            ...unreachable.map(({ cluster, reason }) => `  ${cluster}: ${reason}`),
          ].join("\n"),
        ]
      : []),
    ...renderMessages("Problems:", problems),
    ...renderMessages("Warnings:", warnings),
    ...(notes.length > 0 ? [["Notes:", ...notes.map((note) => `  ${note}`)].join("\n")] : []),
  ];
  return wrapLines(sections.join("\n\n"), width);
}

function renderMessages(title: string, messages: DeepReadonly<PlanResult["problems"]>): string[] {
  return messages.length === 0
    ? []
    : [[title, ...messages.map(({ resource, message }) => `  ${resource}: ${message}`)].join("\n")];
}

function renderRelease(release: DeepReadonly<PlannedRelease>, width?: number): string[] {
  const { resource, strategy, waves, total, waitingFor, onFailure } = release;
  const gates = (texts: readonly string[] = []): string => texts.join(", ") || "-";
  return [
    `  ${resource}: ${counted(waves.length, "wave")} by RolloutStrategy ${strategy}; if one fails: ` +
      `${onFailure}${waitingFor === undefined ? "" : `; after its first step it waits for ${waitingFor}`}`,
    ...renderTable(
      ["WAVE", "PODS", "BEFORE", "AFTER", "MEMBERS"],
      waves.map(({ name, updated, before, after, clusters }) => [
        name,
        `${updated}/${total}`,
        gates(before),
        gates(after),
        nameMembers(clusters),
      ]),
      4,
      width === undefined ? undefined : width - 4,
    )
      .split("\n")
      .map((line) => `    ${line}`),
  ];
}

function titleOf(
  onHub: number,
  onMembers: number,
  clusters: number,
  { isPartial, waitsFor }: { isPartial: boolean; waitsFor: string | undefined },
): string {
  if (onHub + onMembers === 0)
    return isPartial ? "What would change is not planned." : "Nothing would change on the hub or on any member.";
  const none = isPartial
    ? "changes on members are not planned"
    : waitsFor === undefined
      ? "none on any member"
      : `none on any member yet, because a release waits for ${waitsFor}`;
  const members = onMembers > 0 ? `${counted(onMembers, "change")} on ${counted(clusters, "cluster")}` : none;
  return onHub > 0 ? `${counted(onHub, "change")} on the hub, ${members}:` : `${members}:`;
}

function renderChange(
  change: DeepReadonly<Pick<MemberChange, "action" | "object" | "fields" | "more" | "note">>,
): string[] {
  const {
    action,
    object: { kind, namespace, name },
    fields,
    more = 0,
    note,
  } = change;
  return [
    `  ${SIGNS[action]} ${kind} ${namespace ? `${namespace}/` : ""}${name}${note ? ` (${note})` : ""}`,
    ...fields.map((field) => `      ${renderField(field)}`),
    ...(more > 0 ? [`      and ${more} more fields`] : []),
  ];
}
