import { expect, test } from "vitest";
import { invalid } from "@flotilla/apimachinery";
import { makeBinding, makeDeployment } from "@flotilla/testing/builders.ts";
import { OverrideError } from "../override/override-error.ts";
import { createDispatchEvents } from "./dispatch-events.ts";

const template = makeDeployment("shop/web").build();
const binding = makeBinding(template).build();
const key = { cluster: "hub", namespace: "shop", name: "web-deployment" };

function setUp() {
  const reported: string[] = [];
  const changes = createDispatchEvents({
    record: (_cluster, { kind }, { reason, message }) => void reported.push(`${kind} ${reason}: ${message}`),
  });
  return { changes, reported };
}

test("a failure to make copies is reported once on both objects until the condition is written, and so is its recovery", () => {
  const { changes, reported } = setUp();
  const failure = { reason: "RenderFailed", message: "oslo: no" } as const;

  for (const each of [failure, failure, undefined, undefined]) changes.synced(key, binding, each);
  changes.settled(key, binding, undefined);

  expect(reported).toEqual([
    "ResourceBinding SyncWorkFailed: oslo: no",
    "Deployment SyncWorkFailed: oslo: no",
    "ResourceBinding SyncWorkSucceed: Sync work of ResourceBinding(shop/web-deployment) successful.",
    "Deployment SyncWorkSucceed: Sync work of ResourceBinding(shop/web-deployment) successful.",
  ]);
});

test("reports recovery from a failure that ended before the condition was written", () => {
  const { changes, reported } = setUp();

  changes.synced(key, binding, { reason: "RenderFailed", message: "oslo: no" });
  changes.settled(key, binding, undefined);
  changes.settled(key, binding, undefined);

  expect(reported.map((text) => text.split(":")[0])).toEqual([
    "ResourceBinding SyncWorkFailed",
    "Deployment SyncWorkFailed",
    "ResourceBinding SyncWorkSucceed",
    "Deployment SyncWorkSucceed",
  ]);
});

test("override policies are reported one by one, each once", () => {
  const { changes, reported } = setUp();
  const fails = (cluster: string, policy: string) => ({ cluster, error: new OverrideError("no", { policy }) });

  changes.overridden(key, template, [
    fails("oslo", "override policy(shop/a)"),
    fails("oslo", "cluster override policy(b)"),
  ]);
  changes.overridden(key, template, [fails("oslo", "override policy(shop/a)")]);
  changes.overridden(key, template, []);
  changes.overridden(key, template, []);

  expect(reported).toEqual([
    "Deployment ApplyOverridePolicyFailed: Apply override policy(shop/a) for cluster(oslo) failed.",
    "Deployment ApplyOverridePolicyFailed: Apply cluster override policy(b) for cluster(oslo) failed.",
    "Deployment ApplyOverridePolicySucceed: Apply cluster override policy(b) for cluster(oslo) succeed.",
    "Deployment ApplyOverridePolicySucceed: Apply override policy(shop/a) for cluster(oslo) succeed.",
  ]);
});

test("a Work that the hub does not let be deleted is reported once, and a transient error is not", () => {
  const { changes, reported } = setUp();
  const refused = invalid("work.karmada.io", "Work", "web", []);

  for (const error of [new Error("connection lost"), refused, refused]) changes.notCleaned(key, binding, error);

  expect(reported.map((text) => text.split(":")[0])).toEqual(["ResourceBinding CleanupWorkFailed"]);
});
