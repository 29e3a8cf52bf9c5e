/**
 * The cost of one scheduling decision, for 10, 100 and 1,000 clusters and every division method. Decisions alone: no
 * API, no queue.
 */
import type { Placement } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { createFleet, planSchedule, updateFleet } from "@flotilla/flotilla";
import type { ClusterView, ScheduleInput } from "@flotilla/flotilla";
import type { Benchmark, Figure } from "./benchmark.ts";
import { APPLIED_PLACEMENT } from "@flotilla/karmada";

const SIZES = [10, 100, 1000] as const;
const REGIONS = 20;
/** Calls per round, chosen so that a round takes a few milliseconds; the median of the rounds is reported. */
const CLUSTERS_PER_ROUND = 20_000;
const WARM_UP_ROUNDS = 30;
const ROUNDS = 101;

const divided = (more: object): Pick<Placement, "replicaScheduling"> => ({
  replicaScheduling: { replicaSchedulingType: "Divided", ...more },
});
const spread: Placement["spreadConstraints"] = [
  { spreadByField: "region", minGroups: 2, maxGroups: 3 },
  { spreadByField: "cluster", minGroups: 2, maxGroups: 8 },
];

function placements(clusters: number): Record<string, Placement> {
  const staticWeightList = Array.from({ length: clusters }, (_, index) => ({
    targetCluster: { clusterNames: [`member${index}`] },
    weight: 1 + (index % 5),
  }));
  const dynamic = divided({
    replicaDivisionPreference: "Weighted",
    weightPreference: { dynamicWeight: "AvailableReplicas" },
  });
  return {
    duplicated: { clusterAffinity: { labelSelector: { matchLabels: { env: "prod" } } } },
    static: divided({ replicaDivisionPreference: "Weighted", weightPreference: { staticWeightList } }),
    dynamic,
    aggregated: divided({ replicaDivisionPreference: "Aggregated" }),
    "aggregated, spread": { ...divided({ replicaDivisionPreference: "Aggregated" }), spreadConstraints: spread },
    "dynamic, by zone": {
      ...dynamic,
      spreadConstraints: [
        { spreadByField: "zone", minGroups: 2, maxGroups: 3 },
        { spreadByField: "cluster", minGroups: 2, maxGroups: 8 },
      ],
    },
  };
}

function makeCluster(index: number): ClusterView {
  return {
    metadata: { name: `member${index}`, labels: { env: "prod", rack: `r${index % 7}` } },
    spec: {
      region: `region${index % REGIONS}`,
      provider: `provider${index % 3}`,
      zones: [`zone${index % (2 * REGIONS)}`],
      taints: index % 10 === 0 ? [{ key: "maint", effect: "NoSchedule" }] : undefined,
    },
    status: {
      apiEnablements: [{ groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] }],
      resourceSummary: {
        allocatable: { cpu: "128", memory: "512Gi", pods: "1100" },
        allocated: { cpu: `${index % 100}`, memory: `${index % 300}Gi`, pods: `${index % 900}` },
        allocating: { cpu: "250m" },
      },
    },
  };
}

function makeBinding(index: number, placement: Placement): ScheduleInput["binding"] {
  return {
    metadata: {},
    spec: {
      resource: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        name: `web-${index}`,
        namespace: "shop",
        uid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
      },
      replicas: 20 + (index % 50),
      replicaRequirements: { resourceRequest: { cpu: "250m", memory: "512Mi" } },
      placement,
    },
  };
}

/** The median time of one call, in microseconds. */
export function measure(calls: number, run: (call: number) => void): number {
  const times: number[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    const start = performance.now();
    for (let call = 0; call < calls; call++) run(call);
    if (round >= WARM_UP_ROUNDS) times.push(((performance.now() - start) * 1000) / calls);
  }
  return times.toSorted((a, b) => a - b)[(ROUNDS - 1) / 2] ?? 0;
}

export const scheduler: Benchmark = {
  name: "scheduler",
  summary: "one decision, with every cluster evaluated and every result kept",
  async run({ progress }) {
    const figures: Figure[] = [];
    const note = (name: string, value: number): void => {
      progress(name);
      figures.push({ name, value, unit: "µs", better: "less" });
    };
    for (const size of SIZES) {
      const clusters = Array.from({ length: size }, (_, index) => makeCluster(index));
      const fleet = createFleet(clusters);
      const calls = Math.max(1, Math.round(CLUSTERS_PER_ROUND / size));
      for (const [name, placement] of Object.entries(placements(size))) {
        const bindings = Array.from({ length: calls }, (_, index) => makeBinding(index, placement));
        note(
          `${name}, ${size} clusters`,
          measure(calls, (call) => void planSchedule({ binding: bindings[call] as ScheduleInput["binding"], fleet })),
        );
      }
      const placement = placements(size)["dynamic"] ?? {};
      const { metadata, spec } = makeBinding(1, placement);
      const settled = {
        metadata: { ...metadata, annotations: { [APPLIED_PLACEMENT]: JSON.stringify(placement) } },
        spec: { ...spec, replicas: 2, clusters: [{ name: "member1", replicas: 2 }] },
      };
      note(
        `nothing to do, ${size} clusters`,
        measure(calls, () => void planSchedule({ binding: settled, fleet })),
      );
      note(
        `a cluster reports, ${size} clusters`,
        measure(calls, (call) => void updateFleet(fleet, makeCluster(call % size), false)),
      );
    }
    return figures;
  },
};
