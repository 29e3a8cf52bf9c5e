/**
 * SelfSubjectRulesReview: lists the actions the requesting user may perform in a namespace. Used by `kubectl auth can-i
 * --list`.
 */
import { builtInKind } from "@flotilla/apimachinery";
import type { SelfSubjectRulesReview as SelfSubjectRulesReviewFacts } from "@flotilla/apimachinery/facts/authorization-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type SelfSubjectRulesReview = SelfSubjectRulesReviewFacts;

export const SelfSubjectRulesReview: Kind<SelfSubjectRulesReview> = builtInKind<SelfSubjectRulesReview>({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "SelfSubjectRulesReview",
  plural: "selfsubjectrulesreviews",
  scope: "Cluster",
  facts: "authorization-v1",
  columns: [],
  verbs: ["create"],
});

export const selfSubjectRulesReview = defineKind({
  kind: SelfSubjectRulesReview,

  example: exampleOf(SelfSubjectRulesReview, { spec: { namespace: "shop" } }),
});
