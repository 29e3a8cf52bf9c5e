/** `spread.jsonl`: a whole scheduling cycle, from clusters and a binding to clusters with replicas. */
import type { JsonObject } from "@flotilla/base";
import { createFleet, createView, filterPlugins, renderFitError, scheduleCycle } from "@flotilla/flotilla";
import { currentAffinity } from "./current-affinity.ts";
import type { BindingSpecView, BindingStatusView, ClusterView, CycleInput } from "@flotilla/flotilla";
import { compareResults } from "../compare-results.ts";
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
    if (!result.ok) throw new Error(withoutNumbers(result.message));
    return { clusters: result.clusters.map(({ name, replicas = 0 }) => ({ name, replicas })) };
  },
});

/**
 * The original runs its filters in random order and reports the first that excludes a cluster, so a recording contains
 * some of many valid texts. Ours is another one if the recorded texts are results of our filters in other orders.
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
            if (!verdict.fits) return { cluster: cluster.name, rejectedBy: name, reason: verdict.reason };
          }
          return { cluster: cluster.name };
        }),
      ),
    ),
  );
  return recorded.every((text) => possible.has(text));
}

/** Flotilla adds what was asked for and found to Karmada's message. */
const withoutNumbers = (message: string): string =>
  message.replace(/^(failed to select clusters: [^(]*?) \(.*\)$/, "$1");

const errorOf = ({ error }: JsonObject): string => (typeof error === "string" ? error : "");

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}

const REASONS = {
  spread:
    "Flotilla also spreads over zones, providers and labels. Karmada rejects such a constraint without one on " +
    "clusters or regions, and otherwise ignores its number of groups.",
  maximum:
    "A constraint without maxGroups has no upper limit. Karmada treats it as zero: no cluster is found, or fewer than minGroups requires.",
  minimum:
    "A region constraint without minGroups means one region, which is the admission default. Karmada divides " +
    "by zero and weighs regions without their available replicas, or finds none.",
  room:
    "The clusters that Karmada chooses in its regions have too few available replicas, and it fails. Flotilla " +
    "searches for others that satisfy the same constraints.",
  overflow: "Karmada adds up available replicas in 32 bits, so that clusters without a limit have a negative sum.",
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
