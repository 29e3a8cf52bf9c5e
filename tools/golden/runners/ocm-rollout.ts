/** `ocm-rollout.jsonl`: the next clusters of a rollout, those that timed out, and when to check again. */
import { omitZero, defined } from "@flotilla/base";
import type { RolloutStrategy } from "@flotilla/apimachinery/facts/cluster-ocm-v1alpha1.ts";
import type { JsonObject } from "@flotilla/base";
import { planWorksRollout, type ClusterRollout, type PlannedCluster, type RolloutState } from "@flotilla/flotilla";
import { compareResults } from "../compare-results.ts";
import type { CaseRunner, GoldenCase } from "../golden.ts";

const NOW = Date.parse("2024-05-01T12:00:00Z");

interface Group {
  groupName: string;
  groupIndex: number;
  clusters: string[];
}
interface Status extends Omit<Group, "clusters"> {
  clusterName: string;
  status: RolloutState;
  lastTransitionTime?: string;
}

function run(input: JsonObject): JsonObject {
  const groups = (input["groups"] ?? []) as unknown as Group[];
  const existing = (input["existing"] ?? []) as unknown as Status[];
  const plan = planWorksRollout(
    input["strategy"] as unknown as RolloutStrategy,
    groups.map(({ groupName, groupIndex, clusters }) => ({ name: groupName, index: groupIndex, clusters })),
    existing.map(({ clusterName, status, lastTransitionTime }): ClusterRollout => ({
      cluster: clusterName,
      state: status,
      sinceMs: lastTransitionTime !== undefined ? Date.parse(lastTransitionTime) : undefined,
    })),
    NOW,
  );

  const groupOf = (cluster: string): JsonObject => {
    const { groupName, groupIndex } = existing.find(({ clusterName }) => clusterName === cluster) ??
      groups.find(({ clusters }) => clusters.includes(cluster)) ?? { groupName: "", groupIndex: 0 };
    return { groupIndex, ...omitZero({ groupName }) };
  };
  const time = (ms: number): string => new Date(ms).toISOString().replace(".000Z", "Z");
  const shown = (clusters: readonly PlannedCluster[]): JsonObject[] =>
    clusters
      .toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1))
      .map(({ cluster, state, sinceMs, recheckMs }) => ({
        clusterName: cluster,
        status: state,
        ...groupOf(cluster),
        ...defined({
          lastTransitionTime: sinceMs === undefined ? undefined : time(sinceMs),
          recheckTime: recheckMs === undefined ? undefined : time(recheckMs),
        }),
      }));
  return {
    toRollout: shown(plan.toRollout),
    timeOut: shown(plan.timedOut),
    removed: shown(plan.removed),
    maxFailureBreach: plan.isStopped,
    recheckAfterSeconds: plan.recheckAfterMs === undefined ? null : plan.recheckAfterMs / 1000,
  };
}

const ALL_MAY_FAIL =
  "maxFailures above the number of clusters tolerates the failure of all of them. OCM treats such a number as zero.";
const ONE_GROUP_AT_A_TIME =
  "A group waits for every progressing cluster of earlier groups. OCM subtracts timed-out clusters from that " +
  "number although it does not include them, and may start the next group too early.";

function reasonFor({ input = {}, want = {} }: GoldenCase): string | undefined {
  const { type, progressive, progressivePerGroup } = input["strategy"] as unknown as RolloutStrategy;
  const groups = (input["groups"] ?? []) as unknown as Group[];
  const sizes = groups.map(({ clusters }) => clusters.length);
  const fewest = type === "Progressive" ? sizes.reduce((sum, size) => sum + size, 0) : Math.min(...sizes);
  const { maxFailures } = progressive ?? progressivePerGroup ?? {};
  if (typeof maxFailures === "number" ? maxFailures > fewest : Number.parseFloat(maxFailures ?? "0") > 100)
    return ALL_MAY_FAIL;
  const existing = (input["existing"] ?? []) as unknown as Status[];
  const hasTimedOut =
    existing.some(({ status }) => status === "TimeOut") || JSON.stringify(want["timeOut"] ?? []) !== "[]";
  return hasTimedOut && groups.length > 1 ? ONE_GROUP_AT_A_TIME : undefined;
}

export const ocmRollout: CaseRunner = { ...compareResults({ run }), reasonFor };
