/** Expands the short form that OpenKruise's workloads share: a selector that is left out. */
import { change, HUB } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import { completeSelector } from "./template-rules.ts";

type Selecting = KubernetesObject & { spec: { selector: LabelSelector; template: PodTemplateSpec } };

/** The selector of a workload defaults to the labels of its template. */
export function withOwnSelector<T extends KubernetesObject>(
  workload: DeepReadonly<T>,
  warn: (text: string) => void,
): DeepReadonly<T> {
  return change(workload as unknown as DeepReadonly<Selecting>, "spec", (spec) =>
    completeSelector(spec, spec.template?.metadata?.labels, "spec.template.metadata.labels", { cluster: HUB, warn }),
  ) as unknown as DeepReadonly<T>;
}

export const expandSelector = (
  manifest: DeepReadonly<JsonObject>,
  warn: (text: string) => void,
): DeepReadonly<JsonObject> => withOwnSelector<Selecting>(manifest as unknown as DeepReadonly<Selecting>, warn);
