/** Renders a plan as text: per cluster, what is created, changed and deleted. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import type { MemberChange } from "@flotilla/flotilla";
import type { PlanResult } from "./plan-input.ts";
import { wrapLines } from "../text-layout.ts";
import { renderField } from "./render-fields.ts";

const SIGNS = { create: "+", update: "~", delete: "-" } as const;

/** Fits the terminal width, if there is one. */
export function renderPlan(
  { changes, problems, notes, unreachable = [] }: DeepReadonly<PlanResult>,
  width?: number,
): string {
  const byCluster = Map.groupBy(changes, ({ cluster }) => cluster);
  const sections = [
    changes.length === 0
      ? "Nothing would change on any member."
      : `${count(changes.length, "change")} on ${count(byCluster.size, "cluster")}:`,
    ...[...byCluster].map(([cluster, ofCluster]) => [cluster, ...ofCluster.flatMap(renderChange)].join("\n")),
    ...(unreachable.length > 0
      ? [
          [
            "Unreachable; these changes wait until the members are back:",
            ...unreachable.map(({ cluster, reason }) => `  ${cluster}: ${reason}`),
          ].join("\n"),
        ]
      : []),
    ...(problems.length > 0
      ? [["Problems:", ...problems.map(({ resource, message }) => `  ${resource}: ${message}`)].join("\n")]
      : []),
    ...(notes.length > 0 ? [["Not shown:", ...notes.map((note) => `  ${note}`)].join("\n")] : []),
  ];
  return wrapLines(sections.join("\n\n"), width);
}

function renderChange({
  action,
  object: { kind, namespace, name },
  fields,
  more = 0,
  note,
}: DeepReadonly<MemberChange>): string[] {
  return [
    `  ${SIGNS[action]} ${kind} ${namespace ? `${namespace}/` : ""}${name}${note ? ` (${note})` : ""}`,
    ...fields.map((field) => `      ${renderField(field)}`),
    ...(more > 0 ? [`      and ${more} more fields`] : []),
  ];
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;
