/**
 * Validates pods and pod templates. Every kind with a template uses these rules, in the order in which Kubernetes
 * reports errors. Any field may be absent; present fields have the correct type.
 */
// oxlint-disable typescript/no-useless-default-assignment -- types say what a valid object has; here anything may still be absent.
import { MIRROR_POD_ANNOTATION } from "../well-known-names.ts";
import { skipSound } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import {
  checkLabels,
  checkText,
  dnsLabelProblems,
  dnsSubdomainProblems,
  field,
  labelKeyProblems,
} from "@flotilla/apimachinery";
import type { FieldError } from "@flotilla/apimachinery";
import type {
  Container,
  Pod,
  PodResourceClaim,
  PodSpec,
  PodTemplateSpec,
} from "@flotilla/apimachinery/facts/core-v1.ts";
import { checkAnnotationKeys, checkPodAnnotations, checkProfilesAgree } from "./pod-annotations.ts";
import {
  checkContainers,
  checkEphemeralContainers,
  checkImageSpaces,
  checkInitContainers,
  type ContainerContext,
} from "./pod-containers.ts";
import { checkDns, checkHostAliases, checkHostNetwork, checkHostnameOverride } from "./pod-network.ts";
import { checkContainerResources, checkPodResources } from "./pod-resources.ts";
import { checkAffinity, checkGates, checkSpread, checkTolerations } from "./pod-scheduling.ts";
import {
  checkHostProcess,
  checkHostUsers,
  checkOperatingSystem,
  checkPodSecurityContext,
  containersOf,
  someContainer,
} from "./pod-security.ts";
import { checkVolumes } from "./pod-volumes.ts";

type Read<T> = DeepReadonly<T>;

/** The template of a workload that replaces its pods; `workload` is the name in messages. */
export function checkPodTemplate(at: string, template: Read<PodTemplateSpec>, workload = "ReplicaSet"): FieldError[] {
  const errors: FieldError[] = [];
  checkTemplate(errors, at, template);
  checkNeverTerminates(errors, at, template.spec, workload);
  return errors;
}

/** Pods that a workload replaces must not terminate on their own. */
export function checkNeverTerminates(
  errors: FieldError[],
  at: string,
  spec: Read<PodSpec> | undefined,
  workload: string,
): void {
  const { restartPolicy = "", activeDeadlineSeconds } = spec ?? {};
  if (restartPolicy !== "Always")
    errors.push(field.notSupported(`${at}.spec.restartPolicy`, restartPolicy, ["Always"]));
  if (activeDeadlineSeconds !== undefined)
    errors.push(
      field.forbidden(`${at}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${workload} is not Supported`),
    );
}

/** Any pod template. */
export function checkTemplate(errors: FieldError[], at: string, template: Read<PodTemplateSpec>): void {
  // Added one by one: a template can have more errors than a call can take arguments.
  for (const error of templateErrors(template, at)) errors.push(error);
}

const templateErrors = skipSound(({ metadata, spec }: Read<PodTemplateSpec>, at): FieldError[] => {
  const errors: FieldError[] = [];
  const pod: Read<PodSpec> = spec ?? { containers: [] };
  errors.push(...checkLabels(`${at}.labels`, metadata?.labels));
  checkAnnotationKeys(errors, `${at}.annotations`, metadata?.annotations);
  checkPodAnnotations(errors, `${at}.annotations`, metadata?.annotations, pod);
  checkSpec(errors, `${at}.spec`, pod, undefined);
  checkProfilesAgree(errors, `${at}.spec`, metadata?.annotations, pod);
  if (pod.ephemeralContainers?.length)
    errors.push(field.forbidden(`${at}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template"));
  return errors;
});

/** A new pod. */
export function checkNewPod(pod: Read<Pod>): FieldError[] {
  const errors: FieldError[] = [];
  const { metadata } = pod;
  const spec = pod.spec ?? {};
  checkPod(errors, pod);
  if (spec.ephemeralContainers?.length)
    errors.push(field.forbidden("spec.ephemeralContainers", "cannot be set on create"));
  if (spec.nodeName && spec.schedulingGates?.length)
    errors.push(field.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  checkProfilesAgree(errors, "spec", metadata.annotations, spec);
  return errors;
}

/** Rules for every write of a pod, besides its metadata. */
export function checkPod(errors: FieldError[], { metadata, spec: given }: Read<Pod>): void {
  const spec: Read<PodSpec> = given ?? { containers: [] };
  checkPodAnnotations(errors, "metadata.annotations", metadata.annotations, spec);
  checkSpec(errors, "spec", spec, metadata);
  if (!spec.serviceAccountName) {
    for (const [index, { projected }] of (spec.volumes ?? []).entries()) {
      for (const [place, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
        if (serviceAccountToken)
          errors.push(
            field.forbidden(
              `spec.volumes[${index}].projected.sources[${place}].serviceAccountToken`,
              "must not be specified when serviceAccountName is not set",
            ),
          );
      }
    }
  }
  for (const list of ["containers", "initContainers"] as const)
    for (const [index, container] of (spec[list] ?? []).entries())
      checkImageSpaces(errors, `spec.${list}[${index}]`, container);
}

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const PREEMPTION_POLICIES = ["PreemptLowerPriority", "Never"];
const MAX_INT32 = 2 ** 31 - 1;

function checkChoice(errors: FieldError[], at: string, value: string | undefined, supported: readonly string[]): void {
  if (!value) errors.push(field.required(at));
  else if (!supported.includes(value)) errors.push(field.notSupported(at, value, supported));
}

/** `metadata` is the pod's; the pods of a template get their names later. */
function checkSpec(
  errors: FieldError[],
  at: string,
  spec: Read<PodSpec>,
  metadata: Read<Pod>["metadata"] | undefined,
): void {
  const isPod = metadata !== undefined;
  if (spec.terminationGracePeriodSeconds === undefined)
    errors.push(field.required(`${at}.terminationGracePeriodSeconds`));
  const volumes = checkVolumes(
    { errors, isPod, podName: metadata?.name ? metadata.name : undefined },
    `${at}.volumes`,
    spec.volumes ?? [],
  );
  const claims = new Set((spec.resourceClaims ?? []).map(({ name = "" }) => name).filter(Boolean));
  if (spec.resourceClaims)
    checkResourceClaims(errors, `${at}.resourceClaims`, spec.resourceClaims, metadata?.annotations);
  const context: ContainerContext = { errors, spec, volumes, claims };
  checkContainers(context, `${at}.containers`);
  checkInitContainers(context, `${at}.initContainers`);
  checkEphemeralContainers(context, `${at}.ephemeralContainers`);
  checkPodResources(errors, at, spec, claims);
  checkHostNetwork(errors, at, spec, isPod);
  checkChoice(errors, `${at}.restartPolicy`, spec.restartPolicy, RESTART_POLICIES);
  checkChoice(errors, `${at}.dnsPolicy`, spec.dnsPolicy, DNS_POLICIES);
  if (spec.nodeSelector) errors.push(...checkLabels(`${at}.nodeSelector`, spec.nodeSelector));
  checkPodSecurityContext(errors, `${at}.securityContext`, spec);
  if (spec.affinity) checkAffinity(errors, `${at}.affinity`, spec.affinity);
  checkDns(errors, `${at}.dnsConfig`, spec.dnsConfig, spec.dnsPolicy);
  for (const [index, { conditionType = "" }] of (spec.readinessGates ?? []).entries())
    errors.push(...checkText(`${at}.readinessGates[${index}].conditionType`, conditionType, labelKeyProblems));
  if (spec.schedulingGates) checkGates(errors, `${at}.schedulingGates`, spec.schedulingGates);
  if (spec.topologySpreadConstraints)
    checkSpread(errors, `${at}.topologySpreadConstraints`, spec.topologySpreadConstraints);
  checkHostProcess(errors, at, spec);
  checkHostUsers(errors, at, spec);
  checkHostnameOverride(errors, at, spec);
  checkNames(errors, at, spec);
  if (spec.overhead) checkContainerResources(errors, `${at}.overhead`, { limits: spec.overhead }, new Set());
  checkOperatingSystem(errors, at, spec);
  checkFileVolumes(errors, at, spec);
}

/** References, numbers and lists that do not depend on other fields. */
function checkNames(errors: FieldError[], at: string, spec: Read<PodSpec>): void {
  const {
    serviceAccountName,
    nodeName,
    activeDeadlineSeconds,
    hostname,
    subdomain,
    tolerations,
    hostAliases,
    priorityClassName,
    runtimeClassName,
    preemptionPolicy,
  } = spec;
  if (serviceAccountName)
    errors.push(...checkText(`${at}.serviceAccountName`, serviceAccountName, dnsSubdomainProblems));
  checkNodeName(errors, at, nodeName);
  if (activeDeadlineSeconds !== undefined && (activeDeadlineSeconds < 1 || activeDeadlineSeconds > MAX_INT32)) {
    errors.push(
      field.invalid(
        `${at}.activeDeadlineSeconds`,
        activeDeadlineSeconds,
        `must be between 1 and ${MAX_INT32}, inclusive`,
      ),
    );
  }
  if (hostname) errors.push(...checkText(`${at}.hostname`, hostname, dnsLabelProblems));
  if (subdomain) errors.push(...checkText(`${at}.subdomain`, subdomain, dnsLabelProblems));
  if (tolerations) checkTolerations(errors, `${at}.tolerations`, tolerations);
  if (hostAliases) checkHostAliases(errors, `${at}.hostAliases`, hostAliases);
  if (priorityClassName) errors.push(...checkText(`${at}.priorityClassName`, priorityClassName, dnsSubdomainProblems));
  if (runtimeClassName !== undefined)
    errors.push(...checkText(`${at}.runtimeClassName`, runtimeClassName, dnsSubdomainProblems));
  if (preemptionPolicy !== undefined)
    checkChoice(errors, `${at}.preemptionPolicy`, preemptionPolicy, PREEMPTION_POLICIES);
}

export function checkNodeName(errors: FieldError[], at: string, nodeName: string | undefined): void {
  if (nodeName) errors.push(...checkText(`${at}.nodeName`, nodeName, dnsSubdomainProblems));
}

/** Device claims: each names a claim, or a template to create one from. */
function checkResourceClaims(
  errors: FieldError[],
  at: string,
  claims: readonly Read<PodResourceClaim>[],
  annotations: Readonly<Record<string, string>> | undefined,
): void {
  const names = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    if (annotations && Object.hasOwn(annotations, MIRROR_POD_ANNOTATION)) {
      errors.push(field.forbidden("", "static pods do not support resource claims"));
      continue;
    }
    const path = `${at}[${index}]`;
    const { name = "", resourceClaimName, resourceClaimTemplateName } = claim;
    if (name === "") errors.push(field.required(`${path}.name`));
    else if (names.has(name)) errors.push(field.duplicate(`${path}.name`, name));
    else {
      errors.push(...checkText(`${path}.name`, name, dnsLabelProblems));
      names.add(name);
    }
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined)
      errors.push(
        field.invalid(
          path,
          claim,
          "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
        ),
      );
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined)
      errors.push(field.invalid(path, claim, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"));
    if (resourceClaimName !== undefined)
      errors.push(...checkText(`${path}.resourceClaimName`, resourceClaimName, dnsSubdomainProblems));
    if (resourceClaimTemplateName !== undefined)
      errors.push(...checkText(`${path}.resourceClaimTemplateName`, resourceClaimTemplateName, dnsSubdomainProblems));
  }
}

const readsFiles = ({ env }: Read<Container>): boolean => env?.some(({ valueFrom }) => valueFrom?.fileKeyRef) ?? false;

/** Variables can only be read from files in emptyDir volumes. */
function checkFileVolumes(errors: FieldError[], at: string, spec: Read<PodSpec>): void {
  if (!someContainer(spec, readsFiles)) return;
  for (const [path, { env }] of containersOf(at, spec)) {
    for (const [index, { valueFrom }] of (env ?? []).entries()) {
      if (!valueFrom?.fileKeyRef) continue;
      const { volumeName = "" } = valueFrom.fileKeyRef;
      const place = `${path}.env[${index}].valueFrom.fileKeyRef.volumeName`;
      const volume = spec.volumes?.findLast(({ name }) => name === volumeName);
      if (!volume) errors.push(field.notFound(place, volumeName));
      else if (!volume.emptyDir)
        errors.push(field.invalid(place, volumeName, "referenced volume must be of type emptyDir"));
    }
  }
}
