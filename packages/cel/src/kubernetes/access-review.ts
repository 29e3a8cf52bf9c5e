/** The type of `request` in conditions of authorization webhooks: the spec of a SubjectAccessReview. */
import { type CelType, listOf, mapOf, STRING, structOf } from "../types/types.ts";

const struct = (name: string, fields: Readonly<Record<string, CelType>>): CelType =>
  structOf(`kubernetes.${name}`, new Map(Object.entries(fields)));

export const ACCESS_REVIEW_SPEC = struct("SubjectAccessReviewSpec", {
  user: STRING,
  uid: STRING,
  groups: listOf(STRING),
  extra: mapOf(STRING, listOf(STRING)),
  resourceAttributes: struct("ResourceAttributes", {
    namespace: STRING,
    verb: STRING,
    group: STRING,
    version: STRING,
    resource: STRING,
    subresource: STRING,
    name: STRING,
  }),
  nonResourceAttributes: struct("NonResourceAttributes", { path: STRING, verb: STRING }),
});
