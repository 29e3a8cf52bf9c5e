/**
 * Annotations that were meant for the simulation and mean nothing to it: a typing error would otherwise look like a
 * fault that has no effect. Each is told once, as an event, and stands in the log of the containers. Pure.
 */
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { tryParseQuantity } from "../machinery/index.ts";
import type { RecordedEvent } from "../runtime/index.ts";
import {
  CPU_USAGE,
  EXIT_CODE,
  FAULT,
  FAULTS,
  MAX_SECONDS,
  MEMORY_USAGE,
  NAMES,
  PREFIX,
  RUN,
  START_SECONDS,
  isExitCode,
  isSeconds,
  ownNameOf,
} from "./annotations.ts";
import type { Steered } from "./annotations.ts";

type Annotated = DeepReadonly<Pick<KubernetesObject, "metadata">>;

interface Rule {
  isRight(value: string): boolean;
  readonly allowed: string;
}

/** More would not help to recognise it. */
const MAX_SHOWN = 64;

const faultRule = (kind: Steered): Rule => {
  const allowed: readonly string[] = FAULTS[kind];
  return {
    isRight: (value) => allowed.includes(value),
    allowed: `allowed ${allowed.length === 1 ? "is" : "are"} ${allowed.join(", ")}`,
  };
};
const SECONDS = `allowed are seconds from 0 to ${MAX_SECONDS} with up to three decimals`;
const QUANTITY: Rule = {
  isRight: (value) => tryParseQuantity(value) !== undefined,
  allowed: "allowed are quantities such as 250m or 64Mi",
};

const RULES: Readonly<Record<Steered, ReadonlyMap<string, Rule>>> = {
  Pod: new Map<string, Rule>([
    [FAULT, faultRule("Pod")],
    [EXIT_CODE, { isRight: isExitCode, allowed: "allowed are whole numbers from 0 to 255" }],
    [RUN, { isRight: (value) => value === "forever" || isSeconds(value), allowed: `${SECONDS}, or forever` }],
    [START_SECONDS, { isRight: isSeconds, allowed: SECONDS }],
    [CPU_USAGE, QUANTITY],
    [MEMORY_USAGE, QUANTITY],
  ]),
  Node: new Map([[FAULT, faultRule("Node")]]),
  Cluster: new Map([[FAULT, faultRule("Cluster")]]),
};

const NONE: readonly string[] = [];

/**
 * One sentence for each. Asked for every change of every pod, so one without such annotations costs a look at their
 * names.
 */
export function simulationProblems({ metadata: { annotations } }: Annotated, kind: Steered): readonly string[] {
  let problems: string[] | undefined;
  for (const name in annotations) {
    const own = ownNameOf(name);
    if (!own.startsWith(PREFIX)) continue;
    const value = annotations[name] ?? "";
    const rule = RULES[kind].get(own);
    if (rule?.isRight(value)) continue;
    const allowed =
      rule?.allowed ??
      (kind !== "Pod"
        ? `${kind.toLowerCase()}s have only fault`
        : `annotations of the simulation are ${NAMES.map((known) => known.slice(PREFIX.length)).join(", ")}`);
    (problems ??= []).push(`annotation ${name}: ${JSON.stringify(value.slice(0, MAX_SHOWN))} is ignored: ${allowed}`);
  }
  return problems ?? NONE;
}

/** What a change of an object is worth telling about them: only what was not there before. */
export function planProblemEvents(object: Annotated, old: Annotated | undefined, kind: Steered): RecordedEvent[] {
  const problems = simulationProblems(object, kind);
  if (problems.length === 0) return [];
  const before = new Set(old ? simulationProblems(old, kind) : NONE);
  return problems
    .filter((problem) => !before.has(problem))
    .map((message) => ({ type: "Warning", reason: "InvalidSimulation", message }));
}
