/** CSIDriver: defaults and validation, loaded when the first object is written. */
import { equalJson, type DeepReadonly } from "@flotilla/base";
import { builtInAdmission, change, checkUnchanged, field, fill } from "@flotilla/apimachinery";
import type { FieldError, Review, Sent } from "@flotilla/apimachinery";
import type { CSIDriverSpec, TokenRequest } from "@flotilla/apimachinery/facts/storage-v1.ts";
import { CSIDriver } from "./csi-driver.ts";

type Read<T> = DeepReadonly<T>;

const GROUP_POLICIES = ["File", "None", "ReadWriteOnceWithFSType"];

const LIFECYCLE_MODES = ["Persistent", "Ephemeral"];

const MIN_UPDATE_PERIOD_SECONDS = 10;

const MIN_TOKEN_SECONDS = 600;

const MAX_TOKEN_SECONDS = 2 ** 32;

const DEFAULTS: Partial<CSIDriverSpec> = {
  attachRequired: true,
  podInfoOnMount: false,
  storageCapacity: false,
  fsGroupPolicy: "ReadWriteOnceWithFSType",
  volumeLifecycleModes: ["Persistent"],
  requiresRepublish: false,
  seLinuxMount: false,
};

/** Scaling limits by the drivers of a node are off in a stock server, which drops their fields. */
function dropLimitScaling(driver: Read<CSIDriver>): Read<CSIDriver> {
  return change(driver, "spec", (spec) => {
    if (spec.preventPodSchedulingIfMissing === undefined) return spec;
    const { preventPodSchedulingIfMissing: _, ...kept } = spec;
    return kept;
  });
}

function checkSpec(spec: Sent<CSIDriverSpec>): FieldError[] {
  const {
    fsGroupPolicy,
    tokenRequests = [],
    volumeLifecycleModes = [],
    nodeAllocatableUpdatePeriodSeconds: period,
    serviceAccountTokenInSecrets,
  } = spec;
  const errors: FieldError[] = [];
  if (fsGroupPolicy !== undefined && !GROUP_POLICIES.includes(fsGroupPolicy))
    errors.push(field.notSupported("spec.fsGroupPolicy", fsGroupPolicy, GROUP_POLICIES));
  checkTokenRequests(errors, "spec.tokenRequests", tokenRequests);
  for (const mode of volumeLifecycleModes)
    if (!LIFECYCLE_MODES.includes(mode))
      errors.push(field.notSupported("spec.volumeLifecycleModes", mode, LIFECYCLE_MODES));
  if (period !== undefined && period < MIN_UPDATE_PERIOD_SECONDS)
    errors.push(
      field.invalid(
        "spec.nodeAllocatableUpdatePeriodSeconds",
        period,
        `must be greater than or equal to ${MIN_UPDATE_PERIOD_SECONDS} seconds`,
      ),
    );
  if (serviceAccountTokenInSecrets !== undefined && tokenRequests.length === 0) {
    errors.push(
      field.invalid(
        "spec.serviceAccountTokenInSecrets",
        serviceAccountTokenInSecrets,
        "serviceAccountTokenInSecrets is set but no tokenRequests are specified",
      ),
    );
  }
  return errors;
}

function checkTokenRequests(errors: FieldError[], at: string, requests: readonly Sent<TokenRequest>[]): void {
  const audiences = new Set<string>();
  for (const [index, { audience = "", expirationSeconds }] of requests.entries()) {
    if (audiences.has(audience)) {
      errors.push(field.duplicate(`${at}[${index}].audience`, audience));
      continue;
    }
    audiences.add(audience);
    if (expirationSeconds === undefined) continue;
    const path = `${at}[${index}].expirationSeconds`;
    if (expirationSeconds < MIN_TOKEN_SECONDS)
      errors.push(field.invalid(path, expirationSeconds, "may not specify a duration less than 10 minutes"));
    if (expirationSeconds > MAX_TOKEN_SECONDS)
      errors.push(field.invalid(path, expirationSeconds, "may not specify a duration larger than 2^32 seconds"));
  }
}

function checkDriver({ object: { spec }, oldObject }: Review<CSIDriver>): FieldError[] {
  const errors = checkSpec(spec);
  if (!oldObject) return errors;
  // Kubernetes misspells the name of the first field, and clients match it.
  errors.push(...checkUnchanged("spec.attachedRequired", spec.attachRequired, oldObject.spec.attachRequired));
  errors.push(
    ...checkUnchanged("spec.volumeLifecycleModes", spec.volumeLifecycleModes, oldObject.spec.volumeLifecycleModes),
  );
  return errors;
}

const TOKENS_IN_ATTRIBUTES =
  "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes";

function driverWarnings({ object: { spec }, oldObject }: Review<CSIDriver>): string[] {
  const { tokenRequests = [], serviceAccountTokenInSecrets } = spec;
  if (tokenRequests.length === 0 || serviceAccountTokenInSecrets !== undefined) return [];
  return oldObject && equalJson(tokenRequests, oldObject.spec.tokenRequests) ? [] : [TOKENS_IN_ATTRIBUTES];
}

export const csiDriverRules = builtInAdmission(CSIDriver, "storage-v1", {
  complete: (driver) => change(driver, "spec", (spec) => fill(spec, DEFAULTS)),
  prepare: dropLimitScaling,
  validate: checkDriver,
  warnings: driverWarnings,
});
