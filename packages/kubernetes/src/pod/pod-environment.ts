/** Validates environment variables of containers and their sources. */
// oxlint-disable typescript/no-useless-default-assignment -- types say what a valid object has; here anything may still be absent.
import type { DeepReadonly } from "@flotilla/base";
import {
  annotationKeyProblems,
  checkText,
  dataKeyProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  field,
  labelKeyProblems,
  tryParseQuantity,
} from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type {
  Container,
  EnvVarSource,
  ObjectFieldSelector,
  ResourceFieldSelector,
} from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkNoBacksteps } from "./pod-paths.ts";

type Read<T> = DeepReadonly<T>;

const VARIABLE_RULE =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";

/** Nearly any text is a valid variable name. */
function variableProblems(name: string): readonly string[] {
  return /^[ -<>-~]*$/.test(name) ? [] : [VARIABLE_RULE];
}

export function checkEnvironment(errors: FieldError[], at: string, { env, envFrom }: Read<Container>): void {
  for (const [index, { name = "", value, valueFrom }] of (env ?? []).entries()) {
    const path = `${at}.env[${index}]`;
    if (name === "") errors.push(field.required(`${path}.name`));
    else errors.push(...checkText(`${path}.name`, name, variableProblems));
    if (valueFrom) checkSource(errors, `${path}.valueFrom`, valueFrom, value ?? "");
  }
  for (const [index, { prefix, configMapRef, secretRef }] of (envFrom ?? []).entries()) {
    const fieldPath = `${at}.envFrom[${index}]`;
    if (prefix) errors.push(...checkText(`${fieldPath}.prefix`, prefix, variableProblems));
    if (configMapRef) checkName(errors, `${fieldPath}.configMapRef.name`, configMapRef.name);
    if (secretRef) checkName(errors, `${fieldPath}.secretRef.name`, secretRef.name);
    // Upstream reports the list here, not the item.
    if (!configMapRef && !secretRef)
      errors.push(field.invalid(`${at}.envFrom`, "", "must specify one of: `configMapRef` or `secretRef`"));
    else if (configMapRef && secretRef)
      errors.push(field.invalid(`${at}.envFrom`, "", "may not have more than one field specified at a time"));
  }
}

function checkName(errors: FieldError[], at: string, name: string | undefined): void {
  if (!name) errors.push(field.required(at));
  else errors.push(...checkText(at, name, dnsSubdomainProblems));
}

function checkSource(errors: FieldError[], at: string, source: Read<EnvVarSource>, value: string): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef) checkFieldSelector(errors, `${at}.fieldRef`, fieldRef, VARIABLE_FIELDS);
  if (resourceFieldRef) checkResourceSelector(errors, `${at}.resourceFieldRef`, resourceFieldRef, false);
  if (configMapKeyRef) checkKeySelector(errors, `${at}.configMapKeyRef`, configMapKeyRef);
  if (secretKeyRef) checkKeySelector(errors, `${at}.secretKeyRef`, secretKeyRef);
  if (fileKeyRef) {
    const { key, volumeName, path } = fileKeyRef;
    if (!key) errors.push(field.required(`${at}.fileKeyRef.key`));
    else errors.push(...checkText(`${at}.fileKeyRef.key`, key, variableProblems));
    if (!volumeName) errors.push(field.required(`${at}.fileKeyRef.volumeName`));
    else errors.push(...checkText(`${at}.fileKeyRef.volumeName`, volumeName, dnsLabelProblems));
    if (!path) errors.push(field.required(`${at}.fileKeyRef.path`));
    else checkNoBacksteps(errors, `${at}.fileKeyRef.path`, path);
  }
  const sources = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(Boolean).length;
  if (sources === 0)
    errors.push(
      field.invalid(
        at,
        "",
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
      ),
    );
  else if (value !== "") errors.push(field.invalid(at, "", "may not be specified when `value` is not empty"));
  else if (sources > 1) errors.push(field.invalid(at, "", "may not have more than one field specified at a time"));
}

function checkKeySelector(
  errors: FieldError[],
  at: string,
  { name = "", key }: { readonly name?: string; readonly key?: string },
): void {
  errors.push(...checkText(`${at}.name`, name, dnsSubdomainProblems));
  if (!key) errors.push(field.required(`${at}.key`));
  else errors.push(...checkText(`${at}.key`, key, dataKeyProblems));
}

const VARIABLE_FIELDS =
  "metadata.name metadata.namespace metadata.uid spec.nodeName spec.serviceAccountName status.hostIP status.hostIPs status.podIP status.podIPs".split(
    " ",
  );
/** Fields that a downward API file can hold. */
export const FILE_FIELDS = "metadata.annotations metadata.labels metadata.name metadata.namespace metadata.uid".split(
  " ",
);
/** Fields that the API accepts in a field selector. */
const KNOWN_FIELDS = new Set([
  ...VARIABLE_FIELDS,
  ...FILE_FIELDS,
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
]);

/** `metadata.labels['app']` names one label. */
const SUBSCRIPTED = /^(.+?)\['(.*)'\]$/s;

/** A pod field that is passed to a container. */
export function checkFieldSelector(
  errors: FieldError[],
  at: string,
  { apiVersion, fieldPath }: Read<ObjectFieldSelector>,
  supported: readonly string[],
): void {
  if (!apiVersion) return void errors.push(field.required(`${at}.apiVersion`));
  if (!fieldPath) return void errors.push(field.required(`${at}.fieldPath`));
  const [, path, subscript = ""] = SUBSCRIPTED.exec(fieldPath) ?? [];
  const unknown = unknownField(apiVersion, fieldPath, path);
  if (unknown !== undefined)
    return void errors.push(field.invalid(`${at}.fieldPath`, fieldPath, `error converting fieldPath: ${unknown}`));
  if (path === "metadata.annotations")
    errors.push(
      ...annotationKeyProblems(subscript).map((problem) => field.invalid(at, subscript.toLowerCase(), problem)),
    );
  else if (path === "metadata.labels") errors.push(...checkText(at, subscript, labelKeyProblems));
  else {
    const named = fieldPath === "spec.host" ? "spec.nodeName" : fieldPath;
    if (!supported.includes(named)) errors.push(field.notSupported(`${at}.fieldPath`, named, supported));
  }
}

function unknownField(apiVersion: string, fieldPath: string, path: string | undefined): string | undefined {
  if (apiVersion !== "v1") return `unsupported pod version: ${apiVersion}`;
  if (path !== undefined)
    return path === "metadata.annotations" || path === "metadata.labels"
      ? undefined
      : `field label does not support subscript: ${fieldPath}`;
  return KNOWN_FIELDS.has(fieldPath) || fieldPath === "spec.host"
    ? undefined
    : `field label not supported: ${fieldPath}`;
}

const CONTAINER_FIELDS =
  "limits.cpu limits.ephemeral-storage limits.memory requests.cpu requests.ephemeral-storage requests.memory".split(
    " ",
  );
const isHugePagesField = (resource: string): boolean =>
  resource.startsWith("requests.hugepages-") || resource.startsWith("limits.hugepages-");
const SIZES = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
const SIZE_DIVISORS = new Set(SIZES.split(", "));

/** A container resource that is passed to a container, divided by a unit. */
export function checkResourceSelector(
  errors: FieldError[],
  at: string,
  { containerName, resource = "", divisor = "0" }: Read<ResourceFieldSelector>,
  inVolume: boolean,
): void {
  if (inVolume && !containerName) errors.push(field.required(`${at}.containerName`));
  else if (resource === "") errors.push(field.required(`${at}.resource`));
  else if (!CONTAINER_FIELDS.includes(resource) && !isHugePagesField(resource))
    errors.push(field.notSupported(`${at}.resource`, resource, CONTAINER_FIELDS));
  const unit = String(divisor);
  if (tryParseQuantity(unit)?.mantissa === 0n) return;
  if (resource.endsWith(".cpu")) {
    if (unit !== "1" && unit !== "1m")
      errors.push(
        field.invalid(`${at}.divisor`, resource, "only divisor's values 1m and 1 are supported with the cpu resource"),
      );
    return;
  }
  const what = resource.endsWith(".memory")
    ? "memory"
    : resource.endsWith(".ephemeral-storage")
      ? "local ephemeral storage"
      : isHugePagesField(resource)
        ? "hugepages"
        : undefined;
  if (what !== undefined && !SIZE_DIVISORS.has(unit))
    errors.push(
      field.invalid(
        `${at}.divisor`,
        resource,
        `only divisor's values ${SIZES} are supported with the ${what} resource`,
      ),
    );
}
