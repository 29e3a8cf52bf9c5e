/** Runs the API server's admission steps for the tests of kinds: default, prepare, validate. */
import { deepFreeze, type DeepReadonly, omitZero } from "@flotilla/base";
import type { AnyAdmission, ClusterReader, RequestInfo, Review } from "./admission.ts";
import type { KubernetesObject } from "./meta.ts";

export const UID = "abcde000-0000-4000-8000-000000000000";

/** An empty cluster. */
export const emptyCluster: ClusterReader = {
  get: () => undefined,
  mentions: () => false,
  list: () => [],
  written: () => [],
  versions: () => [],
  kinds: () => [],
};

/** For rules that do not depend on the kind of the request. */
export const SOME_KIND: RequestInfo["kind"] = {
  group: "",
  kind: "Something",
  plural: "somethings",
  scope: "Namespaced",
  builtIn: true,
};

interface Reviewed<T> {
  object: T;
  /** `field: message` of all errors. */
  problems: string[];
  /** Warnings for a valid object. */
  warnings: string[];
}

/** The review of one write. With an old object, the stored one, it is an update. */
export function makeReview<T>(object: DeepReadonly<T>, oldObject?: DeepReadonly<T>, subresource?: string): Review<T> {
  return {
    operation: oldObject ? "UPDATE" : "CREATE",
    cluster: "hub",
    kind: SOME_KIND,
    version: "v1",
    subresource,
    user: { name: "tester", groups: [] },
    object,
    oldObject: oldObject || undefined,
    dryRun: false,
    newUid: () => UID,
    nowMs: () => Date.parse("2024-05-01T12:00:00Z"),
    allows: () => true,
    decide: () => ({ allowed: true, reason: "" }),
    warn: () => {},
    read: emptyCluster,
  };
}

/** One write, from the sent object to the one to be stored. */
export function review<T extends KubernetesObject>(
  admissions: readonly AnyAdmission[],
  given: T,
  rest: { old?: object; subresource?: string; byController?: true } = {},
): Reviewed<T> {
  const { old, subresource, byController } = rest;
  const warnings: string[] = [];
  let object = deepFreeze({
    ...given,
    metadata: { uid: UID, creationTimestamp: "2024-05-01T12:00:00Z", ...given.metadata },
  }) as DeepReadonly<T>;
  const ask = (): Review<T> => ({
    ...makeReview(object, old as DeepReadonly<T> | undefined, subresource),
    ...omitZero({ byController }),
    warn: (text) => void warnings.push(text),
  });
  for (const { mutate } of admissions) object = deepFreeze(mutate?.(ask()) ?? object) as typeof object;
  for (const { prepare } of admissions) object = deepFreeze(prepare?.(ask()) ?? object) as typeof object;
  const problems = admissions
    .flatMap(({ validate }) => validate?.(ask()) ?? [])
    .map(({ field, message }) => `${field}: ${message}`);
  if (problems.length === 0) for (const admission of admissions) warnings.push(...(admission.warnings?.(ask()) ?? []));
  return { object: object as T, problems, warnings };
}

export function completedBy<T extends KubernetesObject>(
  admissions: readonly AnyAdmission[],
  object: T,
  old?: DeepReadonly<T>,
  subresource?: string,
): DeepReadonly<T> {
  return reviewed(admissions, object, old, subresource).object as DeepReadonly<T>;
}

export function problemsOf<T extends KubernetesObject>(
  admissions: readonly AnyAdmission[],
  object: T,
  old?: DeepReadonly<T>,
  subresource?: string,
): string[] {
  return reviewed(admissions, object, old, subresource).problems;
}

export function warningsOf<T extends KubernetesObject>(
  admissions: readonly AnyAdmission[],
  object: T,
  old?: DeepReadonly<T>,
): string[] {
  return reviewed(admissions, object, old).warnings;
}

function reviewed<T extends KubernetesObject>(
  admissions: readonly AnyAdmission[],
  object: T,
  old?: DeepReadonly<T>,
  subresource?: string,
): Reviewed<T> {
  return review(admissions, object, { old: old || undefined, subresource });
}
