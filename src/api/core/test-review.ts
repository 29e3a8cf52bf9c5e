/** What the API server does to an object of a kind, for the tests of kinds: complete it, prepare it, and say what is wrong. */
import { deepFreeze, type DeepReadonly } from "../../base/index.ts";
import type { AnyAdmission, Review } from "../admission.ts";
import type { KubernetesObject } from "../meta.ts";

export const UID = "abcde000-0000-4000-8000-000000000000";

export interface Reviewed<T> {
  object: T;
  /** `field: message` of everything that is wrong. */
  problems: string[];
  warnings: string[];
}

/** One write. `old` is what is stored, so that this is an update of it. */
export function review<T extends KubernetesObject>(admissions: readonly AnyAdmission[], given: T, rest: { old?: object; subresource?: string; inProcess?: true } = {}): Reviewed<T> {
  const { old, subresource, inProcess } = rest;
  const warnings: string[] = [];
  let object = deepFreeze({ ...given, metadata: { uid: UID, creationTimestamp: "2024-05-01T12:00:00Z", ...given.metadata } });
  const ask = (): Review<T> => ({
    operation: old ? "UPDATE" : "CREATE",
    cluster: "m",
    version: "v1",
    ...(subresource !== undefined && { subresource }),
    ...(inProcess && { inProcess }),
    user: { name: "u", groups: [] },
    object: object,
    ...(old && { oldObject: old as DeepReadonly<T> }),
    dryRun: false,
    newUid: () => UID,
    warn: (text) => void warnings.push(text),
  });
  for (const { mutate } of admissions) object = deepFreeze(mutate?.(ask()) ?? object) as typeof object;
  for (const { prepare } of admissions) object = deepFreeze(prepare?.(ask()) ?? object) as typeof object;
  const problems = admissions.flatMap(({ validate }) => validate?.(ask()) ?? []).map(({ field, message }) => `${field}: ${message}`);
  if (problems.length === 0) for (const admission of admissions) warnings.push(...(admission.warnings?.(ask()) ?? []));
  return { object: object as unknown as T, problems, warnings };
}
