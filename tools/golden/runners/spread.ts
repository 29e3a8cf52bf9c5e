/** `spread.jsonl`: a whole scheduling cycle, from clusters and a binding to clusters with replicas. */
import type { JsonObject } from "../../../src/base/index.ts";
import { createFleet } from "../../../src/propagation/schedule/fleet.ts";
import {
  createView,
  currentAffinity,
  type BindingSpecView,
  type BindingStatusView,
  type ClusterView,
} from "../../../src/propagation/schedule/framework.ts";
import { filterPlugins } from "../../../src/propagation/schedule/plugins/index.ts";
import { renderFitError, scheduleCycle, type CycleInput } from "../../../src/propagation/schedule/schedule-cycle.ts";
import { compareResults } from "../compare.ts";
import type { CaseRunner, GoldenCase } from "../golden.ts";

function readCase(input: JsonObject): CycleInput {
  const spec = input["spec"] as unknown as BindingSpecView;
  const status = input["status"] as BindingStatusView;
  return {
    spec,
    status,
    affinity: currentAffinity(spec.placement, status),
    fleet: createFleet(input["clusters"] as unknown as ClusterView[]),
    enableEmptyWorkloadPropagation: input["enableEmptyWorkloadPropagation"] === true,
  };
}

const results = compareResults({
  errorTextMatters: true,
  run(input) {
    const result = scheduleCycle(readCase(input));
    if (!result.ok) throw new Error(result.message);
    return { clusters: result.clusters.map(({ name, replicas = 0 }) => ({ name, replicas })) };
  },
});

/**
 * The original asks its filters in random order and reports the first that refuses, so a recording holds some of many
 * right texts. Ours is another of them when the recorded ones are what our filters say in other orders.
 */
function isOtherOrder({ input = {}, want, wantAnyOf }: GoldenCase): boolean {
  const recorded = (wantAnyOf ?? (want ? [want] : [])).map(errorOf);
  if (!recorded.every((text) => text.startsWith("0/"))) return false;
  const { spec, affinity, fleet } = readCase(input);
  const view = createView(spec, affinity);
  const possible = new Set(
    permutations(filterPlugins).map((plugins) =>
      renderFitError(
        fleet.clusters.map((cluster) => {
          if (cluster.leaving) return { cluster: cluster.name, reason: "leaving" };
          for (const { name, filter } of plugins) {
            const verdict = filter(view, cluster);
            if (!verdict.fits) return { cluster: cluster.name, refusedBy: name, reason: verdict.reason };
          }
          return { cluster: cluster.name };
        }),
      ),
    ),
  );
  return recorded.every((text) => possible.has(text));
}

const errorOf = ({ error }: JsonObject): string => (typeof error === "string" ? error : "");

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}

const REASONS = {
  spread:
    "Flotilla spreads over zones, providers and labels too. Karmada refuses such a constraint without one on clusters or regions, and beside them ignores how many groups it asks for.",
  maximum:
    "A constraint without maxGroups sets no upper limit. Karmada takes it for zero: no cluster is found, or fewer than minGroups ask for.",
  minimum:
    "A region constraint without minGroups means one region, which is what admission writes. Karmada divides by zero and weighs regions without looking at their room, or finds none.",
  room: "The clusters that Karmada chooses in its regions have too little room, and it fails. Flotilla looks for others that satisfy the same constraints.",
  overflow: "Karmada adds up room in 32 bits, so that clusters without limit have less than nothing together.",
} as const;

interface Constraint {
  spreadByField?: string;
  spreadByLabel?: string;
  minGroups?: number;
  maxGroups?: number;
}

function reasonFor({ input = {}, want }: GoldenCase): string | undefined {
  if (want && errorOf(want).includes("available replicas -")) return REASONS.overflow;
  const placement = ((input["spec"] as JsonObject)["placement"] ?? {}) as JsonObject;
  const constraints = (placement["spreadConstraints"] ?? []) as unknown as Constraint[];
  if (
    constraints.some(
      ({ spreadByField, spreadByLabel }) => spreadByLabel || spreadByField === "zone" || spreadByField === "provider",
    )
  )
    return REASONS.spread;
  if (constraints.some(({ maxGroups }) => !maxGroups)) return REASONS.maximum;
  const region = constraints.find(({ spreadByField }) => spreadByField === "region");
  if (region && !region.minGroups) return REASONS.minimum;
  return region && want && errorOf(want).includes("are not enough to schedule") ? REASONS.room : undefined;
}

export const spread: CaseRunner = {
  async check(line) {
    const difference = await results.check(line);
    return difference !== undefined && isOtherOrder(line) ? undefined : difference;
  },
  reasonFor,
};
