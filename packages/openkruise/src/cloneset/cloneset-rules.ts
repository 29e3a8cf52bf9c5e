/**
 * Defaults and validation of CloneSet, as in OpenKruise's webhooks. An object is validated in the version in which it
 * was sent, so partition and similar fields are in `spec.updateStrategy` in v1alpha1 and in
 * `spec.updateStrategy.rollingUpdate` in v1beta1.
 */
import { equalJson, type DeepReadonly, omitZero } from "@flotilla/base";
import { change, checkNotNegative, controllerOf, dnsSubdomainProblems, field, fill } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Review } from "@flotilla/apimachinery";
import type { CloneSetRollingUpdate, CloneSetSpec, CloneSetUpdateStrategy } from "./cloneset-types.ts";
import { checkMetadata } from "../api/metadata-rules.ts";
import { priorityProblem, readShare, scatterProblem } from "../api/strategy-rules.ts";
import {
  changeBeyondImages,
  checkOwnSelector,
  checkOwnTemplate,
  checkSelects,
  checkTemplateNeverTerminates,
  completeClaims,
  completeSelector,
  completesTemplate,
  completeTemplate,
  decodeTemplates,
  hasSettledTemplate,
  OPEN_TEMPLATES,
  withSelector,
} from "../api/template-rules.ts";
import { isHub, kruiseAdmission, rejectionOf } from "../api/webhook.ts";
import { CloneSet } from "./cloneset-kind.ts";
import type { FeatureGates } from "../api/feature-gates.ts";
import { isAlpha } from "../api/conversion.ts";

const PODS = { group: "", plural: "pods" };

type Read<T> = DeepReadonly<T>;
/** v1alpha1 has the update policy in `type`, beside the fields that v1beta1 moved to `rollingUpdate`. */
type Rolling = Read<Omit<CloneSetRollingUpdate, "podUpdatePolicy">>;
export type AlphaStrategy = Rolling & { readonly type?: string };

const MAX_INT32 = 2 ** 31 - 1;
const POLICIES = ["ReCreate", "InPlaceIfPossible", "InPlaceOnly"];

const completeCloneSet =
  (gates: FeatureGates) =>
  (cloneSet: Read<CloneSet>, review: Review<CloneSet>): Read<CloneSet> =>
    change(cloneSet, "spec", (given) => {
      let spec: Read<CloneSetSpec> = fill(isAlpha(cloneSet) ? given : decodeTemplates(given, rejectionOf("cloneset")), {
        replicas: 1,
        revisionHistoryLimit: 10,
        updateStrategy: {},
      });
      spec = completeSelector(spec, spec.template?.metadata?.labels, "spec.template.metadata.labels", review);
      if (completesTemplate(spec.template, review.oldObject, gates)) {
        spec = change(spec, "template", completeTemplate);
        spec = change(spec, "volumeClaimTemplates", completeClaims);
      }
      return change(
        spec,
        "updateStrategy",
        isAlpha(cloneSet)
          ? (strategy) => completeAlpha(inAlphaForm(strategy as AlphaStrategy, review))
          : (strategy) => completeBeta(inBetaForm(strategy, review.warn)),
      );
    });

/** Fields that v1alpha1 has in `updateStrategy` and v1beta1 in `rollingUpdate`. */
const MOVED = [
  "partition",
  "maxUnavailable",
  "maxSurge",
  "paused",
  "priorityStrategy",
  "scatterStrategy",
  "inPlaceUpdateStrategy",
] as const;

/**
 * Users patch `spec.updateStrategy.partition`, as in every published OpenKruise version, and kubectl sends the patch in
 * the newest version. If the field were dropped as unknown, pods that should be kept would be updated, so it is
 * converted.
 */
function inBetaForm(
  strategy: Read<CloneSetUpdateStrategy>,
  warn: (message: string) => void,
): Read<CloneSetUpdateStrategy> {
  const { type, rollingUpdate, ...rest } = strategy as AlphaStrategy & {
    readonly rollingUpdate?: Read<CloneSetRollingUpdate>;
  };
  const moved = MOVED.filter((path) => rest[path] !== undefined);
  const policy = POLICIES.find((name) => name === type);
  if (moved.length === 0 && policy === undefined) return strategy;
  for (const at of moved)
    warn(
      `spec.updateStrategy.${at}: this is spec.updateStrategy.rollingUpdate.${at} in apps.kruise.io/v1beta1 and was taken as such`,
    );
  if (policy)
    warn(
      `spec.updateStrategy.type: "${policy}" is spec.updateStrategy.rollingUpdate.podUpdatePolicy in apps.kruise.io/v1beta1 and was taken as such`,
    );
  const others = Object.fromEntries(Object.entries(rest).filter(([field]) => !MOVED.some((name) => name === field)));
  const values = Object.fromEntries(moved.map((path) => [path, rest[path]]));
  return {
    ...others,
    type: policy ? "RollingUpdate" : type,
    rollingUpdate: { ...rollingUpdate, ...values, ...omitZero({ podUpdatePolicy: policy }) },
  } as Read<CloneSetUpdateStrategy>;
}

/** Other workloads call it RollingUpdate, and users write that here too: the hub accepts and converts it. */
export function inAlphaForm(
  strategy: AlphaStrategy,
  review: Pick<Review<CloneSet>, "cluster" | "warn">,
): AlphaStrategy {
  if (strategy.type !== "RollingUpdate" || !isHub(review)) return strategy;
  review.warn(
    'spec.updateStrategy.type: "RollingUpdate" was taken for "ReCreate"; in apps.kruise.io/v1alpha1 write ReCreate, InPlaceIfPossible or InPlaceOnly',
  );
  return { ...strategy, type: "ReCreate" };
}

function completeBeta(strategy: Read<CloneSetUpdateStrategy>): Read<CloneSetUpdateStrategy> {
  const typed: Read<CloneSetUpdateStrategy> = fill(strategy, { type: "RollingUpdate" });
  if (typed.type === "OnDelete") return typed;
  return change(fill(typed, { rollingUpdate: {} }), "rollingUpdate", (rolling) => {
    const filled: Read<CloneSetRollingUpdate> = fill(rolling, { podUpdatePolicy: "ReCreate" });
    return completeRolling(filled, filled.podUpdatePolicy);
  });
}

function completeAlpha(strategy: AlphaStrategy): Read<CloneSetUpdateStrategy> {
  const typed: AlphaStrategy = fill(strategy, { type: "ReCreate" });
  return completeRolling(typed, typed.type) as Read<CloneSetUpdateStrategy>;
}

function completeRolling<T extends Rolling>(rolling: T, policy: string | undefined): T {
  const isInPlace = policy === "InPlaceIfPossible" || policy === "InPlaceOnly";
  return fill<Rolling>(rolling, {
    partition: 0,
    maxUnavailable: "20%",
    maxSurge: 0,
    inPlaceUpdateStrategy: isInPlace ? {} : undefined,
  }) as T;
}

function checkCloneSet(review: Review<CloneSet>): FieldError[] {
  const { object, oldObject } = review;
  const errors: FieldError[] = [];
  if (oldObject) checkChange(errors, object, oldObject);
  checkMetadata(errors, object.metadata, dnsSubdomainProblems);
  checkSpec(errors, review);
  return errors;
}

const MUTABLE =
  "updates to cloneset spec for fields other than 'replicas', 'template', 'lifecycle', 'scaleStrategy', " +
  "'updateStrategy', 'minReadySeconds', 'progressDeadlineSeconds', 'volumeClaimTemplates' and " +
  "'revisionHistoryLimit' are forbidden";

function checkChange(errors: FieldError[], now: Read<CloneSet>, before: Read<CloneSet>): void {
  if (!equalJson(now.spec.selector, before.spec.selector)) errors.push(field.forbidden("spec", MUTABLE));
  if (policyOf(now) !== "InPlaceOnly") return;
  const beyond = changeBeyondImages(before.spec.template?.spec, now.spec.template?.spec);
  if (beyond !== undefined)
    errors.push(field.forbidden("spec", `only allowed to update images in spec for InPlaceOnly, but found ${beyond}`));
}

function policyOf(cloneSet: Read<CloneSet>): string | undefined {
  const strategy = cloneSet.spec.updateStrategy ?? {};
  return isAlpha(cloneSet) ? (strategy as AlphaStrategy).type : strategy.rollingUpdate?.podUpdatePolicy;
}

function checkSpec(errors: FieldError[], review: Review<CloneSet>): void {
  const { object } = review;
  const { spec } = object;
  const { replicas = 1, selector, template, progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
  errors.push(...checkNotNegative("spec.replicas", replicas));
  if (checkOwnSelector(errors, selector, "cloneset")) {
    checkSelects(errors, "spec.template.metadata.labels", selector, template?.metadata?.labels);
    if (!hasSettledTemplate(review))
      checkOwnTemplate(errors, "spec.template", template ?? {}, spec.volumeClaimTemplates);
  }
  checkTemplateNeverTerminates(errors, "spec.template", template, "cloneset");
  checkPodsToDelete(errors, review);
  checkStrategy(errors, object, replicas);
  if (deadline === undefined) return;
  errors.push(...checkNotNegative("spec.progressDeadlineSeconds", deadline));
  if (deadline !== MAX_INT32 && deadline <= minReadySeconds)
    errors.push(field.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"));
}

/** Pods newly listed for deletion must exist and belong to this set. */
function checkPodsToDelete(errors: FieldError[], review: Review<CloneSet>): void {
  const { object, oldObject, read } = review;
  const path = "spec.scaleStrategy.podsToDelete";
  const names = object.spec.scaleStrategy?.podsToDelete ?? [];
  const seen = new Set<string>();
  const repeated = names.filter((name) => seen.size === seen.add(name).size);
  if (repeated.length > 0)
    return void errors.push(field.invalid(path, names, `duplicated items [${repeated.join(" ")}]`));
  if (isHub(review)) return;
  const known = new Set(oldObject?.spec.scaleStrategy?.podsToDelete);
  const { namespace, uid = "" } = object.metadata;
  for (const name of names.filter((candidate) => !known.has(candidate)).toSorted()) {
    const pod = read.get(PODS, namespace, name);
    if (!pod) errors.push(field.invalid(path, name, `find pod ${name} failed: Pod ${JSON.stringify(name)} not found`));
    else if (pod.metadata.deletionTimestamp !== undefined)
      errors.push(field.invalid(path, name, `find pod ${name} already terminating`));
    else if (controllerOf(pod)?.uid !== uid)
      errors.push(field.invalid(path, name, `find pod ${name} owner is not this CloneSet`));
  }
}

function checkStrategy(errors: FieldError[], cloneSet: Read<CloneSet>, replicas: number): void {
  const { updateStrategy = {} } = cloneSet.spec;
  if (isAlpha(cloneSet)) {
    const alpha = updateStrategy as AlphaStrategy;
    if (!POLICIES.includes(alpha.type ?? ""))
      errors.push(
        field.invalid(
          "spec.updateStrategy.type",
          alpha.type ?? "",
          "must be 'ReCreate', InPlaceIfPossible or 'InPlaceOnly'",
        ),
      );
    checkRolling(errors, "spec.updateStrategy", alpha, alpha.type, replicas);
  } else if (updateStrategy.rollingUpdate) {
    const { rollingUpdate } = updateStrategy;
    checkRolling(errors, "spec.updateStrategy.rollingUpdate", rollingUpdate, rollingUpdate.podUpdatePolicy, replicas);
    checkPreDownload(errors, rollingUpdate);
  }
}

function checkRolling(
  errors: FieldError[],
  at: string,
  rolling: Rolling,
  policy: string | undefined,
  replicas: number,
): void {
  const share = (name: "partition" | "maxUnavailable" | "maxSurge"): number => {
    const value = rolling[name];
    const read = readShare(value, replicas);
    if ("value" in read) return read.value;
    errors.push(
      field.invalid(
        `${at}.${name}`,
        value === undefined ? "<nil>" : String(value),
        `failed GetScaledValueFromIntOrPercent for ${name}: ${read.problem}`,
      ),
    );
    return 0;
  };
  errors.push(...checkNotNegative(`${at}.partition`, share("partition")));
  const priority = priorityProblem(rolling.priorityStrategy);
  if (priority !== undefined) errors.push(field.required(`${at}.priorityStrategy`, priority));
  const scatter = scatterProblem(rolling.scatterStrategy);
  if (scatter !== undefined) errors.push(field.required(`${at}.scatterStrategy`, scatter));
  const unavailable = rolling.maxUnavailable === undefined ? 0 : share("maxUnavailable");
  const surge = rolling.maxSurge === undefined ? 0 : share("maxSurge");
  if (policy === "InPlaceOnly" && surge > 0)
    errors.push(
      field.invalid(`${at}.maxSurge`, String(rolling.maxSurge), "can not use maxSurge with strategy type InPlaceOnly"),
    );
  if (replicas > 0 && unavailable < 1 && surge < 1) {
    errors.push(
      field.invalid(
        `${at}.maxUnavailable`,
        rolling.maxUnavailable,
        "maxUnavailable and maxSurge should not both be less than 1",
      ),
    );
  }
}

function checkPreDownload(errors: FieldError[], { inPlaceUpdateStrategy }: Read<CloneSetRollingUpdate>): void {
  const parallelism = inPlaceUpdateStrategy?.imagePreDownloadParallelism;
  if (parallelism === undefined || (typeof parallelism === "number" && parallelism >= 0)) return;
  errors.push(
    field.invalid(
      "spec.updateStrategy.rollingUpdate.inPlaceUpdateStrategy.imagePreDownloadParallelism",
      parallelism,
      "must be a non-negative integer",
    ),
  );
}

export const cloneSetRules = (gates: FeatureGates): AnyAdmission[] => [
  kruiseAdmission(CloneSet, {
    name: "cloneset",
    code: 422,
    tables: { v1alpha1: "apps-kruise-v1alpha1" },
    open: OPEN_TEMPLATES,
    complete: completeCloneSet(gates),
    check: checkCloneSet,
    prepare: withSelector,
  }),
];
