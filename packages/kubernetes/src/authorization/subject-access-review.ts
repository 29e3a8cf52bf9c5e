/** SubjectAccessReview: checks whether a user may perform an action. Answered and never stored. */
import { builtInKind } from "@flotilla/apimachinery";
import type { SubjectAccessReview as SubjectAccessReviewFacts } from "@flotilla/apimachinery/facts/authorization-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type SubjectAccessReview = SubjectAccessReviewFacts;

export const SubjectAccessReview: Kind<SubjectAccessReview> = builtInKind<SubjectAccessReview>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SubjectAccessReview",
  plural: "subjectaccessreviews",
  scope: "Cluster",
  facts: "authorization-v1",
  columns: [],
  verbs: ["create"],
});

export const subjectAccessReview = defineKind({
  kind: SubjectAccessReview,

  example: exampleOf(SubjectAccessReview, { spec: { user: "u", nonResourceAttributes: { path: "/", verb: "get" } } }),
});
