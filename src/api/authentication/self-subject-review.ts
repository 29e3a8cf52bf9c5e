/** SelfSubjectReview: returns the user that the server authenticated. Used by `kubectl auth whoami`. */
import { builtInKind } from "../define.ts";
import type { SelfSubjectReview as SelfSubjectReviewFacts } from "../facts/authentication-v1.ts";
import type { Kind } from "../kind.ts";

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
