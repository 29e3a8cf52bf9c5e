/**
 * Releases that do not reach the members, because a user's Retain rule keeps the members' pod template or strategy. The
 * binding says that a rule may do so; the hub's explanation reads the members and compares.
 */
import { findCondition, HUB, isForbidden } from "@flotilla/apimachinery";
import { FlotillaError, messageOf } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { ClusterExplanation, Explanation, MEMBER_DECIDES, retainProblems } from "@flotilla/flotilla";
import type { ResourceBinding } from "@flotilla/karmada";

/** Replicas that a rule leaves to the members are usually those of an autoscaler there. */
const OF_A_RELEASE = /^spec\.(template|updateStrategy|strategy|paused)\b/;
/** Each explanation reads the members. */
const MAX_EXPLAINED = 20;

export interface KeptRelease {
  apiVersion: string;
  kind: string;
  namespace?: string | undefined;
  name: string;
  reason: string;
}

export const mayKeep = ({ status, metadata }: DeepReadonly<ResourceBinding>): boolean =>
  metadata.deletionTimestamp === undefined && findCondition(status?.conditions, MEMBER_DECIDES)?.status === "True";

export async function findKeptReleases(
  bindings: readonly DeepReadonly<ResourceBinding>[],
  client: Client,
  signal: AbortSignal,
): Promise<{ kept: KeptRelease[]; unseen: string[] }> {
  const unseen = new Set<string>();
  if (bindings.length > MAX_EXPLAINED)
    unseen.add(
      `what Retain rules keep of ${bindings.length - MAX_EXPLAINED} more workloads: only ${MAX_EXPLAINED} are read`,
    );
  const found = await Promise.all(
    bindings.slice(0, MAX_EXPLAINED).map(async ({ metadata, spec }): Promise<KeptRelease[]> => {
      const { apiVersion, kind, namespace, name } = spec.resource;
      try {
        const key = { cluster: HUB, namespace: metadata.namespace || undefined, name: metadata.name };
        const explanation = await find(client, key.namespace ? Explanation : ClusterExplanation, key, { signal });
        return retainProblems(explanation?.members ?? [], OF_A_RELEASE).map(({ what }) => ({
          apiVersion,
          kind,
          namespace: namespace || undefined,
          name,
          reason: what,
        }));
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
