import { expect, test } from "vitest";
import { fieldsLostIn } from "../openkruise.ts";

const cases: Record<string, { version: string; kind: string; spec: object; want: string[] }> = {
  "a CloneSet with fields of both versions loses nothing": {
    version: "v1alpha1",
    kind: "CloneSet",
    spec: { replicas: 3, scaleStrategy: { enablePVCReuse: true } },
    want: [],
  },
  "a CloneSet loses excludePreparingDelete in v1alpha1": {
    version: "v1alpha1",
    kind: "CloneSet",
    spec: { scaleStrategy: { excludePreparingDelete: true } },
    want: ["spec.scaleStrategy.excludePreparingDelete"],
  },
  "a StatefulSet loses reserveOrdinals in v1alpha1": {
    version: "v1alpha1",
    kind: "StatefulSet",
    spec: { reserveOrdinals: ["0-4"], lifecycle: {} },
    want: ["spec.reserveOrdinals"],
  },
  "an empty reserveOrdinals counts as unset": {
    version: "v1alpha1",
    kind: "StatefulSet",
    spec: { reserveOrdinals: [] },
    want: [],
  },
  "a CloneSet loses the partition in v1beta1 with OnDelete": {
    version: "v1beta1",
    kind: "CloneSet",
    spec: { updateStrategy: { type: "OnDelete", partition: 2 } },
    want: ["spec.updateStrategy.partition"],
  },
  "a CloneSet keeps the partition in v1beta1 with a rolling update": {
    version: "v1beta1",
    kind: "CloneSet",
    spec: { updateStrategy: { type: "ReCreate", partition: 2 } },
    want: [],
  },
  "an AdvancedCronJob loses image pulls in v1alpha1": {
    version: "v1alpha1",
    kind: "AdvancedCronJob",
    spec: { schedule: "0 * * * *", template: { imageListPullJobTemplate: { spec: { images: ["web:1"] } } } },
    want: ["spec.template.imageListPullJobTemplate"],
  },
  "a PodUnavailableBudget loses ignoredPodSelector in v1alpha1": {
    version: "v1alpha1",
    kind: "PodUnavailableBudget",
    spec: { ignoredPodSelector: { matchLabels: { a: "b" } } },
    want: ["spec.ignoredPodSelector"],
  },
  "other kinds are not checked": {
    version: "v1alpha1",
    kind: "constructor",
    spec: { lifecycle: { a: 1 } },
    want: [],
  },
};
for (const [behaviour, { version, kind, spec, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    const apiVersion = kind === "PodUnavailableBudget" ? "policy.kruise.io/v1" : "apps.kruise.io/v1";

    expect(fieldsLostIn(version, { apiVersion, kind, spec: spec as never })).toEqual(want);
  });
}
