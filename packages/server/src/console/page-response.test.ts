import { expect, test } from "vitest";
import type { Asset } from "./assets.ts";
import { pageResponse } from "./page-response.ts";

const script: Asset = {
  isIndex: false,
  type: "text/javascript",
  bytes: Buffer.from("whole"),
  packed: new Map([
    ["br", Buffer.from("br")],
    ["gzip", Buffer.from("gz")],
  ]),
};
const text = (body: unknown): string => Buffer.from(body as Uint8Array).toString();

test.each([
  { accepted: "gzip, deflate, br", encoding: "br", body: "br" },
  { accepted: "gzip", encoding: "gzip", body: "gz" },
  { accepted: "", encoding: undefined, body: "whole" },
])("a client that accepts '$accepted' gets $body, and may keep it", ({ accepted, encoding, body }) => {
  const sent = pageResponse(script, accepted);

  expect(sent.headers["content-encoding"]).toBe(encoding);
  expect(sent.headers["cache-control"]).toContain("immutable");
  expect(text(sent.body)).toBe(body);
});

test("the page has another nonce each time, the same in its policy, and is not kept", () => {
  const index = { ...script, isIndex: true, bytes: Buffer.from('<style nonce="__NONCE__">') };

  const [one, two] = [pageResponse(index, "br"), pageResponse(index, "br")];

  const nonce = /nonce="(.+)"/.exec(text(one.body))?.[1] ?? "";
  expect(one.headers["content-security-policy"]).toContain(`'nonce-${nonce}'`);
  expect(text(two.body)).not.toBe(text(one.body));
  expect(one.headers["cache-control"]).toBe("no-store");
});
