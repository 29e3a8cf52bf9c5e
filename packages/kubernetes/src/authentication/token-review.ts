/** TokenReview: returns the user a token belongs to. Other servers use it to authenticate tokens they receive. */
import { builtInKind } from "@flotilla/apimachinery";
import type { TokenReview as TokenReviewFacts } from "@flotilla/apimachinery/facts/authentication-v1.ts";
import type { Kind } from "@flotilla/apimachinery";
import { defineKind } from "../definition/kind-definition.ts";
import { exampleOf } from "../definition/example.ts";

export type TokenReview = TokenReviewFacts;

export const TokenReview: Kind<TokenReview> = builtInKind<TokenReview>({
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenReview",
  plural: "tokenreviews",
  scope: "Cluster",
  facts: "authentication-v1",
  columns: [],
  verbs: ["create"],
});

export const tokenReview = defineKind({
  kind: TokenReview,

  example: exampleOf(TokenReview, { spec: { token: "x" } }),
});
