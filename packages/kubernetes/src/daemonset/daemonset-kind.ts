/** DaemonSet: one pod of a template on every node that matches. */
import {
  ageColumn,
  builtInKind,
  column,
  labelsCell,
  nameColumn,
  selectorCell,
  templateColumns,
  wide,
} from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { DaemonSet as DaemonSetFacts } from "@flotilla/apimachinery/facts/apps-v1.ts";

export type DaemonSet = DaemonSetFacts;

export const DaemonSet: Kind<DaemonSet> = builtInKind<DaemonSet>({
  group: "apps",
  version: "v1",
  kind: "DaemonSet",
  plural: "daemonsets",
  shortNames: ["ds"],
  categories: ["all"],
  scope: "Namespaced",
  facts: "apps-v1",
  columns: [
    nameColumn,
    column<DaemonSet>("Desired", ({ status }) => status?.desiredNumberScheduled ?? 0, { type: "integer" }),
    column<DaemonSet>("Current", ({ status }) => status?.currentNumberScheduled ?? 0, { type: "integer" }),
    column<DaemonSet>("Ready", ({ status }) => status?.numberReady ?? 0, { type: "integer" }),
    column<DaemonSet>("Up-to-date", ({ status }) => status?.updatedNumberScheduled ?? 0, { type: "integer" }),
    column<DaemonSet>("Available", ({ status }) => status?.numberAvailable ?? 0, { type: "integer" }),
    column<DaemonSet>("Node Selector", ({ spec }) => labelsCell(spec.template.spec?.nodeSelector)),
    ageColumn,
    ...templateColumns<DaemonSet>(({ spec }) => spec.template.spec?.containers ?? []),
    column<DaemonSet>("Selector", ({ spec }) => selectorCell(spec.selector), wide),
  ],
  subresources: { status: true },
  hasGeneration: true,
  workload: { runsOnEveryNode: true },
});
