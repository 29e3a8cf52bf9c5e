/**
 * LocalSubjectAccessReview: may somebody do something in this namespace? It can be granted to those who own a namespace
 * only.
 */
import { builtInKind } from "../define.ts";
import type { LocalSubjectAccessReview as LocalSubjectAccessReviewFacts } from "../facts/authorization-v1.ts";
import type { Kind } from "../kind.ts";

export type LocalSubjectAccessReview = LocalSubjectAccessReviewFacts;

export const LocalSubjectAccessReview: Kind<LocalSubjectAccessReview> = builtInKind<LocalSubjectAccessReview>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "LocalSubjectAccessReview",
  plural: "localsubjectaccessreviews",
  scope: "Namespaced",
  facts: "authorization-v1",
  columns: [],
  verbs: ["create"],
});
