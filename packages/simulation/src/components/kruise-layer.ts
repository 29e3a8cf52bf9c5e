/**
 * OpenKruise's workloads and the nodes of a running member, as objects of its profile: all members share them, and an
 * empty member stores none. They are exactly what the controllers would create, so that the controllers have nothing to
 * do; the controllers recreate deleted or changed objects. A test verifies this.
 */
import type { ControllerRevision, DaemonSet } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { PodSpec, PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import { formatTime } from "@flotilla/base";
import { planNodes } from "../nodes/nodes.ts";
import { deploymentObjects, ownerOf, podObject, withLabels } from "./deployment-objects.ts";
import { DAEMON, KRUISE_NAMESPACE, daemonSet, managerDeployment } from "./kruise-manifests.ts";

/** Replaces the hash that controllers put into names: they find their own objects by content. */
const REVISION_HASH = "7f9c8b6d54";

export interface LayerOptions {
  /** The number of nodes of every member. */
  nodes: number;
  nowMs: number;
}

/** Zone names from the public guides, so that copied examples match nodes. */
const ZONES = ["zone-a", "zone-b", "zone-c"];

export const nodeLayer = ({ nodes, nowMs }: LayerOptions): KubernetesObject[] =>
  planNodes({ count: nodes, nowMs, zones: ZONES }) as unknown as KubernetesObject[];

/** Empty without nodes to run on. */
export function kruiseLayer({ nodes, nowMs }: LayerOptions): KubernetesObject[] {
  if (nodes === 0) return [];
  const names = planNodes({ count: nodes, nowMs }).map(({ metadata }) => metadata.name);
  const time = formatTime(nowMs);
  const daemons = daemonSet();
  return [
    ...deploymentObjects(managerDeployment(), { node: names[0] ?? "", index: 0, time }),
    {
      ...daemons,
      metadata: { ...daemons.metadata, annotations: { "deprecated.daemonset.template.generation": "1" } },
      status: daemonStatus(nodes),
    } as DaemonSet,
    revision(daemons),
    ...names.map((node, index) =>
      podObject({
        name: `${DAEMON}-${String(index).padStart(5, "0")}`,
        namespace: KRUISE_NAMESPACE,
        template: onNode(
          withLabels(daemons.spec.template, {
            "controller-revision-hash": REVISION_HASH,
            "pod-template-generation": "1",
          }),
          node,
        ),
        owner: { kind: "DaemonSet", name: DAEMON },
        index,
        node,
        time,
      }),
    ),
  ];
}

const daemonStatus = (count: number): DaemonSet["status"] => ({
  currentNumberScheduled: count,
  numberMisscheduled: 0,
  desiredNumberScheduled: count,
  numberReady: count,
  observedGeneration: 1,
  updatedNumberScheduled: count,
  numberAvailable: count,
});

function revision({ spec }: DaemonSet): ControllerRevision {
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name: `${DAEMON}-${REVISION_HASH}`,
      namespace: KRUISE_NAMESPACE,
      labels: { "control-plane": DAEMON, "controller-revision-hash": REVISION_HASH },
      annotations: { "deprecated.daemonset.template.generation": "1" },
      ownerReferences: [ownerOf({ kind: "DaemonSet", name: DAEMON })],
    },
    data: { spec: { template: { ...spec.template, $patch: "replace" } } } as unknown as NonNullable<
      ControllerRevision["data"]
    >,
    revision: 1,
  };
}

function onNode({ metadata, spec }: PodTemplateSpec, node: string): PodTemplateSpec {
  const nodeSelectorTerms = [{ matchFields: [{ key: "metadata.name", operator: "In" as const, values: [node] }] }];
  const pods: PodSpec = {
    containers: [],
    ...spec,
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  };
  return { metadata, spec: pods };
}
