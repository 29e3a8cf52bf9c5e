/** Validation of SidecarSet, as in OpenKruise's webhook. Both versions are validated as v1beta1. */
import { CUSTOM_VERSION_LABEL } from "../api/kruise-names.ts";
import { SET_NAME_LABEL } from "./sidecarset-names.ts";
import { equalJson, isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import { checkSelector, compilePattern, field, labelSelectorOf, matchesLabels } from "@flotilla/apimachinery";
import type { Admission, AnyAdmission, ClusterReader, FieldError, KindRef, Review } from "@flotilla/apimachinery";
import { checkAnnotationKeys } from "@flotilla/kubernetes";
import type { ConfigMap } from "@flotilla/kubernetes";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import { checkMetadata } from "../api/metadata-rules.ts";
import { selectorsOverlap } from "../api/selector-overlap.ts";
import { checkSidecarContainers, patternProblem } from "./sidecarset-containers.ts";
import type { SidecarSetUpdateStrategy } from "./sidecarset-types.ts";
import { toStorage } from "./sidecarset-versions.ts";
import { checkIntOrPercent, plainNameProblems, priorityProblem, scatterProblem } from "../api/strategy-rules.ts";
import { isEmptySelector } from "../api/template-rules.ts";
import { isHub, kruiseAdmission } from "../api/webhook.ts";
import { completeSidecarSet, fillDefinitionDefaults } from "./sidecarset-defaults.ts";
import { SidecarSet } from "./sidecarset-kind.ts";
import type { FeatureGates } from "../api/feature-gates.ts";

type Read<T> = DeepReadonly<T>;
type Given = Read<SidecarSet>;

/** The namespace of OpenKruise's settings and the history of SidecarSets. */
const KRUISE_NAMESPACE = "kruise-system";
const REVISIONS = { group: "apps", plural: "controllerrevisions" };
const CONFIG_MAPS: KindRef<ConfigMap> = { group: "", plural: "configmaps" };
const SIDECAR_SETS: KindRef<SidecarSet> = { group: "apps.kruise.io", plural: "sidecarsets" };
const nameProblems = plainNameProblems("sidecarset");

const checkSidecarSet =
  (gates: FeatureGates) =>
  (review: Review<SidecarSet>): FieldError[] => {
    const set = inBeta(review.object);
    const errors: FieldError[] = [];
    checkMetadata(errors, set.metadata, nameProblems, "Cluster");
    checkSpec(errors, set, review, gates);
    if (review.oldObject) checkChange(errors, set, inBeta(review.oldObject));
    // Sets on the hub may be for different members.
    if (errors.length === 0 && !isHub(review)) checkOthers(errors, set, review.read);
    return errors;
  };

function inBeta(set: Given): Given {
  return set.apiVersion === "apps.kruise.io/v1alpha1"
    ? (toStorage(set as unknown as JsonObject) as unknown as Given)
    : set;
}

function checkSpec(errors: FieldError[], set: Given, review: Review<SidecarSet>, gates: FeatureGates): void {
  const spec = set.spec ?? {};
  const { initContainers = [], containers = [], updateStrategy = {}, selector, namespaceSelector } = spec;
  for (const { restartPolicy } of initContainers) {
    if (restartPolicy === "Always" && updateStrategy.type === "RollingUpdate")
      errors.push(
        field.required("spec.updateStrategy", "The initContainer in-place upgrade is not currently supported."),
      );
  }
  if (selector) checkOneSelector(errors, "spec.selector", selector);
  else errors.push(field.required("spec.selector", "no selector defined for SidecarSet"));
  if (namespaceSelector) checkOneSelector(errors, "spec.namespaceSelector", namespaceSelector);
  checkRevision(errors, set, review);
  checkStrategy(errors, updateStrategy);
  if (initContainers.length + containers.length === 0)
    errors.push(field.required("spec", "no initContainer or container defined for SidecarSet"));
  else checkSidecarContainers(errors, spec);
  checkPatches(errors, set, review, gates);
}

function checkOneSelector(errors: FieldError[], at: string, selector: Read<LabelSelector>): void {
  const problems = checkSelector(at, selector);
  errors.push(...problems);
  if (isEmptySelector(selector))
    errors.push(field.invalid(at, selector, "empty selector is not valid for sidecarset."));
  if (problems.length > 0) errors.push(field.invalid(`${at}.selector`, selector));
}

/** An injected revision must exist. */
function checkRevision(errors: FieldError[], { metadata, spec }: Given, review: Review<SidecarSet>): void {
  const revision = spec?.injectionStrategy?.revision;
  if (!revision) return;
  const { revisionName, customVersion, policy = "" } = revision;
  if (revisionName === undefined && customVersion === undefined)
    errors.push(field.invalid("revision", revision, "revisionName and customVersion cannot be empty simultaneously"));
  else if (!isHub(review)) {
    const sought = revisionName ?? metadata.name;
    const isThere =
      revisionName === undefined
        ? hasVersion(review.read, metadata.name, customVersion ?? "")
        : review.read.get(REVISIONS, KRUISE_NAMESPACE, revisionName) !== undefined;
    if (!isThere)
      errors.push(
        field.invalid(
          "revision",
          sought,
          `Cannot find specific ControllerRevision, err: ControllerRevision.apps ${JSON.stringify(sought)} not found`,
        ),
      );
  }
  if (!["", "Always", "Partial"].includes(policy))
    errors.push(field.invalid("revision.policy", revision, `Invalid policy ${policy}, supported: [Always, Partial]`));
}

function hasVersion(read: ClusterReader, set: string, version: string): boolean {
  return read
    .list(REVISIONS, KRUISE_NAMESPACE)
    .some(({ metadata: { labels } }) => labels?.[SET_NAME_LABEL] === set && labels[CUSTOM_VERSION_LABEL] === version);
}

function checkStrategy(errors: FieldError[], strategy: Read<SidecarSetUpdateStrategy>): void {
  if (strategy.type !== "RollingUpdate") return;
  const { partition, selector, maxUnavailable } = strategy;
  const at = "spec.updateStrategy";
  if (partition !== undefined && partition !== 0 && selector)
    errors.push(field.invalid("updateStrategy", strategy, "Partition and Selector cannot be used together"));
  if (selector) checkOneSelector(errors, `${at}.selector`, selector);
  if (partition !== undefined) errors.push(...checkIntOrPercent(`${at}.partition`, partition));
  if (maxUnavailable !== undefined) errors.push(...checkIntOrPercent(`${at}.maxUnavailable`, maxUnavailable));
  const priority = priorityProblem(strategy.priorityStrategy);
  if (priority !== undefined) errors.push(field.required(`${at}.priorityStrategy`, priority));
  const scatter = scatterProblem(strategy.scatterStrategy);
  if (scatter !== undefined) errors.push(field.required(`${at}.scatterStrategy`, scatter));
}

function checkPatches(errors: FieldError[], set: Given, review: Review<SidecarSet>, gates: FeatureGates): void {
  const patches = set.spec?.patchPodMetadata ?? [];
  const at = "spec.patchPodMetadata";
  const problem = patches.length === 0 || isHub(review) ? undefined : whitelistProblem(set, review.read, gates);
  if (problem !== undefined) errors.push(field.required(at, problem));
  const seen = new Set<string>();
  for (const { annotations = {}, patchPolicy = "" } of patches) {
    const keys = Object.keys(annotations);
    if (keys.length === 0) errors.push(field.required(at, "no annotations defined for SidecarSet"));
    else checkAnnotationKeys(errors, "patchPodMetadata.annotations", annotations);
    if (patchPolicy === "") errors.push(field.required(at, "no patchPolicy defined for patchPodMetadata"));
    for (const key of keys) {
      if (seen.has(key)) errors.push(field.required(at, `patch annotation[${key}] already exist`));
      seen.add(key);
    }
  }
}

/** A ConfigMap of the administrator lists the annotations that sets may write to pods; without it, none. */
function whitelistProblem({ metadata, spec }: Given, read: ClusterReader, gates: FeatureGates): string | undefined {
  const settings = read.get(CONFIG_MAPS, KRUISE_NAMESPACE, "kruise-configuration")?.data;
  const text = settings?.["SidecarSet_PatchPodMetadata_WhiteList"];
  const mayAnyway = gates.isOn("SidecarSetPatchPodMetadataDefaultsAllowed");
  if (text === undefined) return mayAnyway ? undefined : "SidecarSet patch metadata whitelist not found";
  const expressions = allowedKeys(text, metadata.labels);
  if (typeof expressions === "string") return expressions;
  if (expressions.length === 0) return mayAnyway ? undefined : "sidecarSet patch metadata annotation is not allowed";
  const broken = expressions.map(patternProblem).find((problem) => problem !== undefined);
  if (broken !== undefined) return broken;
  const patterns = expressions.map((expression) => compilePattern(expression));
  const keys = (spec?.patchPodMetadata ?? []).flatMap(({ annotations = {} }) => Object.keys(annotations));
  const refused = keys.find((key) => !patterns.some((pattern) => pattern.test(key)));
  return refused === undefined ? undefined : `sidecarSet patch metadata annotation(${refused}) is not allowed`;
}

/** The regular expressions of the rules that match a set with these labels, or the parse error. */
function allowedKeys(text: string, labels: Readonly<Record<string, string>> | undefined): string[] | string {
  let whitelist: Json;
  try {
    whitelist = JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
    throw error;
  }
  const rules = isObject(whitelist) && Array.isArray(whitelist["rules"]) ? whitelist["rules"].filter(isObject) : [];
  const concerned = rules.filter(
    ({ selector }) => !isObject(selector) || matchesLabels(labelSelectorOf(selector as LabelSelector), labels),
  );
  return concerned.flatMap(({ allowedAnnotationKeyExprs: keys }) =>
    Array.isArray(keys) ? keys.filter((key) => typeof key === "string") : [],
  );
}

/** Existing pods keep their containers. */
function checkChange(errors: FieldError[], { spec }: Given, { spec: old }: Given): void {
  const before = new Map(
    (old?.containers ?? []).map(({ name, upgradeStrategy }) => [name, upgradeStrategy?.upgradeType ?? ""]),
  );
  for (const { name, upgradeStrategy } of spec?.containers ?? []) {
    const type = before.get(name);
    if (type === undefined) errors.push(field.invalid("spec.containers.name", name, `container ${name} is not found`));
    else if (type !== "" && type !== (upgradeStrategy?.upgradeType ?? ""))
      errors.push(
        field.invalid(
          "spec.containers.upgradeStrategy.upgradeType",
          name,
          `container ${name} upgradeType is immutable`,
        ),
      );
  }
}

/** Sets that may apply to the same pod must not define the same containers or volumes. */
function checkOthers(errors: FieldError[], set: Given, read: ClusterReader): void {
  const { spec } = set;
  const others = read
    .list(SIDECAR_SETS)
    .filter((other) => other.metadata.name !== set.metadata.name && canMeet(set, other));
  // Of several conflicts, the last one is reported.
  for (const list of ["initContainers", "containers"] as const) {
    const owners = new Map(
      others.flatMap((other) => (other.spec[list] ?? []).map(({ name }) => [name, other.metadata.name] as const)),
    );
    for (const { name } of spec[list] ?? [])
      if (owners.has(name))
        errors.push(
          field.invalid("spec.containers", name, `container ${name} already exist in ${owners.get(name) ?? ""}`),
        );
  }
  const volumes = new Map(
    others.flatMap((other) =>
      (other.spec.volumes ?? [])
        .toReversed()
        .map((volume) => [volume.name, { volume, set: other.metadata.name }] as const),
    ),
  );
  for (const volume of spec.volumes ?? []) {
    const theirs = volumes.get(volume.name);
    if (theirs && !equalJson(volume, theirs.volume))
      errors.push(
        field.invalid(
          "spec.volumes",
          volume.name,
          `volume ${volume.name} is in conflict with sidecarset ${theirs.set}`,
        ),
      );
  }
  checkOtherPatches(errors, set, others);
}

function canMeet(a: Given, b: Given): boolean {
  const [spaces, otherSpaces] = [a.spec.namespaceSelector, b.spec.namespaceSelector];
  if (spaces && otherSpaces && !selectorsOverlap(spaces, otherSpaces)) return false;
  return selectorsOverlap(a.spec.selector ?? {}, b.spec.selector ?? {});
}

function checkOtherPatches(errors: FieldError[], { spec }: Given, others: readonly Given[]): void {
  const written = new Map<string, { by: string; policy: string }>();
  for (const other of others) {
    for (const { annotations = {}, patchPolicy = "" } of other.spec.patchPodMetadata ?? []) {
      if (patchPolicy !== "Retain")
        for (const key of Object.keys(annotations)) written.set(key, { by: other.metadata.name, policy: patchPolicy });
    }
  }
  for (const { annotations = {}, patchPolicy } of spec.patchPodMetadata ?? []) {
    if (patchPolicy === "Retain") continue;
    for (const key of Object.keys(annotations)) {
      const theirs = written.get(key);
      if (theirs && (patchPolicy === "Overwrite" || theirs.policy === "Overwrite"))
        errors.push(
          field.invalid("spec.patchPodMetadata", key, `annotation ${key} is in conflict with sidecarset ${theirs.by}`),
        );
    }
  }
}

export const sidecarSetRules = (gates: FeatureGates): AnyAdmission[] => [
  {
    name: "SidecarSetDefaults",
    for: SidecarSet,
    on: ["CREATE", "UPDATE"],
    isReinvoked: true,
    mutate: ({ object, subresource }) => (subresource === undefined ? fillDefinitionDefaults(object) : object),
  } satisfies Admission<SidecarSet>,
  kruiseAdmission(SidecarSet, {
    name: "sidecarset",
    code: 500,
    tables: { v1alpha1: "apps-kruise-v1alpha1", v1beta1: "apps-kruise-v1beta1" },
    open: {
      containers: "apps-kruise-v1beta1.SidecarContainer",
      initContainers: "apps-kruise-v1beta1.SidecarContainer",
      volumes: "core-v1.Volume",
    },
    complete: completeSidecarSet,
    check: checkSidecarSet(gates),
  }),
];
