/** Runs the rules of customizations on real objects: a script that compiles may still fail on what it gets. */
import type { Clock, Json, JsonObject } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import type { Operation, StatusItem } from "@flotilla/kubernetes";
import type { CheckedManifest } from "./check-manifests.ts";
import { isCustomization, nameOf, scriptOf, targetOf } from "./customizations.ts";
import type { Manifest } from "./customizations.ts";
import { createRuleBook } from "./rule-book.ts";
import { RULES } from "./interpreter-rules.ts";
import { runRule } from "./run-rule.ts";
import type { RuleInput } from "./run-rule.ts";

/** An object that rules are tried on. */
export interface Sample {
  /** `Widget shop/web on member1` */
  title: string;
  desired?: JsonObject | undefined;
  observed?: JsonObject | undefined;
  statusItems?: readonly StatusItem[] | undefined;
}

interface Trial {
  /** The customization. */
  source: string;
  operation: Operation;
  on: string;
  /** Why it failed. */
  error?: string;
}

export interface Trials {
  tried: Trial[];
  /** The rules that ran on no object. */
  untried: { source: string; operation: Operation }[];
  /** Whether there was an object to try them on. */
  hadObjects: boolean;
}

interface Target {
  apiVersion: string;
  kind: string;
}

/** The manifests are in canonical form. */
export async function tryRules(
  manifests: readonly Manifest[],
  samples: readonly Sample[],
  clock: Clock,
): Promise<Trials> {
  const trials: Trials = { tried: [], untried: [], hadObjects: samples.length > 0 };
  for (const manifest of manifests.filter(isCustomization)) {
    const source = nameOf(manifest);
    const target = targetOf(manifest);
    const rules = createRuleBook([manifest], clock);
    try {
      for (const { operation } of RULES) {
        if (scriptOf(manifest, operation) === "") continue;
        const inputs = samples.flatMap((sample) => {
          const input = inputOf(operation, sample);
          return input && areOf(target, input) ? [{ input, on: sample.title }] : [];
        });
        if (inputs.length === 0) trials.untried.push({ source, operation });
        for (const { input, on } of inputs) {
          try {
            await runRule(rules, operation, input);
            trials.tried.push({ source, operation, on });
          } catch (error) {
            if (!(error instanceof InterpretError)) throw error;
            trials.tried.push({ source, operation, on, error: rules.explain(error, operation, input) });
          }
        }
      }
    } finally {
      await rules.close();
    }
  }
  return trials;
}

const isOf = (target: Target, { apiVersion, kind }: Target): boolean =>
  apiVersion === target.apiVersion && kind === target.kind;

/** A hub passes a rule only objects of one version. */
const areOf = (target: Target, { desired, observed }: RuleInput): boolean =>
  [desired, observed].every((object) => object === undefined || isOf(target, object as unknown as Target));

/** `seen.yaml: no customization targets Widget in example.com/v1beta1`, for each sample that no rules are for. */
export function untargetedNotes(samples: readonly Sample[], targets: readonly Target[]): string[] {
  return samples.flatMap(({ title, desired, observed }) => {
    const object = (observed ?? desired) as unknown as Target | undefined;
    if (!object || targets.some((target) => isOf(target, object))) return [];
    return [`${title}: no customization targets ${object.kind} in ${object.apiVersion}`];
  });
}

/** What the hub passes to the rule; undefined if the sample has not got it. */
function inputOf(operation: Operation, { desired, observed, statusItems }: Sample): RuleInput | undefined {
  const replicas = 1;
  if (operation === "Retain") return desired && observed ? { desired, observed, replicas } : undefined;
  if (operation === "InterpretStatus" || operation === "InterpretHealth")
    return observed ? { observed, replicas } : undefined;
  // A copy is desired as well: the hub runs these rules on its own object.
  if (!desired || (observed && !statusItems)) return undefined;
  if (operation === "AggregateStatus") return statusItems ? { desired, statusItems, replicas } : undefined;
  return { desired, replicas };
}

/** A rule that compiles and fails on an object has not passed. */
export const withTrials = (checks: readonly CheckedManifest[], { tried }: Trials): CheckedManifest[] =>
  checks.map((checked) => ({
    ...checked,
    rules: checked.rules.map((rule) => {
      const failed = tried.filter(
        ({ source, operation, error }) =>
          source === checked.source && operation === rule.operation && error !== undefined,
      );
      const [first] = failed;
      if (!first || rule.state !== "PASS") return rule;
      const more = failed.length > 1 ? ` and ${failed.length - 1} more` : "";
      return { ...rule, state: "ERROR", message: `it fails on ${first.on}${more}` };
    }),
  }));

/** Which rules ran on which objects, and which ran on none. */
export function renderTrials({ tried, untried, hadObjects }: Trials): string {
  const bySample = Map.groupBy(tried, ({ on }) => on);
  return [
    ...(tried.length > 0 ? ["TRIED ON:"] : []),
    ...Array.from(bySample, ([on, trials]) => {
      const passed = trials.filter(({ error }) => error === undefined).map(({ operation }) => operation);
      const failed = trials.filter(({ error }) => error !== undefined).map(({ operation }) => operation);
      return `    ${on}: ${[
        ...(passed.length > 0 ? [`PASS ${passed.join(", ")}`] : []),
        ...(failed.length > 0 ? [`ERROR ${failed.join(", ")}`] : []),
      ].join("; ")}`;
    }),
    // Without any object, a note says so once.
    ...(hadObjects && untried.length > 0
      ? [`NOT TRIED ON ANY OBJECT: ${untried.map(({ source, operation }) => `${operation} of ${source}`).join(", ")}`]
      : []),
  ].join("\n");
}

/** For `-o json`. */
export const trialData = ({ tried, untried }: Trials): JsonObject => ({
  tried: tried as unknown as Json,
  untried,
});
