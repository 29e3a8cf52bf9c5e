/** TokenReview: returns the user a token belongs to. Other servers use it to authenticate tokens they receive. */
import { builtInKind } from "../define.ts";
import type { TokenReview as TokenReviewFacts } from "../facts/authentication-v1.ts";
import type { Kind } from "../kind.ts";

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
