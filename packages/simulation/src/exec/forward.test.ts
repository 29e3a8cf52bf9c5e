import { Readable } from "node:stream";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { expect, test } from "vitest";
import { forwardPort } from "./forward.ts";

const pod = {
  metadata: { name: "web-1" },
  spec: { containers: [{ name: "main", ports: [{ containerPort: 80 }] }] },
  status: { phase: "Running" },
} as unknown as DeepReadonly<JsonObject>;

async function connect(port: number, ...chunks: string[]): Promise<string> {
  let output = "";
  await forwardPort({ namespace: "shop", pod }, port, {
    input: Readable.from(chunks.map((chunk) => Buffer.from(chunk))),
    output: async (chunk) => void (output += Buffer.from(chunk).toString()),
  });
  return output;
}

test("an HTTP request to a declared port gets a page that names pod and port", async () => {
  const answer = await connect(80, "GET / HT", "TP/1.1\r\nHost: a\r\n\r\n");

  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer).toMatch(/simulated: pod shop\/web-1, port 80\n$/);
});

test("other bytes come back", async () => {
  expect(await connect(80, "ping\n", "PONG")).toBe("ping\nPONG");
});

test("a port that no container declares refuses the connection", async () => {
  await expect(connect(81, "x")).rejects.toThrow("connection refused");
});
