/** Defaults and validation of PriorityClass. */
import type { DeepReadonly } from "@flotilla/base";
import { builtInAdmission, checkUnchanged, field, fill } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError } from "@flotilla/apimachinery";
import { PriorityClass } from "./priorityclass-kind.ts";

const MAX_USER_PRIORITY = 1_000_000_000;
const SYSTEM_PREFIX = "system-";

/** The built-in classes of Kubernetes. */
const SYSTEM_PRIORITY_CLASSES: Readonly<Record<string, number>> = {
  "system-node-critical": 2_000_001_000,
  "system-cluster-critical": 2_000_000_000,
};

/** The built-in classes as initial objects. */
export function systemPriorityClasses(): PriorityClass[] {
  return Object.entries(SYSTEM_PRIORITY_CLASSES).map(([name, value]) => ({
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name, generation: 1 },
    value,
    description:
      name === "system-node-critical"
        ? "Used for system critical pods that must not be moved from their current node."
        : "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    preemptionPolicy: "PreemptLowerPriority",
  }));
}

function systemProblem({
  metadata: { name },
  value = 0,
  globalDefault = false,
}: DeepReadonly<PriorityClass>): string | undefined {
  const known = Object.hasOwn(SYSTEM_PRIORITY_CLASSES, name) ? SYSTEM_PRIORITY_CLASSES[name] : undefined;
  if (known === undefined) return `${name} is not a known system priority class`;
  if (known !== value) return `value of ${name} PriorityClass must be ${known}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function checkNew(object: DeepReadonly<PriorityClass>): FieldError[] {
  // An object without a name is rejected by the common rules, and still reaches this code.
  const name = (object.metadata.name as string | undefined) ?? "";
  const { value = 0, preemptionPolicy } = object;
  const errors: FieldError[] = [];
  if (name.startsWith(SYSTEM_PREFIX)) {
    const problem = systemProblem(object);
    if (problem)
      errors.push(
        field.forbidden(
          "metadata.name",
          `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${problem}`,
        ),
      );
  } else if (value > MAX_USER_PRIORITY)
    errors.push(field.forbidden("value", `maximum allowed value of a user defined priority is ${MAX_USER_PRIORITY}`));
  const policies = ["PreemptLowerPriority", "Never"];
  if (preemptionPolicy !== undefined && !policies.includes(preemptionPolicy))
    errors.push(
      (preemptionPolicy as string) === ""
        ? field.required("preemptionPolicy")
        : field.notSupported("preemptionPolicy", preemptionPolicy, policies),
    );
  return errors;
}

export const rules: AnyAdmission[] = [
  builtInAdmission(PriorityClass, "scheduling-v1", {
    complete: (object) => fill(object, { preemptionPolicy: "PreemptLowerPriority" }),
    // Its generation is set once and never increases.
    prepare: (object, { operation }) =>
      operation === "CREATE" ? { ...object, metadata: { ...object.metadata, generation: 1 } } : object,
    validate({ object, oldObject }) {
      if (!oldObject) return checkNew(object);
      const moved = (object.value ?? 0) !== (oldObject.value ?? 0);
      return [
        ...(moved ? [field.forbidden("value", "may not be changed in an update.")] : []),
        ...checkUnchanged("preemptionPolicy", object.preemptionPolicy, oldObject.preemptionPolicy),
      ];
    },
  }),
];
