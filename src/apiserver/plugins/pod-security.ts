/**
 * PodSecurity: labels of a namespace limit its pods. A violating pod is rejected; a workload whose pods would violate,
 * and a namespace whose existing pods do, are stored with a warning.
 */
import type { PodSpec } from "../../api/index.ts";
import type { DeepReadonly, JsonObject } from "../../base/index.ts";
import { forbidden, invalid } from "../../machinery/index.ts";
import type { RequestContext } from "../context.ts";
import type { Plugin, PluginRequest } from "../plugin.ts";
import { examined } from "./pod-security-check.ts";
import {
  LABEL_PREFIX,
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
type Extract = (object: DeepReadonly<JsonObject>) => Template | undefined;

const ofWorkload: Extract = ({ spec }) => (spec as { template?: Template } | undefined)?.template;
const TEMPLATES: ReadonlyMap<string, Extract> = new Map<string, Extract>([
  ["/PodTemplate", ({ template }) => template as Template | undefined],
  ["/ReplicationController", ofWorkload],
  ["apps/ReplicaSet", ofWorkload],
  ["apps/Deployment", ofWorkload],
  ["apps/StatefulSet", ofWorkload],
  ["apps/DaemonSet", ofWorkload],
  ["batch/Job", ofWorkload],
  [
    "batch/CronJob",
    ({ spec }) =>
      (spec as { jobTemplate?: { spec?: { template?: Template } } } | undefined)?.jobTemplate?.spec?.template,
  ],
]);

type Role = "pod" | "namespace" | Extract;

/** The role of a write in Pod Security; undefined when it does not concern pods. */
function roleOf({
  served: {
    resource: { kind },
  },
  subresource,
}: RequestContext): Role | undefined {
  if (!kind.builtIn) return undefined;
  if (kind.group === "" && kind.kind === "Pod")
    return subresource === undefined || subresource === "ephemeralcontainers" || subresource === "resize"
      ? "pod"
      : undefined;
  if (subresource !== undefined) return undefined;
  return kind.group === "" && kind.kind === "Namespace" ? "namespace" : TEMPLATES.get(`${kind.group}/${kind.kind}`);
}

export const podSecurity: Plugin = {
  name: "PodSecurity",
  concerns: (context, operation) => operation !== "DELETE" && roleOf(context) !== undefined,
  validate(request) {
    const role = roleOf(request.context);
    if (role === "namespace") return checkNamespace(request);
    const { context, read, object } = request;
    const name = context.namespace ?? "";
    if (role === undefined || !read.mentions("", "namespaces", undefined, name, LABEL_PREFIX)) return;
    const namespace = read.get("", "namespaces", undefined, name) as Labelled | undefined;
    const policy = policyOf(namespace?.metadata?.labels);
    if (!policy) return;
    if (role === "pod") checkPod(request, policy);
    else warnOf(request, policy.warn, role(object));
  },
};

function checkPod(request: PluginRequest, { enforce, warn }: Policy): void {
  const { context, object, oldObject } = request;
  const pod = object as Template;
  if (!pod.spec || (oldObject && !runsOtherImages(pod.spec, (oldObject as Template).spec))) return;
  const found = violations(enforce, examined(pod.spec, pod.metadata?.annotations));
  if (found.length > 0)
    throw forbidden(
      context.served.resource.name,
      nameOf(request),
      `violates PodSecurity "${textOfLevel(enforce)}": ${detailsOf(found)}`,
    );
  if (!isSameLevel(enforce, warn)) warnOf(request, warn, pod);
}

function nameOf({ object }: PluginRequest): string {
  return (object as Labelled).metadata?.name ?? "";
}

function warnOf({ context }: PluginRequest, level: LevelVersion, template: Template | undefined): void {
  if (level.level === "privileged" || !template?.spec) return;
  const found = violations(level, examined(template.spec, template.metadata?.annotations));
  if (found.length > 0) context.warn(`would violate PodSecurity "${textOfLevel(level)}": ${detailsOf(found)}`);
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

const UNLABELLED: Policy = {
  enforce: { level: "privileged", version: "latest" },
  warn: { level: "privileged", version: "latest" },
  errors: [],
};

function checkNamespace(request: PluginRequest): void {
  const { operation, object, oldObject } = request;
  const policy = policyOf((object as Labelled).metadata?.labels) ?? UNLABELLED;
  const former = policyOf((oldObject as Labelled | undefined)?.metadata?.labels) ?? UNLABELLED;
  const isChanged = operation === "CREATE" || JSON.stringify(policy.errors) !== JSON.stringify(former.errors);
  if (policy.errors.length > 0 && isChanged) throw invalid("", "Namespace", nameOf(request), policy.errors);
  if (operation === "UPDATE" && isStricter(policy.enforce, former.enforce)) warnOfPods(request, policy.enforce);
}

/** How many pods are checked when a namespace becomes stricter. */
const MAX_PODS = 3000;

function warnOfPods(request: PluginRequest, enforce: LevelVersion): void {
  const { context, read } = request;
  const namespace = nameOf(request);
  const all = read.list("", "pods", namespace);
  const looked = differentFirst(all).slice(0, MAX_PODS);
  const violators = new Map<string, string[]>();
  for (const pod of looked) {
    const { metadata, spec } = pod as Template;
    const reasons = spec ? reasonsOf(violations(enforce, examined(spec, metadata?.annotations))) : "";
    if (reasons === "") continue;
    const names = violators.get(reasons);
    if (names) names.push(metadata?.name ?? "");
    else violators.set(reasons, [metadata?.name ?? ""]);
  }
  if (looked.length < all.length)
    context.warn(
      `new PodSecurity enforce level only checked against the first ${looked.length} of ${all.length} existing pods`,
    );
  if (violators.size === 0) return;
  context.warn(
    `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ${JSON.stringify(textOfLevel(enforce))}`,
  );
  for (const text of [...violators].map(([reasons, names]) => `${namesText(names)}: ${reasons}`).sort())
    context.warn(text);
}

function namesText(names: readonly string[]): string {
  const first = names.reduce((least, name) => (name < least ? name : least));
  const others = names.length - 1;
  return others === 0 ? first : `${first} (and ${others} other ${others === 1 ? "pod" : "pods"})`;
}

/** Orders one pod of each controller before its others: pods of one controller are usually alike. */
function differentFirst(pods: readonly DeepReadonly<JsonObject>[]): DeepReadonly<JsonObject>[] {
  const seen = new Set<string>();
  const repeated: DeepReadonly<JsonObject>[] = [];
  const first = pods.filter((pod) => {
    const { ownerReferences = [] } = pod.metadata as {
      ownerReferences?: readonly { readonly controller?: boolean; readonly uid: string }[];
    };
    const owner = ownerReferences.find(({ controller }) => controller)?.uid;
    if (owner === undefined || !seen.has(owner)) {
      if (owner !== undefined) seen.add(owner);
      return true;
    }
    repeated.push(pod);
    return false;
  });
  return [...first, ...repeated];
}
