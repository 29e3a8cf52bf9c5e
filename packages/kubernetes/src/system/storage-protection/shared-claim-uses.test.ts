import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { internalError } from "@flotilla/apimachinery";
import type { Client } from "@flotilla/client";
import { createSharedClaimUses } from "./shared-claim-uses.ts";

const { signal } = new AbortController();
const claimNamed = (name: string, namespace = "shop") => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name, namespace, uid: `${namespace}/${name}` },
});
const podWith = (claimName: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `of-${claimName}`, namespace: "shop" },
  spec: { nodeName: "n1", containers: [], volumes: [{ name: "v", persistentVolumeClaim: { claimName } }] },
});

function setUp(pods = [podWith("a")]) {
  const clock = createFakeClock();
  const asked: string[] = [];
  const failing: Error[] = [];
  const list = async (_: unknown, { namespace = "" }: { namespace?: string }) => {
    asked.push(namespace);
    const error = failing.pop();
    if (error) throw error;
    return { items: pods.filter(({ metadata }) => metadata.namespace === namespace), resourceVersion: "1" };
  };
  const uses = createSharedClaimUses({ client: { list } as unknown as Client, clock });
  const isUsed = (name: string, namespace?: string) => uses.isUsed("paris", claimNamed(name, namespace), signal);
  return { clock, asked, failing, pods, uses, isUsed };
}

test("the claims of a namespace that are deleted together share one list of its pods, at each look", async () => {
  const { clock, asked, uses, isUsed } = setUp();
  const names = ["a", "b", "c"];
  for (const name of names) uses.waits(claimNamed(name));

  expect(await Promise.all(names.map((name) => isUsed(name)))).toEqual([true, false, false]);
  expect(await isUsed("a")).toBe(true);
  expect(asked).toEqual(["shop"]);
  clock.advance(5_000);
  expect(await Promise.all(names.map((name) => isUsed(name)))).toEqual([true, false, false]);
  expect(asked).toEqual(["shop", "shop"]);
  expect(await isUsed("a", "other")).toBe(false);
  expect(asked).toEqual(["shop", "shop", "other"]);
});

test("a claim that was deleted after the list started is looked for in a new one: a pod may have started until then", async () => {
  const { asked, pods, uses, isUsed } = setUp();
  uses.waits(claimNamed("a"));
  await isUsed("a");
  pods.push(podWith("b"));
  uses.waits(claimNamed("b"));

  expect(await isUsed("b")).toBe(true);
  expect(asked).toHaveLength(2);
});

test("a claim whose deletion was not seen yet is never released by a shared list", async () => {
  const { asked, pods, uses, isUsed } = setUp();
  uses.waits(claimNamed("b"));
  await isUsed("b");
  uses.gone(claimNamed("b"));
  pods.push(podWith("b"));

  expect(await isUsed("b")).toBe(true);
  expect(asked).toHaveLength(2);
});

test("a list that fails is not shared with those that look later", async () => {
  const { asked, failing, uses, isUsed } = setUp();
  uses.waits(claimNamed("a"));
  failing.push(internalError("out of order"));

  await expect(isUsed("a")).rejects.toThrow("out of order");
  expect(await isUsed("a")).toBe(true);
  expect(asked).toHaveLength(2);
});
