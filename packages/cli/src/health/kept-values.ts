/**
 * What does not reach the members because of a user's Retain rule: a release, where the rule keeps or sets their pod template
 * or strategy, and replicas, where they have fewer than they were given. The binding says that a rule may do so; the hub's
 * explanation reads the members and compares.
 */
import { findCondition, HUB, isForbidden } from "@flotilla/apimachinery";
import { FlotillaError, messageOf } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { ClusterExplanation, Explanation, MEMBER_DECIDES, retainProblems } from "@flotilla/flotilla";
import type { ResourceBinding } from "@flotilla/karmada";

const OF_A_RELEASE = /^spec\.(template|updateStrategy|strategy|paused)\b/;
/** Each explanation reads the members. */
const MAX_EXPLAINED = 20;

/** `rollout stopped` if a release does not reach the members. */
export interface KeptValue {
  problem: "rollout stopped" | "replicas held by a rule";
  apiVersion: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
  reason: string;
}

/** An autoscaler on the member may set as few replicas as it likes, and more than asked for are not reported. */
const CONCERNS: readonly { problem: KeptValue["problem"]; isAbout: Parameters<typeof retainProblems>[1] }[] = [
  { problem: "rollout stopped", isAbout: ({ path }) => OF_A_RELEASE.test(path) },
  {
    problem: "replicas held by a rule",
    isAbout: ({ path, before, after }, { autoscaler }) =>
      path === "spec.replicas" &&
      autoscaler === undefined &&
      typeof before === "number" &&
      typeof after === "number" &&
      after < before,
  },
];

export const mayKeep = ({ status, metadata }: DeepReadonly<ResourceBinding>): boolean =>
  metadata.deletionTimestamp === undefined && findCondition(status?.conditions, MEMBER_DECIDES)?.status === "True";

export async function findKeptValues(
  bindings: readonly DeepReadonly<ResourceBinding>[],
  client: Client,
  signal: AbortSignal,
): Promise<{ kept: KeptValue[]; unseen: string[] }> {
  const unseen = new Set<string>();
  if (bindings.length > MAX_EXPLAINED)
    unseen.add(
      `what Retain rules keep of ${bindings.length - MAX_EXPLAINED} more workloads: only ${MAX_EXPLAINED} are read`,
    );
  const found = await Promise.all(
    bindings.slice(0, MAX_EXPLAINED).map(async ({ metadata, spec }): Promise<KeptValue[]> => {
      const { apiVersion, kind, namespace, name } = spec.resource;
      try {
        const key = { cluster: HUB, namespace: metadata.namespace || undefined, name: metadata.name };
        const explanation = await find(client, key.namespace ? Explanation : ClusterExplanation, key, { signal });
        return CONCERNS.flatMap(({ problem, isAbout }) =>
          retainProblems(explanation?.members ?? [], isAbout).map(({ what }) => ({
            problem,
            apiVersion,
            kind,
            namespace: namespace || undefined,
            name,
            reason: what,
          })),
        );
      } catch (error) {
        if (!isForbidden(error) && !(error instanceof FlotillaError)) throw error;
        unseen.add(
          `what Retain rules keep on members: ${isForbidden(error) ? "you are not allowed to read explanations" : messageOf(error)}`,
        );
        return [];
      }
    }),
  );
  return { kept: found.flat(), unseen: [...unseen] };
}
