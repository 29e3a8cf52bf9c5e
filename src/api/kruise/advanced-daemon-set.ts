/** OpenKruise's DaemonSet, called Advanced DaemonSet: updates in place, by partition and by node label. */
import type { AnyAdmission } from "../admission.ts";
import { lazyVersion } from "../define.ts";
import { definitionSchema } from "../facts.ts";
import type { Column, Kind } from "../kind.ts";
import type { AdvancedDaemonSet as AdvancedDaemonSetType } from "./advanced-daemon-set-types.ts";
import { fromStorage, toStorage } from "./advanced-daemon-set-versions.ts";
import { AGE_AND_CONTAINERS, count } from "./columns.ts";
import { checkDaemonSet, completeDaemonSet } from "./advanced-daemon-set-rules.ts";
import { OPEN_TEMPLATES, withSelector } from "./template-rules.ts";
import { kruiseAdmission } from "./webhook.ts";

export type AdvancedDaemonSet = AdvancedDaemonSetType;

const FACTS = "daemonsets.apps.kruise.io";

const columns: Column[] = [
  count("DESIRED", ".status.desiredNumberScheduled"),
  count("CURRENT", ".status.currentNumberScheduled"),
  count("READY", ".status.numberReady"),
  count("UP-TO-DATE", ".status.updatedNumberScheduled"),
  count("AVAILABLE", ".status.numberAvailable"),
  ...AGE_AND_CONTAINERS,
];

export const AdvancedDaemonSet: Kind<AdvancedDaemonSet> = {
  group: "apps.kruise.io",
  kind: "DaemonSet",
  plural: "daemonsets",
  shortNames: ["daemon", "ads"],
  scope: "Namespaced",
  storageVersion: "v1beta1",
  versions: {
    v1beta1: lazyVersion(columns, () => definitionSchema(FACTS, "v1beta1")),
    v1alpha1: lazyVersion(columns, () => definitionSchema(FACTS, "v1alpha1"), { toStorage, fromStorage }),
  },
  subresources: { status: true },
  builtIn: false,
  hasGeneration: true,
};

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
