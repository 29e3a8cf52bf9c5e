import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { removeForeignContent } from "./namespace-content.ts";
import type { RemoteService } from "./remote-service.ts";

test("a pass over slow servers ends after some time, and leaves the rest to the next", async () => {
  const clock = createFakeClock();
  let requests = 0;
  const items = Array.from({ length: 500 }, (_, at) => ({ metadata: { name: `a${at}` } }));
  const remote = {
    name: "v1.fish.example",
    group: "fish.example",
    version: "v1",
    condition: { type: "Available", status: "True" },
    discovered: {
      resources: [{ resource: "trout", scope: "Namespaced", verbs: ["get", "list", "delete"] }],
    },
    async send() {
      requests++;
      clock.advance(4_000);
      return { status: 200, headers: {}, body: Readable.from([Buffer.from(JSON.stringify({ items }))]) };
    },
  } as unknown as RemoteService;

  const { isComplete } = await removeForeignContent([remote, remote], "lake", {
    clock,
    signal: new AbortController().signal,
  });

  expect({ isComplete, requests }).toEqual({ isComplete: false, requests: 3 });
});
