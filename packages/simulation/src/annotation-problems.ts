/**
 * Invalid simulation annotations: a misspelled one would otherwise look like a fault without effect. Each is reported
 * once as an event, and in the log of the containers. Pure.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { tryParseQuantity } from "@flotilla/apimachinery";
import type { RecordedEvent } from "@flotilla/controller-runtime";
import {
  CPU_USAGE,
  EXIT_CODE,
  FAILING_PROBES,
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
import type { AnnotatedKind } from "./annotations.ts";

type Annotated = DeepReadonly<Pick<KubernetesObject, "metadata">>;

interface Rule {
  isRight(value: string): boolean;
  readonly allowed: string;
}

/** Enough to recognize the value. */
const MAX_SHOWN = 64;

const faultRule = (kind: AnnotatedKind): Rule => {
  const allowed: readonly string[] = FAULTS[kind];
  return {
    isRight: (value) => allowed.includes(value),
    allowed: `allowed ${allowed.length === 1 ? "is" : "are"} ${allowed.join(", ")}`,
  };
};
const SECONDS = `use seconds from 0 to ${MAX_SECONDS} with up to three decimals`;
const QUANTITY: Rule = {
  isRight: (value) => tryParseQuantity(value) !== undefined,
  allowed: "use a quantity such as 250m or 64Mi",
};

const RULES: Readonly<Record<AnnotatedKind, ReadonlyMap<string, Rule>>> = {
  Pod: new Map<string, Rule>([
    [FAULT, faultRule("Pod")],
    [EXIT_CODE, { isRight: isExitCode, allowed: "use an integer from 0 to 255" }],
    [RUN, { isRight: (value) => value === "forever" || isSeconds(value), allowed: `${SECONDS}, or forever` }],
    [START_SECONDS, { isRight: isSeconds, allowed: SECONDS }],
    [CPU_USAGE, QUANTITY],
    [MEMORY_USAGE, QUANTITY],
    [
      FAILING_PROBES,
      { isRight: (value) => /^[^,#]*(,[^,#]*)*$/.test(value), allowed: "use names of probes, separated by commas" },
    ],
  ]),
  Node: new Map([[FAULT, faultRule("Node")]]),
  Cluster: new Map([[FAULT, faultRule("Cluster")]]),
};

const NONE: readonly string[] = [];

/**
 * One sentence per problem. Called for every change of every pod, so a pod without such annotations costs only a scan
 * of the names.
 */
export function simulationProblems({ metadata: { annotations } }: Annotated, kind: AnnotatedKind): readonly string[] {
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
        ? `${kind.toLowerCase()}s support only fault`
        : `supported annotations are ${NAMES.map((known) => known.slice(PREFIX.length)).join(", ")}`);
    (problems ??= []).push(`annotation ${name}: ${JSON.stringify(value.slice(0, MAX_SHOWN))} is ignored: ${allowed}`);
  }
  return problems ?? NONE;
}

/** The events for new problems of a changed object. */
export function planProblemEvents(object: Annotated, old: Annotated | undefined, kind: AnnotatedKind): RecordedEvent[] {
  const problems = simulationProblems(object, kind);
  if (problems.length === 0) return [];
  const before = new Set(old ? simulationProblems(old, kind) : NONE);
  return problems
    .filter((problem) => !before.has(problem))
    .map((message) => ({ type: "Warning", reason: "InvalidSimulation", message }));
}
