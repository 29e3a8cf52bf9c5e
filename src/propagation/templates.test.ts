import { expect, test } from "vitest";
import { isTemplate } from "./templates.ts";

const cases: Record<
  string,
  { object: { apiVersion: string; kind: string; namespace?: string; name: string }; want: boolean }
> = {
  "what users put into their namespaces goes to members": {
    object: { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" },
    want: true,
  },
  "the authority that every cluster puts into every namespace is its own": {
    object: { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "kube-root-ca.crt" },
    want: false,
  },
  "another kind of that name is no authority": {
    object: { apiVersion: "v1", kind: "Secret", namespace: "shop", name: "kube-root-ca.crt" },
    want: true,
  },
  "what is in a cluster's own namespace stays there": {
    object: { apiVersion: "v1", kind: "ConfigMap", namespace: "kube-system", name: "settings" },
    want: false,
  },
  "a cluster's own namespace is no template": {
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
