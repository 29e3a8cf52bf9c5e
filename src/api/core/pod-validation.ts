/** What makes a pod, or the template of pods, impossible to run. The essentials; volumes and affinities are checked by their schema alone. */
import type { DeepReadonly } from "../../base/index.ts";
import { dnsLabelProblem, type FieldError } from "../../machinery/index.ts";
import { checkLabels, checkNotNegative, forbiddenField, missing, noSuch, notOneOf, twice, wrong } from "../field-errors.ts";
import type { Container, PodSpec, PodTemplateSpec, Probe, Toleration } from "../facts/core-v1.ts";

type Read<T> = DeepReadonly<T>;

const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65535;
const PORT_RANGE = "must be between 1 and 65535, inclusive";

/** The template of a workload whose pods are replaced for ever. */
export function checkPodTemplate(at: string, template: Read<PodTemplateSpec>, workload = "ReplicaSet"): FieldError[] {
  const { spec } = template;
  const errors = checkLabels(`${at}.labels`, template.metadata?.labels);
  if (!spec) return errors;
  errors.push(...checkPodSpec(`${at}.spec`, spec));
  if (spec.restartPolicy !== undefined && spec.restartPolicy !== "Always") {
    errors.push({ type: "NotSupported", field: `${at}.spec.restartPolicy`, message: `Unsupported value: ${JSON.stringify(spec.restartPolicy)}: supported values: "Always"` });
  }
  if (spec.activeDeadlineSeconds !== undefined) errors.push(forbiddenField(`${at}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${workload} is not Supported`));
  return errors;
}

export function checkPodSpec(at: string, spec: Read<PodSpec>): FieldError[] {
  const errors: FieldError[] = [];
  const volumes = new Set<string>();
  for (const [index, { name }] of (spec.volumes ?? []).entries()) {
    const problem = dnsLabelProblem(name);
    if (problem) errors.push(wrong(`${at}.volumes[${index}].name`, name, problem));
    if (volumes.has(name)) errors.push(twice(`${at}.volumes[${index}].name`, name));
    volumes.add(name);
  }
  if (spec.containers.length === 0) errors.push(missing(`${at}.containers`));
  const names = new Set<string>();
  for (const list of ["containers", "initContainers"] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      errors.push(...checkContainer(`${at}.${list}[${index}]`, container, volumes));
      if (names.has(container.name)) errors.push(twice(`${at}.${list}[${index}].name`, container.name));
      names.add(container.name);
      if (list === "initContainers" && container.restartPolicy !== "Always") errors.push(...checkNoProbes(`${at}.${list}[${index}]`, container));
    }
  }
  errors.push(...checkLabels(`${at}.nodeSelector`, spec.nodeSelector));
  for (const [index, toleration] of (spec.tolerations ?? []).entries()) errors.push(...checkToleration(`${at}.tolerations[${index}]`, toleration));
  return errors;
}

function checkNoProbes(at: string, container: Read<Container>): FieldError[] {
  return (["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const)
    .filter((name) => container[name] !== undefined)
    .map((name) => forbiddenField(`${at}.${name}`, "may not be set for init containers without restartPolicy=Always"));
}

function checkContainer(at: string, container: Read<Container>, volumes: ReadonlySet<string>): FieldError[] {
  const errors: FieldError[] = [];
  const nameProblem = dnsLabelProblem(container.name);
  if (nameProblem) errors.push(wrong(`${at}.name`, container.name, nameProblem));
  if (!container.image) errors.push(missing(`${at}.image`));
  else if (container.image.trim() !== container.image) errors.push(wrong(`${at}.image`, container.image, "must not have leading or trailing whitespace"));
  const portNames = new Set<string>();
  for (const [index, { name, containerPort, hostPort }] of (container.ports ?? []).entries()) {
    const port = `${at}.ports[${index}]`;
    if (name !== undefined) {
      errors.push(...checkPortName(`${port}.name`, name));
      if (portNames.has(name)) errors.push(twice(`${port}.name`, name));
      portNames.add(name);
    }
    if (containerPort === 0) errors.push(missing(`${port}.containerPort`));
    else if (!isPort(containerPort)) errors.push(wrong(`${port}.containerPort`, containerPort, PORT_RANGE));
    if (hostPort !== undefined && !isPort(hostPort)) errors.push(wrong(`${port}.hostPort`, hostPort, PORT_RANGE));
  }
  for (const [index, { name, value, valueFrom }] of (container.env ?? []).entries()) {
    const variable = `${at}.env[${index}]`;
    if (!/^[ -<>-~]+$/.test(name)) errors.push(wrong(`${variable}.name`, name, "a valid environment variable name must consist only of printable ASCII characters other than '='"));
    if (valueFrom && value) errors.push(wrong(`${variable}.valueFrom`, "", "may not be specified when `value` is not empty"));
    if (valueFrom && Object.keys(valueFrom).length > 1) errors.push(wrong(`${variable}.valueFrom`, "", "may not have more than one field specified at a time"));
  }
  for (const [index, { name }] of (container.volumeMounts ?? []).entries()) {
    if (!volumes.has(name)) errors.push(noSuch(`${at}.volumeMounts[${index}].name`, name));
  }
  for (const name of ["livenessProbe", "readinessProbe", "startupProbe"] as const) {
    const probe = container[name];
    if (probe) errors.push(...checkProbe(`${at}.${name}`, probe, name !== "readinessProbe"));
  }
  return errors;
}

function checkPortName(field: string, name: string): FieldError[] {
  const errors: FieldError[] = [];
  if (name.length > 15) errors.push(wrong(field, name, "must be no more than 15 characters"));
  if (!/^[a-z0-9-]*$/.test(name)) errors.push(wrong(field, name, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"));
  if (!/[a-z]/.test(name)) errors.push(wrong(field, name, "must contain at least one letter (a-z)"));
  return errors;
}

function checkProbe(at: string, probe: Read<Probe>, onceIsEnough: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const handlers = (["exec", "httpGet", "tcpSocket", "grpc"] as const).filter((name) => probe[name] !== undefined);
  if (handlers.length === 0) errors.push(missing(at, "must specify a handler type"));
  for (const name of handlers.slice(1)) errors.push(forbiddenField(`${at}.${name}`, "may not specify more than 1 handler type"));
  for (const name of ["httpGet", "tcpSocket", "grpc"] as const) {
    const port = probe[name]?.port;
    if (typeof port === "number" && !isPort(port)) errors.push(wrong(`${at}.${name}.port`, port, PORT_RANGE));
  }
  for (const name of ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"] as const) {
    errors.push(...checkNotNegative(`${at}.${name}`, probe[name]));
  }
  if (onceIsEnough && (probe.successThreshold ?? 1) !== 1) errors.push(wrong(`${at}.successThreshold`, probe.successThreshold, "must be 1"));
  return errors;
}

export function checkToleration(at: string, { key, operator, value, effect, tolerationSeconds }: Read<Toleration>): FieldError[] {
  const errors: FieldError[] = [];
  // Comparisons of numbers are known to the API and not carried out by any scheduler here.
  if (operator === "Lt" || operator === "Gt") errors.push(notOneOf(`${at}.operator`, operator, ["Equal", "Exists"]));
  if (!key && operator !== "Exists") {
    errors.push(wrong(`${at}.operator`, operator ?? "", 'operator must be Exists when `key` is empty, which means "match all values and all keys"'));
  }
  if (tolerationSeconds !== undefined && effect !== "NoExecute") errors.push(wrong(`${at}.effect`, effect ?? "", "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  if (operator === "Exists" && value) errors.push(wrong(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'"));
  return errors;
}

/** A pod's spec is settled when it is created, except for what kubelets can change under it. */
const POD_UPDATE_RULE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

export function checkPodUpdate(spec: Read<PodSpec>, old: Read<PodSpec>, equal: (a: unknown, b: unknown) => boolean): FieldError[] {
  const images = (containers: Read<PodSpec>["containers"] | undefined, from: Read<PodSpec>["containers"] | undefined): unknown =>
    containers?.map((container, index) => ({ ...container, image: from?.[index]?.image }));
  const settled = {
    ...spec,
    containers: images(spec.containers, old.containers),
    initContainers: images(spec.initContainers, old.initContainers),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    ephemeralContainers: old.ephemeralContainers,
    schedulingGates: old.schedulingGates,
    // Upstream binds a pod to its node through a subresource; here the scheduler writes the name, once.
    ...(old.nodeName === undefined && { nodeName: undefined }),
  };
  const errors: FieldError[] = [];
  if (!equal(settled, old)) errors.push(forbiddenField("spec", POD_UPDATE_RULE));
  const kept = (old.tolerations ?? []).every((toleration) => (spec.tolerations ?? []).some((item) => equal(item, toleration)));
  if (!kept) errors.push(forbiddenField("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"));
  return errors;
}
