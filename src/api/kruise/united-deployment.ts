/** OpenKruise's UnitedDeployment: one workload for each subset of a cluster's nodes. */
import type { AnyAdmission } from "../admission.ts";
import { AGE, lazyVersion } from "../define.ts";
import { definitionSchema } from "../facts.ts";
import type { Column, Kind } from "../kind.ts";
import { count, SCALE } from "./columns.ts";
import type { UnitedDeployment as UnitedDeploymentType } from "./united-deployment-types.ts";
import { fromStorage, toStorage, v1beta1Schema } from "./united-deployment-versions.ts";
import type { KruiseGates } from "./gates.ts";
import { completeUnitedDeployment } from "./united-deployment-defaults.ts";
import { checkUnitedDeployment } from "./united-deployment-rules.ts";
import { withSelector } from "./template-rules.ts";
import { kruiseAdmission } from "./webhook.ts";

export type UnitedDeployment = UnitedDeploymentType;

const columns: Column[] = [count("DESIRED", ".spec.replicas"), count("CURRENT", ".status.replicas"), count("UPDATED", ".status.updatedReplicas"), count("READY", ".status.readyReplicas"), AGE];

export const UnitedDeployment: Kind<UnitedDeployment> = {
  group: "apps.kruise.io",
  kind: "UnitedDeployment",
  plural: "uniteddeployments",
  shortNames: ["ud"],
  scope: "Namespaced",
  storageVersion: "v1beta1",
  versions: {
    v1beta1: lazyVersion(columns, v1beta1Schema),
    v1alpha1: lazyVersion(columns, () => definitionSchema("uniteddeployments.apps.kruise.io", "v1alpha1"), { toStorage, fromStorage }),
  },
  subresources: { status: true, scale: SCALE },
  builtIn: false,
  hasGeneration: true,
};

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
