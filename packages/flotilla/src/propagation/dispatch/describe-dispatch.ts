/**
 * Describes what dispatch changes on the members, for the log of decisions: which members, which fields, and why. Values
 * are recorded only for fields of releases and replicas; of all others the path is recorded, because an environment
 * variable or a ConfigMap may hold a password. Pure.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { clusterNameOf, TEMPLATE_GENERATION } from "@flotilla/karmada";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { compareFields } from "../../fields/field-changes.ts";
import type { DecisionInput } from "../../decisions/decision-recorder.ts";
import { resourceOf } from "../bindings/resource-of.ts";

type Described = Pick<DecisionInput, "type" | "object" | "clusters" | "cause" | "before" | "after">;
type Works = readonly DeepReadonly<Work>[];

/** Fields that a release or a division changes, on members. */
const RELEASE_FIELD = new RegExp(
  `^spec\\.(${[
    "replicas|partition|paused|suspend|parallelism|completions",
    "minReadySeconds|maxReplicas|minReplicas|minAvailable|maxUnavailable",
    "(update)?[sS]trategy\\b.*|ordinals\\b.*",
    "template\\.spec\\.(initC|c)ontainers\\[[^\\]]+\\]\\.image",
  ].join("|")})$`,
);
/** Fields that a release changes step by step while the template stays the same. */
const STEP_FIELD = /^spec\.(partition|(update)?[sS]trategy\b.*)$/;
const HIDDEN = /^(status\b|metadata\.(annotations|labels|resourceVersion|generation|managedFields|uid))/;
/** More would not help a reader, and a decision must stay small. */
const MAX_FIELDS = 20;

/** Undefined for the first copies of a placement, which its own decision describes, and when nothing changes. */
export function describeDispatch(
  binding: DeepReadonly<ResourceBinding>,
  template: DeepReadonly<KubernetesObject>,
  current: Works,
  desired: Works,
): Described | undefined {
  if (current.length === 0) return undefined;
  const before = byCluster(current);
  const after = byCluster(desired);
  const old: JsonObject = {};
  const now: JsonObject = {};
  const paths = new Set<string>();
  let isNewGeneration = false;
  for (const cluster of new Set([...before.keys(), ...after.keys()])) {
    const [had, gets] = [before.get(cluster), after.get(cluster)];
    if (!had || !gets) {
      old[cluster] = had ? "copy" : null;
      now[cluster] = gets ? "copy" : null;
      continue;
    }
    const { fields, more } = compareFields(had, gets, (path) => HIDDEN.test(path));
    if (fields.length === 0) continue;
    isNewGeneration ||= generationIn(had) !== generationIn(gets);
    const left: JsonObject = {};
    const right: JsonObject = {};
    for (const { path, before: from, after: to } of fields.slice(0, MAX_FIELDS)) {
      paths.add(path);
      const isShown = RELEASE_FIELD.test(path);
      left[path] = isShown ? (from ?? null) : "(not recorded)";
      right[path] = isShown ? (to ?? null) : "(changed)";
    }
    const hidden = more + Math.max(0, fields.length - MAX_FIELDS);
    if (hidden > 0) right["more"] = hidden;
    old[cluster] = left;
    now[cluster] = right;
  }
  const clusters = Object.keys(now);
  if (clusters.length === 0) return undefined;
  const isMoved = !sameKeys(before, after) || paths.has("spec.replicas");
  const isStep = !isNewGeneration && !isMoved && [...paths].some((path) => STEP_FIELD.test(path));
  return {
    type: isStep ? "RolloutStep" : "Dispatched",
    object: resourceOf(binding),
    clusters,
    cause: causeOf(template, { isNewGeneration, isStep, isMoved }),
    before: old as Json,
    after: now as Json,
  };
}

function causeOf(
  template: DeepReadonly<KubernetesObject>,
  { isNewGeneration, isStep, isMoved }: { isNewGeneration: boolean; isStep: boolean; isMoved: boolean },
): DecisionInput["cause"] {
  const { generation = 0 } = template.metadata;
  if (isNewGeneration)
    return { reason: "TemplateChanged", message: `the template has generation ${generation}${writerOf(template)}` };
  if (isMoved)
    return { reason: "PlacementChanged", message: "the clusters of the binding, or their replicas, changed" };
  if (isStep)
    return {
      reason: "ReleaseProgress",
      message: "members reported progress of the release, so its next step may begin",
    };
  return { reason: "CopyChanged", message: "the division, an override or a rule gives another copy" };
}

/** The last writer of the template's spec, from its field managers. */
function writerOf({ metadata }: DeepReadonly<KubernetesObject>): string {
  const written = (metadata.managedFields ?? [])
    .filter(({ subresource }) => !subresource)
    .toSorted((a, b) => (a.time ?? "").localeCompare(b.time ?? ""))
    .at(-1);
  return written?.manager === undefined ? "" : `, written by ${written.manager} at ${written.time ?? ""}`;
}

function byCluster(works: Works): Map<string, DeepReadonly<KubernetesObject> | undefined> {
  return new Map(
    works.map(({ metadata, spec }) => [
      clusterNameOf(metadata.namespace ?? "") ?? "",
      spec.workload?.manifests?.[0] as DeepReadonly<KubernetesObject> | undefined,
    ]),
  );
}

const generationIn = (copy: DeepReadonly<KubernetesObject>): string | undefined =>
  copy.metadata.annotations?.[TEMPLATE_GENERATION];

const sameKeys = (a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean =>
  a.size === b.size && [...a.keys()].every((key) => b.has(key));
