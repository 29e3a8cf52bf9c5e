/** Defaults and validation of ServiceAccount. */
import { MOUNTABLE_SECRETS_ANNOTATION } from "../well-known-names.ts";
import type { DeepReadonly } from "@flotilla/base";
import { builtInAdmission, change, changeItems } from "@flotilla/apimachinery";
import type { AnyAdmission } from "@flotilla/apimachinery";
import { ServiceAccount } from "./serviceaccount-kind.ts";

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

export const rules: AnyAdmission[] = [
  builtInAdmission(ServiceAccount, "core-v1", {
    prepare: keepNames,
    warnings({ object, oldObject }) {
      const asks = (account: DeepReadonly<ServiceAccount> | undefined): boolean =>
        Object.hasOwn(account?.metadata.annotations ?? {}, MOUNTABLE_SECRETS_ANNOTATION);
      if (!asks(object) || asks(oldObject)) return [];
      return [
        `metadata.annotations[${MOUNTABLE_SECRETS_ANNOTATION}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
      ];
    },
  }),
];
