import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { POLICY_ID } from "@flotilla/karmada";
import { makeBinding, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import type { TemplateKey } from "../templates/templates.ts";
import { planApplication } from "./plan-application.ts";
import type { ApplicationInput } from "./plan-application.ts";

const template = makeDeployment("shop/web")
  .with(({ metadata }) => Object.assign(metadata, { uid: "uid-1", resourceVersion: "7" }))
  .build();
const key: TemplateKey = { group: "apps", kind: "Deployment", namespace: "shop", name: "web" };
const policy = makePolicy("shop/all").build();
const lazy = makePolicy("shop/lazy")
  .with(({ metadata, spec }) => {
    Object.assign(metadata, { labels: { [POLICY_ID]: "p-1" }, resourceVersion: "100" });
    spec.activationPreference = "Lazy";
  })
  .build();
const bindingOwnedBy = (apiVersion: string, uid: string) =>
  makeBinding(template)
    .with(
      ({ metadata }) =>
        (metadata.ownerReferences = [{ apiVersion, kind: "Deployment", name: "web", uid, controller: true }]),
    )
    .build();
const own = bindingOwnedBy("apps/v1", "uid-1");
const job = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { namespace: "shop", name: "seed", uid: "uid-1", resourceVersion: "7" },
};
const jobKey: TemplateKey = { group: "batch", kind: "Job", namespace: "shop", name: "seed" };
/** Of a deleted object with the name; `finished` is the condition that its copy reports. */
const left = (object: KubernetesObject, finished = "Running") =>
  makeBinding(object)
    .with((binding) => {
      binding.metadata.ownerReferences = [];
      binding.spec.resource.uid = "uid-0";
      binding.spec.clusters = [{ name: "oslo" }];
      const status = { conditions: [{ type: finished, status: "True" }] };
      binding.status = { aggregatedStatus: [{ clusterName: "oslo", status }] };
    })
    .build();
const base: ApplicationInput = {
  key,
  template,
  selected: template,
  policy,
  preempted: undefined,
  needs: { met: true },
  binding: undefined,
};

describe("applying a policy to a template", () => {
  const cases: Record<string, { input: Partial<ApplicationInput>; want: object }> = {
    "is rejected while a prerequisite of the policy is missing": {
      input: { needs: { met: false, reason: "PriorityClassMissing", message: "waiting for PriorityClass high" } },
      want: { outcome: "rejected", reason: "PriorityClassMissing", message: "waiting for PriorityClass high" },
    },
    "is rejected if the name of the binding would be too long": {
      input: { key: { ...key, name: "w".repeat(250) } },
      want: { outcome: "rejected", reason: "BindingNameInvalid" },
    },
    "is rejected if a template of another group has the name of the binding": {
      input: { binding: bindingOwnedBy("apps.example.com/v1", "uid-0") },
      want: { outcome: "rejected", reason: "BindingNameTaken", isNameTaken: true },
    },
    "only claims the template while the binding of its predecessor is deleted": {
      input: { binding: bindingOwnedBy("apps/v1", "uid-0") },
      want: { outcome: "claimed until the earlier binding is gone", claimDigest: undefined },
    },
    "of a lazy policy only claims a template that is older, and records its digest on it": {
      input: { policy: lazy },
      want: { outcome: "claimed until the template changes", claimDigest: expect.any(String), own: undefined },
    },
    "creates the binding of a new template in parallel with the claim": {
      input: {},
      want: { outcome: "bound", own: undefined, claimsInParallel: true },
    },
    "takes over the binding that a deleted template left": {
      input: { binding: left(template) },
      want: { outcome: "bound", own: left(template) },
    },
    "deletes the binding that a deleted Job left, when its copies are finished": {
      input: { template: job, selected: job, key: jobKey, binding: left(job, "Complete") },
      want: { outcome: "replaces an earlier run", earlier: left(job, "Complete") },
    },
    "waits for a Job that was deleted and has left copies that run": {
      input: { template: job, selected: job, key: jobKey, binding: left(job) },
      want: {
        outcome: "rejected",
        reason: "EarlierRunUnfinished",
        message:
          "a deleted Job seed has left copies that are not finished on oslo; the new one runs when they are, " +
          "or when 'kubectl delete resourcebinding seed-job -n shop' has deleted them",
        isNameTaken: true,
        awaitsRun: true,
      },
    },
    "of a lazy policy keeps what a deleted Job left until the new one changes": {
      input: { policy: lazy, template: job, selected: job, key: jobKey, binding: left(job, "Complete") },
      want: { outcome: "claimed until the template changes", own: undefined },
    },
    "claims first if the binding exists": {
      input: { binding: own },
      want: { outcome: "bound", own, claimsInParallel: false },
    },
    "claims first if the template is taken from another policy": {
      input: { preempted: lazy },
      want: { outcome: "bound", claimsInParallel: false },
    },
    "gives the binding the priority of the policy's class": {
      input: { needs: { met: true, schedulePriority: 10 } },
      want: { outcome: "bound", schedulePriority: 10 },
    },
  };
  for (const [behaviour, { input, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(planApplication({ ...base, ...input })).toMatchObject(want);
    });
  }
});
