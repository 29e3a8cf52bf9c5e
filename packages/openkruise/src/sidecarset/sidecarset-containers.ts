/** Validates the containers of a SidecarSet: as pod containers, and their injection policies. */
import type { DeepReadonly } from "@flotilla/base";
import { checkText, compilePattern, field, labelKeyProblems, PatternError } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import { checkNewPod } from "@flotilla/kubernetes";
import type { Container, ObjectFieldSelector, Pod } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { ResourcesPolicy } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { evaluateExpression } from "./resource-expression.ts";
import type { SidecarContainer, SidecarSetSpec } from "./sidecarset-types.ts";

type Read<T> = DeepReadonly<T>;

/** A pod needs a container that is not an init container. */
const PLACEHOLDER_CONTAINER: Read<Container> = {
  name: "test",
  image: "busybox",
  imagePullPolicy: "IfNotPresent",
  terminationMessagePolicy: "File",
};

export function checkSidecarContainers(
  errors: FieldError[],
  { initContainers = [], containers = [], volumes }: Read<SidecarSetSpec>,
): void {
  for (const [index, container] of initContainers.entries()) {
    if (!container.resourcesPolicy) continue;
    const at = `spec[${index}].resourcesPolicy`;
    if (container.restartPolicy !== "Always")
      errors.push(
        field.invalid(
          at,
          container.resourcesPolicy,
          "resourcesPolicy is only supported for containers with RestartPolicy Always",
        ),
      );
    checkResourcesPolicy(errors, at, container, container.resourcesPolicy);
  }
  for (const [index, container] of containers.entries()) {
    const {
      podInjectPolicy = "",
      shareVolumePolicy: { type: sharing = "" } = {},
      transferEnv = [],
      resourcesPolicy,
    } = container;
    if (podInjectPolicy !== "BeforeAppContainer" && podInjectPolicy !== "AfterAppContainer")
      errors.push(field.invalid("spec.container.podInjectPolicy", podInjectPolicy, "unsupported pod inject policy"));
    if (sharing !== "enabled" && sharing !== "disabled")
      errors.push(field.invalid("spec.container.shareVolumePolicy", sharing, "unsupported share volume policy"));
    for (const { sourceContainerNameFrom } of transferEnv)
      if (sourceContainerNameFrom?.fieldRef)
        checkFieldRef(errors, `spec[${index}].transferEnv.fieldRef`, sourceContainerNameFrom.fieldRef);
    if (resourcesPolicy) checkResourcesPolicy(errors, `spec[${index}].resourcesPolicy`, container, resourcesPolicy);
  }
  errors.push(
    ...checkNewPod(podWith(initContainers, containers.length > 0 ? containers : [PLACEHOLDER_CONTAINER], volumes)),
  );
}

function podWith(
  initContainers: readonly Read<Container>[],
  containers: readonly Read<Container>[],
  volumes: Read<SidecarSetSpec>["volumes"],
): Read<Pod> {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "test", namespace: "default" },
    spec: {
      dnsPolicy: "ClusterFirst",
      restartPolicy: "Always",
      initContainers: initContainers.length > 0 ? initContainers : undefined,
      containers,
      volumes,
      serviceAccountName: "default",
      terminationGracePeriodSeconds: 30,
    },
  };
}

/** Pod field paths in a container name, optionally with a label or annotation key in brackets. */
const WHOLE_PATHS = ["metadata.annotations", "metadata.labels", "metadata.name"];

function checkFieldRef(
  errors: FieldError[],
  at: string,
  { apiVersion = "", fieldPath = "" }: Read<Partial<ObjectFieldSelector>>,
): void {
  if (apiVersion === "") return void errors.push(field.required(`${at}.apiVersion`));
  if (fieldPath === "") return void errors.push(field.required(`${at}.fieldPath`));
  // The end is checked first: otherwise the regular expression would backtrack on a long path of brackets.
  const [, path = fieldPath, subscript] = (fieldPath.endsWith("']") && /^(.*)\['(.*)'\]$/.exec(fieldPath)) || [];
  const problem = fieldPathProblem(apiVersion, fieldPath, path, subscript);
  if (problem !== undefined)
    errors.push(field.invalid(`${at}.fieldPath`, fieldPath, `error converting fieldPath: ${problem}`));
  else if (subscript === undefined) errors.push(field.notSupported(`${at}.fieldPath`, path, WHOLE_PATHS));
  else
    errors.push(
      ...checkText(at, subscript, (text) =>
        labelKeyProblems(path === "metadata.annotations" ? text.toLowerCase() : text),
      ),
    );
}

function fieldPathProblem(
  apiVersion: string,
  fieldPath: string,
  path: string,
  subscript: string | undefined,
): string | undefined {
  if (apiVersion !== "v1") return `unsupported pod version: ${apiVersion}`;
  if (subscript === undefined) return `field label not supported: ${fieldPath}`;
  return path === "metadata.annotations" || path === "metadata.labels"
    ? undefined
    : `field path not supported: ${path}`;
}

function checkResourcesPolicy(
  errors: FieldError[],
  at: string,
  { resources }: Read<SidecarContainer>,
  policy: Read<ResourcesPolicy>,
): void {
  if (Object.keys(resources?.limits ?? {}).length + Object.keys(resources?.requests ?? {}).length > 0) {
    return void errors.push(field.invalid(at, policy, "resourcesPolicy and resources cannot be configured together"));
  }
  const { targetContainersNameRegex: names = "", resourcesExpr } = policy;
  if (names === "") errors.push(field.required(`${at}.targetContainersNameRegex`, "invalid empty regex"));
  else {
    const problem = patternProblem(names);
    if (problem !== undefined)
      errors.push(field.invalid(`${at}.targetContainersNameRegex`, names, `invalid regex pattern: ${problem}`));
  }
  if (!resourcesExpr.limits && !resourcesExpr.requests) {
    return void errors.push(
      field.invalid(`${at}.resourcesExpr`, resourcesExpr, "at least one of limits or requests must be configured"),
    );
  }
  for (const part of ["limits", "requests"] as const) {
    for (const name of ["cpu", "memory"] as const) {
      const expression = resourcesExpr[part]?.[name];
      if (!expression) continue;
      const result = evaluateExpression(expression, { [name]: 1 });
      if ("problem" in result)
        errors.push(
          field.invalid(`${at}.resourcesExpr.${part}.${name}`, expression, `invalid expression: ${result.problem}`),
        );
    }
  }
}

/** The error of an invalid regular expression. */
export function patternProblem(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}
