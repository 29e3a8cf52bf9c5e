/** OpenKruise's SidecarSet: containers that are injected into new pods, and updated in running ones. */
import type { Admission, AnyAdmission } from "@flotilla/apimachinery";
import { AGE } from "@flotilla/apimachinery";
import type { Column } from "@flotilla/apimachinery";
import { count } from "./columns.ts";
import type { SidecarSet as SidecarSetType } from "./sidecar-set-types.ts";
import { fromStorage, toStorage } from "./sidecar-set-versions.ts";
import type { KruiseGates } from "./gates.ts";
import { completeSidecarSet, fillDefinitionDefaults } from "./sidecar-set-defaults.ts";
import { checkSidecarSet } from "./sidecar-set-rules.ts";
import { kruiseKind } from "./kruise-kind.ts";
import { kruiseAdmission } from "./webhook.ts";

export type SidecarSet = SidecarSetType;

const columns: Column[] = [
  count("MATCHED", ".status.matchedPods"),
  count("UPDATED", ".status.updatedPods"),
  count("READY", ".status.readyPods"),
  AGE,
];

export const SidecarSet = kruiseKind<SidecarSet>({
  kind: "SidecarSet",
  plural: "sidecarsets",
  scope: "Cluster",
  columns,
  toStorage,
  fromStorage,
});

export const admissions = (gates: KruiseGates): AnyAdmission[] => [
  {
    for: SidecarSet,
    on: ["CREATE", "UPDATE"],
    mutate: ({ object, subresource }) => (subresource === undefined ? fillDefinitionDefaults(object) : object),
  } satisfies Admission<SidecarSet>,
  kruiseAdmission(SidecarSet, {
    name: "sidecarset",
    code: 500,
    tables: { v1alpha1: "apps-kruise-v1alpha1", v1beta1: "apps-kruise-v1beta1" },
    open: {
      containers: "apps-kruise-v1beta1.SidecarContainer",
      initContainers: "apps-kruise-v1beta1.SidecarContainer",
      volumes: "core-v1.Volume",
    },
    complete: completeSidecarSet,
    check: checkSidecarSet(gates),
  }),
];
