/** The kinds that a ResourceDistribution copies. */
import { controllerOf } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { ConfigMap, Secret } from "@flotilla/kubernetes";
import { ResourceDistribution } from "./resourcedistribution-kind.ts";

const asObjects = (kind: unknown): Kind => kind as Kind;

/** In the order of upstream's message. */
export const COPIED_KINDS: readonly Kind[] = [asObjects(Secret), asObjects(ConfigMap)];

export const copiedKindOf = ({ apiVersion, kind }: DeepReadonly<JsonObject>): Kind | undefined =>
  apiVersion === "v1" ? COPIED_KINDS.find((copied) => copied.kind === kind) : undefined;

/** The name of the ResourceDistribution that a Secret or ConfigMap is a copy of. */
export function distributionOf(object: DeepReadonly<KubernetesObject>): string | undefined {
  const owner = controllerOf(object);
  return owner?.kind === ResourceDistribution.kind ? owner.name : undefined;
}
