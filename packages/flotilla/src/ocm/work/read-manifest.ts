/** Reads the member's object of one manifest for the work's status. */
import type { FeedbackValue, ManifestResourceMeta } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { KubernetesObject, NextCondition } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import { type Interpreter } from "../../interpreter/interpreter.ts";
import { evaluateRules } from "./condition-rules.ts";
import { readFeedback } from "./feedback.ts";
import type { ManifestOptions } from "./manifest-options.ts";
import { nativeProgress } from "./native-progress.ts";

type Object = DeepReadonly<KubernetesObject>;

/** `absent` is only used with a synced informer; `problem` describes why the object cannot be read. */
export type ObjectView = { object: Object } | "absent" | "unserved" | { problem: string };

export interface ManifestReading {
  meta: ManifestResourceMeta;
  /** Undefined if nothing was tried: the previous condition stays. */
  applied?: NextCondition;
  available: NextCondition;
  /** Undefined if the object cannot be read. */
  seen?: { values: FeedbackValue[]; feedback: NextCondition; ruled: NextCondition[] };
}

/** As OCM's own agent, plus objects and lists as JSON, up to the maximum length of the CRD. */
const FEEDBACK = { rawJson: true, maxRawLength: 1024 };

/** The generation of the work, and whether the member rejected that generation of the object. */
export interface Reading {
  generation: number;
  isRefused: boolean;
}

export async function readManifest(
  meta: ManifestResourceMeta,
  view: ObjectView,
  options: ManifestOptions | undefined,
  interpreter: Pick<Interpreter, "health">,
  { generation, isRefused }: Reading,
): Promise<Omit<ManifestReading, "applied">> {
  const available = availability(view);
  if (typeof view === "string" || !("object" in view)) return { meta, available };
  const { object } = view;
  const rules = options?.conditionRules ?? [];
  // The existing object is from an earlier generation: its progress does not apply to the rejected one.
  const progress = isRefused ? [] : await progressOf(object, rules, interpreter);
  const ruled = [...evaluatedRules(object, rules), ...progress].map((condition) => ({
    ...condition,
    observedGeneration: generation,
  }));
  return { meta, available, seen: { ...feedbackOf(object, options?.feedbackRules ?? []), ruled } };
}

/**
 * Rules may be expensive, and an object is read several times before it changes. Objects and specs are shared and
 * immutable.
 */
const evaluated = new WeakMap<object, { rules: unknown; conditions: readonly NextCondition[] }>();

function evaluatedRules(
  object: Object,
  rules: NonNullable<ManifestOptions["conditionRules"]>,
): readonly NextCondition[] {
  if (rules.length === 0) return rules as readonly never[];
  const known = evaluated.get(object);
  if (known?.rules === rules) return known.conditions;
  const conditions = evaluateRules(object, rules);
  evaluated.set(object, { rules, conditions });
  return conditions;
}

/** A failing health rule of a user is reported where rules are executed; here the progress is unknown. */
async function progressOf(...args: Parameters<typeof nativeProgress>): Promise<NextCondition[]> {
  try {
    return await nativeProgress(...args);
  } catch (error) {
    if (error instanceof InterpretError) return [];
    throw error;
  }
}

export const NOT_THERE: NextCondition = {
  type: "Available",
  status: "False",
  reason: "ResourceNotAvailable",
  message: "Resource is not available",
};

function availability(view: ObjectView): NextCondition {
  const condition = (status: NextCondition["status"], reason: string, message: string): NextCondition => ({
    type: "Available",
    status,
    reason,
    message,
  });
  if (view === "absent") return NOT_THERE;
  if (view === "unserved") return condition("Unknown", "IncompleteResourceMeta", "Resource meta is incomplete");
  if ("problem" in view)
    return condition("Unknown", "FetchingResourceFailed", `Failed to fetch resource: ${view.problem}`);
  return condition("True", "ResourceAvailable", "Resource is available");
}

function feedbackOf(
  object: Object,
  rules: NonNullable<ManifestOptions["feedbackRules"]>,
): { values: FeedbackValue[]; feedback: NextCondition } {
  const type = "StatusFeedbackSynced";
  if (rules.length === 0)
    return { values: [], feedback: { type, status: "True", reason: "NoStatusFeedbackSynced", message: "" } };
  const { values, problems } = readFeedback(object, rules, FEEDBACK);
  if (problems.length === 0)
    return { values, feedback: { type, status: "True", reason: "StatusFeedbackSynced", message: "" } };
  const reported = problems.length === 1 ? problems[0] : `[${[...new Set(problems)].join(", ")}]`;
  return {
    values,
    feedback: {
      type,
      status: "False",
      reason: "StatusFeedbackSyncFailed",
      message: `Sync status feedback failed with error ${reported}`,
    },
  };
}
