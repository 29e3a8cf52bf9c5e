import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { notFound } from "@flotilla/apimachinery";
import { tracedTransport } from "./traced-transport.ts";
import type { Transport } from "./transport.ts";

function traced(transport: Partial<Transport>): { transport: Transport; lines: string[] } {
  const lines: string[] = [];
  const clock = createFakeClock();
  return {
    transport: tracedTransport(transport as Transport, {
      server: "https://hub:6443/",
      clock,
      write: (line) => lines.push(line),
    }),
    lines,
  };
}
const path = { cluster: "hub", group: "apps", version: "v1", resource: "deployments", namespace: "shop" };

test("a request is printed with its method, URL and outcome", async () => {
  const { transport, lines } = traced({ send: () => Promise.resolve({}) });

  await transport.send({ verb: "list", path, query: { labelSelector: "a=b" } });

  expect(lines).toEqual([
    "GET https://hub:6443/apis/apps/v1/namespaces/shop/deployments?labelSelector=a%3Db 200 in 0 ms",
  ]);
});

test("a failure is printed with its reason, and thrown", async () => {
  const failure = notFound({ group: "apps", resource: "deployments" }, "web");
  const { transport, lines } = traced({ send: () => Promise.reject(failure) });

  await expect(transport.send({ verb: "get", path: { ...path, name: "web" } })).rejects.toBe(failure);
  expect(lines).toEqual(["GET https://hub:6443/apis/apps/v1/namespaces/shop/deployments/web 404 NotFound in 0 ms"]);
});
