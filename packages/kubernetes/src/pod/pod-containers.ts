/** Validates the containers of a pod: regular, init and ephemeral ones. */
// oxlint-disable typescript/no-useless-default-assignment -- types say what a valid object has; here anything may still be absent.
import type { DeepReadonly } from "@flotilla/base";
import { checkText, dnsLabelProblems, field } from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type {
  Container,
  ContainerRestartRule,
  EphemeralContainer,
  PodSpec,
  Volume,
} from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkEnvironment } from "./pod-environment.ts";
import { checkDevices, checkMounts } from "./pod-mounts.ts";
import { PORT_RANGE, checkProbes, isPort, portNameProblems } from "./pod-probes.ts";
import { checkContainerResources, isSidecar } from "./pod-resources.ts";
import { checkSecurityContext } from "./pod-security.ts";

type Read<T> = DeepReadonly<T>;

/** State shared by the checks of all containers of one pod. */
export interface ContainerContext {
  errors: FieldError[];
  spec: Read<PodSpec>;
  /** Volumes that can be mounted. */
  volumes: ReadonlyMap<string, Read<Volume>>;
  /** Names of the resource claims that the pod declares. */
  claims: ReadonlySet<string>;
}

export function checkContainers(context: ContainerContext, at: string): void {
  const { errors, spec } = context;
  const containers = spec.containers ?? [];
  if (containers.length === 0) return void errors.push(field.required(at));
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const path = `${at}[${index}]`;
    checkContainer(context, path, container);
    const { name = "" } = container;
    if (names.has(name)) errors.push(field.duplicate(`${path}.name`, name));
    names.add(name);
    checkProbes(errors, path, container, spec.terminationGracePeriodSeconds);
    checkRestartPolicy(errors, path, container);
  }
  checkHostPorts(errors, at, containers);
}

export function checkInitContainers(context: ContainerContext, at: string): void {
  const { errors, spec } = context;
  if (!spec.initContainers) return;
  const names = new Set((spec.containers ?? []).map(({ name = "" }) => name));
  for (const [index, container] of spec.initContainers.entries()) {
    const path = `${at}[${index}]`;
    checkContainer(context, path, container);
    checkRestartPolicy(errors, path, container);
    const { name = "" } = container;
    if (names.has(name)) errors.push(field.duplicate(`${path}.name`, name));
    else if (name !== "") names.add(name);
    // Init containers run one at a time, so each is checked alone.
    checkHostPorts(errors, at, [container]);
    if (isSidecar(container)) checkProbes(errors, path, container, spec.terminationGracePeriodSeconds);
    else checkRunsOnce(errors, path, container);
  }
}

function checkRunsOnce(errors: FieldError[], at: string, container: Read<Container>): void {
  for (const name of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const) {
    if (container[name] !== undefined)
      errors.push(field.forbidden(`${at}.${name}`, "may not be set for init containers without restartPolicy=Always"));
  }
  for (const [index, { restartPolicy }] of (container.resizePolicy ?? []).entries()) {
    if (restartPolicy === "RestartContainer")
      errors.push(
        field.invalid(
          `${at}.resizePolicy[${index}].restartPolicy`,
          restartPolicy,
          "must not be set to 'RestartContainer' for non-sidecar initContainers",
        ),
      );
  }
}

/** Fields that an ephemeral container cannot have, in the order of the Go struct. */
const NOT_EPHEMERAL = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
] as const;

export function checkEphemeralContainers(context: ContainerContext, at: string): void {
  const { errors, spec } = context;
  if (!spec.ephemeralContainers) return;
  const others = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name = "" }) => name));
  const names = new Set(others);
  for (const [index, container] of spec.ephemeralContainers.entries()) {
    const path = `${at}[${index}]`;
    checkContainer(context, path, container);
    checkImageSpaces(errors, path, container);
    const { name = "", targetContainerName } = container;
    if (names.has(name)) errors.push(field.duplicate(`${path}.name`, name));
    names.add(name);
    if (targetContainerName && !others.has(targetContainerName))
      errors.push(field.notFound(`${path}.targetContainerName`, targetContainerName));
    for (const part of NOT_EPHEMERAL)
      if (isSet(container, part))
        errors.push(field.forbidden(`${path}.${part}`, "cannot be set for an Ephemeral Container"));
    for (const [place, { subPath, subPathExpr }] of (container.volumeMounts ?? []).entries()) {
      if (subPath)
        errors.push(
          field.forbidden(`${path}.volumeMounts[${place}].subPath`, "cannot be set for an Ephemeral Container"),
        );
      if (subPathExpr)
        errors.push(
          field.forbidden(`${path}.volumeMounts[${place}].subPathExpr`, "cannot be set for an Ephemeral Container"),
        );
    }
  }
}

/** For projects that add ephemeral containers to pods that they do not know yet: any volume may be there. */
export function checkEphemeralTemplate(at: string, containers: readonly Read<EphemeralContainer>[]): FieldError[] {
  const errors: FieldError[] = [];
  const mounts = containers.flatMap(({ volumeMounts = [] }) => volumeMounts);
  checkEphemeralContainers(
    {
      errors,
      spec: {
        containers: [],
        ephemeralContainers: containers.map(({ targetContainerName: _target, ...container }) => container),
      },
      volumes: new Map(mounts.map(({ name }) => [name, { name }])),
      claims: new Set(),
    },
    at,
  );
  return errors;
}

function isSet(container: Read<EphemeralContainer>, part: (typeof NOT_EPHEMERAL)[number]): boolean {
  const value = container[part];
  return value !== undefined && (part !== "resources" || Object.keys(value).length > 0);
}

/** Whitespace around an image is an error in a pod; templates once used it as a marker. */
export function checkImageSpaces(errors: FieldError[], at: string, { image }: Read<Container>): void {
  if (image !== undefined && image.trim() !== image)
    errors.push(field.invalid(`${at}.image`, image, "must not have leading or trailing whitespace"));
}

const MESSAGE_POLICIES = ["File", "FallbackToLogsOnError"];
const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];

/** Rules for all kinds of containers. */
function checkContainer(
  { errors, spec, volumes, claims }: ContainerContext,
  at: string,
  container: Read<Container>,
): void {
  const {
    name,
    image,
    terminationMessagePolicy,
    ports,
    volumeMounts,
    volumeDevices,
    imagePullPolicy,
    resources,
    resizePolicy,
    securityContext,
  } = container;
  if (!name) errors.push(field.required(`${at}.name`));
  else errors.push(...checkText(`${at}.name`, name, dnsLabelProblems));
  if (!image) errors.push(field.required(`${at}.image`));
  if (!terminationMessagePolicy) errors.push(field.required(`${at}.terminationMessagePolicy`));
  else if (!MESSAGE_POLICIES.includes(terminationMessagePolicy))
    errors.push(field.notSupported(`${at}.terminationMessagePolicy`, terminationMessagePolicy, MESSAGE_POLICIES));
  if (ports) checkPorts(errors, `${at}.ports`, ports);
  checkEnvironment(errors, at, container);
  if (volumeMounts) checkMounts(errors, `${at}.volumeMounts`, container, volumes);
  if (volumeDevices) checkDevices(errors, `${at}.volumeDevices`, container, volumes);
  if (!imagePullPolicy) errors.push(field.required(`${at}.imagePullPolicy`));
  else if (!PULL_POLICIES.includes(imagePullPolicy))
    errors.push(field.notSupported(`${at}.imagePullPolicy`, imagePullPolicy, PULL_POLICIES));
  checkContainerResources(errors, `${at}.resources`, resources, claims);
  if (resizePolicy) checkResizePolicy(errors, `${at}.resizePolicy`, resizePolicy, spec.restartPolicy);
  if (securityContext) checkSecurityContext(errors, `${at}.securityContext`, securityContext, spec.hostUsers !== false);
}

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

function checkPorts(errors: FieldError[], at: string, ports: NonNullable<Read<Container>["ports"]>): void {
  const names = new Set<string>();
  for (const [index, { name, containerPort = 0, hostPort = 0, protocol }] of ports.entries()) {
    const path = `${at}[${index}]`;
    if (name) {
      const problems = portNameProblems(name);
      if (problems.length > 0) errors.push(...problems.map((problem) => field.invalid(`${path}.name`, name, problem)));
      else if (names.has(name)) errors.push(field.duplicate(`${path}.name`, name));
      else names.add(name);
    }
    if (containerPort === 0) errors.push(field.required(`${path}.containerPort`));
    else if (!isPort(containerPort)) errors.push(field.invalid(`${path}.containerPort`, containerPort, PORT_RANGE));
    if (hostPort !== 0 && !isPort(hostPort)) errors.push(field.invalid(`${path}.hostPort`, hostPort, PORT_RANGE));
    if (!protocol) errors.push(field.required(`${path}.protocol`));
    else if (!PROTOCOLS.includes(protocol)) errors.push(field.notSupported(`${path}.protocol`, protocol, PROTOCOLS));
  }
}

/** Two containers cannot use the same host port. */
function checkHostPorts(errors: FieldError[], at: string, containers: readonly Read<Container>[]): void {
  let taken: Set<string> | undefined;
  for (const [index, { ports }] of containers.entries()) {
    for (const [place, { hostPort, hostIP = "", protocol = "" }] of (ports ?? []).entries()) {
      if (!hostPort) continue;
      const address = `${protocol}/${hostIP}/${hostPort}`;
      if (taken?.has(address)) errors.push(field.duplicate(`${at}[${index}].ports[${place}].hostPort`, address));
      (taken ??= new Set()).add(address);
    }
  }
}

const RESTART_POLICIES = ["Always", "Never", "OnFailure"];
const RESTART_ACTIONS = ["Restart", "RestartAllContainers"];
const EXIT_CODE_OPERATORS = ["In", "NotIn"];
const MAX_RESTART_RULES = 20;
const MAX_EXIT_CODES = 255;

function checkRestartPolicy(
  errors: FieldError[],
  at: string,
  { restartPolicy, restartPolicyRules = [] }: Read<Container>,
): void {
  if (restartPolicy === undefined) {
    if (restartPolicyRules.length === 0) return;
    errors.push(field.required(`${at}.restartPolicy`, "must specify restartPolicy when restart rules are used"));
  } else if (!RESTART_POLICIES.includes(restartPolicy))
    errors.push(field.notSupported(`${at}.restartPolicy`, restartPolicy, RESTART_POLICIES));
  if (restartPolicyRules.length > MAX_RESTART_RULES)
    errors.push(field.tooMany(`${at}.restartPolicyRules`, restartPolicyRules.length, MAX_RESTART_RULES));
  for (const [index, rule] of restartPolicyRules.entries())
    checkRestartRule(errors, `${at}.restartPolicyRules[${index}]`, rule);
}

function checkRestartRule(
  errors: FieldError[],
  at: string,
  { action = "", exitCodes }: Read<ContainerRestartRule>,
): void {
  if (!RESTART_ACTIONS.includes(action)) errors.push(field.notSupported(`${at}.action`, action, RESTART_ACTIONS));
  if (!exitCodes) return void errors.push(field.required(`${at}.exitCodes`, "must be specified"));
  const { operator = "", values = [] } = exitCodes;
  if (!EXIT_CODE_OPERATORS.includes(operator))
    errors.push(field.notSupported(`${at}.exitCodes.operator`, operator, EXIT_CODE_OPERATORS));
  if (values.length > MAX_EXIT_CODES)
    errors.push(field.tooMany(`${at}.exitCodes.values`, values.length, MAX_EXIT_CODES));
}

const RESIZE_RESOURCES = ["cpu", "memory"];
const RESIZE_POLICIES = ["NotRequired", "RestartContainer"];

function checkResizePolicy(
  errors: FieldError[],
  at: string,
  policies: NonNullable<Read<Container>["resizePolicy"]>,
  podRestartPolicy: string | undefined,
): void {
  const seen = new Set<string>();
  for (const [index, { resourceName = "", restartPolicy = "" }] of policies.entries()) {
    if (seen.has(resourceName)) errors.push(field.duplicate(`${at}[${index}]`, resourceName));
    seen.add(resourceName);
    if (resourceName === "") errors.push(field.required(at));
    else if (!RESIZE_RESOURCES.includes(resourceName))
      errors.push(field.notSupported(at, resourceName, RESIZE_RESOURCES));
    if (restartPolicy === "") errors.push(field.required(at));
    else if (!RESIZE_POLICIES.includes(restartPolicy))
      errors.push(field.notSupported(at, restartPolicy, RESIZE_POLICIES));
    if (podRestartPolicy === "Never" && restartPolicy !== "NotRequired")
      errors.push(field.invalid(at, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
  }
}
