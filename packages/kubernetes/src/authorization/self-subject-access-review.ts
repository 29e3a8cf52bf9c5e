/** SelfSubjectAccessReview: checks whether the requesting user may perform an action. Answered and never stored. */
import { builtInKind } from "@flotilla/apimachinery";
import type { SelfSubjectAccessReview as SelfSubjectAccessReviewFacts } from "@flotilla/apimachinery/facts/authorization-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type SelfSubjectAccessReview = SelfSubjectAccessReviewFacts;

export const SelfSubjectAccessReview: Kind<SelfSubjectAccessReview> = builtInKind<SelfSubjectAccessReview>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  scope: "Cluster",
  facts: "authorization-v1",
  columns: [],
  verbs: ["create"],
});

export const selfSubjectAccessReview = defineKind({
  kind: SelfSubjectAccessReview,

  example: exampleOf(SelfSubjectAccessReview, { spec: { nonResourceAttributes: { path: "/", verb: "get" } } }),
});
