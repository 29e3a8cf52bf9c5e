/** `match.jsonl`: affinities, selectors, the best policy, tolerations, and every scheduler plugin separately. */
import { defined } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import {
  chooseBestPolicy,
  createView,
  filterPlugins,
  implicitPriority,
  matchesAffinity,
  matchesResource,
  matchingTolerations,
  minTolerationMs,
  noExecuteTaints,
  readCluster,
  scorePlugins,
} from "@flotilla/flotilla";
import { currentAffinity } from "./current-affinity.ts";
import type {
  BindingSpecView,
  BindingStatusView,
  ClusterAffinity,
  ClusterView,
  PolicyView,
  ResourceSelector,
  SelectableResource,
  Taint,
  Toleration,
} from "@flotilla/flotilla";
import { compareResults, pick } from "../compare-results.ts";

const kinds: Readonly<Record<string, (input: JsonObject) => JsonObject>> = {
  clusterAffinity: (input) => ({
    matches: matchesAffinity(
      input["cluster"] as unknown as ClusterView,
      input["affinity"] as unknown as ClusterAffinity,
    ),
  }),

  resourceSelector(input) {
    const resource = input["resource"] as unknown as SelectableResource;
    const selectors = (input["selectors"] ?? []) as unknown as ResourceSelector[];
    return { matches: matchesResource(resource, selectors), implicitPriority: implicitPriority(resource, selectors) };
  },

  bestPolicy(input) {
    const resource = input["resource"] as unknown as SelectableResource;
    const best = (policies: Json | undefined): string | null =>
      chooseBestPolicy(resource, (policies ?? []) as unknown as PolicyView[])?.metadata.name ?? null;
    return { policy: best(input["policies"]), clusterPolicy: best(input["clusterPolicies"]) };
  },

  tolerations(input) {
    const taints = (input["taints"] ?? []) as unknown as Taint[];
    const used = matchingTolerations(taints, (input["tolerations"] ?? []) as unknown as Toleration[]);
    const evicting = noExecuteTaints(taints);
    const leftMs = used && minTolerationMs(evicting, used, Date.parse(input["now"] as string));
    return {
      allTolerated: used !== undefined,
      used: used ?? [],
      hasNoExecute: evicting.length > 0,
      noExecuteTaints: evicting,
      ...defined({
        minTolerationSeconds: leftMs === undefined ? undefined : leftMs === Infinity ? -1 : Math.floor(leftMs / 1000),
      }),
    };
  },

  filters(input) {
    const spec = input["spec"] as unknown as BindingSpecView;
    const view = createView(spec, currentAffinity(spec.placement, input["status"] as unknown as BindingStatusView));
    const cluster = readCluster(input["cluster"] as unknown as ClusterView);
    const plugins: Record<string, JsonObject> = {};
    for (const { name, filter } of filterPlugins) {
      const verdict = filter(view, cluster);
      plugins[name] = verdict.fits ? { success: true } : { success: false, reasons: [verdict.reason] };
    }
    for (const { name, score } of scorePlugins) plugins[name] = { ...plugins[name], score: score(view, cluster) };
    return { plugins };
  },
};

export const match = compareResults({
  errorTextMatters: true,
  run: (input) => pick(kinds, input["kind"])(input),
});
