/** Finds the default class for objects that name none. */
import { compareText } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";

/** The name of the newest class marked as default; of two that are equally new, the first by name. */
export function defaultClass(
  classes: readonly DeepReadonly<KubernetesObject>[],
  isDefault: (one: DeepReadonly<KubernetesObject>) => boolean,
): string | undefined {
  const newest = classes
    .filter(isDefault)
    .toSorted(
      ({ metadata: a }, { metadata: b }) =>
        compareText(b.creationTimestamp ?? "", a.creationTimestamp ?? "") || compareText(a.name, b.name),
    )[0];
  return newest?.metadata.name;
}
