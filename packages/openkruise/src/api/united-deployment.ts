/** OpenKruise's UnitedDeployment: one workload for each subset of a cluster's nodes. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import { AGE } from "@flotilla/apimachinery";
import type { Column } from "@flotilla/apimachinery";
import { count } from "./columns.ts";
import type { UnitedDeployment as UnitedDeploymentType } from "./united-deployment-types.ts";
import { fromStorage, toStorage, v1beta1Schema } from "./united-deployment-versions.ts";
import type { KruiseGates } from "./gates.ts";
import { completeUnitedDeployment } from "./united-deployment-defaults.ts";
import { checkUnitedDeployment } from "./united-deployment-rules.ts";
import { withSelector } from "./template-rules.ts";
import { kruiseKind } from "./kruise-kind.ts";
import { kruiseAdmission } from "./webhook.ts";

export type UnitedDeployment = UnitedDeploymentType;

const columns: Column[] = [
  count("DESIRED", ".spec.replicas"),
  count("CURRENT", ".status.replicas"),
  count("UPDATED", ".status.updatedReplicas"),
  count("READY", ".status.readyReplicas"),
  AGE,
];

export const UnitedDeployment = kruiseKind<UnitedDeployment>({
  kind: "UnitedDeployment",
  plural: "uniteddeployments",
  shortNames: ["ud"],
  columns,
  hasScale: true,
  v1beta1Schema,
  toStorage,
  fromStorage,
});

export const admissions = (gates: KruiseGates): AnyAdmission[] => [
  kruiseAdmission(UnitedDeployment, {
    name: "uniteddeployment",
    code: 422,
    tables: { v1alpha1: "apps-kruise-v1alpha1" },
    complete: completeUnitedDeployment(gates),
    check: checkUnitedDeployment,
    prepare: withSelector,
  }),
];
