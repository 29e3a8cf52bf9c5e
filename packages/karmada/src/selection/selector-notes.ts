/** Descriptions of the selectors that several kinds have, for their reference pages. */

export const selectorNotes: Readonly<Record<string, string>> = {
  "spec.resourceSelectors":
    "Selects objects. If several selectors match, the best match wins: by name, then by labels, then by kind alone.",
  "spec.resourceSelectors[].apiVersion": "Any served version selects the kind in all versions.",
  "spec.resourceSelectors[].namespace":
    "Only in cluster-scoped policies; a namespaced policy selects in its own namespace.",
};

export const affinityNotes = (at: string): Readonly<Record<string, string>> => ({
  [`${at}.clusterNames`]: "Only these members.",
  [`${at}.exclude`]: "Never these members, whatever else matches.",
  [`${at}.labelSelector`]: "Selects members by the labels of their Cluster.",
  [`${at}.fieldSelector`]: "Selects members by `provider`, `region` or `zone`.",
});
