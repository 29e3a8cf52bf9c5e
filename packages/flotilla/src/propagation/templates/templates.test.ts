import { expect, test } from "vitest";
import { isTemplate } from "./templates.ts";

const cases: Record<
  string,
  { object: { apiVersion: string; kind: string; namespace?: string; name: string }; want: boolean }
> = {
  "objects in user namespaces are propagated to members": {
    object: { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" },
    want: true,
  },
  "the root CA ConfigMap that every cluster creates in every namespace is not propagated": {
    object: { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "kube-root-ca.crt" },
    want: false,
  },
  "another kind of that name is propagated": {
    object: { apiVersion: "v1", kind: "Secret", namespace: "shop", name: "kube-root-ca.crt" },
    want: true,
  },
  "objects in a cluster's system namespaces are not propagated": {
    object: { apiVersion: "v1", kind: "ConfigMap", namespace: "kube-system", name: "settings" },
    want: false,
  },
  "a system namespace is not a template": {
    object: { apiVersion: "v1", kind: "Namespace", name: "karmada-es-paris" },
    want: false,
  },
};
for (const [behaviour, { object, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    const { namespace, name, ...type } = object;

    expect(isTemplate({ ...type, metadata: { name, namespace: namespace || undefined } })).toBe(want);
  });
}
