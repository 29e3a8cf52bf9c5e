/** Finds objects that are scaled by an autoscaler that a Work propagates to the same member. */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { HorizontalPodAutoscaler } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { Informer } from "@flotilla/controller-runtime";
import { manifestsOf } from "../members/member-objects.ts";

const BY_TARGET = "execute.scaleTarget";

export interface AutoscaledWorks {
  /** Whether a Work of the same member carries an autoscaler for this object. */
  has(executionNamespace: string, manifest: DeepReadonly<KubernetesObject>): boolean;
}

/** Called once per informer, by the code that wires the stages. */
export function createAutoscaledWorks(works: Pick<Informer<Work>, "addIndex" | "by">): AutoscaledWorks {
  works.addIndex(BY_TARGET, (work) =>
    work.metadata.deletionTimestamp
      ? []
      : manifestsOf(work).flatMap((manifest) => targetOf(work.metadata.namespace ?? "", manifest)),
  );
  return {
    has(executionNamespace, { apiVersion, kind, metadata }) {
      return (
        works.by(BY_TARGET, idOf(executionNamespace, metadata.namespace, apiVersion, kind, metadata.name)).length > 0
      );
    },
  };
}

function targetOf(executionNamespace: string, manifest: DeepReadonly<KubernetesObject>): string[] {
  if (manifest.kind !== "HorizontalPodAutoscaler" || parseApiVersion(manifest.apiVersion).group !== "autoscaling")
    return [];
  const { spec } = manifest as DeepReadonly<Partial<HorizontalPodAutoscaler>>;
  const target = spec?.scaleTargetRef;
  return target
    ? [idOf(executionNamespace, manifest.metadata.namespace, target.apiVersion ?? "", target.kind, target.name)]
    : [];
}

/** Versions do not matter: a target is the same object in all of them. */
function idOf(executionNamespace: string, namespace = "", apiVersion: string, kind: string, name: string): string {
  return `${executionNamespace}/${parseApiVersion(apiVersion).group}/${kind}/${namespace}/${name}`;
}
