/** Priority: sets a pod's priority and preemption policy from its priority class. */
import { defined, omitZero } from "@flotilla/base";
import { Pod, PriorityClass, systemPriorityClasses } from "@flotilla/kubernetes";
import { refusal } from "@flotilla/apimachinery";
import type { AdmissionStep, ClusterReader, Review } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { writesObject } from "./writes-object.ts";

/** The classes that every cluster has, even if its profile does not contain them. */
const SYSTEM_CLASSES: ReadonlyMap<string, DeepReadonly<PriorityClass>> = new Map(
  systemPriorityClasses().map((one) => [one.metadata.name, one]),
);

export const priority: AdmissionStep<Pod> = {
  name: "Priority",
  for: Pod,
  on: ["CREATE", "UPDATE"],
  matches: writesObject,
  complete: (review) => (review.operation === "UPDATE" ? withFormer(review) : withPriority(review)),
};

/** An update that omits the priority keeps it. */
function withFormer({ object: pod, oldObject }: Review<Pod>): DeepReadonly<Pod> {
  const old = oldObject?.spec;
  const { priority: number = old?.priority, preemptionPolicy = old?.preemptionPolicy } = pod.spec;
  if (number === pod.spec.priority && preemptionPolicy === pod.spec.preemptionPolicy) return pod;
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...defined({ priority: number }),
      ...omitZero({ preemptionPolicy }),
    },
  };
}

function withPriority(review: Review<Pod>): DeepReadonly<Pod> {
  const { object: pod, read } = review;
  const { spec } = pod;
  const refuse = (why: string): Error => refusal(review, why);
  const found = spec.priorityClassName ? classOf(read, spec.priorityClassName) : defaultClass(read);
  if (!found) throw refuse(`no PriorityClass with name ${spec.priorityClassName ?? ""} was found`);
  const { name, value, preemptionPolicy } = found;
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refuse(
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission ` +
        `controller computed ${value} from the given PriorityClass name`,
    );
  }
  if (preemptionPolicy && spec.preemptionPolicy && spec.preemptionPolicy !== preemptionPolicy) {
    throw refuse(
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; ` +
        `priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    );
  }
  return {
    ...pod,
    spec: {
      ...spec,
      ...omitZero({ priorityClassName: name }),
      priority: value,
      ...defined({
        preemptionPolicy: preemptionPolicy
          ? (preemptionPolicy as NonNullable<Pod["spec"]["preemptionPolicy"]>)
          : undefined,
      }),
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
  const found = read.get(PriorityClass, undefined, name) ?? SYSTEM_CLASSES.get(name);
  return found && foundIn(found);
}

/** The global default class; of several the one with the lowest value. */
function defaultClass(read: ClusterReader): Found {
  let lowest: DeepReadonly<PriorityClass> | undefined;
  for (const candidate of read.written(PriorityClass)) {
    if (candidate.globalDefault && (!lowest || (candidate.value ?? 0) < (lowest.value ?? 0))) lowest = candidate;
  }
  return lowest ? foundIn(lowest) : { name: "", value: 0, preemptionPolicy: "PreemptLowerPriority" };
}
