/** Why a described object does not run: what the pods of its copies report on their members. */
import { parseApiVersion } from "@flotilla/apimachinery";
import { argoWorkloads } from "@flotilla/argo";
import { objectOf, textOf } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { HEALTHY, runsToCompletion, unhealthyForMs } from "@flotilla/flotilla";
import { kubernetesWorkloads } from "@flotilla/kubernetes";
import { ManifestWork } from "@flotilla/ocm";
import { kruiseWorkloads } from "@flotilla/openkruise";
import { causesOf, lookAtPods } from "./look-at-pods.ts";
import type { CopyRef, LookOptions } from "./look-at-pods.ts";
import type { Description } from "../members/read-description.ts";

interface DescribedCauses {
  problems: string[];
  /** What could not be read. */
  unseen: string[];
}

/** Of the manifests of a work, those that have pods. */
const WORKLOADS: ReadonlySet<string> = new Set([
  ...[...kubernetesWorkloads, ...kruiseWorkloads, ...argoWorkloads].map(({ group, kind }) => `${group}/${kind}`),
  "apps/ReplicaSet",
  "/ReplicationController",
  "/Pod",
]);

/** Of a binding that is healthy nothing is read, unless its runs report nothing of their pods. */
export async function readCauses(
  description: Pick<Description, "resource" | "hub" | "binding" | "members">,
  options: LookOptions,
): Promise<DescribedCauses> {
  const healthy = description.binding?.conditions.find(({ type }) => type === HEALTHY);
  if (healthy?.status === "True" && !runsToCompletion(description.resource)) return { problems: [], unseen: [] };
  const { reports, unseen } = await lookAtPods(copiesIn(description), options);
  const isOverdue = unhealthyForMs(healthy, options.clock.now()) !== undefined;
  return { problems: causesOf([...reports.values()], isOverdue), unseen };
}

const hasPods = ({ apiVersion, kind }: CopyRef): boolean =>
  WORKLOADS.has(`${parseApiVersion(apiVersion).group}/${kind}`);

function copiesIn({ resource, hub, members }: Pick<Description, "resource" | "hub" | "members">): CopyRef[] {
  const { apiVersion, kind, namespace = "" } = resource;
  if (kind !== ManifestWork.kind || parseApiVersion(apiVersion).group !== ManifestWork.group)
    return members.map(({ cluster }) => ({ ...resource, cluster }));
  const { manifests } = objectOf(objectOf(hub?.["spec"])["workload"]);
  return (Array.isArray(manifests) ? manifests : [])
    .map((manifest) => refIn(namespace, objectOf(manifest)))
    .filter(hasPods);
}

function refIn(cluster: string, manifest: DeepReadonly<Record<string, unknown>>): CopyRef {
  const metadata = objectOf(manifest["metadata"]);
  return {
    cluster,
    apiVersion: textOf(manifest["apiVersion"]),
    kind: textOf(manifest["kind"]),
    namespace: textOf(metadata["namespace"]) || undefined,
    name: textOf(metadata["name"]),
  };
}
