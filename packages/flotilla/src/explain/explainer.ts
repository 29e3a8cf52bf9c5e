/**
 * Serves Explanations from a running hub.
 *
 * Reads: the objects that the pipeline stages read, through the stages' own views.
 * Writes: nothing.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { UnknownKindError } from "@flotilla/client";
import type { PlanningViews } from "../propagation/planning-views.ts";
import type { Template } from "../propagation/templates/templates.ts";
import type { MemberReader } from "../membership/member-reader.ts";
import { explain } from "./explain.ts";
import type { ExplainInput } from "./explain.ts";
import type { Explanation } from "./explanation.ts";
import type { LastDecisions } from "./last-decisions.ts";
import { explanationOf, type OcmExplainer } from "./ocm/ocm-explainer.ts";

export interface ExplainerDependencies {
  views: PlanningViews;
  releases: ExplainInput["releases"];
  interpreter: ExplainInput["interpreter"];
  readMember: MemberReader;
  decisions: Pick<LastDecisions, "get">;
  clock: Clock;
  ocm: OcmExplainer;
}

export interface Explainer {
  /**
   * Takes the name of the binding, or the name that the binding would have. Returns undefined for an unknown resource.
   */
  get(namespace: string | undefined, name: string): Promise<Explanation | undefined>;
}

export function createExplainer(deps: ExplainerDependencies): Explainer {
  const { views, releases, interpreter, readMember, decisions, clock, ocm } = deps;
  return {
    async get(namespace, name) {
      const where = { namespace: namespace || undefined, name };
      const binding = (namespace ? views.bindings : views.clusterBindings).get({ cluster: views.hub, ...where });
      const known = binding ? undefined : ocm.get(namespace, name);
      if (known) return known;
      const carried = ocm.carried(namespace, name, binding && parseApiVersion(binding.spec.resource.apiVersion).group);
      const resource = binding?.spec.resource ?? carried?.resource;
      const template = resource && (await resourceOf(views, resource));
      const nowMs = clock.now();
      if (!template) return carried && { ...explanationOf(carried.resource, nowMs), ...carried };
      const explanation = await explain({
        views,
        releases,
        interpreter,
        readMember,
        nowMs,
        template,
        recorded: decisions.get(where),
      });
      if (!carried) return explanation;
      return { ...explanation, works: carried.works, problems: [...explanation.problems, ...carried.problems] };
    },
  };
}

async function resourceOf(
  views: PlanningViews,
  resource: DeepReadonly<Explanation["resource"]>,
): Promise<Template | undefined> {
  try {
    const template = await views.templates.get(resource);
    return template === "unknown" ? undefined : template;
  } catch (error) {
    if (error instanceof UnknownKindError) return undefined; // The CRD was deleted, and the resource with it.
    throw error;
  }
}
