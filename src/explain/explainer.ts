/**
 * Explanations of a running hub.
 *
 * Reads:  what the stages of the pipeline read, through their own views.
 * Writes: nothing.
 */
import type { Clock } from "../base/index.ts";
import type { Interpreter } from "../interpreter/index.ts";
import { UnknownKindError } from "../client/index.ts";
import type { PlanningViews, Template } from "../propagation/index.ts";
import { explain } from "./explain.ts";
import type { Explanation } from "./explanation.ts";
import type { LastDecisions } from "./last-decisions.ts";
import type { Binding } from "./plan-template.ts";

export interface ExplainerDependencies {
  views: PlanningViews;
  interpreter: Pick<Interpreter, "replicas" | "components" | "levelOf" | "divide">;
  decisions: Pick<LastDecisions, "get">;
  clock: Clock;
}

export interface Explainer {
  /** By the name of the binding; undefined when there is none, or its resource is gone. */
  get(namespace: string | undefined, name: string): Promise<Explanation | undefined>;
}

export function createExplainer({ views, interpreter, decisions, clock }: ExplainerDependencies): Explainer {
  return {
    async get(namespace, name) {
      const where = { ...(namespace && { namespace }), name };
      const binding = (namespace ? views.bindings : views.clusterBindings).get({ cluster: views.hub, ...where });
      const template = binding && (await resourceOf(views, binding));
      return template && explain({ views, interpreter, nowMs: clock.now(), template, recorded: decisions.get(where) });
    },
  };
}

async function resourceOf(views: PlanningViews, { spec }: Binding): Promise<Template | undefined> {
  try {
    const template = await views.templates.get(spec.resource);
    return template === "unknown" ? undefined : template;
  } catch (error) {
    if (error instanceof UnknownKindError) return undefined; // Its definition is gone, and the resource with it.
    throw error;
  }
}
