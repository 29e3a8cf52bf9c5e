/** SubjectAccessReview: checks whether a user may perform an action. Answered and never stored. */
import { builtInKind } from "@flotilla/apimachinery";
import type { SubjectAccessReview as SubjectAccessReviewFacts } from "@flotilla/apimachinery/facts/authorization-v1.ts";
import type { Kind } from "@flotilla/apimachinery";

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
