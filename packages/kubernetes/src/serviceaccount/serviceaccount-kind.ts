/** ServiceAccount: the identity of a pod at the API server. */
import { ageColumn, builtInKind, nameColumn } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ServiceAccount as ServiceAccountFacts } from "@flotilla/apimachinery/facts/core-v1.ts";

export type ServiceAccount = ServiceAccountFacts;

export const ServiceAccount: Kind<ServiceAccount> = builtInKind<ServiceAccount>({
  group: "",
  version: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  shortNames: ["sa"],
  scope: "Namespaced",
  facts: "core-v1",
  columns: [nameColumn, ageColumn],
  subresources: { actions: { token: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" } } },
  traits: { metadataChecks: { update: true, create: true }, deletionReturnsObject: true },
});
