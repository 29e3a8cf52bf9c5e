/**
 * Warnings for pods that are valid but probably wrong. Kubernetes returns them in `Warning:` headers; kubectl prints
 * them.
 */
// oxlint-disable typescript/no-useless-default-assignment -- types say what a valid object has; here anything may still be absent.
import { SECCOMP_POD_ANNOTATION } from "../well-known-names.ts";
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { dnsLabelProblems, labelValueProblems, quantityMilliValue } from "@flotilla/apimachinery";
import type {
  Container,
  ContainerPort,
  NodeSelectorTerm,
  PersistentVolumeClaimSpec,
  PodAffinity,
  PodSpec,
  PodTemplateSpec,
} from "@flotilla/apimachinery/facts/core-v1.ts";
import type { ObjectMeta } from "@flotilla/apimachinery";
import { addressWarnings } from "../networking/addresses.ts";
import { deprecatedNodeLabel } from "../node/node-labels.ts";
import { APP_ARMOR, SECCOMP_CONTAINER, appArmorProfileOf } from "./pod-annotations.ts";
import { overlapWarnings } from "./pod-path-overlaps.ts";
import { amountOf } from "./pod-resources.ts";
import { containersOf } from "./pod-security.ts";

type Read<T> = DeepReadonly<T>;

/** Names of objects that determine the names of their pods. */
export function hostnameWarning(name: string, use = "Pod names and hostnames"): string[] {
  const problems = dnsLabelProblems(name);
  return problems.length === 0
    ? []
    : [
        `metadata.name: this is used in ${use}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(" ")}]`,
      ];
}

/** The template of a workload; `at` is its path. */
export function templateWarnings(at: string, { metadata, spec }: Read<PodTemplateSpec>): string[] {
  return podWarnings(`${at}.`, spec ?? { containers: [] }, metadata?.annotations, true);
}

const DEPRECATED_ANNOTATIONS = [
  ["scheduler.alpha.kubernetes.io/critical-pod", 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ["security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
  ["security.alpha.kubernetes.io/unsafe-sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
] as const;
const NULL_SELECTOR = "a null labelSelector results in matching no pod";

/** `at` is empty for a pod and ends in a dot for a template. */
export function podWarnings(
  at: string,
  spec: Read<PodSpec>,
  annotations: ObjectMeta["annotations"],
  isTemplate: boolean,
): string[] {
  const warnings: string[] = [];
  const path = `${at}spec`;
  warnPlacement(warnings, path, spec);
  const has = (key: string): boolean => annotations !== undefined && Object.hasOwn(annotations, key);
  if (annotations)
    for (const [key, text] of DEPRECATED_ANNOTATIONS)
      if (has(key)) warnings.push(`${at}metadata.annotations[${key}]: ${text}`);
  if (spec.volumes) warnVolumes(warnings, `${path}.volumes`, spec.volumes);
  warnRepeated(warnings, `${path}.hostAliases`, "ip", spec.hostAliases ?? []);
  warnRepeated(warnings, `${path}.imagePullSecrets`, "name", spec.imagePullSecrets ?? []);
  for (const [index, { name }] of (spec.imagePullSecrets ?? []).entries())
    if (!name) warnings.push(`${path}.imagePullSecrets[${index}].name: invalid empty name ""`);
  if (spec.overhead) warnFractions(warnings, `${path}.overhead`, spec.overhead);
  if (annotations && has(SECCOMP_POD_ANNOTATION) && !spec.securityContext?.seccompProfile)
    warnings.push(
      `${at}metadata.annotations[${SECCOMP_POD_ANNOTATION}]: non-functional in v1.27+; use the "seccompProfile" field instead`,
    );
  for (const [field, container] of containersOf(path, spec)) {
    if (annotations) warnProfiles(warnings, at, annotations, spec, container, isTemplate);
    warnContainer(warnings, field, container);
  }
  warnPorts(warnings, path, spec);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0)
    warnings.push(
      `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    );
  if (spec.affinity?.podAffinity) warnAffinity(warnings, `${path}.affinity.podAffinity`, spec.affinity.podAffinity);
  if (spec.affinity?.podAntiAffinity)
    warnAffinity(warnings, `${path}.affinity.podAntiAffinity`, spec.affinity.podAntiAffinity);
  for (const [index, server] of (spec.dnsConfig?.nameservers ?? []).entries())
    warnings.push(...addressWarnings(`${path}.dnsConfig.nameservers[${index}]`, server));
  for (const [index, { ip = "" }] of (spec.hostAliases ?? []).entries())
    warnings.push(...addressWarnings(`${path}.hostAliases[${index}].ip`, ip));
  return warnings;
}

function warnPlacement(
  warnings: string[],
  at: string,
  { nodeSelector, affinity, topologySpreadConstraints }: Read<PodSpec>,
): void {
  for (const key of Object.keys(nodeSelector ?? {})) {
    const deprecated = deprecatedNodeLabel(key);
    if (deprecated !== undefined) warnings.push(`${at}.nodeSelector[${key}]: ${deprecated}`);
  }
  const node = affinity?.nodeAffinity;
  for (const [index, term] of (
    node?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  ).entries()) {
    warnTerm(
      warnings,
      `${at}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${index}]`,
      term,
      false,
    );
  }
  for (const [index, { preference }] of (node?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    warnTerm(
      warnings,
      `${at}.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[${index}].preference`,
      preference ?? {},
      true,
    );
  }
  for (const [index, { topologyKey = "", labelSelector }] of (topologySpreadConstraints ?? []).entries()) {
    const deprecated = deprecatedNodeLabel(topologyKey);
    if (deprecated !== undefined)
      warnings.push(`${at}.topologySpreadConstraints[${index}].topologyKey: ${topologyKey} is ${deprecated}`);
    if (!labelSelector) warnings.push(`${at}.topologySpreadConstraints[${index}].labelSelector: ${NULL_SELECTOR}`);
  }
}

function warnTerm(
  warnings: string[],
  at: string,
  { matchExpressions }: Read<NodeSelectorTerm>,
  checkValues: boolean,
): void {
  for (const [index, { key = "", values }] of (matchExpressions ?? []).entries()) {
    const deprecated = deprecatedNodeLabel(key);
    if (deprecated !== undefined) warnings.push(`${at}.matchExpressions[${index}].key: ${key} is ${deprecated}`);
    if (!checkValues) continue;
    for (const [place, value] of (values ?? []).entries())
      for (const problem of labelValueProblems(value))
        warnings.push(`${at}.matchExpressions[${index}].values[${place}]: ${value} is invalid, ${problem}`);
  }
}

function warnAffinity(
  warnings: string[],
  at: string,
  {
    requiredDuringSchedulingIgnoredDuringExecution: required,
    preferredDuringSchedulingIgnoredDuringExecution: preferred,
  }: Read<PodAffinity>,
): void {
  for (const [index, { labelSelector }] of (required ?? []).entries())
    if (!labelSelector)
      warnings.push(`${at}.requiredDuringSchedulingIgnoredDuringExecution[${index}].labelSelector: ${NULL_SELECTOR}`);
  for (const [index, { podAffinityTerm }] of (preferred ?? []).entries()) {
    if (!podAffinityTerm?.labelSelector)
      warnings.push(
        `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}].podAffinityTerm.labelSelector: ${NULL_SELECTOR}`,
      );
  }
}

/** Volume types whose drivers were removed; upstream prints some under other names. */
const OLD_VOLUMES = [
  ["photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"],
] as const;

function warnVolumes(warnings: string[], at: string, volumes: NonNullable<Read<PodSpec>["volumes"]>): void {
  for (const [index, volume] of volumes.entries()) {
    for (const [source, shown, text] of OLD_VOLUMES)
      if (volume[source] !== undefined) warnings.push(`${at}[${index}].${shown}: ${text}`);
    const claim = volume.ephemeral?.volumeClaimTemplate?.spec;
    if (claim) warnings.push(...claimWarnings(`${at}[${index}].ephemeral.volumeClaimTemplate.spec`, claim));
  }
  warnings.push(...overlapWarnings(volumes));
}

/** Storage is measured in whole bytes. */
export function claimWarnings(at: string, { resources }: Read<PersistentVolumeClaimSpec>): string[] {
  const warnings: string[] = [];
  for (const part of ["requests", "limits"] as const) {
    const amount = resources?.[part]?.["storage"];
    if (amount !== undefined && isFraction(amount))
      warnings.push(
        `${at}.resources.${part}[storage]: fractional byte value ${JSON.stringify(String(amount))} is invalid, must be an integer`,
      );
  }
  return warnings;
}

const isFraction = (amount: string | number): boolean =>
  /[.mnu]/.test(String(amount)) && quantityMilliValue(amountOf(amount)) % 1000n !== 0n;

function warnFractions(warnings: string[], at: string, amounts: Readonly<Record<string, string | number>>): void {
  for (const name of ["memory", "ephemeral-storage"]) {
    const amount = amounts[name];
    if (amount !== undefined && isFraction(amount))
      warnings.push(
        `${at}[${name}]: fractional byte value ${JSON.stringify(String(amount))} is invalid, must be an integer`,
      );
  }
}

function warnRepeated<K extends string>(
  warnings: string[],
  at: string,
  key: K,
  items: readonly { readonly [key in K]?: string }[],
): void {
  if (items.length < 2) return;
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const value = item[key] ?? "";
    if (seen.has(value)) warnings.push(`${at}[${index}].${key}: duplicate ${key} ${JSON.stringify(value)}`);
    seen.add(value);
  }
}

function warnProfiles(
  warnings: string[],
  at: string,
  annotations: Readonly<Record<string, string>>,
  spec: Read<PodSpec>,
  { name, securityContext }: Read<Container>,
  isTemplate: boolean,
): void {
  const seccomp = `${SECCOMP_CONTAINER}${name}`;
  if (Object.hasOwn(annotations, seccomp) && !securityContext?.seccompProfile)
    warnings.push(
      `${at}metadata.annotations[${seccomp}]: non-functional in v1.27+; use the "seccompProfile" field instead`,
    );
  const appArmor = `${APP_ARMOR}${name}`;
  // For pods the warning is emitted when the annotation is converted to the field.
  if (!isTemplate || !Object.hasOwn(annotations, appArmor) || securityContext?.appArmorProfile) return;
  const ofPod = spec.securityContext?.appArmorProfile;
  if (!ofPod || !equalJson(ofPod, appArmorProfileOf(annotations[appArmor] ?? "")))
    warnings.push(
      `${at}metadata.annotations[${appArmor}]: deprecated since v1.30; use the "appArmorProfile" field instead`,
    );
}

function warnContainer(warnings: string[], at: string, { resources, env }: Read<Container>): void {
  if (resources?.limits || resources?.requests) {
    for (const name of ["memory", "ephemeral-storage"]) {
      for (const part of ["limits", "requests"] as const) {
        const amount = resources[part]?.[name];
        if (amount !== undefined && isFraction(amount))
          warnings.push(
            `${at}.resources.${part}[${name}]: fractional byte value ${JSON.stringify(String(amount))} is invalid, must be an integer`,
          );
      }
    }
  }
  if (!env || env.length < 2) return;
  const seen = new Set<string>();
  for (const [index, { name = "", value = "", valueFrom }] of env.entries()) {
    // A value that refers to the previous one is valid: PATH=$(PATH):/more.
    const reference = `$(${name})`;
    if (seen.has(name) && (valueFrom || value === reference || !value.includes(reference)))
      warnings.push(
        `${at}.env[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
      );
    seen.add(name);
  }
}

/** Checks the ports of all containers together: they share one address. */
function warnPorts(warnings: string[], at: string, spec: Read<PodSpec>): void {
  const taken = new Map<string, { field: string; port: Read<ContainerPort> }[]>();
  const names = new Map<string, string>();
  const named: string[] = [];
  for (const [container, { ports }] of containersOf(at, spec)) {
    for (const [index, port] of (ports ?? []).entries()) {
      const field = `${container}.ports[${index}]`;
      const { containerPort = 0, protocol = "", hostIP = "", hostPort = 0, name } = port;
      if (hostIP !== "" && hostPort === 0)
        warnings.push(
          `${field}: hostIP set without hostPort: {Name:${name ?? ""} HostPort:0 ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`,
        );
      const key = `${containerPort}/${protocol}`;
      const others = taken.get(key) ?? [];
      for (const other of others) {
        const relation = portRelation(port, other.port);
        if (relation !== undefined) warnings.push(`${field}: ${relation} port definition with ${other.field}`);
      }
      taken.set(key, [...others, { field, port }]);
      if (!name) continue;
      const first = names.get(name);
      if (first === undefined) names.set(name, field);
      else
        named.push(
          `${field}: duplicate port name ${JSON.stringify(name)} with ${first}, services and probes that select ports by name will use ${first}`,
        );
    }
  }
  warnings.push(...named);
}

function portRelation(
  { hostIP = "", hostPort = 0 }: Read<ContainerPort>,
  { hostIP: otherIP = "", hostPort: otherPort = 0 }: Read<ContainerPort>,
): string | undefined {
  if (hostIP === otherIP && hostPort === otherPort) return "duplicate";
  if (hostPort === 0 || otherPort === 0) return "overlapping";
  return hostPort === otherPort && (hostIP === "") !== (otherIP === "") ? "dangerously ambiguous" : undefined;
}
