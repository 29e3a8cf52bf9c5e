/** OpenKruise's UnitedDeployment: one workload for each subset of a cluster's nodes. */
import { AGE } from "@flotilla/apimachinery";
import type { Column } from "@flotilla/apimachinery";
import { count } from "../api/columns.ts";
import type { UnitedDeployment as UnitedDeploymentType } from "./uniteddeployment-types.ts";
import { fromStorage, toStorage, v1beta1Schema } from "./uniteddeployment-versions.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { unitedDeploymentDescriptions } from "./uniteddeployment-descriptions.ts";

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
  workload: {
    podTemplates: ["cloneSetTemplate", "advancedStatefulSetTemplate", "statefulSetTemplate", "deploymentTemplate"].map(
      (of) => ["spec", "template", of, "spec", "template"],
    ),
  },
  v1beta1Schema,
  conversion: { toStorage, fromStorage },
  descriptions: unitedDeploymentDescriptions,
});
