/** OpenKruise's DaemonSet, called Advanced DaemonSet: in-place updates, by partition and by node label. */
import type { AnyAdmission } from "@flotilla/apimachinery";
import type { Column } from "@flotilla/apimachinery";
import type { AdvancedDaemonSet as AdvancedDaemonSetType } from "./advanced-daemon-set-types.ts";
import { fromStorage, toStorage } from "./advanced-daemon-set-versions.ts";
import { AGE_AND_CONTAINERS, count } from "./columns.ts";
import { checkDaemonSet, completeDaemonSet } from "./advanced-daemon-set-rules.ts";
import { OPEN_TEMPLATES, withSelector } from "./template-rules.ts";
import { kruiseKind } from "./kruise-kind.ts";
import { kruiseAdmission } from "./webhook.ts";

export type AdvancedDaemonSet = AdvancedDaemonSetType;

const columns: Column[] = [
  count("DESIRED", ".status.desiredNumberScheduled"),
  count("CURRENT", ".status.currentNumberScheduled"),
  count("READY", ".status.numberReady"),
  count("UP-TO-DATE", ".status.updatedNumberScheduled"),
  count("AVAILABLE", ".status.numberAvailable"),
  ...AGE_AND_CONTAINERS,
];

export const AdvancedDaemonSet = kruiseKind<AdvancedDaemonSet>({
  kind: "DaemonSet",
  plural: "daemonsets",
  shortNames: ["daemon", "ads"],
  columns,
  toStorage,
  fromStorage,
});

export const admissions: AnyAdmission[] = [
  kruiseAdmission(AdvancedDaemonSet, {
    name: "daemonset",
    code: (operation) => (operation === "CREATE" ? 500 : 422),
    tables: { v1alpha1: "apps-kruise-v1alpha1", v1beta1: "apps-kruise-v1beta1" },
    open: OPEN_TEMPLATES,
    complete: completeDaemonSet,
    check: checkDaemonSet,
    prepare: withSelector,
  }),
];
