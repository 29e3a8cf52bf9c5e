/** Finds the autoscaler of a member that decides the replicas of an object there. Pure. */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { HorizontalPodAutoscaler } from "@flotilla/kubernetes";

type AnyObject = DeepReadonly<KubernetesObject>;

/** `autoscalers` are those of the object's namespace on the member. */
export function autoscalerOf(
  { apiVersion, kind, name }: { apiVersion: string; kind: string; name: string },
  autoscalers: readonly DeepReadonly<HorizontalPodAutoscaler>[],
): string | undefined {
  const { group } = parseApiVersion(apiVersion);
  const own = autoscalers.find(
    ({ spec: { scaleTargetRef: target } }) =>
      target.kind === kind && target.name === name && parseApiVersion(target.apiVersion ?? "").group === group,
  );
  return own && `HorizontalPodAutoscaler ${own.metadata.name}`;
}

export function replicasOf(object: AnyObject | undefined): number | undefined {
  const { spec } = (object ?? {}) as { spec?: unknown };
  const replicas = isObject(spec) && Object.hasOwn(spec, "replicas") ? spec["replicas"] : undefined;
  return typeof replicas === "number" ? replicas : undefined;
}
