/**
 * PodSecurity: labels of a namespace limit its pods. A violating pod is rejected; a workload whose pods would violate,
 * and a namespace whose existing pods do, are stored with a warning.
 */
import { controllerOf, invalid, refusal } from "@flotilla/apimachinery";
import type { AdmissionStep, KubernetesObject, RequestInfo, Review } from "@flotilla/apimachinery";
import { Namespace, Pod } from "@flotilla/kubernetes";
import type { PodSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { examined } from "./pod-security-check.ts";
import {
  LABEL_PREFIX,
  NOTHING,
  detailsOf,
  isSameLevel,
  isStricter,
  policyOf,
  reasonsOf,
  textOfLevel,
  violations,
} from "./pod-security-policy.ts";
import type { LevelVersion, Policy } from "./pod-security-policy.ts";

interface Labelled {
  readonly metadata?: {
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}
interface Template extends Labelled {
  readonly spec?: DeepReadonly<PodSpec>;
}
type Container = NonNullable<DeepReadonly<PodSpec>["containers"]>[number];
/** The fields of the kinds below that hold a pod template. */
interface WithTemplate extends KubernetesObject {
  readonly template?: Template;
  readonly spec?: {
    readonly template?: Template;
    readonly jobTemplate?: { readonly spec?: { readonly template?: Template } };
  };
}
type Extract = (object: WithTemplate) => Template | undefined;

const ofWorkload: Extract = ({ spec }) => spec?.template;
const TEMPLATES: ReadonlyMap<string, Extract> = new Map<string, Extract>([
  ["/PodTemplate", ({ template }) => template],
  ["/ReplicationController", ofWorkload],
  ["apps/ReplicaSet", ofWorkload],
  ["apps/Deployment", ofWorkload],
  ["apps/StatefulSet", ofWorkload],
  ["apps/DaemonSet", ofWorkload],
  ["batch/Job", ofWorkload],
  ["batch/CronJob", ({ spec }) => spec?.jobTemplate?.spec?.template],
]);

type Role = "pod" | "namespace" | Extract;

/** The role of a write in Pod Security; undefined when it does not concern pods. */
function roleOf({ kind, subresource }: Pick<RequestInfo, "kind" | "subresource">): Role | undefined {
  if (!kind.builtIn) return undefined;
  if (kind.group === "" && kind.kind === "Pod")
    return subresource === undefined || subresource === "ephemeralcontainers" || subresource === "resize"
      ? "pod"
      : undefined;
  if (subresource !== undefined) return undefined;
  return kind.group === "" && kind.kind === "Namespace" ? "namespace" : TEMPLATES.get(`${kind.group}/${kind.kind}`);
}

export const podSecurity: AdmissionStep = {
  name: "PodSecurity",
  for: (kind) => roleOf({ kind }) !== undefined,
  on: ["CREATE", "UPDATE"],
  check(review) {
    const role = roleOf(review);
    if (role === "namespace") return checkNamespace(review);
    const { namespace = "", read, object } = review;
    if (role === undefined) return;
    const policy = read.mentions(Namespace, undefined, namespace, LABEL_PREFIX)
      ? policyOf(read.get(Namespace, undefined, namespace)?.metadata.labels)
      : undefined;
    if (!policy) {
      if (role === "pod") noteEnforced(review, NOTHING);
    } else if (role === "pod") checkPod(review, policy);
    else {
      const template = role(object as WithTemplate);
      auditOf(review, policy.audit, template);
      warnOf(review, policy.warn, template);
    }
  },
};

function checkPod(review: Review<KubernetesObject>, { enforce, audit, warn }: Policy): void {
  const { object, oldObject } = review;
  const pod = object as Template;
  if (!pod.spec || (oldObject && !runsOtherImages(pod.spec, (oldObject as Template).spec))) return;
  noteEnforced(review, enforce);
  auditOf(review, audit, pod);
  const found = violations(enforce, examined(pod.spec, pod.metadata?.annotations));
  if (found.length > 0) throw refusal(review, `violates PodSecurity "${textOfLevel(enforce)}": ${detailsOf(found)}`);
  if (!isSameLevel(enforce, warn)) warnOf(review, warn, pod);
}

function warnOf({ warn }: Review<KubernetesObject>, level: LevelVersion, template: Template | undefined): void {
  const text = violationText(level, template);
  if (text !== undefined) warn(text);
}

function auditOf({ annotate }: Review<KubernetesObject>, level: LevelVersion, template: Template | undefined): void {
  if (!annotate) return;
  const text = violationText(level, template);
  if (text !== undefined) annotate(`${LABEL_PREFIX}audit-violations`, text);
}

const noteEnforced = ({ annotate }: Review<KubernetesObject>, level: LevelVersion): void =>
  annotate?.(`${LABEL_PREFIX}enforce-policy`, textOfLevel(level));

function violationText(level: LevelVersion, template: Template | undefined): string | undefined {
  if (level.level === "privileged" || !template?.spec) return undefined;
  const found = violations(level, examined(template.spec, template.metadata?.annotations));
  return found.length > 0 ? `would violate PodSecurity "${textOfLevel(level)}": ${detailsOf(found)}` : undefined;
}

/** Of a pod's mutable fields, only images and ephemeral containers matter. */
function runsOtherImages(spec: DeepReadonly<PodSpec>, old: DeepReadonly<PodSpec> | undefined): boolean {
  const differ = (now: readonly Container[] = [], before: readonly Container[] = []): boolean =>
    now.length !== before.length || now.some(({ image }, index) => image !== before[index]?.image);
  if (differ(spec.containers, old?.containers) || differ(spec.initContainers, old?.initContainers)) return true;
  return (spec.ephemeralContainers ?? []).some(({ name, image }) => {
    const before = old?.ephemeralContainers?.find((container) => container.name === name);
    return !before || before.image !== image;
  });
}

const UNLABELLED: Policy = { enforce: NOTHING, audit: NOTHING, warn: NOTHING, errors: [] };

function checkNamespace(review: Review<KubernetesObject>): void {
  const { operation, object, oldObject } = review;
  const policy = policyOf(object.metadata.labels) ?? UNLABELLED;
  const former = policyOf(oldObject?.metadata.labels) ?? UNLABELLED;
  const isChanged = operation === "CREATE" || JSON.stringify(policy.errors) !== JSON.stringify(former.errors);
  if (policy.errors.length > 0 && isChanged) throw invalid("", "Namespace", object.metadata.name, policy.errors);
  if (operation === "UPDATE" && isStricter(policy.enforce, former.enforce)) warnOfPods(review, policy.enforce);
}

/** How many pods are checked when a namespace becomes stricter. */
const MAX_PODS = 3000;

function warnOfPods({ object, read, warn }: Review<KubernetesObject>, enforce: LevelVersion): void {
  const namespace = object.metadata.name;
  const all = read.list(Pod, namespace);
  const looked = differentFirst(all).slice(0, MAX_PODS);
  const violators = new Map<string, string[]>();
  for (const pod of looked) {
    const { metadata, spec } = pod;
    const reasons = reasonsOf(violations(enforce, examined(spec, metadata.annotations)));
    if (reasons === "") continue;
    const names = violators.get(reasons);
    if (names) names.push(metadata.name);
    else violators.set(reasons, [metadata.name]);
  }
  if (looked.length < all.length)
    warn(
      `new PodSecurity enforce level only checked against the first ${looked.length} of ${all.length} existing pods`,
    );
  if (violators.size === 0) return;
  warn(
    `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ${JSON.stringify(textOfLevel(enforce))}`,
  );
  for (const text of [...violators].map(([reasons, names]) => `${namesText(names)}: ${reasons}`).sort()) warn(text);
}

function namesText(names: readonly string[]): string {
  const first = names.reduce((least, name) => (name < least ? name : least));
  const others = names.length - 1;
  return others === 0 ? first : `${first} (and ${others} other ${others === 1 ? "pod" : "pods"})`;
}

/** Orders one pod of each controller before its others: pods of one controller are usually alike. */
function differentFirst(pods: readonly DeepReadonly<Pod>[]): DeepReadonly<Pod>[] {
  const seen = new Set<string>();
  const repeated: DeepReadonly<Pod>[] = [];
  const first = pods.filter((pod) => {
    const owner = controllerOf(pod)?.uid;
    if (owner === undefined || !seen.has(owner)) {
      if (owner !== undefined) seen.add(owner);
      return true;
    }
    repeated.push(pod);
    return false;
  });
  return [...first, ...repeated];
}
