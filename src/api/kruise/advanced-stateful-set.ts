/** OpenKruise's StatefulSet, called Advanced StatefulSet: updates in place, in any order, several pods at once. */
import type { AnyAdmission } from "../admission.ts";
import { lazyVersion } from "../define.ts";
import { definitionSchema } from "../facts.ts";
import type { Column, Kind } from "../kind.ts";
import type { AdvancedStatefulSet as AdvancedStatefulSetType } from "./advanced-stateful-set-types.ts";
import { fromStorage, toStorage } from "./advanced-stateful-set-versions.ts";
import { AGE_AND_CONTAINERS, count, SCALE } from "./columns.ts";
import { checkStatefulSet, completeStatefulSet } from "./advanced-stateful-set-rules.ts";
import type { KruiseGates } from "./gates.ts";
import { OPEN_TEMPLATES, withSelector } from "./template-rules.ts";
import { kruiseAdmission } from "./webhook.ts";

export type AdvancedStatefulSet = AdvancedStatefulSetType;

const FACTS = "statefulsets.apps.kruise.io";

const columns: Column[] = [
  count("DESIRED", ".spec.replicas"),
  count("CURRENT", ".status.replicas"),
  count("UPDATED", ".status.updatedReplicas"),
  count("READY", ".status.readyReplicas"),
  ...AGE_AND_CONTAINERS,
];

export const AdvancedStatefulSet: Kind<AdvancedStatefulSet> = {
  group: "apps.kruise.io",
  kind: "StatefulSet",
  plural: "statefulsets",
  shortNames: ["sts", "asts"],
  scope: "Namespaced",
  storageVersion: "v1beta1",
  versions: {
    v1beta1: lazyVersion(columns, () => definitionSchema(FACTS, "v1beta1")),
    v1alpha1: lazyVersion(columns, () => definitionSchema(FACTS, "v1alpha1"), { toStorage, fromStorage }),
  },
  subresources: { status: true, scale: SCALE },
  builtIn: false,
  hasGeneration: true,
};

export const admissions = (gates: KruiseGates): AnyAdmission[] => [
  kruiseAdmission(AdvancedStatefulSet, {
    name: "statefulset",
    code: 422,
    tables: { v1alpha1: "apps-kruise-v1alpha1", v1beta1: "apps-kruise-v1beta1" },
    open: OPEN_TEMPLATES,
    complete: completeStatefulSet(gates),
    check: checkStatefulSet(gates),
    prepare: withSelector,
  }),
];
