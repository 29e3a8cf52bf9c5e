/** Whether a work targets its cluster: a work may require labels of its ManagedCluster. */
import {
  CONDITIONAL_DEPLOYMENT_ANNOTATION,
  isDeployedTo,
  ManagedCluster,
  ManifestWork,
  REQUIRED_LABELS_ANNOTATION,
} from "@flotilla/ocm";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { keyOf } from "@flotilla/controller-runtime";
import type { Informers, ObjectEvent } from "@flotilla/controller-runtime";

type Work = DeepReadonly<ManifestWork>;

/** `unknown` while the labels may be stale; otherwise the reason why a work is withheld. */
type TargetState = "targeted" | "unknown" | { withheld: string };

export interface WorkTargets {
  stateOf(work: Work): TargetState;
  /** The works whose target a change of labels decides. */
  afterLabelChange(event: ObjectEvent<ManagedCluster>): ObjectKey[];
}

export function createWorkTargets(hub: string, informers: Informers): WorkTargets {
  const works = informers.of(ManifestWork);
  const clusters = informers.of(ManagedCluster);
  return {
    stateOf(work) {
      const { annotations, namespace = "" } = work.metadata;
      if (!requiresLabels(work)) return "targeted";
      const cluster = clusters.get({ cluster: hub, name: namespace });
      if (cluster && isDeployedTo(annotations, cluster.metadata.labels)) return "targeted";
      // Nothing is removed because of labels that may be stale.
      if (!cluster || !clusters.fresh) return "unknown";
      return {
        withheld: `cluster ${namespace} does not have the labels ${annotations?.[REQUIRED_LABELS_ANNOTATION]} that the work requires`,
      };
    },
    afterLabelChange({ object, old }) {
      if (old && equalJson(object.metadata.labels, old.metadata.labels)) return [];
      return works
        .list({ cluster: hub, namespace: object.metadata.name })
        .filter(requiresLabels)
        .map((work) => keyOf(hub, work));
    },
  };
}

const requiresLabels = ({ metadata }: Work): boolean =>
  metadata.annotations?.[CONDITIONAL_DEPLOYMENT_ANNOTATION] === "true";
