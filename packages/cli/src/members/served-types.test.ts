import { expect, test } from "vitest";
import { findNamesakes, findTypes, idOf, knownNames, titleOf, wordOf } from "./served-types.ts";
import type { ServedType } from "./served-types.ts";

const served = (
  group: string,
  version: string,
  kind: string,
  plural: string,
  more: Partial<ServedType> = {},
): ServedType => ({
  group,
  version,
  kind,
  plural,
  scope: "Namespaced",
  singular: kind.toLowerCase(),
  shortNames: [],
  categories: [],
  verbs: ["get", "list"],
  ...more,
});
const TYPES = [
  served("", "v1", "Pod", "pods", { shortNames: ["po"], categories: ["all"] }),
  served("", "v1", "Service", "services", { shortNames: ["svc"], categories: ["all"] }),
  served("apps", "v1", "Deployment", "deployments", { shortNames: ["deploy"], categories: ["all"] }),
  served("apps", "v1", "StatefulSet", "statefulsets"),
  served("apps.kruise.io", "v1beta1", "StatefulSet", "statefulsets", { shortNames: ["asts"] }),
  served("apps.kruise.io", "v1alpha1", "StatefulSet", "statefulsets", { shortNames: ["asts"] }),
  served("apps.kruise.io", "v1alpha1", "CloneSet", "clonesets", { shortNames: ["cs"] }),
  served("authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", {
    categories: ["all"],
    verbs: ["create"],
  }),
];

const cases: Record<string, { word: string; want: string[] }> = {
  "a plural": { word: "pods", want: ["pods/v1"] },
  "a singular": { word: "pod", want: ["pods/v1"] },
  "a kind, in any case": { word: "cloneSET", want: ["clonesets.apps.kruise.io/v1alpha1"] },
  "a short name": { word: "deploy", want: ["deployments.apps/v1"] },
  "a name in two groups selects the group that the server lists first": {
    word: "statefulsets",
    want: ["statefulsets.apps/v1"],
  },
  "a group selects, in the server's preferred version": {
    word: "statefulsets.apps.kruise.io",
    want: ["statefulsets.apps.kruise.io/v1beta1"],
  },
  "a version and a group select": {
    word: "statefulsets.v1alpha1.apps.kruise.io",
    want: ["statefulsets.apps.kruise.io/v1alpha1"],
  },
  "a group prefix is enough": { word: "deployments.ap", want: ["deployments.apps/v1"] },
  "a short name with a group prefix": { word: "cs.apps.kruise", want: ["clonesets.apps.kruise.io/v1alpha1"] },
  "a category selects all listable types in it": {
    word: "all",
    want: ["pods/v1", "services/v1", "deployments.apps/v1"],
  },
  "an unknown word selects nothing": { word: "podz", want: [] },
};
for (const [behaviour, { word, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(findTypes(TYPES, word).map((type) => `${idOf(type)}/${type.version}`)).toEqual(want);
  });
}

const namesakes: Record<string, { word: string; want: string[] }> = {
  "TYPE/NAME may mean the kind of any group": {
    word: "statefulset",
    want: ["statefulsets.apps/v1", "statefulsets.apps.kruise.io/v1beta1"],
  },
  "TYPE/NAME with a group means one kind": {
    word: "statefulset.apps.kruise.io",
    want: ["statefulsets.apps.kruise.io/v1beta1"],
  },
  "a short name that one group has means that kind": {
    word: "asts",
    want: ["statefulsets.apps.kruise.io/v1beta1"],
  },
  "TYPE/NAME of an unknown type means nothing": { word: "podz", want: [] },
};
for (const [behaviour, { word, want }] of Object.entries(namesakes)) {
  test(behaviour, () => {
    expect(findNamesakes(TYPES, word).map((type) => `${idOf(type)}/${type.version}`)).toEqual(want);
  });
}

test("a hint names the group of a kind that several groups have", () => {
  expect(
    [
      { apiVersion: "apps.kruise.io/v1beta1", kind: "StatefulSet" },
      { apiVersion: "apps/v1", kind: "DaemonSet" },
      { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" },
    ].map(wordOf),
  ).toEqual(["statefulset.apps.kruise.io", "daemonset.apps", "cloneset"]);
});

test("names include their type as in kubectl", () => {
  expect(TYPES.slice(0, 3).map(titleOf)).toEqual(["pod", "service", "deployment.apps"]);
});

test("suggestions come from every name, each once", () => {
  expect([...knownNames(TYPES.slice(0, 1))]).toEqual(["pods", "all", "pod", "po"]);
});
