/**
 * LocalSubjectAccessReview: checks whether a user may perform an action in this namespace. Access to it can be granted
 * per namespace.
 */
import { builtInKind } from "@flotilla/apimachinery";
import type { LocalSubjectAccessReview as LocalSubjectAccessReviewFacts } from "@flotilla/apimachinery/facts/authorization-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

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

export const localSubjectAccessReview = defineKind({
  kind: LocalSubjectAccessReview,

  example: exampleOf(LocalSubjectAccessReview, {
    spec: { user: "u", resourceAttributes: { namespace: "shop", verb: "get", resource: "pods" } },
  }),
});
