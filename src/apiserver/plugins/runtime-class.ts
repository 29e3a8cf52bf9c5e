/** RuntimeClass: the overhead of a pod's runtime in addition to its containers, and the nodes that support it. */
import type { Pod, Toleration } from "../../api/index.ts";
import { equalJson } from "../../base/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { forbidden } from "../../machinery/index.ts";
import type { Plugin, PluginRequest } from "../plugin.ts";
import { writesPod } from "../pods.ts";

type ReadPod = DeepReadonly<Pod>;
type ReadToleration = DeepReadonly<Toleration>;

interface RuntimeClass {
  readonly overhead?: { readonly podFixed?: Readonly<Record<string, string>> };
  readonly scheduling?: {
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly tolerations?: readonly ReadToleration[];
  };
}

export const runtimeClass: Plugin = {
  name: "RuntimeClass",
  group: "",
  concerns: (context, operation) => operation === "CREATE" && writesPod(context),
  mutate(request) {
    const pod = request.object as unknown as ReadPod;
    const found = classOf(pod, request);
    if (!found) return request.object;
    return withScheduling(withOverhead(pod, found, request), found, request);
  },
  validate(request) {
    const pod = request.object as unknown as ReadPod;
    if (pod.spec.overhead && !classOf(pod, request)?.overhead)
      throw refused(pod, request, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
  },
};

const refused = ({ metadata }: ReadPod, { context }: PluginRequest, why: string): Error =>
  forbidden(context.served.resource.name, metadata.name, why);

function classOf(pod: ReadPod, request: PluginRequest): RuntimeClass | undefined {
  const { runtimeClassName } = pod.spec;
  if (runtimeClassName === undefined) return undefined;
  const found = request.read.get("node.k8s.io", "runtimeclasses", undefined, runtimeClassName);
  if (!found) throw refused(pod, request, `pod rejected: RuntimeClass ${JSON.stringify(runtimeClassName)} not found`);
  return found;
}

function withOverhead(pod: ReadPod, { overhead }: RuntimeClass, request: PluginRequest): ReadPod {
  if (!overhead) return pod;
  const { podFixed = {} } = overhead;
  if (Object.keys(pod.spec.overhead ?? {}).length > 0 && !equalJson(pod.spec.overhead, podFixed))
    throw refused(pod, request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  return { ...pod, spec: { ...pod.spec, overhead: podFixed } };
}

function withScheduling(pod: ReadPod, { scheduling }: RuntimeClass, request: PluginRequest): ReadPod {
  if (!scheduling) return pod;
  const nodeSelector = { ...pod.spec.nodeSelector };
  for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
    const own = Object.hasOwn(nodeSelector, key) ? nodeSelector[key] : undefined;
    if (own !== undefined && own !== value)
      throw refused(
        pod,
        request,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
      );
    nodeSelector[key] = value;
  }
  const tolerations = merged([...(pod.spec.tolerations ?? []), ...(scheduling.tolerations ?? [])]);
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
      ...(tolerations.length > 0 && { tolerations }),
    },
  };
}

/** Drops tolerations that another one covers. */
function merged(all: readonly ReadToleration[]): ReadToleration[] {
  const kept: ReadToleration[] = [];
  for (const [index, toleration] of all.entries()) {
    const isCovered =
      kept.some((other) => covers(other, toleration)) ||
      all.slice(index + 1).some((other) => !equalJson(other, toleration) && covers(other, toleration));
    if (!isCovered) kept.push(toleration);
  }
  return kept;
}

function covers(wider: ReadToleration, toleration: ReadToleration): boolean {
  if (equalJson(wider, toleration)) return true;
  if ((toleration.key ?? "") !== (wider.key ?? "") && !(!wider.key && wider.operator === "Exists")) return false;
  if (wider.effect && toleration.effect !== wider.effect) return false;
  if (
    wider.effect === "NoExecute" &&
    wider.tolerationSeconds !== undefined &&
    (toleration.tolerationSeconds === undefined || toleration.tolerationSeconds > wider.tolerationSeconds)
  )
    return false;
  if (wider.operator === "Exists") return true;
  const isEqual = (operator: string | undefined): boolean => operator === undefined || operator === "Equal";
  return isEqual(wider.operator) && isEqual(toleration.operator) && (toleration.value ?? "") === (wider.value ?? "");
}
