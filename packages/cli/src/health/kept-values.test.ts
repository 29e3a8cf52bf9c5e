import { expect, test, vi } from "vitest";
import { FlotillaError } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { forbidden } from "@flotilla/apimachinery";
import type { ResourceBinding } from "@flotilla/karmada";
import { findKeptValues } from "./kept-values.ts";

const binding = {
  metadata: { name: "web-deployment", namespace: "shop" },
  spec: { resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" } },
} as unknown as ResourceBinding;

const unseenOf = async (error: Error): Promise<string[]> => {
  const client = { get: vi.fn<() => Promise<never>>().mockRejectedValue(error) } as unknown as Client;
  return (await findKeptValues([binding], client, new AbortController().signal)).unseen;
};

test("names why an explanation cannot be read", async () => {
  expect(await unseenOf(new FlotillaError("Timeout", "no response within 3 s"))).toEqual([
    "what Retain rules keep on members: no response within 3 s",
  ]);
  expect(await unseenOf(forbidden({ group: "flotilla.dev", resource: "explanations" }, "web", "no"))).toEqual([
    "what Retain rules keep on members: you are not allowed to read explanations",
  ]);
});
