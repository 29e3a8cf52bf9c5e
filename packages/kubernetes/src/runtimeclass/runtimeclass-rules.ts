/** Defaults and validation of RuntimeClass. */
import type { DeepReadonly } from "@flotilla/base";
import {
  builtInAdmission,
  checkLabels,
  checkText,
  checkUnchanged,
  dnsLabelProblems,
  field,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Sent } from "@flotilla/apimachinery";
import { deprecatedNodeLabel } from "../node/node-labels.ts";
import { checkContainerResources } from "../pod/pod-resources.ts";
import { checkTolerations } from "../pod/pod-scheduling.ts";
import type { Toleration } from "@flotilla/apimachinery/facts/core-v1.ts";
import { RuntimeClass } from "./runtimeclass-kind.ts";

/** The rules are those of container limits, including the path in messages. */
function checkOverhead({ overhead }: DeepReadonly<RuntimeClass>): FieldError[] {
  const errors: FieldError[] = [];
  if (overhead) checkContainerResources(errors, "overhead", { limits: overhead.podFixed ?? {} }, new Set());
  return errors;
}

const TOLERATIONS = "scheduling.tolerations";

/** A toleration as the real server's Go type, which has no JSON names. */
function shown(toleration: DeepReadonly<Toleration>): unknown {
  const { key = "", operator, value = "", effect, tolerationSeconds } = toleration;
  return {
    Key: key,
    Operator: operator ?? "",
    Value: value,
    Effect: effect ?? "",
    TolerationSeconds: tolerationSeconds ?? null,
  };
}

function checkScheduling({ scheduling }: DeepReadonly<RuntimeClass>): FieldError[] {
  const { nodeSelector, tolerations = [] } = scheduling ?? {};
  const errors = checkLabels("scheduling.nodeSelector", nodeSelector);
  checkTolerations(errors, TOLERATIONS, tolerations);
  const seen = new Set<string>();
  for (const [index, toleration] of tolerations.entries()) {
    const { key = "", operator, value = "", effect } = toleration;
    const identity = JSON.stringify([key, operator ?? "", value, effect ?? ""]);
    if (seen.has(identity)) errors.push(field.duplicate(`${TOLERATIONS}[${index}]`, shown(toleration)));
    seen.add(identity);
  }
  return errors;
}

function check(object: DeepReadonly<RuntimeClass>): FieldError[] {
  const { handler = "" } = object as Sent<RuntimeClass>;
  return [
    ...(handler === "" ? [field.required("handler")] : checkText("handler", handler, dnsLabelProblems)),
    ...checkOverhead(object),
    ...checkScheduling(object),
  ];
}

export const rules: AnyAdmission[] = [
  builtInAdmission(RuntimeClass, "node-v1", {
    validate: ({ object, oldObject }) => [
      ...check(object),
      ...(oldObject ? checkUnchanged("handler", object.handler, oldObject.handler) : []),
    ],
    warnings: ({ object }) =>
      Object.keys(object.scheduling?.nodeSelector ?? {}).flatMap((label) => {
        const advice = deprecatedNodeLabel(label);
        return advice === undefined ? [] : [`scheduling.nodeSelector: ${advice}`];
      }),
  }),
];
