/**
 * Defaults and validation of Advanced StatefulSet, as in OpenKruise's webhooks. Both versions are validated as v1beta1.
 */
import { equalJson, type DeepReadonly, type JsonObject } from "@flotilla/base";
import {
  change,
  checkNotNegative,
  compareQuantities,
  deniedByWebhook,
  dnsLabelProblems,
  field,
  fill,
  parseQuantity,
} from "@flotilla/apimachinery";
import type { AnyAdmission, ClusterReader, FieldError, Review } from "@flotilla/apimachinery";
import type { PersistentVolumeClaim } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { IntOrString } from "@flotilla/apimachinery/facts/scalars.ts";
import { isDefaultStorageClass, StorageClass } from "@flotilla/kubernetes";
import type {
  AdvancedStatefulSetRollingUpdate,
  AdvancedStatefulSetSpec,
  AdvancedStatefulSetUpdateStrategy,
} from "./statefulset-types.ts";
import { toStorage } from "./statefulset-versions.ts";
import { checkMetadata } from "../api/metadata-rules.ts";
import { checkIntOrPercent, priorityProblem } from "../api/strategy-rules.ts";
import {
  changeBeyondImages,
  checkOwnSelector,
  checkTemplateMetadata,
  checkTemplateNeverTerminates,
  completeClaims,
  completeSelector,
  completesTemplate,
  completeTemplate,
  OPEN_TEMPLATES,
  withSelector,
} from "../api/template-rules.ts";
import { kruiseAdmission } from "../api/webhook.ts";
import { AdvancedStatefulSet } from "./statefulset-kind.ts";
import type { FeatureGates } from "../api/feature-gates.ts";
import { isAlpha } from "../api/conversion.ts";

type Read<T> = DeepReadonly<T>;
type Spec = Read<AdvancedStatefulSetSpec>;
type Strategy = Read<AdvancedStatefulSetUpdateStrategy>;
type Rolling = Read<AdvancedStatefulSetRollingUpdate>;

const IN_PLACE_READY = "InPlaceUpdateReady";
const MAX_MIN_READY_SECONDS = 300;
const AT_ROLLING = "spec.updateStrategy.rollingUpdate";

const completeStatefulSet =
  (gates: FeatureGates) =>
  (set: Read<AdvancedStatefulSet>, review: Review<AdvancedStatefulSet>): Read<AdvancedStatefulSet> =>
    change(set, "spec", (given) => {
      let spec: Spec = fill(given, {
        podManagementPolicy: "OrderedReady",
        updateStrategy: {},
        replicas: 1,
        revisionHistoryLimit: 10,
      });
      spec = completeSelector(spec, spec.template?.metadata?.labels, "spec.template.metadata.labels", review);
      spec = change(spec, "updateStrategy", completeStrategy);
      // v1alpha1 has no such fields, and loses the values upstream sets.
      if (!isAlpha(set)) spec = completeClaimPolicies(spec, gates);
      if (!completesTemplate(spec.template, review.oldObject, gates)) return spec;
      return change(change(spec, "template", completeTemplate), "volumeClaimTemplates", completeClaims);
    });

function completeStrategy(strategy: Strategy): Strategy {
  const typed: Strategy = fill(strategy, { type: "RollingUpdate" });
  if (typed.type !== "RollingUpdate") return typed;
  return change(fill(typed, { rollingUpdate: {} }), "rollingUpdate", (rolling) =>
    fill(rolling, { partition: 0, maxUnavailable: 1, podUpdatePolicy: "ReCreate", minReadySeconds: 0 }),
  );
}

function completeClaimPolicies(given: Spec, gates: FeatureGates): Spec {
  let spec = given;
  if (gates.isOn("StatefulSetAutoDeletePVC")) {
    spec = change(
      fill(spec, { persistentVolumeClaimRetentionPolicy: {} }),
      "persistentVolumeClaimRetentionPolicy",
      (policy) => fill(policy, { whenDeleted: "Retain", whenScaled: "Retain" }),
    );
  }
  if (gates.isOn("StatefulSetAutoResizePVCGate"))
    spec = change(fill(spec, { volumeClaimUpdateStrategy: {} }), "volumeClaimUpdateStrategy", (strategy) =>
      fill(strategy, { type: "OnDelete" }),
    );
  return spec;
}

const checkStatefulSet =
  (gates: FeatureGates) =>
  ({ object, oldObject, read }: Review<AdvancedStatefulSet>): FieldError[] => {
    const errors: FieldError[] = [];
    const now = inBeta(object);
    checkMetadata(errors, now.metadata, dnsLabelProblems);
    checkSpec(errors, now.spec);
    if (!oldObject) return errors;
    const before = inBeta(oldObject);
    checkChange(errors, now.spec, before.spec);
    // The following checks run one after the other, and only when there are no earlier errors.
    if (errors.length === 0 && gates.isOn("StatefulSetAutoResizePVCGate"))
      checkClaimChanges(errors, now.spec, before.spec, read);
    if (errors.length === 0) checkInPlaceOnly(now.spec, before.spec);
    return errors;
  };

const inBeta = (set: Read<AdvancedStatefulSet>): Read<AdvancedStatefulSet> =>
  isAlpha(set) ? (toStorage(set as unknown as JsonObject) as unknown as Read<AdvancedStatefulSet>) : set;

function checkSpec(errors: FieldError[], spec: Spec): void {
  const { podManagementPolicy = "", scaleStrategy, selector, template } = spec;
  if (podManagementPolicy === "") errors.push(field.required("spec.podManagementPolicy"));
  else if (!["OrderedReady", "Parallel"].includes(podManagementPolicy))
    errors.push(field.invalid("spec.podManagementPolicy", podManagementPolicy, "must be 'OrderedReady' or 'Parallel'"));
  checkReserved(errors, spec.reserveOrdinals ?? []);
  if (scaleStrategy?.maxUnavailable !== undefined)
    checkMaxUnavailable(errors, "spec.scaleStrategy.maxUnavailable", scaleStrategy.maxUnavailable, spec);
  checkStrategy(errors, spec);
  checkRetention(errors, spec);
  errors.push(...checkNotNegative("spec.replicas", spec.replicas));
  if (checkOwnSelector(errors, selector, "statefulset"))
    checkTemplateMetadata(errors, "spec.template", template ?? {}, selector);
  checkTemplateNeverTerminates(errors, "spec.template", template, "StatefulSet");
}

/** Ordinals and ranges of them: `3`, `5-8`. */
function checkReserved(errors: FieldError[], reserved: readonly IntOrString[]): void {
  for (const [index, ordinal] of reserved.entries()) {
    const reportProblem = (problem: string): void =>
      void errors.push(field.invalid("spec", reserved, `${index} th reserve ordinal ${problem}`));
    if (typeof ordinal === "number") {
      if (ordinal < 0) reportProblem(`is negative: ${ordinal}`);
      continue;
    }
    if (!/^\d+-\d+$/.test(ordinal)) reportProblem(`is not a valid range: ${ordinal}`);
    const problem = rangeProblem(ordinal);
    if (problem !== undefined) reportProblem(`is invalid: ${ordinal}, err = ${problem}`);
  }
}

function rangeProblem(range: string): string | undefined {
  const ends = range.split("-");
  if (ends.length !== 2) return `invalid range ${range}`;
  const unreadable = ends.find((end) => !/^[+]?\d+$/.test(end));
  if (unreadable !== undefined) return `strconv.Atoi: parsing ${JSON.stringify(unreadable)}: invalid syntax`;
  return Number(ends[0]) > Number(ends[1]) ? `invalid range ${range}` : undefined;
}

function checkMaxUnavailable(
  errors: FieldError[],
  path: string,
  value: IntOrString,
  { podManagementPolicy }: Spec,
): void {
  errors.push(...checkIntOrPercent(path, value));
  const count = typeof value === "number" ? value : shareOfOne(value);
  if (count === undefined)
    errors.push(
      field.invalid(
        path,
        0,
        "getValueFromIntOrPercent error: invalid value for IntOrString: invalid value " +
          `${JSON.stringify(value)}: strconv.Atoi: parsing ` +
          `${JSON.stringify(String(value).replaceAll("%", ""))}: invalid syntax`,
      ),
    );
  else if (count < 1) errors.push(field.invalid(path, count, "should not be less than 1"));
  if (podManagementPolicy !== "Parallel" && value !== 1)
    errors.push(field.invalid(path, value, "can only work with Parallel PodManagementPolicyType"));
}

/** Percentage of one pod, rounded up. The sign may be missing. */
function shareOfOne(text: string): number | undefined {
  const digits = text.replaceAll("%", "");
  return /^[+-]?\d+$/.test(digits) ? Math.ceil(Number(digits) / 100) : undefined;
}

function checkStrategy(errors: FieldError[], spec: Spec): void {
  const { type = "", rollingUpdate } = spec.updateStrategy ?? {};
  if (type === "") errors.push(field.required("spec.updateStrategy"));
  else if (type === "OnDelete") {
    if (rollingUpdate)
      errors.push(field.invalid(AT_ROLLING, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'"));
  } else if (type !== "RollingUpdate")
    errors.push(field.invalid("spec.updateStrategy", spec.updateStrategy, "must be 'RollingUpdate' or 'OnDelete'"));
  else if (rollingUpdate) checkRolling(errors, rollingUpdate, spec);
}

function checkRolling(errors: FieldError[], rolling: Rolling, spec: Spec): void {
  const { partition, minReadySeconds = 0, maxUnavailable, unorderedUpdate } = rolling;
  errors.push(
    ...checkNotNegative(`${AT_ROLLING}.partition`, partition),
    ...checkNotNegative(`${AT_ROLLING}.minReadySeconds`, minReadySeconds),
  );
  if (minReadySeconds > MAX_MIN_READY_SECONDS)
    errors.push(
      field.invalid(
        `${AT_ROLLING}.minReadySeconds`,
        minReadySeconds,
        `must be no more than ${MAX_MIN_READY_SECONDS} seconds`,
      ),
    );
  if (maxUnavailable === undefined) errors.push(field.required(`${AT_ROLLING}.maxUnavailable`));
  else checkMaxUnavailable(errors, `${AT_ROLLING}.maxUnavailable`, maxUnavailable, spec);
  checkPolicy(errors, rolling, spec);
  if (!unorderedUpdate) return;
  if (spec.podManagementPolicy !== "Parallel")
    errors.push(
      field.required(
        `${AT_ROLLING}.unorderedUpdate`,
        "unorderedUpdate can only work with Parallel PodManagementPolicyType",
      ),
    );
  const problem = priorityProblem(unorderedUpdate.priorityStrategy);
  if (problem !== undefined) errors.push(field.required(`${AT_ROLLING}.unorderedUpdate.priorityStrategy`, problem));
}

/** Pods that are updated in place need the readiness gate, which no component adds here. */
function checkPolicy(errors: FieldError[], { podUpdatePolicy = "" }: Rolling, { template }: Spec): void {
  if (podUpdatePolicy === "") errors.push(field.required(`${AT_ROLLING}.podUpdatePolicy`));
  else if (podUpdatePolicy === "InPlaceIfPossible" || podUpdatePolicy === "InPlaceOnly") {
    const gates = template?.spec?.readinessGates;
    if (gates?.some(({ conditionType }) => conditionType === IN_PLACE_READY)) return;
    errors.push(
      field.invalid(
        "spec.template.spec.readinessGates",
        gates,
        `must contains ${IN_PLACE_READY} when podUpdatePolicy is ${podUpdatePolicy}`,
      ),
    );
  } else if (podUpdatePolicy !== "ReCreate")
    errors.push(
      field.invalid(
        `${AT_ROLLING}.podUpdatePolicy`,
        podUpdatePolicy,
        "must be 'ReCreate', InPlaceIfPossible or 'InPlaceOnly'",
      ),
    );
}

const RETENTION = ["Retain", "Delete"];

function checkRetention(errors: FieldError[], { persistentVolumeClaimRetentionPolicy: policy }: Spec): void {
  if (!policy) return;
  for (const name of ["whenDeleted", "whenScaled"] as const) {
    if (!RETENTION.includes(policy[name] ?? ""))
      errors.push(
        field.notSupported(`spec.persistentVolumeClaimRetentionPolicy.${name}`, policy[name] ?? "", RETENTION),
      );
  }
}

const MUTABLE =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', " +
  "'reserveOrdinals', 'lifecycle', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy', " +
  "`volumeClaimTemplates`, `VolumeClaimUpdateStrategy` and 'updateStrategy' are forbidden";

/** Pod identities depend on the selector, the service and the order of pods. */
function checkChange(errors: FieldError[], now: Spec, before: Spec): void {
  const fixed = ({ selector, serviceName, podManagementPolicy }: Spec): unknown => [
    selector ?? null,
    serviceName ?? "",
    podManagementPolicy ?? "",
  ];
  if (!equalJson(fixed(now), fixed(before))) errors.push(field.forbidden("spec", MUTABLE));
  errors.push(...checkNotNegative("spec.replicas", now.replicas));
  checkRetention(errors, now);
}

function checkInPlaceOnly(now: Spec, before: Spec): void {
  if (now.updateStrategy?.rollingUpdate?.podUpdatePolicy !== "InPlaceOnly") return;
  const beyond = changeBeyondImages(before.template.spec, completeTemplate(now.template).spec);
  // Upstream's message names no field.
  if (beyond !== undefined)
    throw deniedByWebhook(
      "vstatefulset.kb.io",
      422,
      `invalid template modified with InPlaceOnly strategy: ${beyond}, currently only image update is allowed for InPlaceOnly`,
    );
}

type Claim = Read<PersistentVolumeClaim>;
const storageOf = (claim: Claim, of: "limits" | "requests"): string =>
  String(claim.spec?.resources?.[of]?.["storage"] ?? "0");
const nameOf = ({ metadata }: Claim): string => metadata?.name ?? "";

/** Claims that follow a rolling update can only grow, and only where their class allows it. */
function checkClaimChanges(errors: FieldError[], now: Spec, before: Spec, read: ClusterReader): void {
  if (now.volumeClaimUpdateStrategy?.type !== "OnPodRollingUpdate") return;
  const [claims, old] = [now.volumeClaimTemplates ?? [], before.volumeClaimTemplates ?? []];
  if (claims.length !== old.length)
    return void errors.push(
      field.invalid(
        "spec.volumeClaimTemplates",
        claims,
        "volumeClaimTemplate can not be added or deleted when OnRollingUpdate",
      ),
    );
  const known = new Map(old.toReversed().map((claim) => [nameOf(claim), claim]));
  for (const claim of claims) {
    const error = claimProblem(claim, known.get(nameOf(claim)), read);
    if (error) return void errors.push(error);
  }
}

function claimProblem(claim: Claim, old: Claim | undefined, read: ClusterReader): FieldError | undefined {
  const at = `spec.volumeClaimTemplates[${nameOf(claim)}]`;
  if (!old) return field.forbidden(`${at}.name`, "volumeClaimTemplate name can not be modified");
  const [storageClassName, oldClassName] = [claim.spec?.storageClassName, old.spec?.storageClassName];
  // A claim without a class has the default one, which is not written into the template.
  const isOtherClass =
    storageClassName !== undefined && oldClassName !== undefined && storageClassName !== oldClassName;
  if (isOtherClass || !equalJson(claim.spec?.accessModes ?? [], old.spec?.accessModes ?? []))
    return field.invalid(at, claim, "volumeClaimTemplate can not be modified when OnRollingUpdate");
  const isResized = (["requests", "limits"] as const).some(
    (of) => compareQuantities(parseQuantity(storageOf(claim, of)), parseQuantity(storageOf(old, of))) !== 0,
  );
  if (!isResized) return undefined;
  const name = storageClassName;
  const storageClass = name === undefined ? newestDefault(read) : read.get(StorageClass, undefined, name);
  if (!storageClass)
    return name === undefined ? undefined : field.invalid(`${at}.spec.storageClassName`, name, "can not get sc");
  if (storageClass.allowVolumeExpansion !== false) return undefined;
  return field.forbidden(
    `${at}.spec.resources.requests.storage`,
    `storage class ${storageClass.metadata.name} does not support volume expansion`,
  );
}

function newestDefault(read: ClusterReader): Read<StorageClass> | undefined {
  return read
    .list(StorageClass)
    .filter(isDefaultStorageClass)
    .toSorted((a, b) => (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? ""))
    .at(-1);
}

export const statefulSetRules = (gates: FeatureGates): AnyAdmission[] => [
  kruiseAdmission(AdvancedStatefulSet, {
    name: "statefulset",
    code: 422,
    tables: { v1alpha1: "apps-kruise-v1alpha1", v1beta1: "apps-kruise-v1beta1" },
    open: OPEN_TEMPLATES,
    reads: [StorageClass],
    complete: completeStatefulSet(gates),
    check: checkStatefulSet(gates),
    prepare: withSelector,
  }),
];
