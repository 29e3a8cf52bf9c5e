/** Pod: always one replica. Fields set by the member's admission and scheduler are kept. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly, type Json, type JsonObject, omitZero, defined, omitEmpty } from "@flotilla/base";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import { podDependencies } from "../interpreter/pod-dependencies.ts";
import { conditionSums } from "../interpreter/summed-conditions.ts";
import { reportedStatuses, withStatus } from "../interpreter/replica-status.ts";
import { templateReplicas, type PodTemplateShape } from "../interpreter/workload.ts";

type Container = NonNullable<NonNullable<PodTemplateShape["spec"]>["containers"]>[number] & {
  name?: string;
  volumeMounts?: JsonObject[];
};
type PodSpec = Omit<NonNullable<PodTemplateShape["spec"]>, "containers" | "initContainers"> & {
  containers?: Container[];
  initContainers?: Container[];
  nodeName?: string;
};
interface Pod extends KubernetesObject {
  spec?: PodSpec;
  status?: object;
}

/** The template shows the worst phase of any member. */
const PHASES = ["Failed", "Pending", "Running", "Succeeded"];

export const podInterpreter: KindInterpreter<Pod> = {
  group: "",
  kind: "Pod",
  replicas: ({ spec }) => templateReplicas(1, spec && { spec }),
  retain(desired, observed) {
    const { nodeName: _node, serviceAccountName: _account, volumes: _volumes, ...spec } = desired.spec ?? {};
    const { nodeName, serviceAccountName, volumes, containers, initContainers } = observed.spec ?? {};
    return {
      ...desired,
      spec: {
        ...spec,
        ...omitZero({ nodeName, serviceAccountName, volumes }),
        ...defined({
          containers: spec.containers ? retainMounts(spec.containers, containers) : undefined,
          initContainers: spec.initContainers ? retainMounts(spec.initContainers, initContainers) : undefined,
        }),
      },
    };
  },
  aggregateStatus(pod, items) {
    const statuses = reportedStatuses(items);
    // A member that has not reported yet is assumed not to have started the pod.
    const phases = new Set<Json | undefined>(statuses.length < items.length ? ["Pending"] : []);
    for (const { phase } of statuses) phases.add(phase);
    const phase = PHASES.find((each) => phases.has(each));
    const containerStatuses = statuses.flatMap((status) => containerSummaries(status["containerStatuses"]));
    const initContainerStatuses = statuses.flatMap((status) => containerSummaries(status["initContainerStatuses"]));
    return withStatus(pod, omitEmpty({ phase, containerStatuses, initContainerStatuses }));
  },
  conditions: conditionSums({ everywhere: ["PodScheduled", "Initialized", "ContainersReady", "Ready"] }),
  isHealthy({ status }) {
    if (!isObject(status)) return false;
    if (status["phase"] === "Succeeded") return true;
    const conditions = Array.isArray(status["conditions"]) ? status["conditions"].filter(isObject) : [];
    return status["phase"] === "Running" && conditions.find(({ type }) => type === "Ready")?.["status"] === "True";
  },
  dependencies: ({ metadata, spec }) => podDependencies(spec && { spec }, metadata.namespace),
};

function retainMounts(
  desired: readonly DeepReadonly<Container>[],
  observed: readonly DeepReadonly<Container>[] = [],
): DeepReadonly<Container>[] {
  const byName = new Map(observed.map((container) => [container.name, container]));
  return desired.map((container) => {
    const twin = byName.get(container.name);
    if (!twin) return container;
    const { volumeMounts: _mounts, ...rest } = container;
    return { ...rest, ...omitZero({ volumeMounts: twin.volumeMounts }) };
  });
}

/** A container's state without fields that are meaningful only in its own cluster. */
function containerSummaries(statuses: Json | undefined): JsonObject[] {
  if (!Array.isArray(statuses)) return [];
  return statuses.filter(isObject).map(({ ready, state }) => ({
    name: "",
    image: "",
    imageID: "",
    restartCount: 0,
    ready: ready ?? false,
    ...omitZero({ state }),
  }));
}
