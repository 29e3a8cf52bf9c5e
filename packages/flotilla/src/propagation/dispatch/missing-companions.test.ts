import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { makeBinding, makeCloneSet } from "@flotilla/testing/builders.ts";
import { missingCompanions } from "./missing-companions.ts";

const cloneSet = makeCloneSet("shop/web").build();
const sidecarSet: KubernetesObject = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "SidecarSet",
  metadata: { name: "proxies" },
};
const bindingOn = (...clusters: string[]): ResourceBinding =>
  makeBinding(cloneSet)
    .targets(Object.fromEntries(clusters.map((cluster) => [cluster, 1])))
    .build();
const workOn = (cluster: string, applied: "True" | "False"): Work =>
  ({
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { name: "proxies", namespace: `karmada-es-${cluster}` },
    spec: {},
    status: { conditions: [{ type: "Applied", status: applied }] },
  }) as unknown as Work;

interface Case {
  propagates?: boolean;
  own?: string[];
  companion?: ResourceBinding;
  delivered?: Work[];
  known?: boolean;
  want: string | undefined;
}
const cases: Record<string, Case> = {
  "waits while its companion is not applied": {
    companion: bindingOn("oslo", "paris"),
    delivered: [workOn("oslo", "True"), workOn("paris", "False")],
    want: "SidecarSet proxies",
  },
  "continues when it is applied on all new members": {
    companion: bindingOn("oslo", "paris"),
    delivered: [workOn("oslo", "True"), workOn("paris", "True")],
    want: undefined,
  },
  "does not wait for a companion that no policy sends there": { companion: bindingOn("rome"), want: undefined },
  "waits for a companion that it takes along": { propagates: true, want: "SidecarSet proxies" },
  "waits while it is not known which companions there are": { known: false, want: "unknown" },
  "does not wait when all members have the workload": {
    own: ["oslo", "paris"],
    companion: bindingOn("oslo", "paris"),
    want: undefined,
  },
};
for (const [behaviour, { propagates, own = [], companion, delivered = [], known = true, want }] of Object.entries(
  cases,
)) {
  test(`the first delivery of a workload ${behaviour}`, () => {
    const binding = bindingOn("oslo", "paris");
    binding.spec.propagateDeps = propagates;
    const works = own.map((cluster) => workOn(cluster, "True"));

    const missing = missingCompanions(binding, cloneSet, works, {
      companionsOf: () => (known ? [sidecarSet] : undefined),
      bindingOf: () => companion,
      worksOf: () => delivered,
    });

    expect(missing).toBe(want);
  });
}
