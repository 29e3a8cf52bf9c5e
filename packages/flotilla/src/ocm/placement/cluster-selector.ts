/**
 * The cluster selector of a predicate or a decision group: labels, claims and CEL expressions. All of them must match.
 */
import type { ClusterSelector } from "@flotilla/apimachinery/facts/cluster-ocm-v1beta1.ts";
import { compileClusterSelector } from "@flotilla/ocm";
import type { createScoreLibrary, ManagedCluster } from "@flotilla/ocm";
import { dynamicValueOf } from "@flotilla/cel";
import type { CelValue } from "@flotilla/cel";
import type { DeepReadonly } from "@flotilla/base";
import { messageOf, omitZero } from "@flotilla/base";
import { labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import { Misconfigured } from "./misconfigured.ts";

type Cluster = DeepReadonly<ManagedCluster>;
export type ClusterTest = (cluster: Cluster) => boolean;
export type ScoreLibrary = ReturnType<typeof createScoreLibrary>;

/** The total cost limit of all expressions for one cluster. */
const BUDGET = 10_000_000;

/** Throws `Misconfigured` for an invalid selector. An expression that fails on a cluster does not select it. */
export function clusterTest(
  part: string,
  selector: DeepReadonly<ClusterSelector>,
  library?: ScoreLibrary,
): ClusterTest {
  const [labels, claims] = [
    selector.labelSelector ?? {},
    { matchExpressions: selector.claimSelector?.matchExpressions },
  ].map((object) => {
    try {
      return labelSelectorOf(object);
    } catch (error) {
      throw new Misconfigured(part, messageOf(error));
    }
  });
  const programs = (selector.celSelector?.celExpressions ?? []).map((expression) => {
    const { program, errors } = compileClusterSelector(expression, library);
    if (!program) throw new Misconfigured(part, errors);
    return program;
  });
  return (cluster) => {
    if (!labels || !claims || !matchesLabels(labels, cluster.metadata.labels)) return false;
    if (claims.requirements.length > 0 && !matchesLabels(claims, claimsOf(cluster))) return false;
    if (programs.length === 0) return true;
    const budget = { remaining: BUDGET };
    const managedCluster = shownTo(cluster);
    return programs.every((program) => program.evaluate({ managedCluster }, budget) === true);
  };
}

const shown = new WeakMap<Cluster, CelValue>();

/** The cluster as expressions see it. OCM's Go types serialize some empty fields, and `has()` finds them. */
function shownTo(cluster: Cluster): CelValue {
  let value = shown.get(cluster);
  if (value === undefined) {
    const { spec, status } = cluster;
    const taints = spec.taints?.map((taint) => ({ timeAdded: null, ...taint }));
    value = dynamicValueOf({
      ...cluster,
      spec: { hubAcceptsClient: false, ...spec, ...omitZero({ taints }) },
      status: { conditions: null, version: {}, ...status },
    });
    shown.set(cluster, value);
  }
  return value;
}

/** Claims by name; the last one of a name wins. */
export const claimsOf = ({ status }: Cluster): Record<string, string> =>
  Object.fromEntries((status?.clusterClaims ?? []).map(({ name = "", value = "" }) => [name, value]));
