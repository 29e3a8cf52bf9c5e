/**
 * Finds what a Retain script leaves to the members before any object exists: the script is run on an object that stands
 * for its kind. A script that keeps fields only of certain objects is found when it is run for one of them
 * (`retainedFields` of the interpreter).
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { knownLevels } from "../interpreter.ts";
import { renderRetainedFields, retainedFieldsIn, retainProbes } from "../retained-fields.ts";
import type { RetainedField } from "../retained-fields.ts";
import { compileKubeScript, runFunction } from "../scripts/index.ts";
import type { LuaBudget } from "../scripts/index.ts";
import { scriptOf } from "./customization-rules.ts";
import type { Customization } from "./customization-rules.ts";

/** Empty for kinds without replicas and without a release, and for scripts that fail on such an object. */
export function retainedByScript(customization: Customization, budget: LuaBudget): RetainedField[] {
  const { apiVersion, kind } = customization.spec.target;
  const source = scriptOf(customization, "retention");
  const isDivided = knownLevels.some((level) => {
    const rules = level.rulesFor(apiVersion, kind);
    return rules?.replicas ?? rules?.divide;
  });
  if (source === undefined || (!isDivided && scriptOf(customization, "replicaResource") === undefined)) return [];
  try {
    const script = compileKubeScript(source);
    const results = retainProbes(standInFor(apiVersion, kind)).map(({ desired, observed }) =>
      runFunction(script, "retain", [desired as unknown as JsonObject, observed as unknown as JsonObject], budget),
    );
    return retainedFieldsIn(results as unknown as DeepReadonly<KubernetesObject>[]);
  } catch (error) {
    // It may expect fields that only real objects have.
    if (error instanceof FlotillaError) return [];
    throw error;
  }
}

function standInFor(apiVersion: string, kind: string): DeepReadonly<KubernetesObject> {
  const labels = { app: "probe" };
  const containers = [{ name: "probe", image: "probe:1" }];
  return {
    apiVersion,
    kind,
    metadata: { name: "probe", namespace: "probe", generation: 1, labels, annotations: { probe: "probe" } },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    status: { replicas: 1, observedGeneration: 1 },
  } as DeepReadonly<KubernetesObject>;
}

/** In every warning about such a rule, so that others can recognize it. */
export const LEFT_TO_MEMBERS = "values of the template apply only where the object is created";

/** One sentence; undefined when the rule takes nothing from the hub. */
export function renderRetained(retained: readonly RetainedField[]): string | undefined {
  if (retained.length === 0) return undefined;
  const isReleaseTaken = retained.some(({ field }) => field !== "replicas");
  const consequence = isReleaseTaken
    ? ", so the hub cannot release by partition, and stops a release that would reach more pods than requested"
    : "";
  return `the Retain rule ${renderRetainedFields(retained)}: ${LEFT_TO_MEMBERS}${consequence}`;
}
