/** For the tests of this folder: what the admission of a kind makes of an object, and what it says of it. */
import { required, type DeepReadonly } from "../base/index.ts";
import type { AnyAdmission, Review } from "./admission.ts";
import type { KubernetesObject } from "./meta.ts";

export function makeReview<T>(object: DeepReadonly<T>, oldObject?: DeepReadonly<T>, subresource?: string): Review<T> {
  return {
    operation: oldObject ? "UPDATE" : "CREATE",
    cluster: "hub",
    version: "v1",
    ...(subresource !== undefined && { subresource }),
    user: { name: "tester", groups: [] },
    object,
    ...(oldObject && { oldObject }),
    dryRun: false,
    newUid: () => "11111111-2222-4333-8444-555555555555",
    warn: () => {},
  };
}

/** The object with its defaults. */
export function completedBy<T extends KubernetesObject>(admissions: readonly AnyAdmission[], object: T, old?: DeepReadonly<T>, subresource?: string): DeepReadonly<T> {
  const { mutate } = required(admissions[0], "an admission of the kind");
  return (mutate?.(makeReview(object as DeepReadonly<T>, old, subresource)) ?? object) as DeepReadonly<T>;
}

/** What is wrong with the object after it was completed, as clients read it. */
export function problemsOf<T extends KubernetesObject>(admissions: readonly AnyAdmission[], object: T, old?: DeepReadonly<T>, subresource?: string): string[] {
  const completed = completedBy(admissions, object, old, subresource);
  return admissions.flatMap(({ validate }) => validate?.(makeReview(completed, old, subresource)) ?? []).map(({ field, message }) => `${field}: ${message}`);
}

/** What a client is told of an object that is right. */
export function warningsOf<T extends KubernetesObject>(admissions: readonly AnyAdmission[], object: T, old?: DeepReadonly<T>): string[] {
  const completed = completedBy(admissions, object, old);
  return admissions.flatMap(({ warnings }) => warnings?.(makeReview(completed, old)) ?? []);
}
