/** Validates probes and lifecycle hooks of containers. */
import type { DeepReadonly } from "@flotilla/base";
import { field, type FieldError } from "@flotilla/apimachinery";
import type {
  Container,
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  Probe,
} from "@flotilla/apimachinery/facts/core-v1.ts";
type Read<T> = DeepReadonly<T>;

export const PORT_RANGE = "must be between 1 and 65535, inclusive";
export const isPort = (port: number): boolean => port >= 1 && port <= 65535;

/** Returns the errors in a port name. */
export function portNameProblems(name: string): string[] {
  const problems: string[] = [];
  if (name.length > 15) problems.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(name))
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(name)) problems.push("must contain at least one letter (a-z)");
  if (name.includes("--")) problems.push("must not contain consecutive hyphens");
  if (name.startsWith("-") || name.endsWith("-")) problems.push("must not begin or end with a hyphen");
  return problems;
}

function checkPort(errors: FieldError[], at: string, port: number | string = 0): void {
  if (typeof port === "string")
    errors.push(...portNameProblems(port).map((problem) => field.invalid(at, port, problem)));
  else if (!isPort(port)) errors.push(field.invalid(at, port, PORT_RANGE));
}

/** The termination grace period in seconds; unset when it is invalid itself. */
type Grace = number | undefined;

/** Validates the probes and hooks of a long-running container. */
export function checkProbes(errors: FieldError[], at: string, container: Read<Container>, grace: Grace): void {
  const { lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
  if (lifecycle) checkLifecycle(errors, `${at}.lifecycle`, lifecycle, grace);
  if (livenessProbe) checkProbe(errors, `${at}.livenessProbe`, livenessProbe, true);
  if (readinessProbe) {
    checkProbe(errors, `${at}.readinessProbe`, readinessProbe, false);
    const { terminationGracePeriodSeconds } = readinessProbe;
    if (terminationGracePeriodSeconds !== undefined)
      errors.push(
        field.invalid(
          `${at}.readinessProbe.terminationGracePeriodSeconds`,
          terminationGracePeriodSeconds,
          "must not be set for readinessProbes",
        ),
      );
  }
  if (startupProbe) checkProbe(errors, `${at}.startupProbe`, startupProbe, true);
}

const COUNTS = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
] as const;

function checkProbe(errors: FieldError[], at: string, probe: Read<Probe>, onceIsEnough: boolean): void {
  checkHandler(errors, at, probe, undefined);
  for (const name of COUNTS)
    if ((probe[name] ?? 0) < 0)
      errors.push(field.invalid(`${at}.${name}`, probe[name], "must be greater than or equal to 0"));
  const { terminationGracePeriodSeconds, successThreshold = 0 } = probe;
  if (terminationGracePeriodSeconds !== undefined && terminationGracePeriodSeconds <= 0)
    errors.push(
      field.invalid(`${at}.terminationGracePeriodSeconds`, terminationGracePeriodSeconds, "must be greater than 0"),
    );
  if (onceIsEnough && successThreshold !== 1)
    errors.push(field.invalid(`${at}.successThreshold`, successThreshold, "must be 1"));
}

function checkLifecycle(errors: FieldError[], at: string, { postStart, preStop }: Read<Lifecycle>, grace: Grace): void {
  if (postStart) checkHandler(errors, `${at}.postStart`, postStart, grace);
  if (preStop) checkHandler(errors, `${at}.preStop`, preStop, grace);
}

type Handler = Read<Pick<Probe, "exec" | "httpGet" | "tcpSocket" | "grpc"> & Pick<LifecycleHandler, "sleep">>;
const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;

/** Also for projects that have probes of their own. */
export function checkHandler(errors: FieldError[], at: string, handler: Handler, grace: Grace): void {
  let found = 0;
  for (const name of HANDLERS) {
    if (handler[name] === undefined) continue;
    found += 1;
    if (found > 1) errors.push(field.forbidden(`${at}.${name}`, "may not specify more than 1 handler type"));
    else checkAction(errors, `${at}.${name}`, name, handler, grace);
  }
  if (found === 0) errors.push(field.required(at, "must specify a handler type"));
}

function checkAction(
  errors: FieldError[],
  at: string,
  name: (typeof HANDLERS)[number],
  handler: Handler,
  grace: Grace,
): void {
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  if (name === "exec") {
    if ((exec?.command ?? []).length === 0) errors.push(field.required(`${at}.command`));
  } else if (name === "httpGet") checkHttpGet(errors, at, httpGet ?? { port: 0 });
  else if (name === "sleep") {
    const seconds = sleep?.seconds ?? 0;
    if (grace !== undefined && (seconds < 0 || seconds > grace))
      errors.push(
        field.invalid(at, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${grace})`),
      );
  } else checkPort(errors, `${at}.port`, name === "grpc" ? grpc?.port : tcpSocket?.port);
}

const SCHEMES = ["HTTP", "HTTPS"];
const HEADER_RULE =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

function checkHttpGet(
  errors: FieldError[],
  at: string,
  { path, port, scheme, httpHeaders }: Read<HTTPGetAction>,
): void {
  if (!path) errors.push(field.required(`${at}.path`));
  checkPort(errors, `${at}.port`, port);
  if (!SCHEMES.includes(scheme ?? "")) errors.push(field.notSupported(`${at}.scheme`, scheme ?? "", SCHEMES));
  for (const { name = "" } of httpHeaders ?? [])
    if (!/^[-A-Za-z0-9]+$/.test(name)) errors.push(field.invalid(`${at}.httpHeaders`, name, HEADER_RULE));
}
