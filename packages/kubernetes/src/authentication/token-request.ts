/** TokenRequest: the body of `serviceaccounts/<name>/token`, returned with a token. It is not a resource of its own. */
import { builtInKind } from "@flotilla/apimachinery";
import type { TokenRequest as TokenRequestFacts } from "@flotilla/apimachinery/facts/authentication-v1.ts";
import type { Kind } from "@flotilla/apimachinery";

export type TokenRequest = TokenRequestFacts;

export const TokenRequest: Kind<TokenRequest> = builtInKind<TokenRequest>({
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenRequest",
  plural: "tokenrequests",
  scope: "Namespaced",
  facts: "authentication-v1",
  columns: [],
  verbs: ["create"],
});
