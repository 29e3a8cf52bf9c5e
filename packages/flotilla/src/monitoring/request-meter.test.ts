import { expect, test } from "vitest";
import { MetricsText } from "@flotilla/base";
import type { Transport } from "@flotilla/client";
import { UnreachableError } from "@flotilla/client";
import { ApiError } from "@flotilla/apimachinery";
import { createRequestMeter } from "./request-meter.ts";

const PATH = { cluster: "paris", group: "", version: "v1", resource: "configmaps" };
const refusal = new ApiError({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  code: 403,
  reason: "Forbidden",
  message: "no",
});

function setUp(answer: () => Promise<never> | Promise<object>) {
  const meter = createRequestMeter();
  const plain = {
    send: answer,
    raw: async () => ({ status: 503, headers: {}, body: [] }),
    watch: () => "the same",
    close: async () => {},
  } as unknown as Transport;
  const samples = (): string[] => {
    const text = new MetricsText();
    meter.write(text);
    return text
      .finish()
      .split("\n")
      .filter((line) => /_(total|count)\{/.test(line));
  };
  return { meter, transport: meter.around(plain, "paris"), samples };
}

test("requests are counted by verb and status code", async () => {
  const { transport, samples } = setUp(async () => ({}));

  await transport.send({ verb: "create", path: PATH });
  await transport.send({ verb: "get", path: PATH });
  await transport.raw({ method: "GET", path: "/readyz", cluster: "paris" });

  expect(samples()).toEqual([
    'flotilla_member_requests_total{member_cluster="paris",verb="create",code="201"} 1',
    'flotilla_member_requests_total{member_cluster="paris",verb="get",code="200"} 1',
    'flotilla_member_requests_total{member_cluster="paris",verb="get",code="503"} 1',
    'flotilla_member_request_duration_seconds_count{member_cluster="paris"} 3',
  ]);
});

const failures: Record<string, { error: Error; code: string }> = {
  "a rejected request is counted with its status code": { error: refusal, code: "403" },
  "a request without a response is counted with code none": { error: new UnreachableError("away"), code: "none" },
};
for (const [behaviour, { error, code }] of Object.entries(failures)) {
  test(behaviour, async () => {
    const { transport, samples } = setUp(() => Promise.reject(error));

    await expect(transport.send({ verb: "update", path: PATH })).rejects.toBe(error);

    expect(samples()[0]).toBe(`flotilla_member_requests_total{member_cluster="paris",verb="update",code="${code}"} 1`);
  });
}

test("an aborted request is not counted, and series of a removed member are dropped", async () => {
  const { meter, transport, samples } = setUp(() => Promise.reject(refusal));
  await expect(transport.send({ verb: "get", path: PATH }, AbortSignal.abort())).rejects.toBe(refusal);
  const interrupted = samples();
  await expect(transport.send({ verb: "get", path: PATH })).rejects.toBe(refusal);

  meter.forget("paris");

  expect(interrupted).toEqual([]);
  expect(samples()).toEqual([]);
});
