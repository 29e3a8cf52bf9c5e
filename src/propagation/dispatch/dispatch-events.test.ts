import { expect, test } from "vitest";
import { invalid } from "../../machinery/index.ts";
import { makeBinding, makeDeployment } from "../../testing/index.ts";
import { OverrideError } from "../override/override-error.ts";
import { createDispatchEvents } from "./dispatch-events.ts";

const template = makeDeployment("shop/web").build();
const binding = makeBinding(template).build();
const key = { cluster: "hub", namespace: "shop", name: "web-deployment" };

function setUp() {
  const told: string[] = [];
  const news = createDispatchEvents({
    record: (_cluster, { kind }, { reason, message }) => void told.push(`${kind} ${reason}: ${message}`),
  });
  return { news, told };
}

test("a failure to make copies is reported once on both objects until the condition is written, and so is its recovery", () => {
  const { news, told } = setUp();
  const failure = { reason: "RenderFailed", message: "oslo: no" } as const;

  for (const each of [failure, failure, undefined, undefined]) news.synced(key, binding, each);
  news.settled(key, binding, undefined);

  expect(told).toEqual([
    "ResourceBinding SyncWorkFailed: oslo: no",
    "Deployment SyncWorkFailed: oslo: no",
    "ResourceBinding SyncWorkSucceed: Sync work of ResourceBinding(shop/web-deployment) successful.",
    "Deployment SyncWorkSucceed: Sync work of ResourceBinding(shop/web-deployment) successful.",
  ]);
});

test("reports recovery from a failure that ended before the condition was written", () => {
  const { news, told } = setUp();

  news.synced(key, binding, { reason: "RenderFailed", message: "oslo: no" });
  news.settled(key, binding, undefined);
  news.settled(key, binding, undefined);

  expect(told.map((text) => text.split(":")[0])).toEqual([
    "ResourceBinding SyncWorkFailed",
    "Deployment SyncWorkFailed",
    "ResourceBinding SyncWorkSucceed",
    "Deployment SyncWorkSucceed",
  ]);
});

test("override policies are reported one by one, each once", () => {
  const { news, told } = setUp();
  const fails = (cluster: string, policy: string) => ({ cluster, error: new OverrideError("no", { policy }) });

  news.overridden(key, template, [
    fails("oslo", "override policy(shop/a)"),
    fails("oslo", "cluster override policy(b)"),
  ]);
  news.overridden(key, template, [fails("oslo", "override policy(shop/a)")]);
  news.overridden(key, template, []);
  news.overridden(key, template, []);

  expect(told).toEqual([
    "Deployment ApplyOverridePolicyFailed: Apply override policy(shop/a) for cluster(oslo) failed.",
    "Deployment ApplyOverridePolicyFailed: Apply cluster override policy(b) for cluster(oslo) failed.",
    "Deployment ApplyOverridePolicySucceed: Apply cluster override policy(b) for cluster(oslo) succeed.",
    "Deployment ApplyOverridePolicySucceed: Apply override policy(shop/a) for cluster(oslo) succeed.",
  ]);
});

test("a Work that the hub rejects is reported, and a transient error is not", () => {
  const { news, told } = setUp();
  const refused = invalid("work.karmada.io", "Work", "web", []);

  for (const error of [new Error("connection lost"), refused, refused, undefined, undefined])
    news.written(key, binding, error);
  news.notCleaned(key, binding, refused);
  news.notCleaned(key, binding, refused);

  expect(told.map((text) => text.split(":")[0])).toEqual([
    "ResourceBinding SyncWorkFailed",
    "Deployment SyncWorkFailed",
    "ResourceBinding SyncWorkSucceed",
    "Deployment SyncWorkSucceed",
    "ResourceBinding CleanupWorkFailed",
  ]);
});
