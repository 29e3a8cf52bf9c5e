/** ServiceAccount: the identity of a pod at the API server. */
import type { DeepReadonly } from "@flotilla/base";
import type { AnyAdmission } from "@flotilla/apimachinery";
import { ageColumn, nameColumn } from "@flotilla/apimachinery";
import { builtInAdmission, builtInKind } from "@flotilla/apimachinery";
import type { ServiceAccount as ServiceAccountFacts } from "@flotilla/apimachinery/facts/core-v1.ts";
import { change, changeItems } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";

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

const ENFORCE = "kubernetes.io/enforce-mountable-secrets";

/** Only the name of a listed Secret is significant. */
function keepNames(account: DeepReadonly<ServiceAccount>): DeepReadonly<ServiceAccount> {
  return change(account, "secrets", (secrets) =>
    changeItems(secrets, (secret) =>
      Object.keys(secret).every((key) => key === "name")
        ? secret
        : secret.name === undefined
          ? {}
          : { name: secret.name },
    ),
  );
}

export const admissions: AnyAdmission[] = [
  builtInAdmission(ServiceAccount, "core-v1", {
    prepare: keepNames,
    warnings({ object, oldObject }) {
      const asks = (account: DeepReadonly<ServiceAccount> | undefined): boolean =>
        Object.hasOwn(account?.metadata.annotations ?? {}, ENFORCE);
      if (!asks(object) || asks(oldObject)) return [];
      return [
        `metadata.annotations[${ENFORCE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
      ];
    },
  }),
];
