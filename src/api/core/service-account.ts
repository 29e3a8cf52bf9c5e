/** ServiceAccount: who a pod is to the API server. */
import type { AnyAdmission } from "../admission.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { builtInAdmission, builtInKind } from "../define.ts";
import type { ServiceAccount as ServiceAccountFacts } from "../facts/core-v1.ts";
import type { Kind } from "../kind.ts";

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
});

export const admissions: AnyAdmission[] = [builtInAdmission(ServiceAccount, "core-v1")];
