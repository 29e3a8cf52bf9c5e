/** Defaults and validation of StatefulSet. */
import { equalJson, type DeepReadonly, defined } from "@flotilla/base";
import {
  builtInAdmission,
  change,
  changeItems,
  checkIntOrPercent,
  checkLabels,
  checkNotNegative,
  checkText,
  dnsLabelProblems,
  field,
  fill,
} from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import { checkPodAnnotations, checkAnnotationKeys } from "../pod/pod-annotations.ts";
import { checkClaimSpec } from "../pod/pod-claims.ts";
import { defaultPodTemplate } from "../pod/pod-defaults.ts";
import { checkNeverTerminates, checkTemplate } from "../pod/pod-validation.ts";
import { claimWarnings, templateWarnings } from "../pod/pod-warnings.ts";
import type { PersistentVolumeClaim, PodSpec, PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import { intOrPercentValue } from "../workloads/int-or-percent.ts";
import {
  checkCollisionCount,
  checkCounts,
  checkOwnSelector,
  checkReplicaCounts,
  checkSelects,
  isEmpty,
  isSettled,
  specWarnings,
} from "../workloads/workload-rules.ts";
import { StatefulSet } from "./statefulset-kind.ts";

type Read<T> = DeepReadonly<T>;
type Spec = Read<StatefulSet["spec"]>;
type Strategy = NonNullable<Spec["updateStrategy"]>;

function defaultSpec(spec: Spec): Spec {
  let result: Spec = fill(spec, {
    podManagementPolicy: "OrderedReady",
    updateStrategy: {},
    persistentVolumeClaimRetentionPolicy: {},
    replicas: 1,
    revisionHistoryLimit: 10,
  });
  result = change(result, "updateStrategy", defaultStrategy);
  result = change(result, "persistentVolumeClaimRetentionPolicy", (policy) =>
    fill(policy, { whenDeleted: "Retain", whenScaled: "Retain" }),
  );
  result = change(result, "volumeClaimTemplates", (list) => changeItems<PersistentVolumeClaim>(list, defaultClaim));
  return change(result, "template", (template) => defaultPodTemplate(template));
}

function defaultStrategy(strategy: Strategy): Strategy {
  const typed: Strategy =
    strategy.type === undefined ? fill(strategy, { type: "RollingUpdate", rollingUpdate: {} }) : strategy;
  if (typed.type !== "RollingUpdate") return typed;
  return change(typed, "rollingUpdate", (given) => {
    // Belongs to a feature gate that is off by default.
    const { maxUnavailable: _, ...rolling } = given;
    return fill(rolling, { partition: 0 });
  });
}

/** Claim templates are defaulted like the claims created from them. */
function defaultClaim(claim: Read<PersistentVolumeClaim>): Read<PersistentVolumeClaim> {
  const typed = fill(claim, { apiVersion: "v1", kind: "PersistentVolumeClaim", status: {} });
  return change(
    change(typed, "spec", (spec) => fill(spec, { volumeMode: "Filesystem" })),
    "status",
    (status) => fill(status, { phase: "Pending" }),
  );
}

function checkStatefulSet({ object: { spec }, oldObject, settled }: Review<StatefulSet>): FieldError[] {
  const errors: FieldError[] = [];
  checkSpec(errors, spec, { isNew: !oldObject, templateSettled: isSettled(spec, settled?.spec) });
  if (oldObject) checkUpdate(errors, spec, oldObject.spec);
  return errors;
}

function checkSpec(
  errors: FieldError[],
  spec: Spec,
  { isNew, templateSettled }: { isNew: boolean; templateSettled: boolean },
): void {
  const { podManagementPolicy, selector, template, ordinals, serviceName } = spec;
  if (!podManagementPolicy) errors.push(field.required("spec.podManagementPolicy"));
  else if (podManagementPolicy !== "OrderedReady" && podManagementPolicy !== "Parallel")
    errors.push(field.invalid("spec.podManagementPolicy", podManagementPolicy, "must be 'OrderedReady' or 'Parallel'"));
  checkStrategy(errors, spec.updateStrategy ?? {});
  checkRetention(errors, spec.persistentVolumeClaimRetentionPolicy);
  if (isNew)
    for (const [index, claim] of (spec.volumeClaimTemplates ?? []).entries())
      checkClaimSpec(errors, `spec.volumeClaimTemplates[${index}].spec`, claim.spec ?? {});
  errors.push(
    ...checkNotNegative("spec.replicas", spec.replicas),
    ...checkNotNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...checkNotNegative("spec.ordinals.start", ordinals?.start),
  );
  if (isNew && serviceName) errors.push(...checkText("spec.serviceName", serviceName, dnsLabelProblems));
  if (!checkOwnSelector(errors, selector, "statefulset")) errors.push(field.invalid("spec.selector", selector));
  else {
    if (!selector || !isEmpty(selector)) checkSelects(errors, "spec.template", selector, template);
    if (!templateSettled) checkOwnTemplate(errors, template ?? {}, spec.volumeClaimTemplates ?? []);
  }
  checkNeverTerminates(errors, "spec.template", template?.spec, "StatefulSet");
}

/**
 * Pods are named after the set and mount their claims as volumes. Metadata errors are reported twice, as upstream does.
 */
function checkOwnTemplate(
  errors: FieldError[],
  template: Read<PodTemplateSpec>,
  claims: readonly Read<PersistentVolumeClaim>[],
): void {
  const { hostname: _h, subdomain: _s, ...given }: Partial<Read<PodSpec>> = template.spec ?? {};
  const names = new Set(claims.map(({ metadata }) => metadata?.name ?? ""));
  const claimed = [...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const spec = {
    ...given,
    ...defined({
      volumes:
        claims.length > 0 ? [...claimed, ...(given.volumes ?? []).filter(({ name }) => !names.has(name))] : undefined,
    }),
  } as Read<PodSpec>;
  checkTemplate(errors, "spec.template", { ...template, spec });
  const { labels, annotations } = template.metadata ?? {};
  errors.push(...checkLabels("spec.template.labels", labels));
  checkAnnotationKeys(errors, "spec.template.annotations", annotations);
  checkPodAnnotations(errors, "spec.template.annotations", annotations, spec);
}

function checkStrategy(errors: FieldError[], strategy: Strategy): void {
  const { type, rollingUpdate } = strategy;
  const at = "spec.updateStrategy.rollingUpdate";
  if (!type) errors.push(field.required("spec.updateStrategy"));
  else if (type === "OnDelete") {
    if (rollingUpdate) errors.push(field.invalid(at, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'"));
  } else if (type !== "RollingUpdate")
    errors.push(field.invalid("spec.updateStrategy", strategy, "must be 'RollingUpdate' or 'OnDelete'"));
  else if (rollingUpdate) {
    const { partition, maxUnavailable } = rollingUpdate;
    errors.push(...checkNotNegative(`${at}.partition`, partition));
    if (maxUnavailable === undefined) return;
    errors.push(...checkIntOrPercent(`${at}.maxUnavailable`, maxUnavailable));
    if (intOrPercentValue(maxUnavailable) === 0)
      errors.push(field.invalid(`${at}.maxUnavailable`, maxUnavailable, "cannot be 0"));
    if (typeof maxUnavailable === "string" && intOrPercentValue(maxUnavailable) > 100)
      errors.push(field.invalid(`${at}.maxUnavailable`, maxUnavailable, "must not be greater than 100%"));
  }
}

const RETENTION = ["Retain", "Delete"];

function checkRetention(errors: FieldError[], policy: Spec["persistentVolumeClaimRetentionPolicy"]): void {
  if (!policy) return;
  for (const name of ["whenDeleted", "whenScaled"] as const) {
    const value = policy[name] ?? "";
    if (!RETENTION.includes(value))
      errors.push(field.notSupported(`spec.persistentVolumeClaimRetentionPolicy.${name}`, value, RETENTION));
  }
}

/** All other fields determine pod identities. */
const MUTABLE = [
  "replicas",
  "template",
  "updateStrategy",
  "minReadySeconds",
  "ordinals",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
] as const;

function checkUpdate(errors: FieldError[], spec: Spec, old: Spec): void {
  const fixed = (of: Spec): object =>
    Object.fromEntries(Object.entries(of).filter(([key]) => !(MUTABLE as readonly string[]).includes(key)));
  if (!equalJson(fixed(spec), fixed(old))) {
    errors.push(
      field.forbidden(
        "spec",
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', " +
          "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and " +
          "'minReadySeconds' are forbidden",
      ),
    );
  }
}

function checkStatus({ object: { status }, oldObject }: Review<StatefulSet>): FieldError[] {
  const errors: FieldError[] = [];
  if (!status) return errors;
  checkCounts(errors, "status", status, [
    "replicas",
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "availableReplicas",
    "observedGeneration",
    "collisionCount",
  ]);
  checkReplicaCounts(
    errors,
    status,
    ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"],
    "status.readyReplicas",
  );
  checkCollisionCount(errors, status.collisionCount, oldObject?.status?.collisionCount);
  return errors;
}

function warnings(review: Review<StatefulSet>): string[] {
  const { spec } = review.object;
  if (review.subresource === "status") return [];
  const found = specWarnings(review, () => templateWarnings("spec.template", spec.template));
  // Upstream names the spec of a claim only in updates.
  const at = review.operation === "CREATE" ? "" : ".Spec";
  for (const [index, claim] of (spec.volumeClaimTemplates ?? []).entries())
    found.push(...claimWarnings(`spec.volumeClaimTemplates[${index}]${at}`, claim.spec ?? {}));
  if ((spec.revisionHistoryLimit ?? 0) < 0)
    found.push(
      "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
    );
  return found;
}

export const rules: AnyAdmission[] = [
  builtInAdmission(StatefulSet, "apps-v1", {
    complete: (set) => change(set, "spec", defaultSpec),
    validate: checkStatefulSet,
    validateStatus: checkStatus,
    warnings,
  }),
];
