/** SelfSubjectReview: returns the user that the server authenticated. Used by `kubectl auth whoami`. */
import { builtInKind } from "@flotilla/apimachinery";
import type { SelfSubjectReview as SelfSubjectReviewFacts } from "@flotilla/apimachinery/facts/authentication-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type SelfSubjectReview = SelfSubjectReviewFacts;

export const SelfSubjectReview: Kind<SelfSubjectReview> = builtInKind<SelfSubjectReview>({
  group: "authentication.k8s.io",
  version: "v1",
  kind: "SelfSubjectReview",
  plural: "selfsubjectreviews",
  scope: "Cluster",
  facts: "authentication-v1",
  columns: [],
  verbs: ["create"],
});

export const selfSubjectReview = defineKind({
  kind: SelfSubjectReview,

  example: exampleOf(SelfSubjectReview),
});
