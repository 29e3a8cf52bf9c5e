/** The guide for OpenKruise with Karmada, section by section: every file as it is written there, in that order, and what it promises. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Event, AdvancedStatefulSet, CloneSet, PropagationPolicy, ResourceBinding, SidecarSet, UnitedDeployment } from "../../src/api/index.ts";
import { walkThrough, type WalkThrough } from "./walk-through.ts";

let walk: WalkThrough;
beforeEach(async () => {
  walk = await walkThrough();
});
afterEach(() => walk.fleet.stop());

test("explore", async () => {
  console.log(await walk.apply("interpreters/guide-cloneset", "interpreters/guide-statefulset", "interpreters/guide-sidecarset", "interpreters/guide-uniteddeployment"));
  console.log(await walk.apply("workloads/guide-sample-cloneset", "workloads/guide-sample-advancedstatefulset", "workloads/guide-sample-sidecarset", "workloads/guide-sample-uniteddeployment"));
  console.log(await walk.apply("policies/guide-sample-cloneset-propagation", "policies/guide-advancedstatefulset-propagation", "policies/guide-sidecarset-propagation", "policies/guide-uniteddeployment-propagation"));
  await walk.settle();
  for (const [kind, name] of [[CloneSet, "sample-cloneset"], [AdvancedStatefulSet, "sample-advancedstatefulset"], [SidecarSet, "sample-sidecarset"], [UnitedDeployment, "sample-uniteddeployment"]] as const) {
    for (const c of ["hub", "member1", "member2"]) console.log(c, JSON.stringify((await walk.find(kind as never, c, name) as any)?.status));
  }
  for (const p of ["/apis/policy.karmada.io/v1alpha1/propagationpolicies", "/apis/work.karmada.io/v1alpha2/resourcebindings","/apis/work.karmada.io/v1alpha2/clusterresourcebindings", "/apis/cluster.karmada.io/v1alpha1/clusters", "/apis/apps.kruise.io/v1alpha1/clonesets", "/apis/apps.kruise.io/v1beta1/statefulsets", "/apis/apps.kruise.io/v1alpha1/sidecarsets", "/apis/apps.kruise.io/v1alpha1/uniteddeployments"]) console.log(p, JSON.stringify(await walk.rows("hub", p)));
  console.log(JSON.stringify(await walk.rows("member1", "/api/v1/namespaces/default/pods")));
  console.log(JSON.stringify((await walk.get(PropagationPolicy, "hub", "sidecarset-propagation")).status));
  console.log(JSON.stringify((await walk.fleet.client.list(Event, {cluster:"hub"})).items.map((e)=>e.message)));//.map((r)=>r.slice(0,5))));
});
