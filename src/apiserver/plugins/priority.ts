/** Priority: sets a pod's priority and preemption policy from its priority class. */
import type { ClusterReader } from "../../api/index.ts";
import { systemPriorityClasses, type Pod, type PriorityClass } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { forbidden } from "../../machinery/index.ts";
import type { Plugin, PluginRequest } from "../plugin.ts";
import { writesPod } from "../pods.ts";

const GROUP = "scheduling.k8s.io";
const CLASSES = "priorityclasses";

/** The classes that every cluster has, even if its profile does not contain them. */
const SYSTEM_CLASSES: ReadonlyMap<string, DeepReadonly<PriorityClass>> = new Map(
  systemPriorityClasses().map((one) => [one.metadata.name, one]),
);

export const priority: Plugin = {
  name: "Priority",
  group: "",
  concerns: (context, operation) => operation !== "DELETE" && writesPod(context),
  mutate(request) {
    const pod = request.object as unknown as DeepReadonly<Pod>;
    return request.operation === "UPDATE" ? withFormer(pod, request) : withPriority(pod, request);
  },
};

/** An update that omits the priority keeps it. */
function withFormer(pod: DeepReadonly<Pod>, { oldObject }: PluginRequest): DeepReadonly<Pod> {
  const { spec: old } = (oldObject ?? {}) as unknown as DeepReadonly<Partial<Pod>>;
  const { priority: number = old?.priority, preemptionPolicy = old?.preemptionPolicy } = pod.spec;
  if (number === pod.spec.priority && preemptionPolicy === pod.spec.preemptionPolicy) return pod;
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...(number !== undefined && { priority: number }),
      ...(preemptionPolicy && { preemptionPolicy }),
    },
  };
}

function withPriority(pod: DeepReadonly<Pod>, { context, read }: PluginRequest): DeepReadonly<Pod> {
  const { spec } = pod;
  const refuse = (why: string): Error => forbidden(context.served.resource.name, pod.metadata.name, why);
  const found = spec.priorityClassName ? classOf(read, spec.priorityClassName) : defaultClass(read);
  if (!found) throw refuse(`no PriorityClass with name ${spec.priorityClassName ?? ""} was found`);
  const { name, value, preemptionPolicy } = found;
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refuse(
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  if (preemptionPolicy && spec.preemptionPolicy && spec.preemptionPolicy !== preemptionPolicy) {
    throw refuse(
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    );
  }
  return {
    ...pod,
    spec: {
      ...spec,
      ...(name !== "" && { priorityClassName: name }),
      priority: value,
      ...(preemptionPolicy && { preemptionPolicy: preemptionPolicy as NonNullable<Pod["spec"]["preemptionPolicy"]> }),
    },
  };
}

interface Found {
  name: string;
  value: number;
  preemptionPolicy: string | undefined;
}

const foundIn = ({ metadata, value = 0, preemptionPolicy }: DeepReadonly<PriorityClass>): Found => ({
  name: metadata.name,
  value,
  preemptionPolicy,
});

function classOf(read: ClusterReader, name: string): Found | undefined {
  const stored = read.get(GROUP, CLASSES, undefined, name) as unknown as DeepReadonly<PriorityClass> | undefined;
  const found = stored ?? SYSTEM_CLASSES.get(name);
  return found && foundIn(found);
}

/** The global default class; of several the one with the lowest value. */
function defaultClass(read: ClusterReader): Found {
  let lowest: DeepReadonly<PriorityClass> | undefined;
  for (const candidate of read.written(GROUP, CLASSES) as unknown as DeepReadonly<PriorityClass>[]) {
    if (candidate.globalDefault && (!lowest || (candidate.value ?? 0) < (lowest.value ?? 0))) lowest = candidate;
  }
  return lowest ? foundIn(lowest) : { name: "", value: 0, preemptionPolicy: "PreemptLowerPriority" };
}
