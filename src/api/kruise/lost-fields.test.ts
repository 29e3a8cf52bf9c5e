import { expect, test } from "vitest";
import { fieldsLostIn } from "./lost-fields.ts";

const cases: Record<string, { version: string; kind: string; spec: object; want: string[] }> = {
  "a CloneSet that both versions can say loses nothing": {
    version: "v1alpha1",
    kind: "CloneSet",
    spec: { replicas: 3, scaleStrategy: { enablePVCReuse: true } },
    want: [],
  },
  "one that leaves out pods that wait for their deletion loses that": {
    version: "v1alpha1",
    kind: "CloneSet",
    spec: { scaleStrategy: { excludePreparingDelete: true } },
    want: ["spec.scaleStrategy.excludePreparingDelete"],
  },
  "reserved ordinals have no place in v1alpha1": {
    version: "v1alpha1",
    kind: "StatefulSet",
    spec: { reserveOrdinals: ["0-4"], lifecycle: {} },
    want: ["spec.reserveOrdinals"],
  },
  "an ordinal 1 is something, no ordinals are not": {
    version: "v1alpha1",
    kind: "StatefulSet",
    spec: { reserveOrdinals: [] },
    want: [],
  },
  "a partition beside OnDelete has no place in v1beta1": {
    version: "v1beta1",
    kind: "CloneSet",
    spec: { updateStrategy: { type: "OnDelete", partition: 2 } },
    want: ["spec.updateStrategy.partition"],
  },
  "a partition of a rolling update has one": {
    version: "v1beta1",
    kind: "CloneSet",
    spec: { updateStrategy: { type: "ReCreate", partition: 2 } },
    want: [],
  },
  "a budget's ignored pods have no place in v1alpha1": {
    version: "v1alpha1",
    kind: "PodUnavailableBudget",
    spec: { ignoredPodSelector: { matchLabels: { a: "b" } } },
    want: ["spec.ignoredPodSelector"],
  },
  "kinds that lose nothing are not looked at": {
    version: "v1alpha1",
    kind: "constructor",
    spec: { lifecycle: { a: 1 } },
    want: [],
  },
};
for (const [behaviour, { version, kind, spec, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(fieldsLostIn(version, { kind, spec: spec as never })).toEqual(want);
  });
}
